//! Sizes, and what is encoded decodes to itself.

use super::*;
use crate::gpu::launch::*;
use crate::gpu::method;
use proptest::prelude::*;

fn transfer(operation: Operation, line_bytes: u64) -> Transfer {
    Transfer { operation, destination: Location::virt(0x8000), line_bytes, lines: None, order: Order::NonPipelined }
}

fn command(operation: Operation, bytes: u64) -> Command {
    Command::Launch(Launch { transfer: Some(transfer(operation, bytes)), ..Launch::default() })
}

const SOURCE: Location = Location::virt(0x12_3456_0000);

fn decrypt(bytes: u64) -> Command {
    command(Operation::Decrypt { source: SOURCE, tag: 0x100 }, bytes)
}

fn encrypt(bytes: u64) -> Command {
    command(Operation::Encrypt { source: SOURCE, tag: 0x100, iv: 0x200 }, bytes)
}

fn fill(pattern: Pattern) -> Command {
    command(Operation::Fill { pattern, side: Side::Protected }, u64::from(pattern.width()))
}

fn release(payload: u64, wide: bool, reduction: Option<(Reduction, bool)>) -> Command {
    let semaphore = Semaphore { address: 0x40, payload, wide, timestamp: false, reduction };
    Command::Launch(Launch { semaphore: Some(semaphore), ..Launch::default() })
}

fn size(commands: &[Command]) -> usize {
    encode(commands).unwrap().len()
}

#[test]
fn each_operation_has_the_drivers_size() {
    assert_eq!(size(&[decrypt(4096)]), 56);
    assert_eq!(size(&[encrypt(4096)]), 64);
    assert_eq!(size(&[release(1, false, None)]), 24);
    assert_eq!(size(&[release(1, false, Some((Reduction::Inc, false)))]), 24);
    assert_eq!(size(&[command(Operation::Copy { source: SOURCE, side: Side::Protected }, 8)]), 36);
    assert_eq!(size(&[fill(Pattern::B4(1))]), 40);
    assert_eq!(size(&[fill(Pattern::B8(1))]), 44);
    assert_eq!(size(&[Command::WaitForIdle]), 8);
}

#[test]
fn the_drivers_composed_pushes_have_their_sizes() {
    let tracking = [release(1, false, None), fill(Pattern::B4(1)), encrypt(4), fill(Pattern::B4(2))];
    assert_eq!(size(&tracking), 168);
    let mut indirect = vec![decrypt(4096), fill(Pattern::B8(1)), release(1, false, None), release(2, false, None)];
    indirect.extend(tracking);
    indirect.extend([release(3, false, None), release(4, false, None)]);
    assert_eq!(size(&indirect), 364, "launch push through a WLC");
    assert_eq!(size(&[decrypt(364), Command::WaitForIdle]), 64, "static push of a WLC");
    let copy = command(Operation::Copy { source: SOURCE, side: Side::Unprotected }, 4);
    let increment = release(15, false, Some((Reduction::Inc, false)));
    let confirm = [Command::WaitForIdle, increment, increment, increment, copy, encrypt(4), copy];
    assert_eq!(size(&confirm), 216, "static push of an LCIC");
    assert_eq!(size(&vec![decrypt(4096); 512]), 28_672);
    assert_eq!(size(&vec![encrypt(4096); 512]), 32_768);
}

#[test]
fn the_words_of_a_decryption_are_these() {
    let words: Vec<_> =
        encode(&[decrypt(4096)]).unwrap().chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
    let header = |count: u32, method: u32| 1 << 29 | count << 16 | 4 << 13 | (method / 4);
    let expected = [
        &[header(1, 0x500), 1][..],
        &[header(2, 0x514), 0, 0x100],
        &[header(4, 0x400), 0x12, 0x3456_0000, 0, 0x8000],
        &[header(1, 0x418), 4096],
        &[header(1, 0x300), 0x0010_0182],
    ];
    assert_eq!(words, expected.concat());
}

#[test]
fn nops_fill_any_number_of_words() {
    for words in [1, 2, 100] {
        assert_eq!(size(&[Command::Nop(words)]), 4 * usize::from(words));
    }
}

