//! The units of a machine and the parts of them that have accounts, by number and by name.

use crate::sim::UnitId;

/// Numbers of the units; PCEs follow, those that read host memory first.
pub(super) const DRIVER: UnitId = UnitId(0);
pub(super) const CIPHER: UnitId = UnitId(1);
pub(super) const ROOT_COMPLEX: UnitId = UnitId(2);
pub(super) const HOST_PORT: UnitId = UnitId(3);
pub(super) const GPU_PORT: UnitId = UnitId(4);
pub(super) const SCHEDULER: UnitId = UnitId(5);
pub(super) const FRONT_END_READ: UnitId = UnitId(6);
pub(super) const FRONT_END_WRITE: UnitId = UnitId(7);
pub(super) const COMPUTE: UnitId = UnitId(8);
pub(super) const TAG_QUEUE: UnitId = UnitId(9);
pub(super) const HBM: UnitId = UnitId(10);
pub(super) const FIRST_PCE: u8 = 11;

/// Parts of units with accounts of their own, by place; the engines of PCEs follow.
pub(super) const METERS: [&str; 4] =
    ["host.root_complex.reads", "host.root_complex.writes", "gpu.hbm.writes", "gpu.hbm.reads"];

/// SMs that seal and open; where they do, they follow the PCEs.
pub(super) const SMS: &str = "gpu.sm";

/// The engine that PCEs share; where there is one, it follows them too. No machine has both.
pub(super) const ENGINE: &str = "gpu.engine";

/// The front ends, of the LCE that reads host memory and of the one that writes it.
pub(super) const FRONT_ENDS: [(UnitId, &str); 2] =
    [(FRONT_END_READ, "gpu.front_end_read"), (FRONT_END_WRITE, "gpu.front_end_write")];
