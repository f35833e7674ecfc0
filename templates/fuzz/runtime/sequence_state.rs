//! The state of one side during a call sequence: its handles, and memory that stays valid until the end.
//! Written by cargo-implfuzz.

use super::picture::Picture;
use super::pieces::Piece;
use super::caller_structs::{Form, Lent};
use super::memory::{Content, Led, Region, Returned};
use super::roots::Root;
use super::sequence::Entry;
use super::sequence_input::{Feed, Source, Spoil};
use std::any::Any;
use std::cell::Cell;
use std::ffi::c_void;

/// Maximum number of handles at the same time.
pub const INSTANCES: usize = 2;

/// The layout of the struct behind a handle, as far as the caller uses it.
pub struct Shape {
    /// The size of the struct if the caller provides its memory, else 0.
    pub by_caller: usize,
    /// Fields that the caller points to its memory.
    pub buffers: &'static [Buffer],
    /// Offsets of pointers to text.
    pub texts: &'static [usize],
    /// The name of the only file, if there is one.
    pub file: Option<&'static str>,
    /// Whether an allocation in the call under test may fail.
    pub fails: bool,
}

/// The offsets of a pointer and of its length.
pub struct Buffer {
    pub name: &'static str,
    pub pointer: usize,
    pub length: usize,
    /// Size of the length field, bytes.
    pub width: usize,
}

#[derive(Default)]
struct Instance {
    memory: Option<Region<u64>>,
    /// The address; 0 if there is no handle.
    at: usize,
    live: bool,
    maker: &'static str,
}

/// Memory to which a field of a handle was pointed.
struct Fed {
    region: Region<u8>,
    /// Address of the field.
    field: usize,
}

pub struct World {
    shape: &'static Shape,
    padded: bool,
    instances: [Instance; INSTANCES],
    fed: Vec<Fed>,
    known: Vec<Piece>,
    kept: Vec<Box<dyn Any>>,
    /// Structs that were lent, with the memory that they point to.
    lent: Vec<(Region<u64>, Vec<Region<u8>>)>,
    /// The pointer that the latest call returned, if it leads to memory of the sequence, so that what lies behind it is
    /// compared; else 0. Later it may dangle.
    result: usize,
    /// Descriptors that were open when the sequence began.
    open: Vec<i32>,
    /// Whether a call got another handle than it asked for, and which one the latest call got.
    mistaken: Cell<bool>,
    instead: Cell<Option<u8>>,
}

/// The range of descriptors that are checked.
const DESCRIPTORS: std::ops::Range<i32> = 3..64;

fn open_descriptors() -> Vec<i32> {
    // SAFETY: only queries the kernel.
    DESCRIPTORS.filter(|number| unsafe { libc::fcntl(*number, libc::F_GETFD) } >= 0).collect()
}

impl World {
    pub fn new(shape: &'static Shape, padded: bool) -> Self {
        let open = if shape.file.is_some() { open_descriptors() } else { Vec::new() };
        let instance = |_| {
            if shape.by_caller == 0 {
                return Instance::default();
            }
            let zeros = vec![0u64; shape.by_caller.div_ceil(8)];
            let memory = if padded { Region::padded(&zeros) } else { Region::whole(&zeros) };
            let at = memory.ptr() as usize;
            Instance { memory: Some(memory), at, ..Instance::default() }
        };
        let instances = std::array::from_fn(instance);
        Self { shape, padded, instances, fed: Vec::new(), known: Vec::new(), kept: Vec::new(), lent: Vec::new(), result: 0, open, mistaken: Cell::new(false), instead: Cell::new(None) }
    }

    /// Writes the file before the sequence begins.
    pub fn write_file(&self, content: &[u8]) {
        if let Some(name) = self.shape.file {
            _ = std::fs::write(name, content);
        }
    }