#[test]
fn a_semaphore_on_a_transfer_saves_a_launch() {
    let Command::Launch(Launch { semaphore, .. }) = release(1, false, None) else { panic!() };
    let Command::Launch(alone) = decrypt(64) else { panic!() };
    assert_eq!(size(&[Command::Launch(Launch { semaphore, ..alone })]), 56 + 24 - 8);
}

#[test]
fn values_that_do_not_fit_are_refused() {
    let wrong = |command| encode(&[command]).unwrap_err();
    assert_eq!(wrong(decrypt(1 << 32)), EncodeError::LineLength { bytes: 1 << 32, element: 1 });
    assert_eq!(wrong(release(1 << 32, false, None)), EncodeError::Payload(1 << 32));
    let far = Operation::Decrypt { source: SOURCE, tag: 1 << 57 };
    assert_eq!(wrong(command(far, 1)), EncodeError::Address(1 << 57));
    let odd = Operation::Fill { pattern: Pattern::B4(0), side: Side::Protected };
    assert_eq!(wrong(command(odd, 6)), EncodeError::LineLength { bytes: 6, element: 4 });
    let lines = Some(Lines { count: 2, pitch_in: 1, pitch_out: 1 });
    let Command::Launch(Launch { transfer: Some(secure), .. }) = decrypt(64) else { panic!() };
    let several = Launch { transfer: Some(Transfer { lines, ..secure }), ..Launch::default() };
    assert_eq!(wrong(Command::Launch(several)), EncodeError::SecureLines);
}

#[test]
fn a_broken_rule_names_the_method_and_its_byte() {
    let Command::Launch(mut launch) = decrypt(64) else { panic!() };
    if let Some(transfer) = &mut launch.transfer {
        transfer.destination.address = 0x8010;
    }
    let mut stream = Stream { decoder: method::Decoder::bound(), lce: Lce::new(true) };
    let error = stream.decode(&encode(&[Command::Launch(launch)]).unwrap(), &by_aperture).unwrap_err();
    let PushError::Launch { at, method, cause } = &error else { panic!("{error}") };
    assert_eq!((*at, *method, cause.rule), (52, "LAUNCH_DMA", Rule::DataAlignment));
}

fn any_location() -> impl Strategy<Value = Location> {
    // Below the top by more than any transfer here is long.
    (0u64..1 << 50, 0usize..5).prop_map(|(address, space)| {
        let apertures = [Aperture::LocalFb, Aperture::CoherentSysmem, Aperture::NonCoherentSysmem, Aperture::Peer(5)];
        let space = apertures.get(space).map_or(Space::Virtual, |aperture| Space::Physical(*aperture));
        Location { address, space }
    })
}

fn any_side() -> impl Strategy<Value = Side> {
    prop_oneof![Just(Side::Protected), Just(Side::Unprotected)]
}

fn any_pattern() -> impl Strategy<Value = Pattern> {
    prop_oneof![
        any::<u8>().prop_map(Pattern::B1),
        any::<u16>().prop_map(Pattern::B2),
        any::<u32>().prop_map(Pattern::B4),
        any::<u64>().prop_map(Pattern::B8)
    ]
}

/// Plain transfers of any kind, as they are legal with confidential computing off.
fn any_plain() -> impl Strategy<Value = Transfer> {
    let operation = prop_oneof![
        (any_location(), any_side()).prop_map(|(source, side)| Operation::Copy { source, side }),
        (any_pattern(), any_side()).prop_map(|(pattern, side)| Operation::Fill { pattern, side })
    ];
    let lines = prop::option::of((1u32..9, any::<u32>(), any::<u32>()))
        .prop_map(|l| l.map(|(count, pitch_in, pitch_out)| Lines { count, pitch_in, pitch_out }));
    (operation, any_location(), 1..=u32::MAX, lines, any::<bool>()).prop_map(
        |(operation, destination, length, lines, pipelined)| {
            let element = if let Operation::Fill { pattern, .. } = operation { pattern.width() } else { 1 };
            let order = if pipelined { Order::Pipelined } else { Order::NonPipelined };
            Transfer { operation, destination, line_bytes: u64::from(length) * u64::from(element), lines, order }
        },
    )
}

