//! The JSON of NVIDIA's `nvbandwidth --json`, as a table of bandwidth.
//!
//! | test case | point |
//! | --- | --- |
//! | `host_to_device_memcpy_ce` | pinned h2d |
//! | `device_to_host_memcpy_ce` | pinned d2h |
//! | any other | left out, by reason |
//!
//! A point is the mean over the GPUs of the case. The file does not say whether confidential computing was on.

use super::Mode;
use crate::files::json_fault;
use serde::Deserialize;
use serde_json::Value as Json;

/// Above this, `bufferSize` is in bytes; up to it, in MiB.
const BYTES_FROM: u64 = 1 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NvBandwidth {
    pub table: String,
    pub used: Vec<String>,
    pub left_out: Vec<(String, &'static str)>,
}

#[derive(Deserialize)]
struct Whole {
    nvbandwidth: Cases,
}

#[derive(Deserialize)]
struct Cases {
    testcases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    #[serde(default)]
    status: Option<String>,
    #[serde(default)]
    bandwidth_matrix: Vec<Vec<Json>>,
    #[serde(default)]
    average: Option<f64>,
    #[serde(default, rename = "bufferSize")]
    buffer_size: Option<u64>,
}

/// Whether a text may be such a file: no table begins with a brace.
pub fn is_nvbandwidth(text: &str) -> bool {
    text.trim_start().starts_with('{')
}

/// Makes a table of what the model covers; `mode` is that in which the program ran.
pub fn nvbandwidth(text: &str, mode: Mode) -> Result<NvBandwidth, String> {
    let whole: Result<Whole, _> = serde_json::from_str(text);
    let cases = match whole {
        Ok(whole) => whole.nvbandwidth,
        Err(error) => {
            serde_json::from_str(text).map_err(|_| format!("no JSON of nvbandwidth: {}", json_fault(&error)))?
        }
    };
    let mut table = String::from("platform,mode,host_memory,direction,bytes,gb_per_s\n");
    let (mut used, mut left_out) = (Vec::new(), Vec::new());
    for case in cases.testcases {
        match case.point() {
            Ok((direction, bytes, rate)) => {
                table += &format!("nvbandwidth,{},pinned,{direction},{bytes},{rate}\n", mode.name());
                used.push(case.name);
            }
            Err(why) => left_out.push((case.name, why)),
        }
    }
    if used.is_empty() {
        return Err("none of its test cases is one that the model covers".to_owned());
    }
    Ok(NvBandwidth { table, used, left_out })
}

impl Case {
    fn point(&self) -> Result<(&'static str, u64, f64), &'static str> {
        let direction = match self.name.as_str() {
            "host_to_device_memcpy_ce" => "h2d",
            "device_to_host_memcpy_ce" => "d2h",
            name if name.contains("bidirectional") => return Err("both ways at once"),
            name if name.contains("device_to_device") => return Err("between GPUs"),
            name if name.ends_with("_sm") => return Err("copied by SMs"),
            _ => return Err("not modelled as one copy"),
        };
        if self.status.as_deref().is_some_and(|status| !status.eq_ignore_ascii_case("passed")) {
            return Err("did not pass");
        }
        let size = self.buffer_size.filter(|size| *size > 0).ok_or("has no bufferSize")?;
        let bytes = if size > BYTES_FROM { size } else { size << 20 };
        let rate = self.rate().filter(|rate| rate.is_finite() && *rate > 0.0).ok_or("has no bandwidth")?;
        Ok((direction, bytes, rate))
    }

    fn rate(&self) -> Option<f64> {
        let number = |cell: &Json| cell.as_f64().or_else(|| cell.as_str()?.trim().parse().ok());
        let cells: Vec<f64> = self.bandwidth_matrix.iter().flatten().filter_map(number).collect();
        if cells.is_empty() { self.average } else { Some(cells.iter().sum::<f64>() / cells.len() as f64) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::measured::Measured;

    const TEXT: &str = r#"{"nvbandwidth":{"CUDA Driver Version":13020,"testcases":[
        {"name":"host_to_device_memcpy_ce","status":"Passed","bandwidth_matrix":[["55.0","57.0"]],"average":9,"bufferSize":512},
        {"name":"device_to_host_memcpy_ce","status":"Passed","average":55.2,"bufferSize":67108864},
        {"name":"host_to_device_bidirectional_memcpy_ce","status":"Passed","average":50,"bufferSize":512},
        {"name":"device_to_host_memcpy_sm","status":"Passed","average":52,"bufferSize":512}]}}"#;

    #[test]
    fn the_cases_of_copy_engines_become_points_and_others_are_named() {
        let found = nvbandwidth(TEXT, Mode::Cc).unwrap();
        let points = Measured::read("m", &found.table).unwrap().points;
        let told: Vec<_> = points.iter().map(|point| (point.label.as_str(), point.measured)).collect();
        assert_eq!(told, [("cc pinned h2d 512 MiB", 56.0), ("cc pinned d2h 64 MiB", 55.2)]);
        let why: Vec<_> = found.left_out.iter().map(|(_, why)| *why).collect();
        assert_eq!(why, ["both ways at once", "copied by SMs"]);
    }

    #[test]
    fn what_is_no_such_file_is_refused() {
        for text in ["{}", "{\"nvbandwidth\":{\"testcases\":[]}}", "{\"testcases\":[{\"name\":\"x\"}]}"] {
            assert!(nvbandwidth(text, Mode::Off).is_err(), "{text}");
        }
        let failed = TEXT.replace("Passed", "Error");
        assert!(nvbandwidth(&failed, Mode::Off).is_err());
    }
}
