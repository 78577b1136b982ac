//! What a job does to the bytes of its message, and who finds its tag right.

use super::{Cipher, HostState};
use crate::host::work::{CipherJob, JobKind, KeyOf, Party, Sealing};
use crate::{gcm::pseudo::pseudo_tags, units::Femtos};

/// Whether a message is where it should be, and who looked at it last.
type Handled = (bool, Party);

impl Cipher {
    /// Handles the bytes of a job at its end, which is at `time`.
    pub(super) fn handle(&mut self, place: usize, job: &CipherJob, time: Femtos, memory: &mut HostState) -> Handled {
        match job.kind {
            JobKind::Seal | JobKind::ForwardIn => {
                (put(job, |memory| self.sealed(place, memory), time, memory), Party::Cpu)
            }
            JobKind::Open | JobKind::OpenAfter => (self.open(job, None, memory), Party::Cpu),
            JobKind::SealAhead => (self.seal_ahead(place, job, memory), Party::Cpu),
            JobKind::SealUnused => (true, Party::Cpu),
            JobKind::Place => (put(job, |memory| memory.take_sealed(job.copy, job.offset), time, memory), Party::Cpu),
            JobKind::ResealIn => (put(job, |memory| self.reseal_in(job, time, memory), time, memory), Party::Cpu),
            JobKind::ResealOut => self.reseal_out(job, time, memory),
            JobKind::ForwardOut => (self.open(job, Some(time), memory), Party::User),
            JobKind::CopyIn => (memory.fill(job.slot, job.copy, job.offset).is_some() || !memory.exact(), Party::Cpu),
            JobKind::CopyOut => (copy_out(job, memory), Party::Cpu),
        }
    }

    /// Loads the bytes of a job that puts a sealed message into staging as it is. They are sealed while the job takes its cycles, and
    /// nobody sees them before its end. What is forwarded the user has sealed earlier; that takes no simulated time.
    pub(super) fn begin(&mut self, job: &CipherJob, memory: &mut HostState) -> Option<Sealing> {
        if !matches!(job.kind, JobKind::Seal | JobKind::ForwardIn | JobKind::SealAhead) || !memory.exact() {
            return None;
        }
        let text = memory.load(job.copy, job.offset, job.bytes)?;
        self.cryptor.as_mut().map(|cryptor| cryptor.begin_seal(KeyOf::ToGpu, job.nonce, text))
    }

    /// What has been sealed while a job took its cycles, in a run with bytes.
    fn sealed(&mut self, place: usize, memory: &mut HostState) -> Option<(Vec<u8>, Vec<u8>)> {
        let sealing = self.running[place].sealing.take();
        if sealing.is_none() && self.cryptor.is_none() {
            refuse(memory);
        }
        sealing.map(|sealing| sealing.0())
    }

    /// Keeps a message that is sealed ahead. A run without bytes has nothing to keep.
    fn seal_ahead(&mut self, place: usize, job: &CipherJob, memory: &mut HostState) -> bool {
        if !memory.exact() {
            return true;
        }
        let sealed = self.sealed(place, memory);
        sealed.map(|sealed| memory.keep_sealed(job.copy, job.offset, sealed)).is_some()
    }

    /// The user has sealed a message; the CPU opens it and seals it for the GPU.
    fn reseal_in(&mut self, job: &CipherJob, time: Femtos, memory: &mut HostState) -> Option<(Vec<u8>, Vec<u8>)> {
        let nonce = job.user_nonce();
        let mut text = memory.load(job.copy, job.offset, job.bytes)?;
        let Some(cryptor) = &mut self.cryptor else {
            refuse(memory);
            return None;
        };
        let mut tag = cryptor.seal(KeyOf::FromUser, nonce, &mut text);
        memory.pass_user(time, &mut text, &mut tag);
        cryptor.open(KeyOf::FromUser, nonce, &mut text, &tag).then(|| {
            let tag = cryptor.seal(KeyOf::ToGpu, job.nonce, &mut text);
            (text, tag)
        })
    }

