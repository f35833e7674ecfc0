//! Watches the port's own variables: a port keeps nothing between calls. The parent lists them (IMPLFUZZ_VARIABLES); those
//! of the library are compared and put back elsewhere. `heap::Port` marks where a call begins and ends.
//! Written by cargo-implfuzz.

use std::cell::RefCell;

unsafe extern "C" {
    static implfuzz_in_port: u8;
}

thread_local! {
    static ALL: RefCell<Vec<Variable>> = const { RefCell::new(Vec::new()) };
    /// The first that a call has changed since the last question, as its number.
    static CHANGED: RefCell<Option<usize>> = const { RefCell::new(None) };
}

struct Variable {
    address: usize,
    before: Vec<u8>,
    name: String,
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
        Some(list) => ALL.set(list),
        None => {
            eprintln!("the list of the port's variables cannot be read");
            // SAFETY: nothing has run.
            unsafe { libc::_exit(3) };
        }
    }
}

fn parse(text: &str) -> Option<Vec<Variable>> {
    let mut loaded = 0;
    let mut all = Vec::new();
    for line in text.lines() {
        let mut words = line.splitn(4, ' ');
        let kind = words.next()?;
        let at: usize = words.next()?.parse().ok()?;
        let size: usize = words.next()?.parse().ok()?;
        let address = match kind {
            "anchor" => {
                loaded = (&raw const implfuzz_in_port as usize).wrapping_sub(at);
                continue;
            }
            "static" => loaded.wrapping_add(at),
            "thread" => thread_block()? + at,
            _ => return None,
        };
        all.push(Variable { address, before: vec![0; size], name: words.next()?.to_owned() });
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

/// A call of the port begins.
pub(super) fn remember() {
    ALL.with_borrow_mut(|all| {
        for variable in all {
            // SAFETY: as in `now`; the copy is elsewhere.
            let now = unsafe { std::slice::from_raw_parts(variable.address as *const u8, variable.before.len()) };
            variable.before.copy_from_slice(now);
        }
    });
}

/// A call of the port has ended.
pub(super) fn compare() {
    let changed = ALL.with_borrow(|all| all.iter().position(|variable| variable.before != variable.now()));
    CHANGED.with_borrow_mut(|first| *first = first.or(changed));
}

/// The first variable that calls have changed since the last question, in words.
pub fn changed() -> Option<String> {
    let at = CHANGED.take()?;
    let name = ALL.with_borrow(|all| all.get(at).map(|variable| variable.name.clone()))?;
    Some(format!("the port changes its variable `{name}`, which C does not have"))
}
