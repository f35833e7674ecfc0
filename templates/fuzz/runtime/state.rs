//! The library's variables. C and the port have separate copies. Before a call both are set to the input's
//! values; after it both are read, compared and reset, so that no call sees the changes of an earlier one.

use super::codec::{Reader, Writer, choice, choose};
use super::digest::Digest;
use super::value_kind::Kind;
use super::plain::{Fields, Plain};
use super::record::Record;
use super::report::Parts;

/// The values in an input; `None` for the value with which C starts.
pub type Chosen = Vec<Option<Vec<u8>>>;
/// The bytes of all variables, in order.
pub type Held = Vec<Vec<u8>>;

/// One variable, with both copies.
pub struct Global {
    name: &'static str,
    c: *mut u8,
    port: *mut u8,
    kind: Kind,
    vary: bool,
    /// The only valid values of an enum; empty if all values are valid.
    values: &'static [i64],
    /// It has pointers to functions: addresses, which another process does not have.
    has_functions: bool,
}

// SAFETY: a target runs in one thread.
unsafe impl Sync for Global {}
// SAFETY: as above.
unsafe impl Send for Global {}

impl Global {
    pub fn of(
        name: &'static str,
        kind: Kind,
        (c, port): (*mut u8, *mut u8),
        vary: bool,
        values: &'static [i64],
    ) -> Self {
        Self { name, c, port, kind, vary, values, has_functions: false }
    }

    /// A variable with pointers to functions, which keeps C's initial value.
    pub fn of_functions<T, U>(name: &'static str, (c, port): (*mut T, *mut U)) -> Self {
        assert_eq!(size_of::<T>(), size_of::<U>(), "`{name}` has another size in Rust");
        let kind = Kind {
            size: size_of::<T>(),
            decode: |_| Vec::new(),
            encode: |_, _| {},
            same: |a, b| a == b,
            show: |_| "pointers to functions".to_owned(),
            plain: |_| Plain::Null,
            of_plain: |_| Err("pointers to functions have no text".to_owned()),
            digest: |held, digest| digest.bytes(held),
            boundaries: Vec::new,
        };
        let (c, port) = (c.cast(), port.cast());
        Self { name, c, port, kind, vary: false, values: &[], has_functions: true }
    }

    fn at(&self, side: Side) -> *mut u8 {
        match side {
            Side::C => self.c,
            Side::Port => self.port,
        }
    }

    /// The bytes of an enumerator in this variable.
    fn one(&self, value: i64) -> Vec<u8> {
        value.to_le_bytes()[..self.kind.size.min(8)].to_vec()
    }

    fn decode(&self, reader: &mut Reader) -> Vec<u8> {
        if self.values.is_empty() { (self.kind.decode)(reader) } else { self.one(choose(reader, self.values)) }
    }

    fn encode(&self, held: &[u8], writer: &mut Writer) {
        if self.values.is_empty() {
            return (self.kind.encode)(held, writer);
        }
        let all: Held = self.values.iter().map(|value| self.one(*value)).collect();
        let all: Vec<&[u8]> = all.iter().map(Vec::as_slice).collect();
        choice(writer, &all, &held);
    }

    fn boundaries(&self) -> Chosen {
        let all = match self.values {
            _ if !self.vary => Vec::new(),
            [] => (self.kind.boundaries)(),
            values => values.iter().map(|value| self.one(*value)).collect(),
        };
        [None].into_iter().chain(all.into_iter().map(Some)).collect()
    }
}

fn read(at: *const u8, size: usize) -> Vec<u8> {
    let mut held = vec![0; size];
    // SAFETY: the caller names a variable of this size.
    unsafe { std::ptr::copy_nonoverlapping(at, held.as_mut_ptr(), size) };
    held
}

fn write(at: *mut u8, held: &[u8]) {
    // SAFETY: as above.
    unsafe { std::ptr::copy_nonoverlapping(held.as_ptr(), at, held.len()) };
}

/// The owner of a copy of the variables.
#[derive(Clone, Copy)]
pub enum Side {
    C,
    Port,
}

/// The variables that a function reaches, and their values in C before the first call.
pub struct State {
    globals: Vec<Global>,
    initial: Held,
}

impl State {
    /// Must be created before the first call.
    pub fn of(globals: Vec<Global>) -> Self {
        let initial = globals.iter().map(|global| read(global.c, global.kind.size)).collect();
        Self { globals, initial }
    }

    /// Decodes the values; one byte per variable says whether a value follows.
    pub fn decode(&self, reader: &mut Reader) -> Chosen {
        let varied = |global: &Global| global.vary && reader.array::<1>()[0] & 1 == 1;
        let varied: Vec<bool> = self.globals.iter().map(varied).collect();
        let each = self.globals.iter().zip(varied);
        each.map(|(global, varied)| varied.then(|| global.decode(reader))).collect()
    }

