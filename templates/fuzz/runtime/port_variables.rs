//! Watches the port's variables: a port keeps nothing between calls. The parent lists them (IMPLFUZZ_VARIABLES). Those of
//! the library that IMPLFUZZ_COMPARED names are compared and put back elsewhere. `heap::Port` marks where a call ends.
//! Written by cargo-implfuzz.

use std::sync::Mutex;

unsafe extern "C" {
    static implfuzz_in_port: u8;
}

/// Not of the thread: std allocates for a thread's variables when it first meets them, and that might be in a call, whose
/// allocations are counted.
static WATCHED: Mutex<Watched> = Mutex::new(Watched { all: Vec::new(), changed: None });

struct Watched {
    all: Vec<Variable>,
    /// The first that a call has changed since the last question, as its number.
    changed: Option<usize>,
}

struct Variable {
    address: usize,
    before: Vec<u8>,
    /// What a finding says of it.
    told: String,
}

impl Variable {
    fn now(&self) -> &[u8] {
        // SAFETY: a variable of this program, in memory that is never given back. The port does not run now.
        unsafe { std::slice::from_raw_parts(self.address as *const u8, self.before.len()) }
    }
}

/// Reads the parent's list, for calls on this thread. A run by hand has none. One that cannot be read ends the process:
/// a port would seem to be watched.
pub fn watch() {
    let Some(path) = std::env::var_os("IMPLFUZZ_VARIABLES") else { return };
    match std::fs::read_to_string(path).ok().and_then(|text| parse(&text)) {
        Some(list) => with(|watched| watched.all = list),
        None => {
            eprintln!("the list of the port's variables cannot be read");
            // SAFETY: nothing has run.
            unsafe { libc::_exit(3) };
        }
    }
}

fn parse(text: &str) -> Option<Vec<Variable>> {
    let compared = std::env::var("IMPLFUZZ_COMPARED").unwrap_or_default();
    let mut loaded = 0;
    let mut all = Vec::new();
    for line in text.lines() {
        let mut words = line.splitn(4, ' ');
        let kind = words.next()?;
        let at: usize = words.next()?.parse().ok()?;
        let size: usize = words.next()?.parse().ok()?;
        let name = words.next()?;
        let own = || format!("the port changes its variable `{name}`, which C does not have");
        let (address, told) = match kind {
            "anchor" => {
                loaded = (&raw const implfuzz_in_port as usize).wrapping_sub(at);
                continue;
            }
            "library" if compared.split(' ').any(|compared| compared == name) => continue,
            "library" => (
                loaded.wrapping_add(at),
                format!("the port changes the library's variable `{name}`, which C leaves as it is"),
            ),
            "static" => (loaded.wrapping_add(at), own()),
            "thread" => (thread_block()? + at, own()),
            _ => return None,
        };
        let mut variable = Variable { address, before: vec![0; size], told };
        variable.before = variable.now().to_vec();
        all.push(variable);
    }
    Some(all)
}

/// Where this thread's variables of the program are, if it has any.
fn thread_block() -> Option<usize> {
    unsafe extern "C" fn first(info: *mut libc::dl_phdr_info, _: usize, block: *mut libc::c_void) -> libc::c_int {
        // SAFETY: the program comes first; both are valid during the call.
        unsafe { *block.cast::<usize>() = (*info).dlpi_tls_data as usize };
        1
    }
    let mut block = 0usize;
    // SAFETY: `first` only writes to `block`.
    unsafe { libc::dl_iterate_phdr(Some(first), (&raw mut block).cast()) };
    (block != 0).then_some(block)
}

/// A call of the port has ended.
pub(super) fn compare() {
    with(|watched| {
        let first = watched.all.iter().position(|variable| variable.before != variable.now());
        for variable in watched.all.iter_mut().skip(first.unwrap_or(usize::MAX)) {
            variable.before = variable.now().to_vec();
        }
        watched.changed = watched.changed.or(first);
    });
}

/// The first variable that calls have changed since the last question, in words.
pub fn changed() -> Option<String> {
    with(|watched| Some(watched.all.get(watched.changed.take()?)?.told.clone()))
}

fn with<T>(work: impl FnOnce(&mut Watched) -> T) -> T {
    work(&mut WATCHED.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
}
