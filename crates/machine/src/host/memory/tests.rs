//! What the root complex finds at the addresses of the map, and what its writes do.

use super::*;
use crate::sim::Effect;
use std::{cell::RefCell, io, rc::Rc};

/// Copy, offset and bytes of a store.
type Stored = (usize, u64, Vec<u8>);

/// Byte n of copy c is a function of both; stores are noted.
#[derive(Default)]
struct Pattern {
    loads: Rc<RefCell<u32>>,
    stores: Rc<RefCell<Vec<Stored>>>,
    fails: bool,
}

fn byte(copy: usize, offset: u64) -> u8 {
    (offset ^ offset >> 8 ^ offset >> 16 ^ (copy as u64 * 37)) as u8
}

fn bytes(copy: usize, offset: u64, count: u64) -> Vec<u8> {
    (offset..offset + count).map(|n| byte(copy, n)).collect()
}

impl PrivateMemory for Pattern {
    fn load(&mut self, copy: usize, offset: u64, into: &mut [u8]) -> io::Result<()> {
        *self.loads.borrow_mut() += 1;
        into.copy_from_slice(&bytes(copy, offset, into.len() as u64));
        if self.fails { Err(io::Error::other("the disk is gone")) } else { Ok(()) }
    }
    fn store(&mut self, copy: usize, offset: u64, bytes: &[u8], _by: u64) -> io::Result<()> {
        self.stores.borrow_mut().push((copy, offset, bytes.to_vec()));
        if self.fails { Err(io::Error::other("the disk is full")) } else { Ok(()) }
    }
}

fn memory(private: Option<Pattern>) -> HostState {
    let spec = StagingSpec { buffer: Bytes(8192), buffers: 2 };
    HostState::new(
        &spec,
        &super::super::tests::machine::Setup::memory(),
        private.map(|p| Box::new(p) as Box<dyn PrivateMemory>),
    )
    .unwrap()
}

fn read(memory: &mut HostState, address: u64, count: u32) -> Vec<u8> {
    memory.read(address, count).unwrap().bytes().unwrap().to_vec()
}

fn arm(memory: &mut HostState, place: &str, kind: FaultKind, transfer: u64) -> bool {
    let injection = Injection::nth(place, kind, transfer);
    let known = memory.fault_points().iter().any(|(path, kinds)| path == place && kinds.contains(&kind));
    if known {
        memory.arm(&injection, Armed::new(&injection, 0, 1234));
    }
    known
}

#[test]
fn a_sealed_message_and_its_tag_are_read_where_the_slot_says() {
    let mut memory = memory(Some(Pattern::default()));
    memory.take(4096, [0; 12]).unwrap();
    let slot = memory.take(5000 - 4096, [1; 12]).unwrap();
    assert_eq!(memory.fill(slot, 3, 77).unwrap(), bytes(3, 77, 904));
    memory.put_sealed(slot, [9; 16], false, Femtos(0));
    let address = memory.slot_address(slot);
    assert_eq!(read(&mut memory, address + 4, 100), bytes(3, 81, 100));
    let address = memory.tag_address(slot);
    assert_eq!(read(&mut memory, address, 16), [9; 16]);
    assert_eq!(read(&mut memory, address - 16, 32), [[0; 16], [9; 16]].concat());
}

#[test]
fn a_read_of_a_slot_shares_its_bytes_and_finds_zeros_behind_them() {
    let mut memory = memory(Some(Pattern::default()));
    let slot = memory.take(100, [0; 12]).unwrap();
    memory.fill(slot, 0, 0).unwrap();
    let address = memory.slot_address(slot);
    let mut first = memory.read(address, 64).unwrap();
    assert!(first.extend(&memory.read(address + 64, 36).unwrap()));
    assert_eq!(read(&mut memory, address + 64, 64), [bytes(0, 64, 36), vec![0; 28]].concat());
    assert_eq!(read(&mut memory, address + 2000, 64), [0; 64]);
}

#[test]
fn addresses_outside_the_pool_are_not_mapped() {
    let mut memory = memory(Some(Pattern::default()));
    let end = map::STAGING + 2 * 8192;
    assert!(memory.read(end - 1, 1).is_some());
    assert!(memory.read(end, 1).is_none());
    assert!(memory.read(map::TAGS + 4 * 16, 16).is_none());
    assert!(memory.read(map::pinned(0, 0), 16).is_none());
    assert!(memory.read(0x1000, 16).is_none());
    assert_eq!(memory.write(&Tlp::write(end, 4, Payload::of(vec![0; 4]))), Written::Unmapped);
    assert_eq!(memory.write(&Tlp::write(map::TAGS + 64, 4, Payload::of(vec![0; 4]))), Written::Unmapped);
}

#[test]
fn what_the_gpu_writes_lands_in_the_slot_byte_for_byte() {
    let mut memory = memory(Some(Pattern::default()));
    let slot = memory.take(600, [0; 12]).unwrap();
    let address = memory.slot_address(slot);
    for (start, count) in [(512, 88), (0, 256), (256, 256)] {
        let tlp = Tlp::write(address + start, count, Payload::of(bytes(5, start, u64::from(count))));
        assert_eq!(memory.write(&tlp), Written::Data);
        assert_eq!(memory.slot(slot).unwrap().written.gap(600).is_some(), start != 256);
    }
    let address = memory.tag_address(slot);
    memory.write(&Tlp::write(address, 16, Payload::of(vec![4; 16])));
    assert_eq!(*memory.slot(slot).unwrap().data, bytes(5, 0, 600));
    assert_eq!(memory.slot(slot).unwrap().tag, [4; 16]);
}

