//! The scrambler of 128b/130b lanes: a 23-bit Galois LFSR per lane.
//!
//! Polynomial x^23 + x^21 + x^16 + x^8 + x^5 + x^2 + 1; the output is bit 22, the least significant data bit goes first.
//! Sync header bits and SKP ordered sets do not advance it; an EIEOS seeds it anew.

/// Seeds of lanes 0 to 7; lane n takes that of n mod 8.
pub const SEEDS: [u32; 8] = [0x1dbfbc, 0x0607bb, 0x1ec760, 0x18c0db, 0x010f12, 0x19cfc9, 0x0277ce, 0x1bb807];

const STATE: u32 = (1 << 23) - 1;
/// What bit 22 feeds back into when it leaves.
const FEEDBACK: u32 = 1 << 21 | 1 << 16 | 1 << 8 | 1 << 5 | 1 << 2 | 1;

/// One step of the LFSR: the new state and the bit that left.
const fn step(state: u32) -> (u32, u8) {
    let out = state >> 22 & 1;
    (((state << 1) & STATE) ^ (out * FEEDBACK), out as u8)
}

/// Key byte and feedback of eight steps, by the eight upper bits of the state, on which alone they depend.
const EIGHT_STEPS: [(u8, u32); 256] = eight_steps();

const fn eight_steps() -> [(u8, u32); 256] {
    let mut table = [(0, 0); 256];
    let mut upper = 0;
    while upper < 256 {
        let (mut state, mut key, mut bit) = ((upper as u32) << 15, 0, 0);
        while bit < 8 {
            let (next, out) = step(state);
            state = next;
            key |= out << bit;
            bit += 1;
        }
        table[upper] = (key, state);
        upper += 1;
    }
    table
}

/// The scrambler of one lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scrambler {
    state: u32,
}

impl Scrambler {
    /// The scrambler of a lane, just seeded.
    #[must_use]
    pub const fn new(lane: usize) -> Self {
        Self { state: SEEDS[lane % 8] }
    }

    /// The next key byte; advances by one symbol.
    pub fn next_byte(&mut self) -> u8 {
        let (key, feedback) = EIGHT_STEPS[(self.state >> 15) as usize & 0xff];
        self.state = ((self.state << 8) & STATE) ^ feedback;
        key
    }

    /// Scrambles or descrambles symbols in place.
    pub fn apply(&mut self, symbols: &mut [u8]) {
        for symbol in symbols {
            *symbol ^= self.next_byte();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_step_is_eight_single_steps() {
        for (lane, seed) in SEEDS.into_iter().enumerate() {
            let mut scrambler = Scrambler::new(lane);
            let mut state = seed;
            for _ in 0..1000 {
                let mut key = 0;
                for bit in 0..8 {
                    let (next, out) = step(state);
                    state = next;
                    key |= out << bit;
                }
                assert_eq!(scrambler.next_byte(), key);
                assert_eq!(scrambler.state, state);
            }
        }
    }

    #[test]
    fn applied_twice_from_the_same_state_it_is_the_identity() {
        let data: Vec<u8> = (0..=255).collect();
        let mut bytes = data.clone();
        Scrambler::new(3).apply(&mut bytes);
        assert_ne!(bytes, data);
        Scrambler::new(3).apply(&mut bytes);
        assert_eq!(bytes, data);
    }
}
