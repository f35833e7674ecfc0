//! Replays inputs for coverage; each input runs once on each side. A side that does not return leaves the
//! counters inconsistent, so its counts for that input are discarded. The counters are also kept in a file
//! that survives this process, so that the next process continues after the input that ended it.
//!
//! The fuzzer keeps one input for each edge of the optimised code, where two `case` labels may be one
//! comparison. The sources have more branches than that, so each input also runs with small changes, the same
//! ones every time.
//! Written by cargo-implfuzz.

#[cfg(implfuzz_coverage)]
pub use counted::{original_returned, run};

/// Without counters there is nothing to keep.
#[cfg(not(implfuzz_coverage))]
#[inline(always)]
pub fn original_returned() {}

/// Only the coverage build can replay.
#[cfg(not(implfuzz_coverage))]
pub fn run(_: &super::driver::Target, _: &std::ffi::OsStr) {}

#[cfg(implfuzz_coverage)]
mod counted {
    use crate::driver::{Judged, Target, judge};
    use crate::function::Function;
    use crate::report::{self, Json};
    use crate::counts::SUBJECT_CALLS;
    use std::ffi::{OsStr, c_int};
    use std::os::fd::AsRawFd;
    use std::path::PathBuf;
    use std::ptr::{copy_nonoverlapping, null_mut};
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    unsafe extern "C" {
        fn __llvm_profile_begin_counters() -> *mut u8;
        fn __llvm_profile_end_counters() -> *mut u8;
        fn __llvm_profile_write_file() -> c_int;
    }

    /// The mapped file: these numbers, then all counters of the process.
    #[repr(C)]
    struct Kept {
        /// The index of the next input.
        next: AtomicU64,
        /// Inputs from which the C original returned.
        accepted: AtomicU64,
        /// Inputs from which the port returned.
        returned: AtomicU64,
        /// Among those, the inputs on which the port differed from C.
        differed: AtomicU64,
    }

    static KEPT: OnceLock<&'static Kept> = OnceLock::new();

    fn counters() -> (*mut u8, usize) {
        // SAFETY: both are the ends of one section of this process.
        let (begin, end) = unsafe { (__llvm_profile_begin_counters(), __llvm_profile_end_counters()) };
        (begin, end.addr() - begin.addr())
    }