    /// Opens a message from the GPU into `scratch`; gives whether its tag is right. If the CPU only carries it to the user, it gets there at a time.
    fn opened(&mut self, job: &CipherJob, carried: Option<Femtos>, memory: &mut HostState) -> bool {
        let exact = memory.exact();
        let Some(slot) = memory.slot(job.slot) else { return false };
        match (exact, &mut self.cryptor) {
            (false, _) => tags_without_bytes(job, memory) == slot.tag,
            (true, Some(cryptor)) => {
                // Plaintext must not lie in shared memory, not even for the length of a job.
                self.scratch.clear();
                self.scratch.extend_from_slice(&slot.data);
                let mut tag = slot.tag.clone();
                if let Some(time) = carried {
                    memory.pass_user(time, &mut self.scratch, &mut tag);
                }
                cryptor.open(KeyOf::FromGpu, job.nonce, &mut self.scratch, &tag)
            }
            (true, None) => refuse(memory),
        }
    }

    /// Puts the plaintext of a message that was found good where it belongs.
    fn keep(&self, job: &CipherJob, memory: &mut HostState) -> bool {
        if memory.exact() {
            return memory.store(job.copy, job.offset, &self.scratch, job.id + 1);
        }
        memory.note_arrival(job.copy, job.offset, job.bytes, job.id + 1);
        true
    }

    fn open(&mut self, job: &CipherJob, carried: Option<Femtos>, memory: &mut HostState) -> bool {
        self.opened(job, carried, memory) && self.keep(job, memory)
    }

    /// The CPU opens a message from the GPU and seals it for the user, who opens it.
    fn reseal_out(&mut self, job: &CipherJob, time: Femtos, memory: &mut HostState) -> Handled {
        if !self.opened(job, None, memory) {
            return (false, Party::Cpu);
        }
        let nonce = job.user_nonce();
        let good = match &mut self.cryptor {
            Some(cryptor) if memory.exact() => {
                let mut tag = cryptor.seal(KeyOf::ToUser, nonce, &mut self.scratch);
                memory.pass_user(time, &mut self.scratch, &mut tag);
                cryptor.open(KeyOf::ToUser, nonce, &mut self.scratch, &tag)
            }
            _ => true,
        };
        (good && self.keep(job, memory), Party::User)
    }
}

/// Copies what has come of a message to where it belongs. What an earlier message has left in a slot does not count as this one's bytes,
/// though a CPU would copy it too.
fn copy_out(job: &CipherJob, memory: &mut HostState) -> bool {
    let exact = memory.exact();
    let Some(slot) = memory.slot(job.slot) else { return false };
    let (data, written) = (slot.data.clone(), slot.written.clone());
    written.ranges().all(|range| {
        if !exact {
            memory.note_arrival(job.copy, job.offset + range.start, range.end - range.start, job.id + 1);
            return true;
        }
        let bytes = data.get(range.start as usize..range.end as usize).unwrap_or_default();
        memory.store(job.copy, job.offset + range.start, bytes, job.id + 1)
    })
}

/// Puts a message that is sealed, as `sealed` gives it in a run with bytes, into staging.
fn put(
    job: &CipherJob,
    sealed: impl FnOnce(&mut HostState) -> Option<(Vec<u8>, Vec<u8>)>,
    time: Femtos,
    memory: &mut HostState,
) -> bool {
    let tag = if memory.exact() {
        let Some((text, tag)) = sealed(memory) else { return false };
        memory.put_text(job.slot, text);
        tag
    } else {
        tags_without_bytes(job, memory)
    };
    memory.put_sealed(job.slot, tag, job.kind == JobKind::ForwardIn, time);
    true
}

fn tags_without_bytes(job: &CipherJob, memory: &HostState) -> Vec<u8> {
    pseudo_tags(job.nonce, job.bytes, memory.tag_bytes(job.bytes))
}

/// A run with bytes was built without what seals them.
fn refuse(memory: &mut HostState) -> bool {
    memory.fail("the cipher has no keys".into());
    false
}