    /// The inverse of [`State::decode`].
    pub fn encode(&self, chosen: &Chosen, writer: &mut Writer) {
        for (_, held) in self.globals.iter().zip(chosen).filter(|(global, _)| global.vary) {
            writer.put(&[u8::from(held.is_some())]);
        }
        for (global, held) in self.globals.iter().zip(chosen) {
            held.iter().for_each(|held| global.encode(held, writer));
        }
    }

    /// Sets the variables of one side, whatever their present values: C may have left any values when it
    /// broke.
    pub fn enter(&self, side: Side, chosen: &Chosen) {
        for ((global, initial), held) in self.globals.iter().zip(&self.initial).zip(chosen) {
            write(global.at(side), held.as_ref().unwrap_or(initial));
        }
    }

    /// Returns the values that one side left, and restores the initial ones.
    pub fn leave(&self, side: Side) -> Held {
        let held = self.globals.iter().map(|global| read(global.at(side), global.kind.size)).collect();
        for (global, initial) in self.globals.iter().zip(&self.initial) {
            write(global.at(side), initial);
        }
        held
    }

    /// The first variable that differs between the sides.
    pub fn differs(&self, a: &Held, b: &Held) -> Option<String> {
        let mut each = self.globals.iter().zip(a.iter().zip(b));
        each.find(|(global, (a, b))| !(global.kind.same)(a, b)).map(|(global, _)| format!("global `{}`", global.name))
    }

    /// The values before the call, for people.
    pub fn shown(&self, chosen: &Chosen) -> Parts {
        let each = self.globals.iter().zip(self.initial.iter().zip(chosen));
        let one = |(global, (initial, held)): (&Global, (&Vec<u8>, &Option<Vec<u8>>))| {
            (format!("global {}", global.name), (global.kind.show)(held.as_ref().unwrap_or(initial)))
        };
        each.map(one).collect()
    }

    /// The values that a side left, for people.
    pub fn left(&self, held: &Held) -> Parts {
        let each = self.globals.iter().zip(held);
        each.map(|(global, held)| (format!("global {}", global.name), (global.kind.show)(held))).collect()
    }

    /// Reads the values before the call from the parent's text; omitted variables keep C's initial value.
    pub fn of_plain(&self, fields: &Fields) -> Result<Chosen, String> {
        let one = |global: &Global| {
            let set = |plain: &Plain| match global.vary {
                true => (global.kind.of_plain)(plain).map(Some),
                false => Err("the contract says that it keeps C's initial value".to_owned()),
            };
            fields.read_or(global.name, || None, set)
        };
        self.globals.iter().map(one).collect()
    }

    /// The names that [`State::of_plain`] accepts.
    pub fn names(&self) -> Vec<&'static str> {
        self.globals.iter().map(|global| global.name).collect()
    }

    /// The inverse of [`State::of_plain`].
    pub fn plain(&self, chosen: &Chosen) -> Plain {
        let each = self.globals.iter().zip(chosen);
        let one = |(global, held): (&Global, &Option<Vec<u8>>)| {
            Some((global.name.to_owned(), (global.kind.plain)(held.as_ref()?)))
        };
        Plain::Object(each.filter_map(one).collect())
    }

    /// The values that a side left, for the parent.
    pub fn plain_left(&self, held: &Held) -> Plain {
        let each = self.globals.iter().zip(held);
        Plain::Object(each.map(|(global, held)| (global.name.to_owned(), (global.kind.plain)(held))).collect())
    }

    /// Hashes of the values that a side left, for comparison with another process.
    pub fn record(&self, held: &Held, record: &mut Record) {
        for ((global, initial), held) in self.globals.iter().zip(&self.initial).zip(held) {
            let mut digest = Digest::new();
            match global.has_functions {
                true => digest.bytes(&[u8::from(held == initial)]),
                false => (global.kind.digest)(held, &mut digest),
            }
            record.put(&format!("global `{}`", global.name), digest);
        }
    }

    /// The initial values first; then each variable steps through its boundary values independently.
    pub fn boundaries(&self) -> Vec<Chosen> {
        let lists: Vec<Chosen> = self.globals.iter().map(Global::boundaries).collect();
        let longest = lists.iter().map(Vec::len).max().unwrap_or(1);
        let at = |i: usize| lists.iter().enumerate().map(|(n, list)| list[i * (2 * n + 1) % list.len()].clone()).collect();
        (0..longest * 2).map(at).collect()
    }
}
