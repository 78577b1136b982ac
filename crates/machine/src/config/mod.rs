//! From files to the units' specs: layers, provenance, checks, schema.
//!
//! ```text
//!  hw-configs/h100-nvl-tdx.toml --extends--+
//!  hw-configs/h100-sxm5-off.toml ----------+--> merged tree --> examine --> MachineSpec --> check --> Resolved
//!  hw-configs/designs/hold.toml -----------+    (every leaf     (types,                    (rules)    (parameters with
//!  --set link.max_payload=512B ------------+     knows its      units,                                 provenance,
//!                                                place)         names)                                 digest)
//! ```
//!
//! [`Layers`] says what to lay on what, [`Resolved`] is what comes out, [`Refusal`] says what is wrong and where.
//! Nothing here knows a single field by name except the rules of `check`: fields and their types are read from the
//! schema that the specs derive.

mod base;
mod bounds;
mod check;
mod cut;
mod document;
mod error;
mod examine;
mod field;
mod follow;
mod gpu;
mod history;
mod layer;
mod layers;
mod library;
mod machine;
mod merge;
mod parameter;
mod provenance;
mod quarantine;
mod rates;
mod relax;
mod resolved;
mod schema;
mod shape;
mod shipped;
mod source;
mod tree;
mod words;

pub use crate::files::{Place, Refusal, Source};
pub use crate::units::nearest;
pub use base::{Base, Varied};
pub use document::Document;
pub use field::{ConfigField, fields};
pub use gpu::{GpuSpec, Nodes};
pub use layers::{DescribedEngine, Layers};
pub use library::libraries;
pub use machine::MachineSpec;
pub use merge::DEFAULT;
pub use parameter::Parameter;
pub use provenance::{Kind, Provenance};
pub use relax::{Relaxes, relaxed_amounts, relaxes};
pub use resolved::{Design, Resolved};
pub use schema::schema;
pub use shape::quantity;
pub use shipped::{Role, SHIPPED, Shipped};
pub use tree::{Entry, Node, Table, Value};
pub use words::{paths, words};
