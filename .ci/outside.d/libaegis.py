"""pyaegis (MIT, libaegis below) against `sealsim verify vectors`: random messages that it sealed, and forgeries of them."""

from count import Count
from pyaegis import Aegis256, Aegis256X2, Aegis256X4, DecryptionError
from sealed import judge

AEADS = [("AEGIS-256", Aegis256), ("AEGIS-256X2", Aegis256X2), ("AEGIS-256X4", Aegis256X4)]


def opens(cipher, *message):
    """Whether the judge takes a sealed text."""
    try:
        cipher.decrypt(*message)
    except DecryptionError:
        return False
    return True


if __name__ == "__main__":
    count = Count()
    for name, variant in AEADS:
        cipher = variant(tag_size=16)
        judge(count, name, cipher.encrypt, lambda *message, cipher=cipher: opens(cipher, *message), [32], 32, [name.lower()])
    count.close()
