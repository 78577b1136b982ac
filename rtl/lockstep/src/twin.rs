//! A unit of `rtl/src`, elaborated with given parameters by Verilator, compiled and loaded while the program runs. Multipliers and S-boxes are
//! behavioural: those of gates take minutes to compile, and are proven equal by `rtl/flow/prove.py`.

use std::{
    env,
    ffi::{CString, c_char, c_int, c_void},
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    io,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Mutex, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};
use thiserror::Error;

/// Why there is no twin.
#[derive(Debug, Error)]
pub enum TwinError {
    /// A tool is not there.
    #[error("{0} is missing: Verilator 5 and a C++ compiler are needed (Debian: apt-get install verilator g++)")]
    Missing(&'static str),
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A tool fails.
    #[error("{tool} fails:\n{output}")]
    Tool {
        /// The tool.
        tool: &'static str,
        /// What it says.
        output: String,
    },
    /// A fault cannot be planted.
    #[error("`{0}` does not stand once in the RTL")]
    Fault(&'static str),
    /// What was compiled cannot be loaded.
    #[error("{0} cannot be loaded")]
    Load(PathBuf),
}

/// A fault to plant: text that stands once in the RTL, and what is put there.
pub type Fault = (&'static str, &'static str);

/// A module of `twins.sv` and its parameters.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Module {
    /// Its name without `twin_`.
    pub name: &'static str,
    /// Parameters by name.
    pub parameters: Vec<(&'static str, u64)>,
    /// What is wrong with it.
    pub fault: Option<Fault>,
}

const SOURCES: [&str; 8] = [
    "src/gf.sv",
    "src/ghash.sv",
    "src/aes.sv",
    "src/engine.sv",
    "src/wide.sv",
    "src/tag_queue.sv",
    "lockstep/twins.sv",
    "lockstep/twin.cpp",
];

fn rtl() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Where twins are kept: made once for sources, parameters and tools.
fn kept() -> PathBuf {
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| rtl().join("../target"), PathBuf::from);
    target.join("lockstep")
}

fn run(tool: &'static str, command: &mut Command) -> Result<Vec<u8>, TwinError> {
    let output = command.output().map_err(|_| TwinError::Missing(tool))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let text = [output.stdout, output.stderr].concat();
    Err(TwinError::Tool { tool, output: String::from_utf8_lossy(&text).into_owned() })
}

fn file<T>(path: &Path, result: io::Result<T>) -> Result<T, TwinError> {
    result.map_err(|source| TwinError::File { path: path.to_path_buf(), source })
}

const RUNTIME: &str = "#include \"verilated.cpp\"\n#include \"verilated_threads.cpp\"\n";

/// Verilator's own files, and its runtime, compiled once.
fn runtime() -> Result<(PathBuf, PathBuf), TwinError> {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let root = run("verilator", Command::new("verilator").args(["--getenv", "VERILATOR_ROOT"]))?;
    let include = Path::new(String::from_utf8_lossy(&root).trim()).join("include");
    let object = kept().join(format!("runtime-{:016x}.o", hash(&(RUNTIME, version()?))));
    if !object.exists() {
        let [source, part] = ["cc", "part"].map(|kind| object.with_extension(kind));
        file(&source, fs::write(&source, RUNTIME))?;
        let mut compiler = Command::new("g++");
        compiler.args(["-O1", "-fPIC", "-c", "-I"]).arg(&include).arg(source).arg("-o").arg(&part);
        run("g++", &mut compiler)?;
        file(&object, fs::rename(&part, &object))?;
    }
    Ok((include, object))
}

fn version() -> Result<Vec<u8>, TwinError> {
    static VERSION: OnceLock<Vec<u8>> = OnceLock::new();
    if let Some(known) = VERSION.get() {
        return Ok(known.clone());
    }
    let found = run("verilator", Command::new("verilator").arg("--version"))?;
    Ok(VERSION.get_or_init(|| found).clone())
}

fn hash(what: &impl Hash) -> u64 {
    let mut state = DefaultHasher::new();
    what.hash(&mut state);
    state.finish()
}

impl Module {
    /// The compiled twin.
    fn build(&self) -> Result<PathBuf, TwinError> {
        let folder = kept();
        file(&folder, fs::create_dir_all(&folder))?;
        let (include, runtime) = runtime()?;
        let sources: Vec<PathBuf> = SOURCES.iter().map(|name| rtl().join(name)).collect();
        let texts = sources.iter().map(|path| file(path, fs::read_to_string(path))).collect::<Result<Vec<_>, _>>()?;
        let stem = format!("{}-{:016x}", self.name, hash(&(self, &texts, version()?)));
        let library = folder.join(format!("{stem}.so"));
        if library.exists() {
            return Ok(library);
        }
        // Others may make the same one: each in a folder of its own, and the last to end is the one that stays.
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let work = folder.join(format!("{stem}.{}.{number}", std::process::id()));
        file(&work, fs::create_dir(&work))?;
        let sources = self.planted(sources, &texts, &work)?;
        let mut verilator = Command::new("verilator");
        verilator.args(["--cc", "-Wno-fatal", "-Wno-WIDTH", "-Wno-MULTIDRIVEN", "-DBEHAVIOURAL", "--prefix", "Vtwin"]);
        // Loops stay loops, and all is one file: it compiles in a tenth of the time.
        verilator.args(["--unroll-count", "4", "--output-split", "0", "--x-initial", "unique"]);
        verilator.args(self.parameters.iter().map(|(name, value)| format!("-G{name}={value}")));
        verilator.arg("--top-module").arg(format!("twin_{}", self.name)).arg("-Mdir").arg(&work);
        run("verilator", verilator.args(&sources[..SOURCES.len() - 1]))?;
        let mut whole = Vec::new();
        let mut parts: Vec<PathBuf> =
            file(&work, fs::read_dir(&work))?.filter_map(|entry| Some(entry.ok()?.path())).collect();
        parts.sort();
        parts.push(sources[SOURCES.len() - 1].clone());
        for part in parts.iter().filter(|path| path.extension().is_some_and(|kind| kind == "cpp")) {
            whole.extend(file(part, fs::read(part))?);
        }
        let (one, made) = (work.join("one.cc"), work.join("twin.so"));
        file(&one, fs::write(&one, whole))?;
        let mut compiler = Command::new("g++");
        compiler.args(["-O1", "-shared", "-fPIC", "-Wl,-z,defs", "-I"]).arg(&include).arg("-I").arg(&work);
        run("g++", compiler.arg(&one).arg(&runtime).arg("-pthread").arg("-o").arg(&made))?;
        file(&library, fs::rename(&made, &library))?;
        file(&work, fs::remove_dir_all(&work))?;
        Ok(library)
    }

