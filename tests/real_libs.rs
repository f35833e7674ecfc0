//! Real C libraries, as crates of the registry carry them: the front end lists every function that the compiler sees,
//! the crate with all stubs builds and links, and C and Rust agree on how every bound function is called.

#![expect(clippy::print_stdout, reason = "with --nocapture a test says what it counted")]

mod support;

use cargo_implfuzz::c::flags::CSettings;
use cargo_implfuzz::symbol::{Library, RelPath};
use support::{abi, clib, compiled};

/// A library and how it is read.
struct RealLib {
    package: &'static str,
    version: &'static str,
    /// Where the C library stands in the package.
    subdir: &'static str,
    /// Whether the folders below belong to it.
    deep: bool,
    defines: &'static [&'static str],
    exclude: &'static [&'static str],
    link: &'static [&'static str],
    /// Sources that the front end leaves out by itself, and a word of the reason.
    left_out: &'static [(&'static str, &'static str)],
    /// Functions at least, so that an empty list proves nothing.
    at_least: usize,
    /// `unit: function` that the compiler makes and the front end does not list, and why that is right.
    unlisted: &'static [(&'static str, &'static str)],
}

const PLAIN: RealLib = RealLib {
    package: "",
    version: "",
    subdir: "",
    deep: false,
    defines: &[],
    exclude: &[],
    link: &[],
    left_out: &[],
    at_least: 0,
    unlisted: &[],
};

/// What the `-sys` crate gives its bundled copy, as far as it makes more functions.
const SQLITE_DEFINES: &[&str] = &[
    "SQLITE_CORE",
    "SQLITE_ENABLE_API_ARMOR",
    "SQLITE_ENABLE_COLUMN_METADATA",
    "SQLITE_ENABLE_DBSTAT_VTAB",
    "SQLITE_ENABLE_FTS3",
    "SQLITE_ENABLE_FTS3_PARENTHESIS",
    "SQLITE_ENABLE_FTS5",
    "SQLITE_ENABLE_LOAD_EXTENSION=1",
    "SQLITE_ENABLE_MEMORY_MANAGEMENT",
    "SQLITE_ENABLE_RTREE",
    "SQLITE_ENABLE_STAT4",
    "SQLITE_SOUNDEX",
    "SQLITE_THREADSAFE=1",
    "SQLITE_USE_URI",
    "HAVE_USLEEP=1",
    "HAVE_ISNAN",
    "HAVE_LOCALTIME_R",
];

impl RealLib {
    fn settings(&self) -> CSettings {
        let owned = |list: &[&str]| list.iter().map(|&text| text.to_owned()).collect();
        CSettings { defines: owned(self.defines), exclude: owned(self.exclude), ..CSettings::default() }
    }

    /// The same settings for the command line.
    fn arguments(&self) -> Vec<String> {
        let lists = [("c.defines", self.defines), ("c.exclude", self.exclude), ("c.link", self.link)];
        let set = lists.iter().filter(|(_, list)| !list.is_empty());
        set.flat_map(|(key, list)| ["--config".to_owned(), format!("{key}={list:?}")]).collect()
    }

    fn passes(&self) {
        let package = self.package;
        let from = clib::vendored(package, self.version).join(self.subdir);
        let source = clib::scratch(&format!("{package}-source"));
        if self.deep {
            clib::copy_tree(&from, &source);
        } else {
            clib::copy_files(&from, &source);
        }
        let arguments = self.arguments();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        for (name, compiler) in clib::compilers() {
            let port = clib::Port::init(&format!("{package}-{name}"), &source, &compiler, &arguments);
            let (library, bindings) = clib::read(&port.root, &self.settings(), &compiler);
            if name == "cc" {
                self.everything_is_listed(&port, &library);
            }
            let mut reasons: Vec<String> = Vec::new();
            for function in library.functions.iter().filter(|f| !bindings.functions.contains_key(&f.name)) {
                let reason = function.unsupported.as_deref();
                reasons.push(format!("{}: {}", function.name, reason.expect("a reason why it is not bound")));
            }
            let (all, bound) = (library.functions.len(), bindings.functions.len());
            println!("{package} with {name}: {all} functions, {bound} bound");
            println!("{reasons:#?} {:#?}", library.gaps);
            let dir = format!("{package}-abi-{name}");
            let report = abi::check(&dir, &port.root, &library, &bindings, &compiler);
            println!("{} checked, not checked: {:#?}", report.checked.len(), report.unchecked);
            report.assert_agrees(bound);
            port.links(&bindings, (name, &compiler));
        }
    }

