//! Independent pieces of work over several threads; what comes out does not depend on how many.

use std::{
    num::NonZero,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// Threads that this computer runs at once.
pub fn threads() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// Does `work` on each item, in the order of `cost`, the greatest first, so that no long one is left for the end. Results are in
/// the order of the items; a failure stops what has not begun, and the one of the first item that failed is given.
pub fn map<T: Sync, R: Send, E: Send>(
    items: &[T],
    threads: usize,
    cost: impl Fn(&T) -> u64,
    work: impl Fn(&T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let mut order: Vec<_> = (0..items.len()).collect();
    order.sort_by_key(|place| std::cmp::Reverse(cost(&items[*place])));
    let (next, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let results: Mutex<Vec<_>> = Mutex::new(items.iter().map(|_| None).collect());
    let worker = || {
        while let Some(place) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            if failed.load(Ordering::Relaxed) > 0 {
                break;
            }
            let result = work(&items[*place]);
            failed.fetch_add(usize::from(result.is_err()), Ordering::Relaxed);
            results.lock().unwrap_or_else(PoisonError::into_inner)[*place] = Some(result);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.clamp(1, items.len().max(1)) {
            scope.spawn(worker);
        }
        worker();
    });
    results.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items_on_any_number_of_threads() {
        let items: Vec<u64> = (0..50).collect();
        for threads in [0, 1, 3, 64] {
            let squares = map(&items, threads, |item| *item % 7, |item| Ok::<_, ()>(item * item));
            assert_eq!(squares, Ok(items.iter().map(|item| item * item).collect()), "{threads} threads");
        }
        assert_eq!(map(&[], 3, |_: &u64| 0, |_| Ok::<u64, ()>(0)), Ok(Vec::new()));
    }

    #[test]
    fn a_failure_is_given_and_nothing_new_begins() {
        let begun = AtomicUsize::new(0);
        let items: Vec<u64> = (0..1000).collect();
        let result = map(
            &items,
            1,
            |_| 0,
            |item| {
                begun.fetch_add(1, Ordering::Relaxed);
                if *item == 3 { Err(*item) } else { Ok(()) }
            },
        );
        assert_eq!((result, begun.into_inner()), (Err(3), 4));
    }
}