#[test]
fn without_bytes_a_write_leaves_its_place_and_its_tag() {
    let mut memory = memory(None);
    let slot = memory.take(512, [0; 12]).unwrap();
    let address = memory.slot_address(slot);
    for start in [256, 256] {
        memory.write(&Tlp::write(address + start, 256, Payload::none()));
        assert_eq!(memory.slot(slot).unwrap().written.gap(512), Some(0..256));
    }
    memory.write(&Tlp::write(address, 256, Payload::none()));
    let tag = memory.tag_address(slot);
    memory.write(&Tlp::write(tag, 16, Payload::of(vec![4; 16])));
    assert_eq!(memory.slot(slot).unwrap().written.gap(512), None);
    assert_eq!(memory.slot(slot).unwrap().tag, [4; 16]);
}

#[test]
fn a_semaphore_write_is_a_notice_with_its_value() {
    let mut memory = memory(None);
    let mut value =
        |bytes: &[u8]| match memory.write(&Tlp::write(map::DONE, bytes.len() as u32, Payload::of(bytes.to_vec()))) {
            Written::Semaphore(Notice { address: map::DONE, value }) => value,
            other => panic!("{other:?}"),
        };
    assert_eq!(value(&[1, 2, 3, 4]), 0x0403_0201);
    assert_eq!(value(&[1, 2, 3, 4, 5, 6, 7, 8]), 0x0807_0605_0403_0201);
    assert_eq!(value(&[7, 0, 0, 0, 0, 0, 0, 0, 9, 9, 9, 9, 9, 9, 9, 9]), 7);
    assert_eq!(value(&[]), 0);
    assert_eq!(read(&mut memory, map::DONE, 4), [7, 0, 0, 0]);
    assert_eq!(memory.write(&Tlp::write(map::IV_PAGE, 12, Payload::none())), Written::Data);
}

#[test]
fn pinned_memory_is_the_copys_own_and_is_loaded_a_chunk_at_a_time() {
    let pattern = Pattern::default();
    let loads = Rc::clone(&pattern.loads);
    let mut memory = memory(Some(pattern));
    memory.map_pinned(2, Bytes((1 << 20) + 100));
    for offset in (0..1 << 16).step_by(256) {
        assert_eq!(read(&mut memory, map::pinned(2, offset), 256), bytes(2, offset, 256));
    }
    assert_eq!(*loads.borrow(), 1);
    let chunk = 1 << 20;
    assert_eq!(read(&mut memory, map::pinned(2, chunk - 10), 60), bytes(2, chunk - 10, 60));
    assert!(memory.read(map::pinned(2, chunk - 10), 200).is_none());
    assert_eq!(*loads.borrow(), 2);
    assert!(memory.read(map::pinned(2, chunk + 100), 1).is_none());
}

#[test]
fn pinned_writes_reach_the_sink_and_a_full_sink_ends_the_run() {
    let pattern = Pattern { fails: true, ..Pattern::default() };
    let stores = Rc::clone(&pattern.stores);
    let mut memory = memory(Some(pattern));
    memory.map_pinned(0, Bytes(100));
    let write = |offset| Tlp::write(map::pinned(0, offset), 2, Payload::of(vec![1, 2]));
    assert_eq!(memory.write(&write(10)), Written::Data);
    assert_eq!(memory.write(&write(99)), Written::Unmapped);
    assert_eq!(*stores.borrow(), [(0, 10, vec![1, 2])]);
    assert!(memory.fault().unwrap().contains("the disk is full"));
}

#[test]
fn a_source_that_fails_ends_the_run() {
    let mut memory = memory(Some(Pattern { fails: true, ..Pattern::default() }));
    let slot = memory.take(100, [0; 12]).unwrap();
    assert!(memory.fill(slot, 0, 0).is_none());
    assert!(memory.fault().unwrap().contains("the disk is gone"));
}

#[test]
fn armed_flips_strike_the_message_they_name_in_exactly_one_bit() {
    for (place, tag) in [("staging.ciphertext", false), ("staging.tag", true)] {
        let mut memory = memory(Some(Pattern::default()));
        assert!(arm(&mut memory, place, FaultKind::Flip, 2));
        let slots = [0, 1].map(|_| memory.take(64, [0; 12]).unwrap());
        for slot in slots {
            memory.fill(slot, 0, 0).unwrap();
            memory.put_sealed(slot, [0; 16], false, Femtos(7));
        }
        let wrong = |slot: SlotId| -> (u32, u32) {
            let slot = memory.slot(slot).unwrap();
            let text = slot.data.iter().zip(bytes(0, 0, 64)).map(|(a, b)| (a ^ b).count_ones()).sum();
            (text, slot.tag.iter().map(|b| b.count_ones()).sum())
        };
        assert_eq!(wrong(slots[0]), (0, 0));
        assert_eq!(wrong(slots[1]), if tag { (0, 1) } else { (1, 0) });
        let effects: Vec<_> = memory.armed().iter().map(Armed::effect).collect();
        assert!(matches!(effects[..], [Effect::Struck { time: Femtos(7), flip: Some(_), .. }]), "{effects:?}");
    }
}

#[test]
fn only_the_hosts_own_fault_points_can_be_armed() {
    let mut memory = memory(None);
    assert!(!arm(&mut memory, "staging.tag", FaultKind::Drop, 1));
    assert!(!arm(&mut memory, "staging", FaultKind::Flip, 1));
    assert!(arm(&mut memory, "host.iv", FaultKind::Skip, 2));
    assert_eq!([1, 2, 3].map(|time| memory.iv_skips(Femtos(time))), [0, 1, 0]);
}
