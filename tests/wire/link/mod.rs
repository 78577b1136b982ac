//! The link, its ports and the root complex, through the public interface.

mod ceilings;
mod faults;
mod ide;
mod lockstep;
mod machine;
mod root;
mod speed;
mod steady;
mod timing;
mod units;
