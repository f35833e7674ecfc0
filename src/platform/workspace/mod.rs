//! The target repository: its root, its lock, its paths, and how its files are written.
//!
//! `config`, `store`, `contract` and `rust` decide what is in the files.

mod atomic;
mod sweep;
mod transaction;
mod trial;
mod user_cache;

pub use atomic::write_atomic;
pub use sweep::is_temporary;
pub use transaction::Transaction;
pub use trial::{Trial, nothing_on_trial};
pub use user_cache::user_cache;

use crate::error::{Error, ErrorKind, Result};
use std::fs::TryLockError;
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long to wait for a lock: a starting child holds a copy of it until its exec.
const PATIENCE: Duration = Duration::from_millis(400);

/// The beginning of the name of a reader's folder in the cache.
pub const READER: &str = "read-";

/// The file that makes a directory a target repository.
pub const CONFIG_FILE: &str = "implfuzz.toml";
/// In the tool's own directory.
const LOCK_FILE: &str = "lock";
/// The tool's own directory, which git ignores.
const PRIVATE_DIR: &str = ".implfuzz";

/// A target repository. It is locked for this process until the value is dropped, or opened only for reading while
/// another process works there.
#[derive(Debug)]
pub struct Workspace {
    root: PathBuf,
    /// How many files of a killed process's transaction were put into place.
    recovered: usize,
    /// The previous process was killed here.
    was_killed: bool,
    /// The kernel releases the lock when this is closed, also when the process is killed. Absent in a reader.
    lock: Option<fs_err::File>,
}

impl Drop for Workspace {
    fn drop(&mut self) {
        let Some(lock) = &self.lock else {
            // Only this process uses the directory; leftovers are harmless.
            drop(fs_err::remove_dir_all(self.scratch()));
            return;
        };
        // If this fails, the next process does it.
        drop(trial::take_back(&self.root));
        // A process number left in the file means that its process was killed. If clearing it fails, the next process
        // only looks for leftovers that are not there.
        drop(lock.set_len(0));
    }
}

impl Workspace {
    /// Finds the repository at or above `start` (absent: the current directory), locks it, and finishes or discards
    /// what a killed process left half written.
    ///
    /// Errors: `Config` if there is no `implfuzz.toml`, `Environment` if another process works there, `Io` if the
    /// directory cannot be written.
    pub fn open(start: Option<&Path>) -> Result<Self> {
        Self::lock(&find_root(start)?)
    }

    /// Opens the repository to read the tree only: does not wait if another process works there.
    ///
    /// # Errors
    /// As [`Workspace::open`], except for the other process.
    pub fn open_to_read(start: Option<&Path>) -> Result<Self> {
        let root = find_root(start)?;
        Ok(match Self::try_lock(&root)? {
            Some(locked) => locked,
            None => Self { root, recovered: 0, was_killed: false, lock: None },
        })
    }

    /// Locks `dir` for `init`, which needs no configuration yet. Errors as [`Workspace::open`].
    pub fn create(dir: &Path) -> Result<Self> {
        Self::lock(&absolute(dir)?)
    }

    /// Whether `init` has never worked in this directory, so that a failed one leaves nothing behind.
    pub fn is_untouched(dir: &Path) -> bool {
        !dir.join(PRIVATE_DIR).exists() && !dir.join(CONFIG_FILE).exists()
    }

    /// Removes the private directory of a failed first `init`.
    pub fn remove_private(dir: &Path) -> Result<()> {
        Ok(fs_err::remove_dir_all(dir.join(PRIVATE_DIR))?)
    }

    fn lock(root: &Path) -> Result<Self> {
        let patience = Instant::now() + PATIENCE;
        loop {
            match Self::try_lock(root)? {
                Some(locked) => return Ok(locked),
                None if Instant::now() < patience => std::thread::sleep(PATIENCE / 20),
                None => return Err(busy(root)),
            }
        }
    }

