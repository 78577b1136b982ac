//! `sealsim new-machine`: a machine file from what is known of a machine, and what to measure on it.

mod advice;

use super::{Failure, output};
use crate::{
    config::{Layers, Resolved},
    files::WholeFile,
    pcie::rate::{GENERATIONS, WIDTHS},
    units::{Bytes, BytesPerCycle, Frequency},
};
use advice::Advice;
use clap::Args;
use miette::miette;
use std::{io::Write, path::PathBuf};

/// Writes a machine file from a few values, and says what to measure to find the others.
#[derive(Debug, Args)]
#[command(after_long_help = "\
The file goes to standard output: a layer over the machine of --from, with what the options say. What they do not say is as there, and so only \
as right as the two machines are alike.

Then the program says, on standard error, which copies to measure in which order, so that `sealsim calibrate` can find what sets the machine's rates. \
It simulates how much each copy says about each parameter. Measurements are assumed to scatter by --scatter. With --stages it writes the stage file \
for `calibrate`.

Measure copies of pinned memory back to back, as bandwidthTest of the CUDA samples and nvbandwidth do, and write a CSV file with the columns \
platform,mode,host_memory,direction,bytes,gb_per_s, for example `mine,cc,pinned,h2d,67108864,3.03`; mode is cc or off.

Exit status: 0 written; 2 wrong arguments; 3 wrong configuration; 4 a file that cannot be written.

Examples:
  sealsim new-machine --from h100-nvl-tdx --link gen4x8 --cipher \"8 GB/s\" > mine.toml
  sealsim new-machine --from b200-tdx --gpus 8 --name my-node --advice off > node.toml
  sealsim new-machine --link gen5x16 --stages mine-stages.toml > mine.toml
  sealsim calibrate mine-stages.toml --measured mine.csv --hw mine.toml --write mine.toml")]
pub struct Arguments {
    /// The machine to start from: a TOML file, or the name of a shipped one
    #[arg(long, value_name = "CONFIG", default_value = "h100-nvl-tdx")]
    from: String,
    /// The link: generation and lanes, for example gen4x8
    #[arg(long, value_name = "genGxL", value_parser = read_link)]
    link: Option<(u32, u32)>,
    /// What one core seals and opens, for example "8 GB/s"
    #[arg(long, value_name = "RATE", value_parser = read_rate)]
    cipher: Option<u64>,
    /// Clock of the CPU's cores, in which the cipher's rate is written, for example "2.5 GHz"
    #[arg(long, value_name = "CLOCK")]
    clock: Option<Frequency>,
    /// How many GPUs, each with such a link
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    gpus: Option<u16>,
    /// Name of the machine
    #[arg(long, default_value = "mine")]
    name: String,
    /// Whether to say what to measure
    #[arg(long, value_enum, default_value_t = Said::On)]
    advice: Said,
    /// Scatter of one measurement, in percent of its value
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0, value_parser = read_percent)]
    scatter: f64,
    /// Write the stage file for `sealsim calibrate` here
    #[arg(long, value_name = "FILE")]
    stages: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Said {
    On,
    Off,
}

fn read_link(text: &str) -> Result<(u32, u32), String> {
    let parts = text.strip_prefix("gen").and_then(|text| text.split_once('x'));
    let numbers = parts.and_then(|(generation, lanes)| Some((generation.parse().ok()?, lanes.parse().ok()?)));
    match numbers {
        Some((generation, lanes)) if GENERATIONS.contains(&generation) && WIDTHS.contains(&lanes) => {
            Ok((generation, lanes))
        }
        Some(_) => Err("generations are 3 to 6, lanes 1, 2, 4, 8 and 16".into()),
        None => Err("write generation and lanes, for example gen4x8".into()),
    }
}

fn read_rate(text: &str) -> Result<u64, String> {
    let of_a_second = text.trim().strip_suffix("/s").ok_or("write bytes per second, for example \"8 GB/s\"")?;
    let Bytes(rate) = of_a_second.parse().map_err(|error: crate::units::QuantityError| error.to_string())?;
    if rate == 0 { Err("a cipher that does nothing".into()) } else { Ok(rate) }
}

