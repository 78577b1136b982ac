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
            JobKind::Seal | JobKind::ForwardIn => (self.seal(place, time, memory), Party::Cpu),
            JobKind::Open | JobKind::OpenAfter => (self.open(job, memory), Party::Cpu),
            JobKind::SealAhead => (self.seal_ahead(place, memory), Party::Cpu),
            JobKind::SealUnused => (true, Party::Cpu),
            JobKind::Place => (put_sealed_ahead(job, time, memory), Party::Cpu),
            JobKind::ResealIn => (self.reseal_in(job, time, memory), Party::Cpu),
            JobKind::ResealOut => self.reseal_out(job, time, memory),
            JobKind::ForwardOut => (self.forward_out(job, time, memory), Party::User),
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

    fn seal(&mut self, place: usize, time: Femtos, memory: &mut HostState) -> bool {
        let running = &mut self.running[place];
        let (kind, slot, nonce, bytes) = (running.job.kind, running.job.slot, running.job.nonce, running.job.bytes);
        let tag = match (memory.exact(), running.sealing.take()) {
            (false, _) => pseudo_tags(nonce, bytes, memory.tag_bytes(bytes)),
            (true, Some(sealing)) => {
                let (text, tag) = sealing.0();
                memory.put_text(slot, text);
                tag
            }
            (true, None) if self.cryptor.is_none() => return refuse(memory),
            (true, None) => return false,
        };
        memory.put_sealed(slot, tag, kind == JobKind::ForwardIn, time);
        true
    }

    /// Keeps a message that is sealed ahead. A run without bytes has nothing to keep.
    fn seal_ahead(&mut self, place: usize, memory: &mut HostState) -> bool {
        let running = &mut self.running[place];
        let (copy, offset) = (running.job.copy, running.job.offset);
        match (memory.exact(), running.sealing.take()) {
            (false, _) => true,
            (true, Some(sealing)) => {
                memory.keep_sealed(copy, offset, sealing.0());
                true
            }
            (true, None) if self.cryptor.is_none() => refuse(memory),
            (true, None) => false,
        }
    }

    /// The user has sealed a message; the CPU opens it and seals it for the GPU.
    fn reseal_in(&mut self, job: &CipherJob, time: Femtos, memory: &mut HostState) -> bool {
        let nonce = job.user_nonce();
        if !memory.exact() {
            memory.put_sealed(job.slot, pseudo_tags(job.nonce, job.bytes, memory.tag_bytes(job.bytes)), false, time);
            return true;
        }
        let Some(mut text) = memory.load(job.copy, job.offset, job.bytes) else { return false };
        let Some(cryptor) = &mut self.cryptor else { return refuse(memory) };
        let mut tag = cryptor.seal(KeyOf::FromUser, nonce, &mut text);
        memory.pass_user(time, &mut text, &mut tag);
        if !cryptor.open(KeyOf::FromUser, nonce, &mut text, &tag) {
            return false;
        }
        let tag = cryptor.seal(KeyOf::ToGpu, job.nonce, &mut text);
        memory.put_text(job.slot, text);
        memory.put_sealed(job.slot, tag, false, time);
        true
    }

    /// Opens a message from the GPU into `scratch`; gives whether its tag is right.
    fn opened(&mut self, job: &CipherJob, memory: &mut HostState) -> bool {
        let exact = memory.exact();
        let Some(slot) = memory.slot(job.slot) else { return false };
        match (exact, &mut self.cryptor) {
            (false, _) => pseudo_tags(job.nonce, job.bytes, memory.tag_bytes(job.bytes)) == slot.tag,
            (true, Some(cryptor)) => {
                // Plaintext must not lie in shared memory, not even for the length of a job.
                self.scratch.clear();
                self.scratch.extend_from_slice(&slot.data);
                cryptor.open(KeyOf::FromGpu, job.nonce, &mut self.scratch, &slot.tag)
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

    fn open(&mut self, job: &CipherJob, memory: &mut HostState) -> bool {
        self.opened(job, memory) && self.keep(job, memory)
    }

    /// The CPU opens a message from the GPU and seals it for the user, who opens it.
    fn reseal_out(&mut self, job: &CipherJob, time: Femtos, memory: &mut HostState) -> Handled {
        if !self.opened(job, memory) {
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

    /// The user opens what the GPU has sealed and the CPU has only carried.
    fn forward_out(&mut self, job: &CipherJob, time: Femtos, memory: &mut HostState) -> bool {
        let exact = memory.exact();
        let Some(slot) = memory.slot(job.slot) else { return false };
        let right = match (exact, &mut self.cryptor) {
            (false, _) => slot.tag == pseudo_tags(job.nonce, job.bytes, memory.tag_bytes(job.bytes)),
            (true, Some(cryptor)) => {
                self.scratch.clear();
                self.scratch.extend_from_slice(&slot.data);
                let mut tag = slot.tag.clone();
                memory.pass_user(time, &mut self.scratch, &mut tag);
                cryptor.open(KeyOf::FromGpu, job.nonce, &mut self.scratch, &tag)
            }
            (true, None) => return refuse(memory),
        };
        right && self.keep(job, memory)
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

/// Puts a message that was sealed ahead into staging.
fn put_sealed_ahead(job: &CipherJob, time: Femtos, memory: &mut HostState) -> bool {
    let tag = if memory.exact() {
        let Some((text, tag)) = memory.take_sealed(job.copy, job.offset) else { return false };
        memory.put_text(job.slot, text);
        tag
    } else {
        pseudo_tags(job.nonce, job.bytes, memory.tag_bytes(job.bytes))
    };
    memory.put_sealed(job.slot, tag, false, time);
    true
}

/// A run with bytes was built without what seals them.
fn refuse(memory: &mut HostState) -> bool {
    memory.fail("the cipher has no keys".into());
    false
}
