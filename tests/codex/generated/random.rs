//! Random choices that a seed repeats.

/// A stream of choices: the same seed gives the same ones, on every machine.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The stream of `seed`.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number (`SplitMix64`).
    const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).expect("a count");
        usize::try_from(self.next() % end).expect("it is below a count")
    }

    /// True in so many of a hundred.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of `choices`.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// Each of `choices` with a chance of so many of a hundred, in a random order.
    pub fn some<T: Copy>(&mut self, choices: &[T], percent: usize) -> Vec<T> {
        let mut chosen: Vec<T> = choices
            .iter()
            .copied()
            .filter(|_| self.chance(percent))
            .collect();
        for last in (1..chosen.len()).rev() {
            chosen.swap(last, self.below(last + 1));
        }
        chosen
    }
}
