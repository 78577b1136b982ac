//! What a run tells a listener, made into what people look at.
//!
//! ```text
//!   sim::Listener
//!     +-- capture     packets of links, as pcapng
//!     +-- events      every passage of every channel, as lines
//! ```

#[cfg(feature = "inside")]
pub mod capture;
pub mod ears;
pub mod events;
pub mod messages;
pub mod perfetto;
pub mod window;

pub use ears::Ears;
pub use window::Window;
