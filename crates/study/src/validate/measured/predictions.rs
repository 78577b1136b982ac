//! Tables of points that nobody has measured yet: what is to be predicted, and what was.

use super::{
    Kind, collectives,
    copies::{head, rate},
    point::{Experiment, Point},
    sm_kernels,
    table::{Cells, Table},
};
use crate::files::Refusal;
use std::collections::HashMap;

#[derive(Debug)]
struct Form {
    kind: Kind,
    /// Columns of a table of measurements, but for its figure.
    asked: [&'static str; 5],
    measured: &'static str,
    /// The figure of a prediction. It is not called as a measured one is, so that a prediction is never read as a measurement.
    figure: &'static str,
}

const BANDWIDTH: Form = Form {
    kind: Kind::Bandwidth,
    asked: ["platform", "mode", "host_memory", "direction", "bytes"],
    measured: "gb_per_s",
    figure: "predicted_gb_per_s",
};

const COLLECTIVES: Form = Form {
    kind: Kind::Collectives,
    asked: ["platform", "mode", "operation", "gpus", "bytes"],
    measured: "us",
    figure: "predicted_us",
};

const SM_KERNELS: Form = Form {
    kind: Kind::SmKernels,
    asked: ["platform", "kernel", "sms", "threads", "bytes"],
    measured: "bytes_per_clock_per_sm",
    figure: "predicted_bytes_per_clock_per_sm",
};

impl Form {
    /// That of a table: one of collectives names operations, one of SMs kernels.
    fn of(table: &Table) -> &'static Self {
        if table.has(&["operation"]) {
            &COLLECTIVES
        } else if table.has(&["kernel"]) {
            &SM_KERNELS
        } else {
            &BANDWIDTH
        }
    }
}

#[derive(Debug, Clone)]
pub struct Predicted {
    /// The point. Its `measured` is the predicted figure.
    pub point: Point,
    pub machine: String,
    pub machine_digest: String,
    pub sealsim: String,
}

/// The points of a table without figures, in the order of its rows; `file` is what errors call it. Their `measured` is no number.
pub fn asked(file: &str, text: &str) -> Result<Vec<Point>, Refusal> {
    let table = Table::read(file, text)?;
    let form = Form::of(&table);
    if table.has(&[form.measured]) {
        let remedy = "a prediction is made without the figure: take the column out";
        return Err(table.head_error(format!("the table has `{}`, a measured figure", form.measured), remedy));
    }
    has(&table, &form.asked)?;
    let points = table.rows().map(|row| point(form, &row, f64::NAN)).collect::<Result<Vec<_>, _>>()?;
    each_once(&table, &points)?;
    Ok(points)
}

/// The rows of a table of predictions; `file` is what errors call it.
pub fn predicted(file: &str, text: &str) -> Result<Vec<Predicted>, Refusal> {
    let table = Table::read(file, text)?;
    let form = Form::of(&table);
    has(&table, &[&form.asked[..], &[form.figure], &Predicted::ORIGIN].concat())?;
    let points =
        table.rows().map(|row| point(form, &row, row.positive(form.figure)?)).collect::<Result<Vec<_>, _>>()?;
    each_once(&table, &points)?;
    let all = points.into_iter().zip(table.rows()).map(|(point, row)| Predicted {
        point,
        machine: row.text("machine").to_owned(),
        machine_digest: row.text("machine_digest").to_owned(),
        sealsim: row.text("sealsim").to_owned(),
    });
    Ok(all.collect())
}

impl Predicted {
    /// The columns behind the figure.
    const ORIGIN: [&str; 3] = ["machine", "machine_digest", "sealsim"];

    const fn form(&self) -> &'static Form {
        match self.point.experiment {
            Experiment::Collective(_) => &COLLECTIVES,
            Experiment::SmKernel(_) => &SM_KERNELS,
            _ => &BANDWIDTH,
        }
    }

    pub const fn kind(&self) -> Kind {
        self.form().kind
    }

    pub fn columns(&self) -> impl Iterator<Item = &'static str> {
        let form = self.form();
        form.asked.into_iter().chain([form.figure]).chain(Self::ORIGIN)
    }

    pub fn cells(&self) -> impl Iterator<Item = String> {
        let own = self.form().asked.into_iter().map(|column| self.point.cells.get(column).cloned().unwrap_or_default());
        // Quotes and line ends, which a machine's name may have, would not come back as they went.
        let plain = |text: &String| text.replace(|one: char| one == '"' || one.is_control(), " ");
        let more = [&self.machine, &self.machine_digest, &self.sealsim].map(plain);
        own.chain([figure(self.point.measured)]).chain(more)
    }
}

/// With six digits that count.
fn figure(gb_per_s: f64) -> String {
    let before = if gb_per_s > 0.0 { gb_per_s.log10().floor() as i32 } else { 0 };
    let decimals = usize::try_from(5 - before).unwrap_or(0);
    format!("{gb_per_s:.decimals$}")
}

