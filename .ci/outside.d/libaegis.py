"""pyaegis (MIT, libaegis below) against `sealsim verify vectors`: random messages that it sealed, and forgeries of them."""

from count import Count
from pyaegis import Aegis128L, Aegis128X2, Aegis128X4, Aegis256, Aegis256X2, Aegis256X4, DecryptionError
from sealed import judge

AEADS = [
    ("AEGIS-256", Aegis256, 32),
    ("AEGIS-256X2", Aegis256X2, 32),
    ("AEGIS-256X4", Aegis256X4, 32),
    ("AEGIS-128L", Aegis128L, 16),
    ("AEGIS-128X2", Aegis128X2, 16),
    ("AEGIS-128X4", Aegis128X4, 16),
]


def opens(cipher, *message):
    """Whether the judge takes a sealed text."""
    try:
        cipher.decrypt(*message)
    except DecryptionError:
        return False
    return True


if __name__ == "__main__":
    count = Count()
    for name, variant, size in AEADS:
        cipher = variant(tag_size=16)
        judge(count, name, cipher.encrypt, lambda *message, cipher=cipher: opens(cipher, *message), [size], size, [name.lower()])
    count.close()
