//! The real C libraries that tests and benchmarks read, from crates of the registry.

use super::clib;
use cargo_implfuzz::config;
use cargo_implfuzz::config::FlagsFrom;
use std::path::PathBuf;

/// A library and how it is read.
pub struct RealLib {
    pub package: &'static str,
    pub version: &'static str,
    /// Where the C library stands in the package.
    pub subdir: &'static str,
    /// Whether the folders below belong to it.
    pub deep: bool,
    pub defines: &'static [&'static str],
    pub exclude: &'static [&'static str],
    pub link: &'static [&'static str],
    /// Headers that its build system writes, with their text.
    pub made: &'static [(&'static str, &'static str)],
    /// Sources that the front end leaves out by itself, and a word of the reason.
    pub left_out: &'static [(&'static str, &'static str)],
    /// Functions at least, so that an empty list proves nothing.
    pub at_least: usize,
    /// `unit: function` that the compiler makes and the front end does not list, and why that is right.
    pub unlisted: &'static [(&'static str, &'static str)],
}

pub const PLAIN: RealLib = RealLib {
    package: "",
    version: "",
    subdir: "",
    deep: false,
    defines: &[],
    exclude: &[],
    link: &[],
    made: &[],
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
    /// What `init` is told by `arguments`.
    pub fn settings(&self) -> config::C {
        let owned = |list: &[&str]| list.iter().map(|&text| text.to_owned()).collect();
        let from = Some(FlagsFrom::Includes);
        config::C { from, defines: owned(self.defines), exclude: owned(self.exclude), ..config::C::default() }
    }

    /// The same settings for the command line.
    pub fn arguments(&self) -> Vec<String> {
        let lists = [("c.defines", self.defines), ("c.exclude", self.exclude), ("c.link", self.link)];
        let set = lists.iter().filter(|(_, list)| !list.is_empty());
        let set = set.map(|(key, list)| format!("{key}={list:?}"));
        set.chain(["c.from=\"includes\"".to_owned()]).flat_map(|set| ["--config".to_owned(), set]).collect()
    }

    /// A copy of the library in a directory of its own.
    pub fn source(&self) -> PathBuf {
        let from = clib::vendored(self.package, self.version).join(self.subdir);
        let source = clib::scratch(&format!("{}-source", self.package));
        if self.deep {
            clib::copy_tree(&from, &source);
        } else {
            clib::copy_files(&from, &source);
        }
        for (name, text) in self.made {
            std::fs::write(source.join(name), text).unwrap();
        }
        source
    }
}

pub const ZLIB: RealLib =
    RealLib { package: "libz-sys", version: "1.1.31", subdir: "src/zlib", at_least: 150, ..PLAIN };

pub const BZIP2: RealLib = RealLib {
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
};

pub const LZ4: RealLib =
    RealLib { package: "lz4-sys", version: "1.11.1", subdir: "liblz4/lib", at_least: 200, ..PLAIN };

pub const ZSTD: RealLib = RealLib {
    package: "zstd-sys",
    version: "2.1.2",
    subdir: "zstd/lib",
    deep: true,
    defines: &["ZSTD_DISABLE_ASM", "ZSTD_LEGACY_SUPPORT=0"],
    exclude: &["legacy"],
    at_least: 1000,
    ..PLAIN
};

pub const SQLITE: RealLib = RealLib {
    package: "libsqlite3-sys",
    version: "0.38.2",
    subdir: "sqlite3",
    defines: SQLITE_DEFINES,
    exclude: &["wasm32-wasi-vfs.c"],
    link: &["m", "pthread", "dl"],
    at_least: 2000,
    ..PLAIN
};

pub const LIBDEFLATE: RealLib = RealLib {
    package: "libdeflate-sys",
    version: "1.26.1",
    subdir: "libdeflate",
    deep: true,
    exclude: &["programs", "scripts"],
    at_least: 50,
    ..PLAIN
};

pub const LZFSE: RealLib = RealLib {
    package: "lzfse-sys",
    version: "2.0.0",
    subdir: "lzfse/src",
    left_out: &[("lzfse_main.c", "main")],
    at_least: 50,
    ..PLAIN
};

pub const YAML: RealLib = RealLib {
    package: "libyaml-sys",
    version: "0.1.0",
    subdir: "libyaml",
    deep: true,
    defines: &[
        "YAML_VERSION_MAJOR=0",
        "YAML_VERSION_MINOR=2",
        "YAML_VERSION_PATCH=2",
        "YAML_VERSION_STRING=\"0.2.2\"",
    ],
    exclude: &["tests"],
    at_least: 180,
    ..PLAIN
};

pub const CMARK: RealLib = RealLib {
    package: "libcmark-sys",
    version: "0.1.0",
    subdir: "cmark/src",
    made: &[
        (
            "config.h",
            "#define HAVE_STDBOOL_H\n#include <stdbool.h>\n#define HAVE___BUILTIN_EXPECT\n\
             #define HAVE___ATTRIBUTE__\n#define CMARK_ATTRIBUTE(list) __attribute__ (list)\n#define HAVE_VA_COPY\n",
        ),
        ("cmark_export.h", "#define CMARK_EXPORT\n"),
        (
            "cmark_version.h",
            "#define CMARK_VERSION ((0 << 16) | (19 << 8) | 0)\n#define CMARK_VERSION_STRING \"0.19.0\"\n",
        ),
    ],
    left_out: &[("main.c", "main")],
    at_least: 200,
    ..PLAIN
};

pub const EXPAT: RealLib = RealLib {
    package: "expat-sys",
    version: "2.1.6",
    subdir: "expat/lib",
    defines: &["HAVE_MEMMOVE", "BYTEORDER=1234", "XML_NS", "XML_DTD", "XML_CONTEXT_BYTES=1024"],
    at_least: 300,
    ..PLAIN
};

pub const HOEDOWN: RealLib =
    RealLib { package: "hoedown", version: "6.0.0", subdir: "libhoedown/src", at_least: 150, ..PLAIN };

pub const MONOCYPHER: RealLib = RealLib {
    package: "monocypher-sys",
    version: "4.0.2",
    subdir: "Monocypher/src",
    deep: true,
    at_least: 130,
    ..PLAIN
};

pub const MINIZ: RealLib =
    RealLib { package: "miniz-sys", version: "0.1.12", subdir: ".", at_least: 150, ..PLAIN };

pub const BROTLI: RealLib =
    RealLib { package: "brotli-sys", version: "0.3.2", subdir: "brotli", deep: true, at_least: 500, ..PLAIN };

/// All that tests run over.
pub const ALL: &[RealLib] = &[ZLIB, BZIP2, LZ4, LIBDEFLATE, ZSTD, SQLITE];

/// Only for measurements. They were not used in development before they were first measured.
pub const UNSEEN: &[RealLib] = &[LZFSE, YAML, CMARK, EXPAT, HOEDOWN, MONOCYPHER, MINIZ, BROTLI];