    fn map() -> Option<&'static Kept> {
        let path = std::env::var_os("IMPLFUZZ_KEPT")?;
        let options = std::fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let (file, length) = (options.ok()?, size_of::<Kept>() + counters().1);
        file.set_len(length as u64).ok()?;
        let (access, fd) = (libc::PROT_READ | libc::PROT_WRITE, file.as_raw_fd());
        // SAFETY: the file is open and has this size; the mapping stays until the process ends.
        let at = unsafe { libc::mmap(null_mut(), length, access, libc::MAP_SHARED, fd, 0) };
        // SAFETY: a mapping begins at a page boundary, and any bytes are valid numbers.
        (at != libc::MAP_FAILED).then(|| unsafe { &*at.cast::<Kept>() })
    }

    impl Kept {
        fn copy(&self) -> *mut u8 {
            std::ptr::from_ref(self).wrapping_add(1).cast_mut().cast()
        }

        /// Saves the present counts.
        fn keep(&self) {
            let (begin, length) = counters();
            // SAFETY: the mapping has as many bytes after the numbers, and the process has one thread.
            unsafe { copy_nonoverlapping(begin, self.copy(), length) };
        }

        /// Restores the saved counts.
        fn forget(&self) {
            let (begin, length) = counters();
            // SAFETY: as above.
            unsafe { copy_nonoverlapping(self.copy(), begin, length) };
        }
    }

    /// The C original has returned, so its counts stay, whatever the port does.
    pub fn original_returned() {
        if let Some(kept) = KEPT.get() {
            kept.accepted.fetch_add(1, Relaxed);
            kept.keep();
        }
    }

    /// The files of these directories, in the same order every time.
    fn files(dirs: &OsStr) -> Vec<PathBuf> {
        let mut all = Vec::new();
        for dir in std::env::split_paths(dirs) {
            let entries = std::fs::read_dir(&dir).into_iter().flatten().flatten();
            let mut files: Vec<PathBuf> = entries.map(|e| e.path()).filter(|path| path.is_file()).collect();
            files.sort();
            all.extend(files);
        }
        all
    }

    /// Maximum number of changed copies of all files together; their total size in bytes; and the maximum
    /// size of the counters that are saved for them.
    const CHANGED: usize = 4096;
    const CHANGED_BYTES: u64 = 1 << 20;
    const KEPT_BYTES: usize = 256 << 20;

    /// Number of changed copies of each file.
    fn copies(files: &[PathBuf]) -> usize {
        let bytes: u64 = files.iter().filter_map(|file| file.metadata().ok()).map(|meta| meta.len()).sum();
        let affordable = CHANGED_BYTES.checked_div(bytes).unwrap_or(0) as usize;
        let most = CHANGED.min(KEPT_BYTES / counters().1.max(1));
        most.checked_div(files.len()).unwrap_or(0).min(affordable)
    }

    /// Changes one byte to another value.
    fn change(data: &mut [u8], number: u64) {
        let Some(last) = data.len().checked_sub(1) else { return };
        // splitmix64: pseudo-random, and the same every time.
        let mut mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        let [value, kind, at @ ..] = mixed.to_le_bytes();
        let at = at.iter().fold(0, |n, byte| n << 8 | usize::from(*byte)) % (last + 1);
        data[at] = if kind < 128 { value } else { data[at].wrapping_add(value % 16).wrapping_sub(8) };
    }

    /// The result of an input.
    enum Replayed {
        /// C rejected the input, the port did not return, or C runs alone.
        NotReturned,
        Same,
        Differs,
    }

    /// Runs one input on both sides; continues after any result.
    fn replay_input(function: &dyn Function, data: &[u8]) -> Replayed {
        let before = SUBJECT_CALLS.load(Relaxed);
        let judged = judge(function, data);
        match (SUBJECT_CALLS.load(Relaxed) > before, judged) {
            (false, _) => Replayed::NotReturned,
            (true, Judged::Found(_)) => Replayed::Differs,
            (true, _) => Replayed::Same,
        }
    }

    /// Runs all files of the directories that no earlier process has run, then writes the profile.
    pub fn run(target: &Target, dirs: &OsStr) {
        let seconds = std::env::var("IMPLFUZZ_INPUT_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(10);
        let Some(kept) = map() else { return eprintln!("IMPLFUZZ_KEPT names no file that can be written") };
        let kept = KEPT.get_or_init(|| kept);
        kept.forget();
        let files = files(dirs);
        let exact = std::env::var_os("IMPLFUZZ_EXACT").is_some();
        let runs = 1 + if exact { 0 } else { copies(&files) };
        let mut read = (usize::MAX, Vec::new());
        loop {
            let number = kept.next.fetch_add(1, Relaxed);
            let (index, is_copy) = (number as usize / runs, number as usize % runs != 0);
            let Some(file) = files.get(index) else { break };
            if read.0 != index {
                read = (index, std::fs::read(file).unwrap_or_default());
            }
            let mut data = read.1.clone();
            if is_copy {
                change(&mut data, number);
            }
            kept.keep();
            // The port may hang; then the signal ends the process.
            // SAFETY: sets the alarm timer, which only this code uses.
            unsafe { libc::alarm(seconds) };
            match replay_input(target.function, &data) {
                Replayed::NotReturned => kept.forget(),
                Replayed::Same => _ = kept.returned.fetch_add(1, Relaxed),
                Replayed::Differs => {
                    kept.returned.fetch_add(1, Relaxed);
                    kept.differed.fetch_add(1, Relaxed);
                }
            }
        }
        // SAFETY: as above; the profile runtime is linked, and writes where the parent said.
        let failed = unsafe {
            libc::alarm(0);
            __llvm_profile_write_file()
        };
        if failed == 0 {
            report::send("replayed", &[("number", Json::Number((files.len() * runs) as u64))]);
        }
    }
}
