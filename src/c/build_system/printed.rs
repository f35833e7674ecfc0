//! Finds calls of C compilers in the output of `make -n`. Unknown lines are skipped.

use crate::c::shell_words;
use camino::{Utf8Path, Utf8PathBuf};

/// A call of a compiler.
#[derive(Debug, PartialEq, Eq)]
pub struct Call {
    pub dir: Utf8PathBuf,
    /// The C files that it compiles, spelled as on the command line.
    pub sources: Vec<String>,
    pub arguments: Vec<String>,
}

/// The calls in order. make was started in `start`.
pub fn calls(text: &str, start: &Utf8Path) -> Vec<Call> {
    let mut calls = Vec::new();
    let mut dirs = vec![start.to_path_buf()];
    for line in text.replace("\\\n", " ").lines() {
        match change_of_directory(line) {
            Some(Change::Enter(dir)) => dirs.push(dir),
            // Keep the starting directory.
            Some(Change::Leave) if dirs.len() > 1 => drop(dirs.pop()),
            Some(Change::Leave) => {}
            None => {
                let dir = dirs.last().expect("the first stays");
                calls.extend(calls_of_line(line, dir));
            }
        }
    }
    calls
}

enum Change {
    Enter(Utf8PathBuf),
    Leave,
}

/// `make[1]: Entering directory '/x'`; the style of the quotes depends on make's version.
fn change_of_directory(line: &str) -> Option<Change> {
    let (program, rest) = line.split_once(": ")?;
    let name = program.split('[').next().unwrap_or_default();
    if !name.ends_with("make") {
        return None;
    }
    if rest.starts_with("Leaving directory") {
        return Some(Change::Leave);
    }
    let dir = rest.strip_prefix("Entering directory ")?.trim();
    Some(Change::Enter(dir.trim_start_matches(['`', '\'']).trim_end_matches('\'').into()))
}

/// `cd` applies until the line or its subshell ends.
fn calls_of_line(line: &str, dir: &Utf8Path) -> Vec<Call> {
    let mut calls = Vec::new();
    let mut dir = dir.to_path_buf();
    let mut outer = Vec::new();
    for command in shell_words::commands(line) {
        match command.first().map(String::as_str) {
            Some("(") => outer.push(dir.clone()),
            Some(")") => dir = outer.pop().unwrap_or(dir),
            Some("cd") => dir.extend(command.get(1)),
            _ => calls.extend(call(&command, &dir)),
        }
    }
    calls
}

fn call(command: &[String], dir: &Utf8Path) -> Option<Call> {
    let compiler = command.iter().position(|word| !is_before_a_compiler(word))?;
    if !is_compiler(&command[compiler]) {
        return None;
    }
    let arguments = &command[compiler + 1..];
    let has = |flags: &[&str]| arguments.iter().any(|argument| flags.contains(&argument.as_str()));
    let sources = sources(arguments);
    // Without `-c`, a single file is built as a program: `cc -o test test.c libx.a`.
    let compiles = has(&["-c", "-shared"]) || sources.len() > 1;
    if !compiles || sources.is_empty() || has(&["-E", "-M", "-MM", "-S", "-fsyntax-only"]) {
        return None;
    }
    Some(Call { dir: dir.to_owned(), sources, arguments: arguments.to_vec() })
}

/// Words that may precede the compiler: variables, shell words, programs that start it, libtool and its
/// options.
fn is_before_a_compiler(word: &str) -> bool {
    const WORDS: &[&str] = &[
        "if", "then", "else", "do", "{", "!", "env", "exec", "command", "time", "nice", "ccache", "sccache",
        "distcc", "sh", "bash", "libtool", "glibtool",
    ];
    let is_variable = word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    });
    is_variable || word.starts_with('-') || WORDS.contains(&file_name(word))
}

/// `cc`, `clang`, `arm-none-eabi-gcc`, each with or without a version.
fn is_compiler(word: &str) -> bool {
    let name = file_name(word).trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    // `c99` and `c89` are compiler names too. `gcc-12` leaves a trailing hyphen.
    let name = name.trim_end_matches('-');
    let last = name.rsplit('-').next().unwrap_or_default();
    matches!(last, "cc" | "gcc" | "clang" | "tcc" | "icc" | "icx") || matches!(file_name(word), "c99" | "c89")
}

fn file_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or_default()
}

/// Options whose value is the next argument, which could be mistaken for a source.
const WITH_VALUE: &[&str] = &[
    "-o", "-I", "-D", "-U", "-L", "-l", "-x", "-MF", "-MT", "-MQ", "-include", "-imacros", "-isystem",
    "-iquote", "-idirafter", "-Xlinker", "-Xclang", "-T", "-u", "-z", "-arch",
];

