//! Changed copies of inputs, the same ones for a seed: new inputs for a build in which no fuzzer runs.

/// How many are made.
const COPIES: usize = 2_000;
/// Bytes of all of them together.
const BYTES: usize = 16 << 20;

/// Changed copies of these inputs, none longer than `max_len` bytes.
pub(super) fn changed_copies(inputs: &[Vec<u8>], seed: u32, max_len: usize) -> Vec<Vec<u8>> {
    let mut chance = Chance(u64::from(seed) ^ 0x9e37_79b9_7f4a_7c15);
    let (mut copies, mut bytes) = (Vec::new(), 0);
    while copies.len() < COPIES && bytes < BYTES && !inputs.is_empty() {
        let mut copy = inputs[chance.below(inputs.len())].clone();
        for _ in 0..=chance.below(4) {
            change(&mut copy, &mut chance);
        }
        copy.truncate(max_len);
        bytes += copy.len() + 1;
        copies.push(copy);
    }
    copies
}

fn change(input: &mut Vec<u8>, chance: &mut Chance) {
    let at = chance.below(input.len() + 1);
    let byte = u8::try_from(chance.below(256)).expect("it is below 256");
    match (chance.below(8), input.get_mut(at)) {
        (0, _) | (_, None) => input.insert(at, byte),
        (1, Some(_)) => drop(input.remove(at)),
        (2, Some(own)) => *own ^= 1 << (byte % 8),
        (3, Some(own)) => *own = own.wrapping_add(byte % 9).wrapping_sub(4),
        // Whole numbers, because single bytes seldom reach across one.
        (4 | 5, Some(_)) => {
            for own in input.iter_mut().skip(at).take(4) {
                *own = u8::try_from(chance.below(256)).expect("it is below 256");
            }
        }
        (_, Some(own)) => *own = byte,
    }
}

/// Marsaglia's xorshift64: `x ^= x << 13; x ^= x >> 7; x ^= x << 17`.
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % n as u64).expect("it is below a usize")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_the_same_for_a_seed_and_within_the_length() {
        let inputs = [vec![], vec![7; 3], vec![1; 40]];
        let copies = changed_copies(&inputs, 1, 20);
        assert_eq!((copies.len(), copies.iter().map(Vec::len).max()), (COPIES, Some(20)));
        assert_eq!(copies, changed_copies(&inputs, 1, 20));
        assert_ne!(copies, changed_copies(&inputs, 2, 20));
        assert!(copies.iter().filter(|copy| !inputs.contains(copy)).count() > COPIES * 9 / 10);
        assert!(changed_copies(&[], 1, 20).is_empty());
        assert!(changed_copies(&[vec![0; 1 << 20]], 1, 1 << 20).len() < 20);
    }
}