    /// Damages the file, if it exists.
    pub fn spoil(&self, spoil: &Spoil) {
        let Some(name) = self.shape.file else { return };
        let Ok(mut content) = std::fs::read(name) else { return };
        let at = usize::from(spoil.at) % content.len().max(1);
        match spoil.with {
            0 => content.truncate(at),
            with => content.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= with),
        }
        _ = std::fs::write(name, content);
    }

    /// Closes the descriptors that the sequence left open, and removes the file. Returns the number of
    /// descriptors and the file's content.
    pub fn close_files(&self) -> (usize, Option<Vec<u8>>) {
        let Some(name) = self.shape.file else { return (0, None) };
        let left: Vec<i32> = open_descriptors().into_iter().filter(|n| !self.open.contains(n)).collect();
        for number in &left {
            // SAFETY: the descriptor was opened in this sequence, which is over.
            unsafe { libc::close(*number) };
        }
        let content = std::fs::read(name).ok();
        _ = std::fs::remove_file(name);
        (left.len(), content)
    }

    /// A live handle: the requested one, else any.
    pub fn uses(&self, which: u8) -> Option<*mut c_void> {
        let wanted = usize::from(which) % INSTANCES;
        let used = std::iter::once(wanted).chain(0..INSTANCES).find(|i| self.instances[*i].live)?;
        if used != wanted {
            self.mistaken.set(true);
            self.instead.set(Some(used as u8));
        }
        Some(self.instances[used].at as *mut c_void)
    }

    /// Before a call: what the one before returned says nothing of it.
    pub fn forget_result(&mut self) {
        self.result = 0;
    }

    /// The handle that a call got since this was last asked, if it is not the requested one.
    pub fn instead(&self) -> Option<u8> {
        self.instead.take()
    }

    /// Whether a call got another handle, because the requested one did not exist.
    pub fn is_mistaken(&self) -> bool {
        self.mistaken.get()
    }

    /// The target of a pointer inside a live handle.
    pub fn through(&self, which: u8, offset: usize) -> Option<*mut c_void> {
        let handle = self.uses(which)?;
        // SAFETY: the handle's memory is at least as long as its type, which has a pointer there.
        let inner = unsafe { handle.cast::<u8>().add(offset).cast::<*mut c_void>().read_unaligned() };
        (!inner.is_null()).then_some(inner)
    }

    /// Memory for a new handle: the requested one, else any that is free.
    pub fn vacant(&self, which: u8) -> Option<*mut c_void> {
        let wanted = &self.instances[usize::from(which) % INSTANCES];
        let mut all = std::iter::once(wanted).chain(&self.instances);
        all.find(|i| !i.live && i.at != 0).map(|i| i.at as *mut c_void)
    }

    /// Whether there is room for another returned handle.
    pub fn has_room(&self) -> bool {
        self.instances.iter().any(|i| !i.live)
    }

    /// A constructor was called on memory of the caller.
    pub fn made(&mut self, at: *mut c_void, maker: &'static str) {
        if let Some(instance) = self.instances.iter_mut().find(|i| i.at == at as usize) {
            (instance.live, instance.maker) = (true, maker);
        }
    }

    /// A constructor returned this handle.
    pub fn adopt(&mut self, at: *mut c_void, maker: &'static str) {
        if let (false, Some(instance)) = (at.is_null(), self.instances.iter_mut().find(|i| !i.live)) {
            (instance.at, instance.live, instance.maker) = (at as usize, true, maker);
        }
    }

    /// A destructor was called on this handle.
    pub fn ended(&mut self, at: *mut c_void) {
        if let Some(instance) = self.instances.iter_mut().find(|i| i.live && i.at == at as usize) {
            instance.live = false;
            if instance.memory.is_none() {
                instance.at = 0;
            }
        }
    }

    pub fn any_live(&self) -> bool {
        self.instances.iter().any(|i| i.live)
    }

    /// The live handles, a bit each.
    pub fn live(&self) -> u8 {
        self.instances.iter().rev().fold(0, |bits, i| bits << 1 | u8::from(i.live))
    }

    pub fn live_ones(&self) -> Vec<u8> {
        (0..INSTANCES).filter(|i| self.instances[*i].live).map(|i| i as u8).collect()
    }

    /// The destructor that matches the constructor of a handle, by name.
    pub fn ender(&self, which: u8, enders: &[&'static Entry]) -> Option<&'static Entry> {
        let instance = &self.instances[usize::from(which) % INSTANCES];
        let common = |name: &str| name.bytes().zip(instance.maker.bytes()).take_while(|(a, b)| a == b).count();
        let fits = |entry: &&Entry| (usize::MAX - common(entry.name), entry.name.len());
        enders.iter().copied().filter(|_| instance.live).min_by_key(fits)
    }

    /// The target of a returned pointer; `constant` as for [`Led::to_constant`].
    pub fn place(&mut self, at: usize, arguments: &[Option<(&str, usize, usize)>], constant: (Content, Returned)) -> Led {
        if let Some(place) = super::memory::place(at, arguments) {
            // What an argument holds is compared by itself.
            return Led::to(place);
        }
        match self.place_of(at) {
            Some(place) => {
                self.result = at;
                Led::to(place)
            }
            None if super::ledger::in_program(at) => Led::to_constant(at, constant),
            None => Led::to("elsewhere".into()),
        }
    }

    /// Where in the memory of earlier calls an address is, in words.
    fn place_of(&self, at: usize) -> Option<String> {
        let leads = |from: usize, size: usize| (from..=from + size).contains(&at).then(|| at - from);
        for (number, instance) in self.instances.iter().enumerate().filter(|(_, i)| i.at != 0) {
            if let Some(offset) = leads(instance.at, self.shape.by_caller) {
                return Some(format!("handle {number} + {offset}"));
            }
        }
        let blocks = super::ledger::blocks();
        if let Some(offset) = blocks.iter().rev().filter(|b| b.live).find_map(|b| leads(b.at, b.size)) {
            return Some(format!("allocated memory + {offset}"));
        }
        // None of it is freed before the end, and both sides got it in the same order.
        let mut known = self.known.iter().enumerate();
        let given = known.find_map(|(number, known)| Some((number, leads(known.at, known.size)?)));
        given.map(|(number, offset)| format!("memory {} of the caller + {offset}", number + 1))
    }

    /// Keeps the memory of a call, because a handle may still point to it.
    pub fn keep<T: Copy + 'static>(&mut self, region: Region<T>) {
        self.know(&region);
        self.kept.push(Box::new(region));
    }

    /// Lends a struct that points to memory; both stay valid until the end.
    pub fn lend(&mut self, lent: &Lent, form: &Form) -> *mut c_void {
        let memory = |bytes: &Option<Vec<u8>>| {
            let bytes = [bytes.as_deref()?, &[0]].concat();
            Some(if self.padded { Region::padded(&bytes) } else { Region::exact(&bytes) })
        };
        let memories: Vec<Option<Region<u8>>> = lent.memories.iter().map(memory).collect();
        let pointers: Vec<usize> = memories.iter().map(|m| m.as_ref().map_or(0, |m| m.ptr() as usize)).collect();
        let words = lent.bytes(form, &pointers);
        let whole = if self.padded { Region::padded(&words) } else { Region::whole(&words) };
        let memories: Vec<Region<u8>> = memories.into_iter().flatten().collect();
        memories.iter().for_each(|region| self.know(region));
        self.know(&whole);
        let at = whole.ptr().cast();
        self.lent.push((whole, memories));
        at
    }

    fn know<T: Copy>(&mut self, region: &Region<T>) {
        self.known.push(Piece { at: region.ptr() as usize, size: size_of_val(region.slice()), live: true });
    }

    /// Points a field of a handle to new memory.
    pub fn feed(&mut self, feed: &Feed) {
        let Some(buffer) = self.shape.buffers.get(usize::from(feed.buffer) % self.shape.buffers.len().max(1)) else {
            return;
        };
        let at = self.instances[usize::from(feed.which) % INSTANCES].at;
        if at == 0 {
            return;
        }
        let content = match &feed.source {
            Source::Content(content) => content.bytes(),
            Source::Room(n) => vec![0x5a; usize::from(*n)],
            Source::Earlier(k) => self.earlier(*k),
        };
        // The field leads to one byte where the content is empty.
        let memory = if content.is_empty() { vec![0] } else { content.clone() };
        let region = if self.padded { Region::padded(&memory) } else { Region::exact(&memory) };
        // SAFETY: both fields are in the handle's memory, which is as long as its type.
        unsafe {
            ((at + buffer.pointer) as *mut usize).write_unaligned(region.ptr() as usize);
            let length = content.len().to_ne_bytes();
            std::ptr::copy_nonoverlapping(length.as_ptr(), (at + buffer.length) as *mut u8, buffer.width);
        }
        self.know(&region);
        self.fed.push(Fed { region, field: at + buffer.pointer });
    }

    /// The content of memory that a handle got earlier, up to the present value of its pointer.
    fn earlier(&self, k: u8) -> Vec<u8> {
        let Some(fed) = self.fed.get(usize::from(k) % self.fed.len().max(1)) else { return Vec::new() };
        // SAFETY: a field of a handle, as above.
        let now = unsafe { (fed.field as *const usize).read_unaligned() };
        let all = fed.region.slice();
        let used = now.wrapping_sub(fed.region.ptr() as usize);
        all[..if used <= all.len() { used } else { all.len() }].to_vec()
    }

    /// A picture of all handles and the memory that they reach.
    pub fn picture(&self) -> Picture {
        let memory = |at: usize, size: usize| Root::Memory(Piece { at, size, live: true });
        let root = |i: &Instance| match &i.memory {
            Some(_) => memory(i.at, self.shape.by_caller),
            None => Root::Handle(i.at),
        };
        let handles = self.instances.iter().filter(|i| i.live || i.memory.is_some()).map(root);
        let lent = self.lent.iter().map(|(whole, _)| memory(whole.ptr() as usize, size_of_val(whole.slice())));
        let mut roots: Vec<Root> = handles.chain(lent).collect();
        let mut names = vec![String::new(); roots.len()];
        let texts = (0..roots.len()).flat_map(|root| self.shape.texts.iter().map(move |offset| (root, *offset)));
        let texts: Vec<(usize, usize)> = texts.collect();
        roots.push(memory((&raw const self.result) as usize, size_of_val(&self.result)));
        names.push("the returned pointer".to_owned());
        Picture::take(&roots, &self.known, &texts).named(names)
    }

    /// Whether nothing was written around the memory that handles point to.
    pub fn intact(&self) -> bool {
        self.fed.iter().all(|fed| fed.region.intact())
            && self.lent.iter().all(|(whole, memories)| whole.intact() && memories.iter().all(Region::intact))
            && self.instances.iter().all(|i| i.memory.as_ref().is_none_or(|m| m.intact()))
    }
}

/// The size of a pointer field's target, without naming its type.
pub const fn size_behind<S, T>(_field: fn(&S) -> *const T) -> usize {
    size_of::<T>()
}