fn sources(arguments: &[String]) -> Vec<String> {
    let mut sources = Vec::new();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        if WITH_VALUE.contains(&argument.as_str()) {
            arguments.next();
        // Skip words that the shell would still expand.
        } else if !argument.starts_with('-')
            && argument.ends_with(".c")
            && !argument.contains(['$', '*', '?'])
        {
            sources.push(argument.clone());
        }
    }
    sources
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Directory and source of each compilation, one per line.
    fn compiled(text: &str) -> String {
        let calls = calls(text, "/p".into());
        let lines = calls.iter().flat_map(|c| c.sources.iter().map(move |s| format!("{}:{s}", c.dir)));
        lines.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn bzip2() {
        let text = "cat words0\n\
            gcc -Wall -Winline -O2 -g -D_FILE_OFFSET_BITS=64 -c blocksort.c\n\
            rm -f libbz2.a\nar cq libbz2.a blocksort.o huffman.o\n\
            if ( test -f ranlib -o -f /usr/bin/ranlib -o \\\n\t-f /bin/ranlib ) ; then \\\n\techo ranlib libbz2.a ; \\\n\tranlib libbz2.a ; \\\nfi\n\
            gcc -Wall -Winline -O2 -g -D_FILE_OFFSET_BITS=64 -c bzip2.c\n\
            gcc -Wall -Winline -O2 -g -D_FILE_OFFSET_BITS=64  -o bzip2 bzip2.o -L. -lbz2\ncat words1\n";
        assert_eq!(compiled(text), "/p:blocksort.c /p:bzip2.c");
        assert!(calls(text, "/p".into())[0].arguments.contains(&"-D_FILE_OFFSET_BITS=64".to_owned()));
    }

    #[test]
    fn lz4_with_nested_makes() {
        let text = "make -C lib lib-release\nmake[1]: Entering directory '/p/lib'\n\
            echo compiling static library\ncc  -O3  -DXXH_NAMESPACE=LZ4_  -c lz4.c lz4hc.c\nar rcs liblz4.a *.o\n\
            cc  -O3  -shared lz4.c lz4hc.c -fPIC -Wl,-soname=liblz4.so.1 -o liblz4.so.1.10.0\n\
            sed -e 's|@PREFIX@|/usr/local|' \\\n           -e 's|=/usr/local/|=${prefix}/|' \\\n           liblz4.pc.in >liblz4.pc\n\
            make[1]: Leaving directory '/p/lib'\nmake -C programs lz4-release\n\
            make[1]: Entering directory `/p/programs'\n\
            cc  -O3   -I../lib -DLZ4IO_MULTITHREAD  -c -o bench.o bench.c\n\
            make[1]: Leaving directory `/p/programs'\ncc -c last.c\n";
        assert_eq!(
            compiled(text),
            "/p/lib:lz4.c /p/lib:lz4hc.c /p/lib:lz4.c /p/lib:lz4hc.c /p/programs:bench.c /p:last.c"
        );
    }

    #[test]
    fn automake_and_libtool() {
        let text = "make  all-am\nmake[2]: Entering directory '/p/src'\n\
            echo \"  CC      \" a.lo;/bin/bash ../libtool --silent --tag=CC   --mode=compile gcc -DHAVE_CONFIG_H -I. -I..    -g -O2 -MT a.lo -MD -MP -MF .deps/a.Tpo -c -o a.lo a.c &&\\\n\
            mv -f .deps/a.Tpo .deps/a.Plo\n\
            gcc -DHAVE_CONFIG_H -I. -g -MT x-b.o -MD -MP -MF .deps/x-b.Tpo -c -o x-b.o `test -f 'b.c' || echo './'`b.c\n\
            /bin/bash ../libtool --tag=CC --mode=link gcc -g -O2 -o liba.la -rpath /usr/lib a.lo\n\
            depbase=`echo d.o | sed 's|[^/]*$|.deps/&|;s|\\.o$||'`;\\\n gcc -std=gnu99 -MT d.o -MF $depbase.Tpo -c -o d.o d.c\n";
        assert_eq!(compiled(text), "/p/src:a.c /p/src:b.c /p/src:d.c");
    }

    #[test]
    fn single_lines() {
        for (line, expected) in [
            ("cd sub && CC=x ccache gcc-12 -c a.c", "/p/sub:a.c"),
            ("(cd sub; cc -c a.c); /usr/bin/arm-none-eabi-gcc -c b.c", "/p/sub:a.c /p:b.c"),
            ("cc -o t t.c libx.a", ""),
            ("cc -o t t.c u.c", "/p:t.c /p:u.c"),
            ("clang-19 -shared -o x.so x.c", "/p:x.c"),
            ("cc -MM a.c b.c > depend", ""),
            ("cc -E a.c b.c", ""),
            ("g++ -c a.c", ""),
            ("echo cc -c a.c", ""),
            ("for i in a b; do cc -c $i.c; done", ""),
            ("test -f x.o || c99 -include conf.c -c x.c", "/p:x.c"),
            ("cp a.c b.c", ""),
            ("if cc -c 'a b.c'; then :; fi", "/p:a b.c"),
        ] {
            assert_eq!(compiled(line), expected, "{line}");
        }
    }

    proptest! {
        #[test]
        fn any_output_can_be_read(text in "(make\\[1\\]: (Entering|Leaving) directory 'x'|cc -c a.c|\\(|\\)|[ -~]{0,8}|\n){0,20}") {
            for call in calls(&text, "/p".into()) {
                prop_assert!(!call.sources.is_empty());
            }
        }
    }
}
