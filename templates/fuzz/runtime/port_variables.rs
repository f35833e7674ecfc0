//! Watches the port's own variables: a port keeps nothing between calls. The parent lists them (IMPLFUZZ_VARIABLES); those
//! of the library are compared and put back elsewhere.
//! Written by cargo-implfuzz.

use std::sync::OnceLock;

unsafe extern "C" {
    static implfuzz_in_port: u8;
}

static ALL: OnceLock<Vec<Variable>> = OnceLock::new();

struct Variable {
    address: usize,
    size: usize,
    name: String,
}

/// Reads the parent's list, for calls on this thread.
pub fn watch() {
    let text = std::env::var_os("IMPLFUZZ_VARIABLES").and_then(|path| std::fs::read_to_string(path).ok());
    _ = ALL.set(text.map(|text| parse(&text)).unwrap_or_default());
}

fn parse(text: &str) -> Vec<Variable> {
    let mut loaded = 0;
    let block = thread_block();
    let mut all = Vec::new();
    for line in text.lines() {
        let mut words = line.splitn(4, ' ');
        let kind = words.next().unwrap_or_default();
        let mut number = || words.next().and_then(|word| word.parse::<usize>().ok());
        let (Some(at), Some(size)) = (number(), number()) else { continue };
        let name = words.next().unwrap_or_default().to_owned();
        let address = match (kind, block) {
            ("anchor", _) => {
                loaded = (&raw const implfuzz_in_port as usize).wrapping_sub(at);
                continue;
            }
            ("static", _) => loaded.wrapping_add(at),
            ("thread", Some(block)) => block + at,
            _ => continue,
        };
        all.push(Variable { address, size, name });
    }
    all
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

/// What the variables hold before a call of the port; empty without any.
pub fn before() -> Vec<u8> {
    let all = ALL.get().map(Vec::as_slice).unwrap_or_default();
    all.iter().flat_map(bytes).copied().collect()
}

/// The first variable that a call has changed, in words.
pub fn changed(before: &[u8]) -> Option<String> {
    let mut rest = before;
    for variable in ALL.get()? {
        let (was, tail) = rest.split_at_checked(variable.size)?;
        rest = tail;
        if was != bytes(variable) {
            return Some(format!("the port changes its variable `{}`, which C does not have", variable.name));
        }
    }
    None
}

fn bytes(variable: &Variable) -> &[u8] {
    // SAFETY: a variable of this program, in memory that is never given back. The port does not run now.
    unsafe { std::slice::from_raw_parts(variable.address as *const u8, variable.size) }
}
