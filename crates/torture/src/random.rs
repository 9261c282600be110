//! Random numbers that are the same for everybody: one 64-bit seed, SplitMix64.

/// A stream of numbers.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// The stream of one round. Rounds with neighbouring numbers have unrelated streams.
    pub(crate) fn of(seed: u64, kind: &str, round: u64) -> Self {
        let mut mixed = Self(seed);
        for byte in kind.bytes() {
            mixed.0 ^= u64::from(byte);
            mixed.next();
        }
        mixed.0 ^= round.wrapping_mul(0xd6e8_feb8_6659_fd93);
        mixed.next();
        mixed
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`; 0 if `end` is 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { (self.next() % end as u64) as usize }
    }

    /// True once in `n` times.
    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}
