//! A long call: it works on a thread of its own, while the caller's thread looks at Python's signals and tells of progress.

use super::fault::Fault;
use pyo3::prelude::*;
use sealsim::sim::Control;
use std::{
    sync::{
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

/// Between two looks at Python.
const PAUSE: Duration = Duration::from_millis(50);

/// What the stack of a program's first thread has.
const STACK: usize = 8 << 20;

/// What work and caller share.
#[derive(Debug, Default)]
pub struct Watch {
    stop: AtomicBool,
    /// The part of the work that is done, as the bits of a number from 0 to 1.
    done: AtomicU64,
}

impl Watch {
    /// Whether to go on.
    pub fn control(&self) -> Control {
        if self.stop.load(Ordering::Relaxed) { Control::Stop } else { Control::Continue }
    }

    /// Notes which part of the work is done.
    pub fn set(&self, part: f64) {
        self.done.store(part.to_bits(), Ordering::Relaxed);
    }

    /// Notes that a further part is done.
    pub fn add(&self, part: f64) {
        let more = |bits| Some((f64::from_bits(bits) + part).to_bits());
        let _ = self.done.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
    }

    fn done(&self) -> f64 {
        f64::from_bits(self.done.load(Ordering::Relaxed)).clamp(0.0, 1.0)
    }
}

/// Does `work` without the interpreter's lock. `progress` is called with the part that is done, from the caller's thread, as often as there is news.
/// A signal's exception, or one of `progress`, stops the work and is raised.
pub fn watched<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Watch) -> Result<T, Fault> + Send,
) -> PyResult<T> {
    let (watch, progress) = (Watch::default(), progress.map(|progress| progress.clone().unbind()));
    let result = py.detach(|| attended(&watch, progress.as_ref(), work))?;
    let value = result.map_err(|fault| fault.raised(py))?;
    progress.map_or(Ok(()), |progress| progress.call1(py, (1.0,)).map(drop))?;
    Ok(value)
}

fn attended<T: Send>(
    watch: &Watch,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&Watch) -> Result<T, Fault> + Send,
) -> PyResult<Result<T, Fault>> {
    thread::scope(|scope| {
        let (over, ended) = mpsc::channel::<()>();
        let worker = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, move || {
            // It goes when the work is over, whichever way.
            let _over = over;
            work(watch)
        })?;
        let (mut raised, mut told) = (None, 0.0);
        while matches!(ended.recv_timeout(PAUSE), Err(RecvTimeoutError::Timeout)) {
            if raised.is_none()
                && let Err(error) = Python::attach(|py| look(py, watch, progress, &mut told))
            {
                watch.stop.store(true, Ordering::Relaxed);
                raised = Some(error);
            }
        }
        let done = worker.join();
        match raised {
            Some(error) => Err(error),
            None => {
                Ok(done.unwrap_or_else(|_| Err(Fault::simulation("the simulator gave up: this is a fault of its own"))))
            }
        }
    })
}

/// Gives signals their handlers, and tells of progress if there is any.
fn look(py: Python<'_>, watch: &Watch, progress: Option<&Py<PyAny>>, told: &mut f64) -> PyResult<()> {
    py.check_signals()?;
    let done = watch.done();
    if done > *told
        && let Some(progress) = progress
    {
        *told = done;
        progress.call1(py, (done,))?;
    }
    Ok(())
}
