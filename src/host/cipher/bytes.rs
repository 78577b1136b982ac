//! What a job does to the bytes of its message, and who finds its tag right.

use super::{Cipher, CipherJob, HostState, JobKind, KeyOf, Party, Sealing};
use crate::gcm::pseudo::{pseudo_tag, pseudo_tags};

/// Whether a message is where it should be, and who looked at it last.
type Handled = (bool, Party);

impl Cipher {
    /// Handles the bytes of a job at its end.
    pub(super) fn handle(&mut self, place: usize, job: &CipherJob, memory: &mut HostState) -> Handled {
        match job.kind {
            JobKind::Seal | JobKind::ForwardIn => (self.seal(place, memory), Party::Cpu),
            JobKind::Open => (self.open(job, memory), Party::Cpu),
            JobKind::ResealIn => (self.reseal_in(job, memory), Party::Cpu),
            JobKind::ResealOut => self.reseal_out(job, memory),
            JobKind::ForwardOut => (self.forward_out(job, memory), Party::User),
            JobKind::CopyIn => (memory.fill(job.slot, job.copy, job.offset).is_some() || !memory.exact(), Party::Cpu),
            JobKind::CopyOut => (copy_out(job, memory), Party::Cpu),
        }
    }

    /// Loads the bytes of a job that puts a sealed message into staging as it is. They are sealed while the job takes its cycles, and
    /// nobody sees them before its end. What is forwarded the user has sealed earlier; that takes no simulated time.
    pub(super) fn begin(&mut self, job: &CipherJob, memory: &mut HostState) -> Option<Sealing> {
        if !matches!(job.kind, JobKind::Seal | JobKind::ForwardIn) || !memory.exact() {
            return None;
        }
        let text = memory.load(job.copy, job.offset, job.bytes)?;
        self.cryptor.as_mut().map(|cryptor| cryptor.begin_seal(KeyOf::ToGpu, job.nonce, text))
    }

    fn seal(&mut self, place: usize, memory: &mut HostState) -> bool {
        let running = &mut self.running[place];
        let (kind, slot, nonce, bytes) = (running.job.kind, running.job.slot, running.job.nonce, running.job.bytes);
        let tag = match (memory.exact(), running.sealing.take()) {
            (false, _) => {
                memory.put_text(slot, None);
                pseudo_tags(nonce, bytes, false, memory.tags())
            }
            (true, Some(sealing)) => {
                let (text, tag) = sealing.0();
                memory.put_text(slot, Some(text));
                tag
            }
            (true, None) if self.cryptor.is_none() => return refuse(memory),
            (true, None) => return false,
        };
        memory.put_sealed(slot, tag, kind == JobKind::ForwardIn);
        true
    }

    /// The user has sealed a message; the CPU opens it and seals it for the GPU.
    fn reseal_in(&mut self, job: &CipherJob, memory: &mut HostState) -> bool {
        let nonce = job.user_nonce();
        let damage = memory.user_damage();
        if !memory.exact() {
            let came = damage.tag(pseudo_tag(nonce, job.bytes, false));
            if came != pseudo_tag(nonce, job.bytes, damage.hits_text()) {
                return false;
            }
            memory.put_text(job.slot, None);
            memory.put_sealed(job.slot, pseudo_tags(job.nonce, job.bytes, false, memory.tags()), false);
            return true;
        }
        let Some(mut text) = memory.load(job.copy, job.offset, job.bytes) else { return false };
        let Some(cryptor) = &mut self.cryptor else { return refuse(memory) };
        let came = damage.tag(cryptor.seal(KeyOf::FromUser, nonce, &mut text));
        damage.text(&mut text);
        if !cryptor.open(KeyOf::FromUser, nonce, &mut text, &came) {
            return false;
        }
        let tag = cryptor.seal(KeyOf::ToGpu, job.nonce, &mut text);
        memory.put_text(job.slot, Some(text));
        memory.put_sealed(job.slot, tag, false);
        true
    }

    /// Opens a message from the GPU into `scratch`; gives whether its tag is right.
    fn opened(&mut self, job: &CipherJob, memory: &mut HostState) -> bool {
        let exact = memory.exact();
        let Some(slot) = memory.slot(job.slot) else { return false };
        let came = slot.tag.clone();
        match (exact, &mut self.cryptor) {
            (false, _) => pseudo_tags(job.nonce, job.bytes, slot.spoiled(), memory.tags()) == came,
            (true, Some(cryptor)) => {
                // Plaintext must not lie in shared memory, not even for the length of a job.
                self.scratch.clear();
                self.scratch.extend_from_slice(&slot.data);
                cryptor.open(KeyOf::FromGpu, job.nonce, &mut self.scratch, &came)
            }
            (true, None) => refuse(memory),
        }
    }

    /// Puts the plaintext of a message that was found good where it belongs.
    fn keep(&self, job: &CipherJob, memory: &mut HostState) -> bool {
        if memory.exact() {
            return memory.store(job.copy, job.offset, &self.scratch);
        }
        memory.note_arrival(job.copy, job.offset, job.bytes, false);
        true
    }

    fn open(&mut self, job: &CipherJob, memory: &mut HostState) -> bool {
        self.opened(job, memory) && self.keep(job, memory)
    }

    /// The CPU opens a message from the GPU and seals it for the user, who opens it.
    fn reseal_out(&mut self, job: &CipherJob, memory: &mut HostState) -> Handled {
        if !self.opened(job, memory) {
            return (false, Party::Cpu);
        }
        let (nonce, damage) = (job.user_nonce(), memory.user_damage());
        let good = match &mut self.cryptor {
            Some(cryptor) if memory.exact() => {
                let came = damage.tag(cryptor.seal(KeyOf::ToUser, nonce, &mut self.scratch));
                damage.text(&mut self.scratch);
                cryptor.open(KeyOf::ToUser, nonce, &mut self.scratch, &came)
            }
            _ => {
                let came = damage.tag(pseudo_tag(nonce, job.bytes, false));
                came == pseudo_tag(nonce, job.bytes, damage.hits_text())
            }
        };
        (good && self.keep(job, memory), Party::User)
    }

    /// The user opens what the GPU has sealed and the CPU has only carried.
    fn forward_out(&mut self, job: &CipherJob, memory: &mut HostState) -> bool {
        let damage = memory.user_damage();
        let exact = memory.exact();
        let Some(slot) = memory.slot(job.slot) else { return false };
        let came = damage.tag(slot.tag.clone());
        let right = match (exact, &mut self.cryptor) {
            (false, _) => {
                came == pseudo_tags(job.nonce, job.bytes, slot.spoiled() || damage.hits_text(), memory.tags())
            }
            (true, Some(cryptor)) => {
                self.scratch.clear();
                self.scratch.extend_from_slice(&slot.data);
                damage.text(&mut self.scratch);
                cryptor.open(KeyOf::FromGpu, job.nonce, &mut self.scratch, &came)
            }
            (true, None) => return refuse(memory),
        };
        right && self.keep(job, memory)
    }
}

fn copy_out(job: &CipherJob, memory: &mut HostState) -> bool {
    let Some(slot) = memory.slot(job.slot) else { return false };
    let (data, spoiled) = (slot.data.clone(), slot.spoiled());
    if !memory.exact() {
        memory.note_arrival(job.copy, job.offset, job.bytes, spoiled);
    }
    memory.store(job.copy, job.offset, &data)
}

/// A run with data was built without what seals them.
fn refuse(memory: &mut HostState) -> bool {
    memory.fail("the cipher has no keys".into());
    false
}
