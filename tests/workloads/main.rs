//! The shipped workloads: what they copy, by closed forms of public shapes; that each runs with and without confidential computing; what is
//! known of the systems that they stand for; and the tables in `docs/tables`.
//!
//! | file | tests |
//! | --- | --- |
//! | `runs` | each delivers with confidential computing off and on, and is slower with it |
//! | `shapes` | copies, bytes and kernels of each, and the order of swaps |
//! | `ddp` | data-parallel training: weights, buckets, slow-down over GPUs and caps |
//! | `collectives` | workloads that call collectives: counts, bytes, and what they are for |
//! | `fastrack` | for which ratios of compute to copies the published ranges come out, step by step |
//! | `guessed` | swaps that are sealed before they are asked for |
//! | `parts` | workloads of several parts: splits, partitions, compression |
//! | `tenants` | who waits for whom |
//! | `table` | the tables of workloads and designs |
//! | `replay`, `awkward` | profiles of programs, and made by hand, played again |
//! | `players` | the machine against the replay: dates of random programs, ends of shipped ones |
//! | `node` | ranks of one job, replayed together |
//! | `serving` | a serving loop against measured times between tokens; steps, host threads, changes that are played |
//! | `sampling` | sampled timing against runs of all of the work |
//! | `certified` | points of sweeps with the outcome of another against simulations of their own |
//! | `studies` | what sweeps of shipped studies say |

mod awkward;
mod certified;
mod collectives;
mod ddp;
mod fastrack;
mod guessed;
mod node;
mod players;
mod replay;
mod sampling;
mod serving;
mod shapes;
#[allow(dead_code, reason = "`campaigns` uses the rest")]
mod shared;
mod studies;
mod table;

/// Whether what takes minutes is done in full: `tests/campaigns` has files of this folder too.
const CAMPAIGN: bool = false;
