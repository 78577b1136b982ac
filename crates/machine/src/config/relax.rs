//! What a number is relaxed to: twice the rate or depth, half the latency or interval, or the next value that is legal.

/// Counts of which less is better.
const LESS: [&str; 1] = ["registers_per_round"];

/// Less strict amounts of a parameter with this path and unit, as [`Parameter`](super::Parameter) has them, in the order in which they are tried:
/// the first that goes with all other parameters is taken. None if it cannot be less strict.
pub fn relaxed_amounts(path: &str, unit: &str, amount: u64) -> Vec<u64> {
    let less = LESS.iter().any(|name| path.ends_with(name));
    let amounts = match unit {
        _ if amount == 0 => vec![],
        "number of cycles" | "time" => vec![Some(amount / 2)],
        "count" if less => vec![Some(amount / 2)],
        // Legal counts are often some powers of two, or one of a few.
        "count" => {
            let times = |factor| amount.checked_mul(factor);
            vec![times(2), times(3), times(8), amount.checked_add(amount / 2), amount.checked_add(1)]
        }
        _ => vec![amount.checked_mul(2)],
    };
    amounts.into_iter().flatten().collect()
}