    /// The sources, of which one that has a fault is a copy.
    fn planted(&self, mut sources: Vec<PathBuf>, texts: &[String], work: &Path) -> Result<Vec<PathBuf>, TwinError> {
        let Some((right, wrong)) = self.fault else { return Ok(sources) };
        if texts.iter().map(|text| text.matches(right).count()).sum::<usize>() != 1 {
            return Err(TwinError::Fault(right));
        }
        for (source, text) in sources.iter_mut().zip(texts).filter(|(_, text)| text.contains(right)) {
            *source = work.join("planted.sv");
            file(source, fs::write(&*source, text.replace(right, wrong)))?;
        }
        Ok(sources)
    }

    /// Elaborates, compiles and loads the module; its registers hold random bits.
    ///
    /// # Errors
    /// What is missing or fails.
    pub fn twin(&self, seed: u32) -> Result<Twin, TwinError> {
        let path = self.build()?;
        Twin::load(&path, (seed & 0x7fff_ffff).max(1).cast_signed()).ok_or(TwinError::Load(path))
    }
}

type Unit = *mut c_void;

unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// A unit of RTL that is clocked from here. The compiled code stays loaded.
pub struct Twin {
    unit: Unit,
    free: unsafe extern "C" fn(Unit),
    drive: unsafe extern "C" fn(Unit, *const u128, *mut u128),
    edge: unsafe extern "C" fn(Unit),
    inputs: usize,
    shown: Vec<u128>,
}

impl Twin {
    fn load(path: &Path, seed: i32) -> Option<Self> {
        const NOW: c_int = 2;
        let name = CString::new(path.as_os_str().as_encoded_bytes()).ok()?;
        // SAFETY: a path that ends in zero; what is loaded is compiled from `twin.cpp`, which defines each symbol with this type.
        unsafe {
            let library = dlopen(name.as_ptr(), NOW);
            if library.is_null() {
                return None;
            }
            let symbol = |name: &std::ffi::CStr| {
                let found = dlsym(library, name.as_ptr());
                (!found.is_null()).then_some(found)
            };
            let new: unsafe extern "C" fn(c_int) -> Unit = std::mem::transmute(symbol(c"twin_new")?);
            let size: unsafe extern "C" fn(Unit) -> usize = std::mem::transmute(symbol(c"twin_inputs")?);
            let shown: unsafe extern "C" fn(Unit) -> usize = std::mem::transmute(symbol(c"twin_outputs")?);
            let unit = new(seed);
            Some(Self {
                unit,
                free: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(Unit)>(symbol(c"twin_free")?),
                drive: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(Unit, *const u128, *mut u128)>(symbol(
                    c"twin_drive",
                )?),
                edge: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(Unit)>(symbol(c"twin_edge")?),
                inputs: size(unit),
                shown: vec![0; shown(unit)],
            })
        }
    }

    /// What the unit shows in this cycle, with these inputs.
    ///
    /// # Panics
    /// If there are not as many inputs as the module has.
    pub fn drive(&mut self, inputs: &[u128]) -> &[u128] {
        assert_eq!(inputs.len(), self.inputs, "inputs of the twin");
        // SAFETY: both arrays have the lengths that the unit says.
        unsafe { (self.drive)(self.unit, inputs.as_ptr(), self.shown.as_mut_ptr()) };
        &self.shown
    }

    /// To the next cycle.
    pub fn edge(&mut self) {
        // SAFETY: the unit lives as long as this.
        unsafe { (self.edge)(self.unit) };
    }

    /// Shows what the unit shows with these inputs and goes to the next cycle.
    pub fn step(&mut self, inputs: &[u128]) -> Vec<u128> {
        let shown = self.drive(inputs).to_vec();
        self.edge();
        shown
    }
}

impl Drop for Twin {
    fn drop(&mut self) {
        // SAFETY: nothing else holds the unit.
        unsafe { (self.free)(self.unit) };
    }
}
