//! Threads that share the pieces of a pass, and live for the whole run.

use std::iter;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

/// With fewer states than this, a pass is not worth waking other threads for.
const WORTH_SHARING: usize = 1 << 11;

/// The workers: the caller alone, or threads that wait for work.
///
/// A pass takes a millisecond and a run has hundreds of them: starting threads for each pass would take longer than
/// they save.
pub(crate) struct WorkerPool(Option<ThreadPool>);

impl WorkerPool {
    /// Only the calling thread.
    pub(crate) const ALONE: &Self = &Self(None);

    /// This many threads. No result depends on their number: if the system provides none, the caller works alone.
    pub(crate) fn of(threads: usize) -> Self {
        let build = || ThreadPoolBuilder::new().num_threads(threads - 1).build().ok();
        Self((threads > 1).then(build).flatten())
    }

    /// The number of threads that work.
    pub(crate) fn threads(&self) -> usize {
        1 + self.0.as_ref().map_or(0, ThreadPool::current_num_threads)
    }

    /// The worker pool to use for this many states.
    pub(crate) const fn for_states(&self, states: usize) -> &Self {
        if states < WORTH_SHARING { Self::ALONE } else { self }
    }

    /// Does numbered pieces of work; the results are in the order of the numbers. The work receives the number of its
    /// thread, and its own number.
    ///
    /// Each thread has its own region, and takes pieces that others have left when its region is done. So the same
    /// numbers mostly go to the same thread, pass after pass, and their data is still in its cache.
    pub(crate) fn share<T: Send>(&self, pieces: usize, work: impl Fn(usize, usize) -> T + Sync) -> Vec<T> {
        if self.0.is_none() || pieces <= 1 {
            return (0..pieces).map(|number| work(0, number)).collect();
        }
        let results: Vec<_> = (0..pieces).map(|_| Mutex::new(None)).collect();
        self.share_numbers(pieces, &|thread, number| *lock(&results[number]) = Some(work(thread, number)));
        results.into_iter().filter_map(|result| result.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
    }

    /// The same, each piece once. Not generic, since each pass of each engine would have a copy of it in each layout of worlds.
    fn share_numbers(&self, pieces: usize, work: &(dyn Fn(usize, usize) + Sync)) {
        let threads = self.threads();
        let end = |region: usize| (region + 1) * pieces / threads;
        let next: Vec<_> = (0..threads).map(|region| AtomicUsize::new(region * pieces / threads)).collect();
        let take = |thread: usize| {
            for region in (thread..threads).chain(0..thread) {
                let numbers = iter::repeat_with(|| next[region].fetch_add(1, Ordering::Relaxed));
                numbers.take_while(|number| *number < end(region)).for_each(|number| work(thread, number));
            }
        };
        let Some(pool) = &self.0 else { return take(0) };
        pool.in_place_scope(|scope| {
            scope.spawn_broadcast(|_, thread| take(1 + thread.index()));
            take(0);
        });
    }
}

/// The value inside a mutex. A poisoned one is used as it is: a panic of a worker ends the run anyway.
pub(super) fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
