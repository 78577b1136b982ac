//! The kernel, and what the units of this simulator wait for.

pub use sealsim_kernel::*;

/// Items of which a word in the event digest says all, but for the message that they are about.
macro_rules! items {
    ($($item:ty: |$it:ident| $word:expr $(, message $message:expr)?;)*) => {$(
        impl $crate::sim::Item for $item {
            $(const SELECTORS: $crate::sim::Selectors =
                $crate::sim::Selectors { messages: true, ..$crate::sim::Selectors::NONE };

            fn message(&self) -> Option<u64> {
                let $it = self;
                Some($message)
            })?

            fn event_key(&self) -> u64 {
                let $it = self;
                $word
            }
        }
    )*};
}
pub(crate) use items;

macro_rules! stalls {
    ($($stall:ident $name:literal $meaning:literal)*) => {
        /// What a unit that could work is waiting for: every cycle of every unit is busy, idle or one of these.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Stall {
            $(#[doc = $meaning] $stall,)*
        }

        impl Stall {
            /// Every stall, in the order of their numbers.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$stall),*];
            /// Their names as outputs print them.
            pub const NAMES: &[&str] = &[$($name),*];
            /// What a unit waits for in each.
            pub const MEANINGS: &[&str] = &[$($meaning),*];
        }
    };
}

stalls! {
    Credit "credit" "flow-control credits of the link partner"
    ReadTags "read_tags" "a free PCIe tag for a read request"
    OutstandingReads "outstanding_reads" "fewer reads outstanding: the copy engine has as many as it may"
    ReadBuffer "read_buffer" "room in the read buffer, all of which is reserved for reads under way"
    LinkBusy "link_busy" "room in the link's transmit queue"
    Recovery "recovery" "the link, which is in Recovery"
    ReplayFull "replay_full" "room in the replay buffer"
    ReadData "read_data" "read data under way"
    TagQueueFull "tag_queue_full" "a free entry in the tag queue"
    AuthDependency "auth_dependency" "a verdict that later work depends on"
    AesBusy "aes_busy" "AES keystream"
    GhashBusy "ghash_busy" "the GHASH unit"
    Quarantine "quarantine" "room in the quarantine buffer"
    HbmBusy "hbm_busy" "device memory"
    ReadsInService "reads_in_service" "a free place for a read among those that the root complex serves at once"
    WritesInService "writes_in_service" "a free place for a write among those that the root complex serves at once"
    HostCipher "host_cipher" "the CPU cipher"
    StagingFull "staging_full" "a free staging slot, while every job of the cipher has a thread"
    PushesInFlight "pushes_in_flight" "fewer submissions in flight, while every job of the cipher has a thread: the driver has as many as it may"
    MessagesInFlight "messages_in_flight" "fewer messages in flight in the copy engines"
    StripesInFlight "stripes_in_flight" "fewer stripes of plain copies in flight in the copy engines"
    Submission "submission" "the submission of work to the GPU"
    Completion "completion" "the completion of work by the GPU"
    Order "order" "an earlier transfer that this one is ordered after"
    Aggregate "aggregate" "a TLP that could share a MAC (IDE)"
    EngineBusy "engine_busy" "the engine that PCEs share, which has bytes of this one: it works for another PCE, or on them"
    Collective "collective" "other GPUs: nothing runs but collectives"
}

impl Stall {
    /// What a unit waits for, if it does.
    pub fn of(activity: Activity) -> Option<Self> {
        activity.stall().and_then(|number| Self::ALL.get(usize::from(number)).copied())
    }

    /// The stalls of an account, those that occurred.
    pub fn in_account(account: &Account) -> impl Iterator<Item = (Self, u64)> + '_ {
        account.stalls().filter_map(|(number, cycles)| Some((*Self::ALL.get(usize::from(number))?, cycles)))
    }

    /// The name as outputs print it.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

impl From<Stall> for u8 {
    #[inline(always)]
    fn from(stall: Stall) -> Self {
        stall as Self
    }
}

/// What a unit is, as outputs print it.
pub fn activity_name(activity: Activity) -> &'static str {
    activity.name(Stall::NAMES)
}

// Accounts have a place for each.
const _: () = assert!(Stall::ALL.len() <= Activity::STALLS);
