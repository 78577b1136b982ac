//! What stalls mean, for people.

use crate::sim::Stall;

/// What a unit waits for in a stall.
pub const fn stall_meaning(stall: Stall) -> &'static str {
    match stall {
        Stall::Credit => "flow-control credits of the link partner",
        Stall::ReadTags => "a free PCIe tag for a read request",
        Stall::OutstandingReads => "fewer reads outstanding: the copy engine has as many as it may",
        Stall::ReadBuffer => "room in the read buffer, all of which is reserved for reads under way",
        Stall::LinkBusy => "room in the link's transmit queue",
        Stall::Recovery => "the link, which is in Recovery",
        Stall::ReplayFull => "room in the replay buffer",
        Stall::ReadData => "read data under way",
        Stall::TagQueueFull => "a free entry in the tag queue",
        Stall::AuthDependency => "a verdict that later work depends on",
        Stall::AesBusy => "AES keystream",
        Stall::GhashBusy => "the GHASH unit",
        Stall::Quarantine => "room in the quarantine buffer",
        Stall::HbmBusy => "device memory",
        Stall::ReadsInService => "a free place for a read among those that the root complex serves at once",
        Stall::WritesInService => "a free place for a write among those that the root complex serves at once",
        Stall::HostCipher => "the CPU cipher",
        Stall::StagingFull => "a free staging slot, while every job of the cipher has a thread",
        Stall::PushesInFlight => {
            "fewer submissions in flight, while every job of the cipher has a thread: the driver has as many as it may"
        }
        Stall::MessagesInFlight => "fewer messages in flight in the copy engines",
        Stall::StripesInFlight => "fewer stripes of plain copies in flight in the copy engines",
        Stall::Submission => "the submission of work to the GPU",
        Stall::Completion => "the completion of work by the GPU",
        Stall::Order => "an earlier transfer that this one is ordered after",
        Stall::Aggregate => "a TLP that could share a MAC (IDE)",
        Stall::EngineBusy => {
            "the engine that PCEs share, which has bytes of this one: it works for another PCE, or on them"
        }
        Stall::Collective => "other GPUs: nothing runs but collectives",
    }
}