    fn everything_is_listed(&self, port: &clib::Port, library: &Library) {
        let units: Vec<&RelPath> = library.units.iter().map(|unit| &unit.file).collect();
        // What the table excludes needs no second list.
        let by_itself = library.left_out.iter().filter(|left| !left.reason.starts_with("excluded by"));
        let left_out: Vec<_> = by_itself.map(|left| (left.file.0.as_str(), &left.reason)).collect();
        assert_eq!(left_out.len(), self.left_out.len(), "{left_out:#?}");
        for ((file, reason), (expected, word)) in left_out.iter().zip(self.left_out) {
            assert!(file == expected && reason.contains(word), "{file}: {reason}");
        }
        let compiled = compiled::units(&format!("{}-objects", self.package), &port.root, library);
        let count: usize = compiled.values().map(|unit| unit.functions.len()).sum();
        assert!(count >= self.at_least, "{count} functions compiled of {units:?}");
        let (mut unlisted, without) = compiled::differences(library, &compiled);
        for (name, _) in self.unlisted {
            assert!(unlisted.iter().any(|found| found == name), "{name} is listed by now");
        }
        unlisted.retain(|found| self.unlisted.iter().all(|(name, _)| found != name));
        assert_eq!(unlisted, Vec::<String>::new(), "compiled, but not listed");
        assert_eq!(without, Vec::<String>::new(), "listed, but not compiled");
    }
}

#[test]
fn zlib() {
    RealLib { package: "libz-sys", version: "1.1.31", subdir: "src/zlib", at_least: 150, ..PLAIN }.passes();
}

#[test]
fn bzip2() {
    RealLib {
        package: "bzip2-sys",
        version: "0.1.13",
        subdir: "bzip2-1.0.8",
        left_out: &[
            ("bzip2.c", "main"),
            ("bzip2recover.c", "main"),
            ("dlltest.c", "main"),
            ("mk251.c", "main"),
            ("spewG.c", "main"),
            ("unzcrash.c", "main"),
        ],
        at_least: 60,
        ..PLAIN
    }
    .passes();
}

/// For gcc `XXH_swap32` is a macro, for clang a static function: the compiler decides.
#[test]
fn lz4() {
    RealLib { package: "lz4-sys", version: "1.11.1", subdir: "liblz4/lib", at_least: 200, ..PLAIN }.passes();
}

#[test]
#[ignore = "minutes: cargo test --release --test real_libs -- --ignored"]
fn zstd() {
    RealLib {
        package: "zstd-sys",
        version: "2.1.2",
        subdir: "zstd/lib",
        deep: true,
        defines: &["ZSTD_DISABLE_ASM", "ZSTD_LEGACY_SUPPORT=0"],
        exclude: &["legacy"],
        at_least: 1000,
        ..PLAIN
    }
    .passes();
}

#[test]
#[ignore = "minutes: cargo test --release --test real_libs -- --ignored"]
fn sqlite() {
    RealLib {
        package: "libsqlite3-sys",
        version: "0.38.2",
        subdir: "sqlite3",
        defines: SQLITE_DEFINES,
        exclude: &["wasm32-wasi-vfs.c"],
        link: &["m", "pthread", "dl"],
        at_least: 2000,
        ..PLAIN
    }
    .passes();
}

#[test]
#[ignore = "minutes: cargo test --release --test real_libs -- --ignored"]
fn libdeflate() {
    RealLib {
        package: "libdeflate-sys",
        version: "1.26.1",
        subdir: "libdeflate",
        deep: true,
        exclude: &["programs", "scripts"],
        at_least: 50,
        ..PLAIN
    }
    .passes();
}