    /// None if another process holds the lock.
    fn try_lock(root: &Path) -> Result<Option<Self>> {
        let private = root.join(PRIVATE_DIR);
        let refuse = |error| unwritable(root, error);
        fs_err::create_dir_all(&private).map_err(refuse)?;
        let ignore = private.join(".gitignore");
        if !ignore.exists() {
            write_atomic(&ignore, b"*\n")?;
        }
        let mut lock = fs_err::OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(private.join(LOCK_FILE))
            .map_err(refuse)?;
        match lock.file().try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(unwritable(root, error)),
        }
        let was_killed = lock.metadata()?.len() > 0;
        // The number is only for the message that a second process prints; the kernel does the locking.
        lock.set_len(0)?;
        lock.rewind()?;
        writeln!(lock, "{}", std::process::id())?;
        let recovered = transaction::recover(root)?;
        trial::take_back(root)?;
        Ok(Some(Self { root: root.to_owned(), recovered, was_killed, lock: Some(lock) }))
    }

    /// The repository's root, absolute and without symbolic links.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether this process holds the lock and may change files.
    fn is_locked(&self) -> bool {
        self.lock.is_some()
    }

    /// How many files of a killed process's transaction were put into place.
    pub fn recovered(&self) -> usize {
        self.recovered
    }

    /// If the previous process was killed, removes the temporary files that it left in the tree. `rust` is the
    /// directory of the port crate.
    ///
    /// # Errors
    /// `Io` if a file cannot be removed.
    pub fn sweep(&self, rust: &Path) -> Result<()> {
        if self.was_killed {
            sweep::sweep(&self.root, false)?;
            sweep::sweep(rust, true)?;
            sweep::sweep(&self.private(), true)?;
        }
        Ok(())
    }

    /// `implfuzz.toml`.
    pub fn config(&self) -> PathBuf {
        self.root.join(CONFIG_FILE)
    }

    /// The tool's own directory, which git ignores.
    pub fn private(&self) -> PathBuf {
        self.root.join(PRIVATE_DIR)
    }

    /// The database of runs, calls and findings.
    pub fn state_db(&self) -> PathBuf {
        self.private().join("state.db")
    }

    /// Logs of builds and runs.
    pub fn logs(&self) -> PathBuf {
        self.private().join("logs")
    }

    /// Files that can be rebuilt at any time.
    pub fn cache(&self) -> PathBuf {
        self.private().join("cache")
    }

    /// Where the C library is analysed; each reader has a directory for itself.
    pub fn scratch(&self) -> PathBuf {
        match self.lock {
            Some(_) => self.cache(),
            None => self.cache().join(format!("{READER}{}", std::process::id())),
        }
    }

    /// Where candidates are built, away from the tree.
    pub fn overlay(&self) -> PathBuf {
        self.private().join("overlay")
    }

    /// The text of a contract that a person is editing.
    pub fn draft(root: &Path, symbol: &str) -> PathBuf {
        root.join(PRIVATE_DIR).join("edit").join(format!("{symbol}.toml"))
    }

    /// Puts a tentative file into the tree. Dropping the workspace, or opening it after a kill, brings back what was
    /// there before.
    ///
    /// # Errors
    /// `Io` if something cannot be written, or the path leads out of the repository.
    pub fn begin(&self, trial: &Trial) -> Result<()> {
        trial::begin(&self.root, trial)
    }

    /// Leaves the tentative file in the tree.
    ///
    /// # Errors
    /// `Io` if the note about it cannot be removed.
    pub fn keep(&self) -> Result<()> {
        trial::keep(&self.root)
    }

    /// Brings back what was there before the tentative file.
    ///
    /// # Errors
    /// `Io` if it cannot be written.
    pub fn give_back(&self) -> Result<()> {
        trial::take_back(&self.root)
    }

    /// A set of writes that all happen or none.
    pub fn transaction(&self) -> Transaction<'_> {
        Transaction::new(self)
    }
}

/// The root of the repository at or above `start` (absent: the current directory), for readers.
pub fn find_root(start: Option<&Path>) -> Result<PathBuf> {
    let start = absolute(start.unwrap_or(Path::new(".")))?;
    let root = start.ancestors().find(|dir| dir.join(CONFIG_FILE).is_file()).ok_or_else(|| {
        let text = format!("no {CONFIG_FILE} in {} or in a directory above it", start.display());
        Error::new(ErrorKind::Config, text).help("cargo implfuzz init")
    })?;
    Ok(root.to_owned())
}

/// The root of the git repository around `root`, or `root` itself. Needs no git, because `check` starts no program.
pub fn git_root(root: &Path) -> &Path {
    root.ancestors().find(|dir| dir.join(".git").exists()).unwrap_or(root)
}

fn absolute(dir: &Path) -> Result<PathBuf> {
    let wrong = |what: String| Error::new(ErrorKind::Usage, what);
    let real = dir
        .canonicalize()
        .map_err(|error| wrong(format!("cannot work in directory {}: {error}", dir.display())))?;
    if real.is_dir() { Ok(real) } else { Err(wrong(format!("{} is not a directory", dir.display()))) }
}

fn busy(root: &Path) -> Error {
    // The lock's holder may not have written its number yet; then the message omits it.
    let read = fs_err::read_to_string(root.join(PRIVATE_DIR).join(LOCK_FILE));
    let pid: Option<u32> = read.ok().and_then(|pid| pid.trim().parse().ok());
    let who = pid.map_or(String::new(), |pid| format!(" (process {pid})"));
    let message = format!("another cargo implfuzz{who} is working in {}", root.display());
    let help = match pid {
        Some(pid) => format!("wait until it ends, or stop it with `kill {pid}`"),
        None => "wait until it ends".to_owned(),
    };
    Error::new(ErrorKind::Environment, message).help(help)
}

