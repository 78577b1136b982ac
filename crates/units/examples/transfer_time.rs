//! How long a transfer takes, with every quantity read as people write it. `cargo run -p sealsim-units --example transfer_time`

use sealsim_units::{ByteRate, Bytes, BytesPerCycle, Cycles, Femtos, Frequency, QuantityError};

fn main() -> Result<(), QuantityError> {
    let size: Bytes = "1 MiB".parse()?;
    let network: ByteRate = "100 Gbit/s".parse()?;
    println!("{size} at {network} take {}", network.time_for(size.0));

    let (engine, clock): (BytesPerCycle, Frequency) = ("51.2 B/cycle".parse()?, "1.755 GHz".parse()?);
    let cycles = Cycles(engine.cycles_for(size.0));
    println!("an engine of {engine} needs {cycles}, at {clock} {:.2} us", cycles.0 as f64 / clock.0 as f64 * 1e6);

    // Sums are exact, and an operator panics where a checked form says that there is no such time.
    let limit: Femtos = "90 us".parse()?;
    println!("within {limit}: {:?}", limit.checked_sub(network.time_for(size.0)).map(|rest| rest.to_string()));

    for refused in ["1048576", "0.3 B", "1 MHz"] {
        println!("{}", refused.parse::<Bytes>().unwrap_err());
    }
    Ok(())
}
