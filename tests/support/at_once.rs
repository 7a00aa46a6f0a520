//! Work that is shared by two threads, so that no core waits for one long test.

use std::iter;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// So many threads.
const AT_ONCE: usize = 2;

/// What `work` makes of each, two at a time, in their order.
pub fn at_once<T: Sync, R: Send>(all: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let part = || {
        let numbers = iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        numbers.map_while(|at| Some((at, work(all.get(at)?)))).collect::<Vec<_>>()
    };
    let mut done: Vec<_> = thread::scope(|scope| {
        let started: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(part)).collect();
        started.into_iter().flat_map(|part| part.join().expect("no part fails: what failed is said above")).collect()
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}