fn unwritable(root: &Path, error: std::io::Error) -> Error {
    use std::io::ErrorKind::{AlreadyExists, NotADirectory, PermissionDenied, ReadOnlyFilesystem};
    let dir = root.display();
    match error.kind() {
        PermissionDenied | ReadOnlyFilesystem => {
            let text = format!(
                "{dir} cannot be written, and cargo implfuzz keeps its state in {PRIVATE_DIR}/ there: {error}"
            );
            Error::new(ErrorKind::Io, text)
                .help(format!("chmod -R u+w {dir}, or work on a copy in a writable directory"))
        }
        AlreadyExists | NotADirectory => {
            let text = format!(
                "{PRIVATE_DIR} in {dir} is a file, but cargo implfuzz keeps its state in a directory"
            );
            Error::new(ErrorKind::Io, text).help(format!("mv {dir}/{PRIVATE_DIR} {dir}/{PRIVATE_DIR}.old"))
        }
        _ => Error::io(format!("cannot use {dir} as a target repository: {error}"), &error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs_err::write(dir.path().join(CONFIG_FILE), "").unwrap();
        dir
    }

    #[test]
    fn it_is_found_from_a_directory_below() {
        let dir = repository();
        let below = dir.path().join("src/deep");
        fs_err::create_dir_all(&below).unwrap();
        let workspace = Workspace::open(Some(&below)).unwrap();
        assert_eq!(workspace.root(), dir.path().canonicalize().unwrap());
        assert_eq!(fs_err::read_to_string(workspace.private().join(".gitignore")).unwrap(), "*\n");
    }

    #[test]
    fn without_a_configuration_the_help_is_init() {
        let dir = tempfile::tempdir().unwrap();
        let error = Workspace::open(Some(dir.path())).unwrap_err();
        assert_eq!((error.kind(), error.help_text()), (ErrorKind::Config, Some("cargo implfuzz init")));
        assert!(!dir.path().join(PRIVATE_DIR).exists());
        assert!(Workspace::create(dir.path()).is_ok());
    }

    #[test]
    fn a_second_holder_is_refused_until_the_first_ends() {
        let dir = repository();
        let first = Workspace::open(Some(dir.path())).unwrap();
        let error = Workspace::open(Some(dir.path())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Environment);
        assert!(error.to_string().contains(&format!("(process {})", std::process::id())), "{error}");
        drop(first);
        Workspace::open(Some(dir.path())).unwrap();
    }

    #[test]
    fn what_a_killed_process_left_half_written_is_removed() {
        let dir = repository();
        let left = [
            "rust/fuzz/seeds/fuzz_x/.implfuzz-Ab12e3",
            ".implfuzz-cd34Ef",
            ".implfuzz/cache/.implfuzz-000000",
        ];
        let leave = |path: &str| {
            let path = dir.path().join(path);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, "half").unwrap();
        };
        let count = || left.iter().filter(|path| dir.path().join(path).exists()).count();
        let open = || {
            let workspace = Workspace::open(Some(dir.path())).unwrap();
            workspace.sweep(&dir.path().join("rust")).unwrap();
            workspace
        };
        left.iter().for_each(|path| leave(path));
        leave("rust/.implfuzz-kept");
        drop(open());
        assert_eq!(count(), 3, "nobody was killed");
        // A killed process does not release the lock itself.
        let workspace = open();
        let number = fs_err::read(workspace.private().join("lock")).unwrap();
        drop(workspace);
        fs_err::write(dir.path().join(".implfuzz/lock"), number).unwrap();
        drop(open());
        assert_eq!(count(), 0);
        assert!(dir.path().join("rust/.implfuzz-kept").exists() && dir.path().join(CONFIG_FILE).exists());
    }

    #[test]
    fn a_missing_directory_and_a_file_are_usage_errors() {
        let dir = repository();
        for wrong in ["missing", CONFIG_FILE] {
            let error = Workspace::create(&dir.path().join(wrong)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage);
            assert!(error.to_string().contains(wrong), "{error}");
        }
    }

    #[test]
    fn a_read_only_directory_is_named_with_the_mending_command() {
        // Tests may run as root, whom no permission stops, so test only the mapping of errors.
        for kind in [std::io::ErrorKind::PermissionDenied, std::io::ErrorKind::ReadOnlyFilesystem] {
            let error = unwritable(Path::new("/lib"), kind.into());
            assert!(error.to_string().starts_with("/lib cannot be written"), "{error}");
            assert!(error.help_text().unwrap().contains("chmod -R u+w /lib"));
        }
    }
}