/// Legal secure transfers: 32-byte sectors, pointers of 16 bytes, apertures of the direction.
fn any_secure() -> impl Strategy<Value = Transfer> {
    let address = || (0u64..1 << 50).prop_map(|a| a * 32);
    let pointer = || (0u64..1 << 50).prop_map(|a| a * 16);
    let parts = (address(), address(), pointer(), pointer(), 1u32..1 << 22);
    (parts, any::<bool>(), 0usize..3, any::<bool>()).prop_map(
        |((inside, outside, tag, iv, bytes), encrypt, space, pipelined)| {
            let spaces = [
                (Space::Virtual, Space::Virtual),
                (Space::Physical(Aperture::LocalFb), Space::Physical(Aperture::CoherentSysmem)),
                (Space::Virtual, Space::Physical(Aperture::NonCoherentSysmem)),
            ];
            let inside = Location { address: inside, space: spaces[space].0 };
            let outside = Location { address: outside, space: spaces[space].1 };
            let (operation, destination) = if encrypt {
                (Operation::Encrypt { source: inside, tag, iv }, outside)
            } else {
                (Operation::Decrypt { source: outside, tag }, inside)
            };
            let order = if pipelined { Order::Pipelined } else { Order::NonPipelined };
            Transfer { operation, destination, line_bytes: u64::from(bytes), lines: None, order }
        },
    )
}

fn any_semaphore() -> impl Strategy<Value = Semaphore> {
    let reductions = [
        Reduction::Min,
        Reduction::Max,
        Reduction::Xor,
        Reduction::And,
        Reduction::Or,
        Reduction::Add,
        Reduction::Inc,
        Reduction::Dec,
    ];
    let reduction = prop::option::of((prop::sample::select(reductions.to_vec()), any::<bool>()));
    (0u64..1 << 53, any::<u64>(), any::<bool>(), any::<bool>(), reduction).prop_map(
        |(address, payload, wide, timestamp, reduction)| {
            let payload = if wide { payload } else { payload & u64::from(u32::MAX) };
            Semaphore { address: address * 16, payload, wide, timestamp, reduction }
        },
    )
}

fn any_launch(transfer: impl Strategy<Value = Transfer>) -> impl Strategy<Value = Command> {
    let flush = prop::option::of(prop_oneof![Just(Flush::Sys), Just(Flush::Gl)]);
    let interrupt = prop_oneof![Just(Interrupt::None), Just(Interrupt::Blocking), Just(Interrupt::NonBlocking)];
    (prop::option::of(transfer), flush, prop::option::of(any_semaphore()), interrupt).prop_map(
        |(transfer, flush, semaphore, interrupt)| Command::Launch(Launch { transfer, flush, semaphore, interrupt }),
    )
}

fn round_trip(commands: &[Command], confidential: bool) -> Vec<Command> {
    let all = [&[Command::Bind, Command::Nop(3)], commands].concat();
    let mut stream = Stream { decoder: method::Decoder::new(), lce: Lce::new(confidential) };
    let decoded = stream.decode(&encode(&all).unwrap(), &by_aperture).unwrap();
    decoded.into_iter().map(|(_, command)| command).collect()
}

proptest! {
    #[test]
    fn plain_launches_decode_to_themselves(mut commands in prop::collection::vec(any_launch(any_plain()), 0..6)) {
        commands.push(Command::WaitForIdle);
        prop_assert_eq!(round_trip(&commands, false), commands);
    }

    #[test]
    fn secure_launches_decode_to_themselves(commands in prop::collection::vec(any_launch(any_secure()), 0..6)) {
        prop_assert_eq!(round_trip(&commands, true), commands);
    }

    #[test]
    fn a_damaged_push_is_decoded_or_refused_without_panic(commands in prop::collection::vec(any_launch(any_secure()), 1..4),
                                                          flips in prop::collection::vec((any::<usize>(), 0u8..8), 1..8)) {
        let mut bytes = encode(&commands).unwrap();
        for (at, bit) in flips {
            let at = at % bytes.len();
            bytes[at] ^= 1 << bit;
        }
        let mut stream = Stream { decoder: method::Decoder::bound(), lce: Lce::new(true) };
        let _ = stream.decode(&bytes, &by_aperture);
    }
}
