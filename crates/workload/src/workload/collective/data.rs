//! What is in the buffers, and what must be there in the end.

use super::{kind::Collective, schedule::Plan};
use crate::{fabric::element::Element, system::Generator, system::PayloadSource};

/// Numbers are below this, so that the sum of 16 of them is exact in eight bits.
const BELOW: u8 = 16;

/// The numbers of a GPU, drawn from the seed.
fn numbers(seed: u64, rank: usize, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    // A generator never fails.
    let _ = Generator::new(seed, rank as u64).read(0, &mut bytes);
    bytes.iter_mut().for_each(|byte| *byte %= BELOW);
    bytes
}

fn encoded(numbers: impl Iterator<Item = u32>, element: Element) -> Vec<u8> {
    numbers.flat_map(|number| element.encode(number as f32)).collect()
}

fn count(plan: &Plan, element: Element) -> usize {
    (plan.buffer / element.bytes()) as usize
}

/// The memory of a GPU when a collective begins.
pub fn input(plan: &Plan, element: Element, seed: u64, rank: usize) -> Vec<u8> {
    let own = numbers(seed, rank, count(plan, element));
    let mut memory = encoded(own.into_iter().map(u32::from), element);
    memory.resize(plan.memory() as usize, 0);
    memory
}

/// What must be in the memory of a GPU when a collective of so many is done: where, and what.
pub fn expected(
    kind: Collective,
    plan: &Plan,
    element: Element,
    seed: u64,
    rank: usize,
    ranks: usize,
) -> (usize, Vec<u8>) {
    let (count, part) = (count(plan, element), plan.part as usize);
    let all = || (0..ranks).map(|rank| numbers(seed, rank, count));
    let sum = || {
        let mut sum = vec![0u32; count];
        for numbers in all() {
            sum.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += u32::from(number));
        }
        encoded(sum.into_iter(), element)
    };
    let part_of = |bytes: &[u8], number: usize| bytes[number * part..(number + 1) * part].to_vec();
    let of_rank = |rank: usize| encoded(numbers(seed, rank, count).into_iter().map(u32::from), element);
    match kind {
        Collective::AllReduce | Collective::TreeAllReduce => (0, sum()),
        Collective::ReduceScatter => {
            let own = (rank + 1) % ranks;
            (own * part, part_of(&sum(), own))
        }
        Collective::AllGather => (0, (0..ranks).flat_map(|rank| part_of(&of_rank(rank), rank)).collect()),
        Collective::Broadcast => (0, of_rank(0)),
        Collective::AllToAll => {
            let from = |source: usize| if source == rank { vec![0; part] } else { part_of(&of_rank(source), rank) };
            (plan.results as usize, (0..ranks).flat_map(from).collect())
        }
    }
}