fn read_percent(text: &str) -> Result<f64, String> {
    let percent: f64 = text.parse().map_err(|_| "write a number, for example 2")?;
    if (0.01..=50.0).contains(&percent) { Ok(percent) } else { Err("from 0.01 to 50 percent".into()) }
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    output::refuse_stream("--stages", arguments.stages.as_deref())?;
    let from = Layers::new(&arguments.from).resolve()?;
    let settings = arguments.settings(&from)?;
    let layers = settings
        .iter()
        .fold(Layers::new(&arguments.from), |layers, (path, value)| layers.set(format!("{path}={value}")));
    let machine = layers.resolve()?;
    // Before the simulations, so that a place where nothing can be written is refused at once.
    let stages = arguments.stages.as_deref().map(WholeFile::create).transpose().map_err(Failure::of_file)?;
    let asked = arguments.advice == Said::On || stages.is_some();
    let advice = asked.then(|| Advice::of(&machine, arguments.scatter / 100.0)).transpose()?;
    if let (Some(mut file), Some(advice)) = (stages, &advice) {
        file.write_all(advice.stages().as_bytes()).and_then(|()| file.keep()).map_err(Failure::of_file)?;
    }
    output::print(&arguments.text(&from, &settings));
    if let Some(advice) = advice {
        output::complain(format_args!("{}", advice.text(arguments.stages.as_deref())));
    }
    Ok(())
}

impl Arguments {
    /// What the options say, by path, as TOML values.
    fn settings(&self, from: &Resolved) -> Result<Vec<(&'static str, String)>, Failure> {
        let quoted = |text: String| toml::Value::String(text).to_string();
        let mut settings = Vec::new();
        let clock = self.clock.unwrap_or(from.machine.cpu.clock);
        if let Some(clock) = self.clock {
            settings.push(("cpu.clock", quoted(clock.to_string())));
        }
        if let Some(rate) = self.cipher {
            let thousandths = u128::from(rate) * 1000 / u128::from(clock.0.max(1));
            let rate = u64::try_from(thousandths).ok().filter(|rate| *rate > 0).map(BytesPerCycle);
            let too_slow =
                || Failure::Usage(miette!("--cipher: less than a thousandth of a byte in a cycle of {clock}"));
            let rate = quoted(rate.ok_or_else(too_slow)?.to_string());
            settings.extend([("cipher.seal_rate", rate.clone()), ("cipher.open_rate", rate)]);
        }
        if let Some((generation, lanes)) = self.link {
            settings.extend([("link.generation", generation.to_string()), ("link.lanes", lanes.to_string())]);
        }
        if let Some(gpus) = self.gpus {
            settings.push(("gpu", format!("[{{ count = {gpus} }}]")));
        }
        Ok(settings)
    }

    fn text(&self, from: &Resolved, settings: &[(&'static str, String)]) -> String {
        let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
        let above = from.machine.name.as_str();
        let summary = format!("as {above}, but for what this file says");
        let mut text = format!(
            "# A machine made by `sealsim new-machine`. What it does not say is as in {above}.\n\
             # `sealsim describe` shows every value, and where it comes from.\n\n\
             extends = {}\nname = {}\nsummary = {}\n",
            quoted(&self.from),
            quoted(&self.name),
            quoted(&summary),
        );
        for (path, value) in settings {
            text.push_str(&format!("{path} = {value}\n"));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_rates_are_read_or_refused() {
        assert_eq!(read_link("gen4x8"), Ok((4, 8)));
        for wrong in ["gen2x8", "gen4x12", "4x8", "gen4", "genx", "gen4x", "gen-4x8", ""] {
            assert!(read_link(wrong).is_err(), "{wrong}");
        }
        assert_eq!(read_rate("8 GB/s"), Ok(8_000_000_000));
        for wrong in ["8", "8 GB", "GB/s", "0 GB/s", "-1 GB/s", "8 Gb/s", "/s"] {
            assert!(read_rate(wrong).is_err(), "{wrong}");
        }
        assert!(read_percent("2").is_ok() && read_percent("0").is_err() && read_percent("nan").is_err());
    }
}
