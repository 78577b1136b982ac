//! `sealsim.Engine`: the structural AES-GCM engine, cycle by cycle.

use super::fault::Fault;
use pyo3::{
    prelude::*,
    types::{PyBytes, PyDict},
};
use sealsim::{
    aead::spec::EngineSpec,
    config::Layers,
    gcm::{
        engine::{Engine as Structural, EngineError, Event, Phase},
        message::SealOpen,
        spec::GcmSpec,
    },
    observe::registers::Names,
};

/// An engine, its spec, and the names of its registers once they have been asked for.
#[pyclass]
#[derive(Debug)]
pub struct Engine {
    engine: Structural,
    spec: GcmSpec,
    names: Option<Names>,
    events: Vec<(u64, Event)>,
}

#[pymethods]
impl Engine {
    #[new]
    fn new(py: Python<'_>, config: &str, settings: Vec<String>, key_bits: Option<u32>) -> PyResult<Self> {
        Self::built(config, &settings, key_bits).map_err(|fault| fault.raised(py))
    }

    fn load_key(&mut self, py: Python<'_>, key: &[u8]) -> PyResult<()> {
        self.engine.load_key(key).map_err(|error| refused(py, error))
    }

    fn start(&mut self, py: Python<'_>, iv: &[u8], aad: &[u8], text_bytes: u64, open: bool) -> PyResult<()> {
        let direction = if open { SealOpen::Open } else { SealOpen::Seal };
        self.engine.start(iv, aad, text_bytes, direction).map_err(|error| refused(py, error))
    }

    fn offer(&mut self, text: &[u8]) {
        self.engine.offer(text);
    }

    /// Works a cycle; gives what happened as (cycle, kind, value).
    fn step<'py>(&mut self, py: Python<'py>) -> PyResult<Vec<(u64, &'static str, Bound<'py, PyAny>)>> {
        self.events.clear();
        self.engine.step(&mut self.events);
        self.events.iter().map(|(cycle, event)| shown(py, *cycle, event)).collect()
    }

    #[getter]
    fn cycle(&self) -> u64 {
        self.engine.cycle()
    }

    #[getter]
    fn idle(&self) -> bool {
        self.engine.idle()
    }

    #[getter]
    fn key_bits(&self) -> u32 {
        self.spec.key_bits
    }

    /// Tags of a message: one, but where each of several chains has its own.
    #[getter]
    fn tags(&self) -> u32 {
        self.spec.ghash.tags()
    }

    /// The engine's structure, as JSON.
    fn spec(&self) -> PyResult<String> {
        serde_json::to_string(&self.spec).map_err(|error| pyo3::exceptions::PyRuntimeError::new_err(error.to_string()))
    }

    /// What each register that holds a value holds, by its path.
    fn registers<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        if self.names.is_none() {
            self.names = py.detach(|| Names::of(&self.spec));
        }
        let names = self.names.as_ref().ok_or_else(|| {
            Fault::simulation("the registers of this engine have no names: its control never lets a message end")
                .raised(py)
        })?;
        let registers = PyDict::new(py);
        for (name, value) in names.read(&mut self.engine) {
            registers.set_item(format!("{}.{}", name.scope, name.name), value)?;
        }
        Ok(registers)
    }
}

impl Engine {
    fn built(config: &str, settings: &[String], key_bits: Option<u32>) -> Result<Self, Fault> {
        let path = |setting: &String| match setting.starts_with("engine.") {
            true => setting.clone(),
            false => format!("engine.{setting}"),
        };
        let mut spec = match settings.iter().map(path).fold(Layers::new(config), Layers::set).resolve_standalone()? {
            EngineSpec::Gcm(spec) => spec,
            EngineSpec::Other(_) => {
                let text = format!("`{config}` has another AEAD than AES-GCM, and only AES-GCM engines can be stepped");
                return Err(Fault::config(text).help("`sealsim engine` runs it as a whole"));
            }
        };
        spec.key_bits = key_bits.unwrap_or(spec.key_bits);
        let engine = Structural::new(&spec).map_err(Fault::config)?;
        Ok(Self { engine, spec, names: None, events: Vec::new() })
    }
}

fn refused(py: Python<'_>, error: EngineError) -> PyErr {
    Fault::usage(error).raised(py)
}

fn shown<'py>(py: Python<'py>, cycle: u64, event: &Event) -> PyResult<(u64, &'static str, Bound<'py, PyAny>)> {
    let (kind, value) = match event {
        Event::KeyReady => ("key_ready", py.None().into_bound(py)),
        Event::Phase(phase) => ("phase", named(*phase).into_pyobject(py)?.into_any()),
        Event::Aad => ("aad", py.None().into_bound(py)),
        Event::Taken(blocks) => ("taken", blocks.into_pyobject(py)?.into_any()),
        Event::Text(text) => ("text", PyBytes::new(py, text).into_any()),
        Event::ChainTag(_, tag) => ("chain_tag", PyBytes::new(py, tag).into_any()),
        Event::Tag(tag) => ("tag", PyBytes::new(py, tag).into_any()),
    };
    Ok((cycle, kind, value))
}

const fn named(phase: Phase) -> &'static str {
    match phase {
        Phase::Mask => "mask",
        Phase::Aad => "aad",
        Phase::Text => "text",
        Phase::Length => "length",
    }
}
