//! What is printed of a message that was compared with software AES-GCM and a vector.

use crate::cli::Failure;
use crate::gcm::message::SealOpen;
use crate::gcm::stages::{Stage, StageValue};
use crate::validate::vectors::{EngineParts, Judgement, VectorParts};
use miette::miette;
use std::io::{self, Write};

pub(super) type Engine = EngineParts;

/// Where a stage is, in words.
pub(in crate::cli) fn place(stage: &StageValue) -> String {
    let StageValue { of, block, lane, round, unit, index, .. } = stage;
    let mut words: Vec<String> = of.iter().map(|of| (*of).to_owned()).collect();
    words.extend(block.map(|block| match of {
        Some(_) => block.to_string(),
        None => format!("block {block}"),
    }));
    words.extend(lane.filter(|_| stage.stage != Stage::H).map(|lane| format!("lane {lane}")));
    words.extend(round.map(|round| format!("round {round}")));
    words.extend(match stage.stage {
        Stage::Product | Stage::Accumulator => index.map(|index| match unit {
            Some(unit) if *unit > 0 => format!("{unit}.{index}"),
            _ => index.to_string(),
        }),
        Stage::Power => index.map(|index| match unit {
            Some(unit) if *unit > 0 => format!("H^{index}, unit {unit}"),
            _ => format!("H^{index}"),
        }),
        _ => unit.filter(|unit| *unit > 0).map(|chain| format!("chain {chain}")),
    });
    words.join(" ")
}

/// What the engine gives is AES-GCM's or not, and what is said of it or not.
pub(in crate::cli) fn summary(out: &mut dyn Write, judgement: &Judgement, has_vector: bool) -> io::Result<()> {
    match &judgement.engine {
        None => {
            let stages = judgement.recording.stages.iter().filter(|stage| stage.stage != Stage::Accumulator).count();
            writeln!(out, "{:12}agrees in all of {stages} stages", "software")?;
        }
        Some(EngineParts { got, expected }) => {
            let (stage, of, cycle) = (got.stage.name(), place(got), got.cycle);
            writeln!(out, "software    parts at {stage} {of}, cycle {cycle}: the engine is wrong")?;
            writeln!(out, "  engine    {}\n  software  {expected}", hex::encode(&got.value))?;
        }
    }
    let said = if has_vector { "vector" } else { "--tag" };
    match &judgement.vector {
        None if has_vector => writeln!(out, "{said:12}agrees"),
        None => Ok(()),
        Some(parts) => parting(out, said, judgement, parts),
    }
}

/// Where a vector parts from the engine, what agrees before it, and who is wrong.
fn parting(out: &mut dyn Write, said: &str, judgement: &Judgement, parts: &VectorParts) -> io::Result<()> {
    let (input, output) = match judgement.direction {
        SealOpen::Seal => ("plaintext", "ciphertext"),
        SealOpen::Open => ("ciphertext", "plaintext"),
    };
    let sound = judgement.engine.is_none();
    match parts {
        VectorParts::Length { got, expected } => {
            writeln!(out, "{said:12}parts in its {output}: {expected} B, and {got} B of {input} give {got}")
        }
        VectorParts::TextOut { block, bytes, cycle, got, expected, differing, blocks, .. } => {
            let cycle = cycle.map_or_else(String::new, |cycle| format!(", cycle {cycle}"));
            writeln!(out, "{said:12}parts in its {output} at block {block} (bytes {}..{}){cycle}", bytes.0, bytes.1)?;
            writeln!(out, "  engine    {got}\n  {said:10}{expected}")?;
            if let VectorParts::TextOut { keystream_expected, keystream_got, .. } = parts {
                writeln!(out, "  keystream {keystream_got}\n  of {said:7}{keystream_expected} ({input} XOR {output})")?;
            }
            let before =
                if *block > 0 { format!(", keystream and {output} of blocks before {block}") } else { String::new() };
            agreed(out, sound, &format!("H, powers, J0{before}"))?;
            if !sound {
                return Ok(());
            }
            match (differing, blocks) {
                (differing, blocks) if differing == blocks && *blocks > 1 => {
                    writeln!(
                        out,
                        "  so        key or IV of the vector is another than its {output} was made with: all blocks differ"
                    )
                }
                _ => writeln!(
                    out,
                    "  so        the vector's {input} or {output} is wrong: {differing} of {blocks} blocks differ"
                ),
            }
        }
        VectorParts::Tag { cycle, got, expected } => {
            writeln!(out, "{said:12}parts at its tag, cycle {cycle}\n  engine    {got}\n  {said:10}{expected}")?;
            let text = match (judgement.direction, judgement.recording.output.is_empty()) {
                (SealOpen::Seal, false) => ", keystream, ciphertext, GHASH",
                (SealOpen::Open, false) => ", keystream, GHASH",
                (_, true) => ", GHASH",
            };
            agreed(out, sound, &format!("H, powers, J0{text}, mask"))?;
            match (sound, judgement.direction) {
                (false, _) => Ok(()),
                (true, SealOpen::Seal) => writeln!(out, "  so        the vector's tag or AAD is wrong"),
                (true, SealOpen::Open) => {
                    writeln!(out, "  so        the tag does not belong to this key, IV, AAD and ciphertext")
                }
            }
        }
    }
}

fn agreed(out: &mut dyn Write, sound: bool, what: &str) -> io::Result<()> {
    match sound {
        true => writeln!(out, "  before    {what} agree with software AES-GCM"),
        false => writeln!(out, "  before    the engine parts from software AES-GCM (see above)"),
    }
}

pub(in crate::cli) fn verdict(name: &str, judgement: &Judgement) -> Result<(), Failure> {
    match (&judgement.engine, &judgement.vector) {
        (Some(parts), _) => {
            let (stage, cycle) = (parts.got.stage.name(), parts.got.cycle);
            Err(Failure::Verification(miette!("the engine is not AES-GCM: {stage} in cycle {cycle} is wrong")))
        }
        (None, Some(_)) => Err(Failure::Verification(miette!("{name}: the engine's result is another than was given"))),
        (None, None) => Ok(()),
    }
}