fn has(table: &Table, columns: &[&str]) -> Result<(), Refusal> {
    let lacking: Vec<_> = columns.iter().filter(|column| !table.has(&[**column])).copied().collect();
    let remedy = format!("the columns are {}", columns.join(", "));
    if lacking.is_empty() {
        Ok(())
    } else {
        Err(table.head_error(format!("no column {}", lacking.join(", ")), &remedy))
    }
}

fn point(form: &Form, row: &Cells<'_>, figure: f64) -> Result<Point, Refusal> {
    match form.kind {
        Kind::Collectives => return collectives::point(row, figure),
        Kind::SmKernels => return sm_kernels::point(row, figure),
        _ => {}
    }
    let unknown = || row.error("host_memory", "managed memory is not modelled".into(), "take the row out");
    rate(row, head(row)?.ok_or_else(unknown)?, figure)
}

/// Refuses the second of two rows of one point.
fn each_once(table: &Table, points: &[Point]) -> Result<(), Refusal> {
    let mut lines = HashMap::new();
    for (point, row) in points.iter().zip(table.rows()) {
        if let Some(first) = lines.insert(&point.cells, point.line) {
            let what = format!("{} of {} stands in line {first} already", point.label, point.platform);
            return Err(row.error("bytes", what, "give each point one row"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: &str = "platform,mode,host_memory,direction,bytes\np,cc,pinned,h2d,4096\np,off,pinned,d2h,64\n";

    #[test]
    fn a_table_without_figures_is_read_and_one_with_them_is_refused() {
        let points = asked("m", ROWS).unwrap();
        assert_eq!([&points[0].label, &points[1].label], ["cc pinned h2d 4 KiB", "off pinned d2h 64 B"]);
        for (old, new, phrase) in [
            ("bytes\n", "bytes,gb_per_s\n", "line 1: the table has `gb_per_s`"),
            ("mode,", "modes,", "line 1: no column mode"),
            ("p,off,pinned,d2h,64", "p,cc,pinned,h2d,4096.0", "line 3: cc pinned h2d 4 KiB of p stands in line 2"),
            ("off,pinned", "off,managed", "line 3: managed memory is not modelled"),
            ("4096", "0", "line 2: bytes is 0"),
        ] {
            let text = ROWS.replace(old, new);
            let text = if new.contains("gb_per_s") {
                text.replace("4096\n", "4096,1\n").replace("64\n", "64,1\n")
            } else {
                text
            };
            let error = asked("m", &text).unwrap_err().to_string();
            assert!(error.contains(phrase), "{error}");
        }
    }

    #[test]
    fn a_prediction_comes_back_as_it_was_written() {
        let point = asked("m", ROWS).unwrap().remove(0);
        let machine =
            |point| Predicted { point, machine: "x".into(), machine_digest: "ab".into(), sealsim: "1".into() };
        let one = machine(Point { measured: 0.123_456_78, ..point });
        let line = |cells: Vec<String>| cells.join(",");
        let text = format!("{}\n{}\n", one.columns().collect::<Vec<_>>().join(","), line(one.cells().collect()));
        assert!(text.ends_with("\np,cc,pinned,h2d,4096,0.123457,x,ab,1\n"), "{text}");
        let again = predicted("m", &text).unwrap().remove(0);
        assert_eq!((again.point.measured, again.machine_digest), (0.123_457, one.machine_digest));
        assert_eq!(again.point.cells, one.point.cells);
        let twice = text.clone() + text.lines().last().unwrap();
        assert!(predicted("m", &twice).unwrap_err().to_string().contains("line 3"));
        assert!(predicted("m", &text.replace("0.123457", "0")).is_err());
        assert!(predicted("m", ROWS).unwrap_err().to_string().contains("no column predicted_gb_per_s, machine"));
    }

    #[test]
    fn collectives_are_predicted_too() {
        let head = "platform,mode,operation,gpus,bytes";
        let point = asked("m", &format!("{head}\np,off,all-reduce,8,1024\n")).unwrap().remove(0);
        let point = Point { measured: 15.5, ..point };
        let one = Predicted { point, machine: "x".into(), machine_digest: "ab".into(), sealsim: "1".into() };
        let columns = one.columns().collect::<Vec<_>>().join(",");
        assert_eq!(columns, format!("{head},predicted_us,machine,machine_digest,sealsim"));
        let text = format!("{columns}\n{}\n", one.cells().collect::<Vec<_>>().join(","));
        let again = predicted("m", &text).unwrap().remove(0);
        assert_eq!((again.kind(), again.point.measured), (Kind::Collectives, 15.5));
        let kernels = "platform,kernel,sms,threads,bytes\np,ghash_tables,4,1024,1048576\n";
        assert_eq!(asked("m", kernels).unwrap()[0].label, "ghash_tables on 4 SMs");
        let error = asked("m", &format!("{head},us\np,off,all-reduce,8,1024,15\n")).unwrap_err().to_string();
        assert!(error.contains("the table has `us`"), "{error}");
    }

    #[test]
    fn figures_have_six_digits_whatever_their_size() {
        assert_eq!(
            [0.002_916_123, 54.123_456_7, 2_862.990_797, 1e9].map(figure),
            ["0.00291612", "54.1235", "2862.99", "1000000000"]
        );
    }
}
