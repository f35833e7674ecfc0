//! Parses a C compiler's command line for the files that it compiles and links.

use std::path::{Path, PathBuf};

/// Options whose value is the next argument.
const WITH_VALUE: &[&str] = &[
    "-o", "-I", "-L", "-D", "-U", "-x", "-include", "-imacros", "-isystem", "-iquote", "-idirafter",
    "-isysroot", "-iprefix", "-iwithprefix", "-MF", "-MT", "-MQ", "-T", "-u", "-z", "-e", "-B", "-arch",
    "-target", "-Xassembler", "-Xpreprocessor", "-Xclang", "-mllvm", "--param", "-aux-info", "-wrapper",
    "-G", "-soname", "-rpath",
];

/// Options that prevent linking.
const NO_LINK: &[&str] = &["-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "-r", "--version", "-###"];

/// A parsed command line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    pub links: bool,
    pub is_static: bool,
    pub output: Option<String>,
    /// C sources.
    pub sources: Vec<PathBuf>,
    /// Other inputs: objects, archives, shared libraries, scripts.
    pub inputs: Vec<PathBuf>,
    libraries: Vec<String>,
    folders: Vec<PathBuf>,
}

impl Line {
    /// Parses the arguments, including those in `@file` response files.
    pub fn read(words: &[String]) -> Self {
        let mut line = Self { links: true, ..Self::default() };
        let words = expanded(words, 0);
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "-o" => line.output = words.next().cloned(),
                "-L" => line.folders.extend(words.next().map(PathBuf::from)),
                "-l" => line.libraries.extend(words.next().cloned()),
                "-Xlinker" => words.next().into_iter().for_each(|word| line.linker_word(word)),
                "-static" | "-static-pie" => line.is_static = true,
                _ if NO_LINK.contains(&word.as_str()) => line.links = false,
                _ if WITH_VALUE.contains(&word.as_str()) => drop(words.next()),
                _ => line.word(word),
            }
        }
        line.links &= !line.sources.is_empty() || !line.inputs.is_empty();
        line
    }

    fn word(&mut self, word: &str) {
        let joined = |option: &str| word.strip_prefix(option).map(str::to_owned);
        if let Some(words) = joined("-Wl,") {
            words.split(',').for_each(|word| self.linker_word(word));
        } else if let Some(folder) = joined("-L") {
            self.folders.push(folder.into());
        } else if let Some(library) = joined("-l") {
            self.libraries.push(library);
        } else if let Some(output) = joined("-o").filter(|o| !o.is_empty()) {
            self.output = Some(output);
        } else if !word.starts_with('-') {
            let path = PathBuf::from(word);
            let is_source = path.extension().is_some_and(|extension| extension == "c");
            if is_source { self.sources.push(path) } else { self.inputs.push(path) }
        }
    }

    fn linker_word(&mut self, word: &str) {
        if !word.starts_with('-') && Path::new(word).is_file() {
            self.inputs.push(word.into());
        }
    }

    /// Objects and archives that are linked statically. A library found as a shared library is not among them.
    pub fn linked(&self) -> Vec<PathBuf> {
        let found = self.libraries.iter().filter_map(|name| self.archive(name));
        self.inputs.iter().cloned().chain(found).collect()
    }

    fn archive(&self, name: &str) -> Option<PathBuf> {
        if let Some(file) = name.strip_prefix(':') {
            return self.folders.iter().map(|folder| folder.join(file)).find(|path| path.is_file());
        }
        self.folders.iter().find_map(|folder| {
            let [shared, archive] = ["so", "a"].map(|end| folder.join(format!("lib{name}.{end}")));
            match () {
                () if !self.is_static && shared.exists() => Some(None),
                () if archive.is_file() => Some(Some(archive)),
                () => None,
            }
        })?
    }
}

/// The arguments with response files expanded.
fn expanded(words: &[String], depth: u8) -> Vec<String> {
    let mut all = Vec::new();
    for word in words {
        let file = word.strip_prefix('@').filter(|_| depth < 4);
        match file.and_then(|path| std::fs::read_to_string(path).ok()) {
            Some(text) => {
                let words: Vec<String> =
                    text.split_whitespace().map(|word| word.trim_matches(['"', '\'']).to_owned()).collect();
                all.extend(expanded(&words, depth + 1));
            }
            None => all.push(word.clone()),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Line {
        Line::read(&text.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn what_is_compiled_and_what_is_linked() {
        let compile = line("-O2 -Iinclude -I include -MF x.c -c -o x.o src/x.c");
        assert!(!compile.links);
        assert_eq!(compile.sources, [PathBuf::from("src/x.c")]);
        assert_eq!(compile.output.as_deref(), Some("x.o"));
        let link = line("-o test -D A.c test.c y.o build/libkit.a -lm");
        assert!(link.links);
        assert_eq!(link.sources, [PathBuf::from("test.c")]);
        assert_eq!(link.linked(), [PathBuf::from("y.o"), "build/libkit.a".into()]);
        for text in ["--version", "-print-prog-name=ld", "-E x.c", "-r -o all.o a.o"] {
            assert!(!line(text).links, "{text}");
        }
    }

    #[test]
    fn libraries_are_looked_for_where_the_line_says_and_shared_ones_are_not_taken() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        std::fs::write(path("liba.a"), "").unwrap();
        std::fs::write(path("libb.a"), "").unwrap();
        std::fs::write(path("libb.so"), "").unwrap();
        std::fs::write(path("more"), format!("-L{} \"-lb\"", dir.path().display())).unwrap();
        let text = format!("x.o -L {} -la -lb", dir.path().display());
        assert_eq!(line(&text).linked(), [PathBuf::from("x.o"), path("liba.a")]);
        assert_eq!(line(&format!("{text} -static")).linked().len(), 3);
        assert_eq!(
            line(&format!("x.o @{} -l:liba.a", path("more").display())).linked(),
            [PathBuf::from("x.o"), path("liba.a")]
        );
    }
}
