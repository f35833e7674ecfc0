//! The files with which OSS-Fuzz and `ClusterFuzzLite` build the fuzz targets of a repository.

use super::render::render;
use crate::error::{Page, Result};
use minijinja::{Value, context};
use serde_json::json;
use std::path::{Path, PathBuf};

/// A nightly toolchain with which the harnesses are known to build: sanitizers in Rust need one, and that of the image may
/// be older than `rust-version` of this tool.
const NIGHTLY: &str = "nightly-2026-05-20";

/// Where GitHub looks for the workflow, relative to the root of the git repository.
pub const WORKFLOW: &str = ".github/workflows/cflite.yml";

/// The service that runs the targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub enum Service {
    #[strum(serialize = "oss-fuzz")]
    OssFuzz,
    ClusterFuzzLite,
}

impl Service {
    /// The folder that the service reads, relative to the root of the git repository.
    pub fn folder(self) -> &'static str {
        match self {
            Self::OssFuzz => "oss-fuzz",
            Self::ClusterFuzzLite => ".clusterfuzzlite",
        }
    }
}

/// What the files say of a repository.
#[derive(Debug, Clone)]
pub struct Integration<'a> {
    pub service: Service,
    /// The folder of the clone in the image.
    pub name: &'a str,
    pub main_repo: Option<&'a str>,
    pub homepage: Option<&'a str>,
    pub contact: Option<&'a str>,
    /// The target repository, relative to the root of the git repository.
    pub within: &'a Path,
    /// The port crate, relative to the target repository.
    pub rust: &'a Path,
    /// Functions whose targets would accuse right ports.
    pub left_out: &'a [String],
    pub has_drivers: bool,
    /// Whether the C text includes headers that the tool makes.
    pub is_configured: bool,
    pub max_len: u64,
    /// Options of AddressSanitizer, with which the tool runs targets.
    pub asan: &'a [&'a str],
    /// The dictionary; none if C compares its input with no words.
    pub words: Option<&'a str>,
}

impl Integration<'_> {
    /// The files, with their paths below the folder.
    ///
    /// # Errors
    /// `Internal` if a template is wrong.
    pub fn files(&self) -> Result<Vec<(PathBuf, String)>> {
        let templates = [
            ("project.yaml", include_str!("../../templates/export/oss_fuzz/project.yaml.j2")),
            ("Dockerfile", include_str!("../../templates/export/oss_fuzz/Dockerfile.j2")),
            ("build.sh", include_str!("../../templates/export/oss_fuzz/build.sh.j2")),
        ];
        let values = self.values();
        let mut files = templates
            .into_iter()
            .map(|(name, template)| Ok((PathBuf::from(name), render(name, template, values.clone())?)))
            .collect::<Result<Vec<_>>>()?;
        files.extend(self.words.map(|words| ("words.dict".into(), words.to_owned())));
        Ok(files)
    }

    /// The target repository in the image, below the folder of sources.
    fn root(&self) -> PathBuf {
        match self.within.as_os_str().is_empty() {
            true => PathBuf::from(self.name),
            false => Path::new(self.name).join(self.within),
        }
    }

    fn values(&self) -> Value {
        let is_lite = self.service == Service::ClusterFuzzLite;
        // OSS-Fuzz asks for its licence in the files that it takes over.
        let license = if is_lite { "" } else { include_str!("../../templates/export/oss_fuzz/license.txt") };
        let tool = match (self.has_drivers, self.is_configured) {
            (true, true) => Some("drivers, and headers of the library's configuration"),
            (true, false) => Some("drivers"),
            (false, true) => Some("headers of the library's configuration"),
            (false, false) => None,
        };
        let clone = self.main_repo.map(in_shell);
        // A JSON string is a YAML string, too.
        let yaml = |text: Option<&str>| text.map(|text| json!(text).to_string());
        context! {
            service => self.service.to_string(), is_lite, license, tool, clone,
            page => Page::ContinuousFuzzing.to_string(), home => env!("CARGO_PKG_REPOSITORY"), oldest => env!("CARGO_PKG_RUST_VERSION"), nightly => NIGHTLY,
            tag => if is_lite { ":v1" } else { "" }, folder => self.service.folder(), name => self.name,
            main_repo => yaml(self.main_repo), homepage => yaml(self.homepage), contact => yaml(self.contact),
            root => in_shell(&self.root().display().to_string()),
            rust => in_shell(&self.rust.display().to_string()), left_out => self.left_out.join(" "),
            drivers => self.has_drivers, configured => self.is_configured, max_len => self.max_len,
            asan => self.asan.iter().map(|option| (*option).to_owned()).collect::<Vec<_>>(), words => self.words.map_or(String::new(), |_| match is_lite {
                true => format!(" {}/words.dict", self.service.folder()),
                false => " words.dict".to_owned(),
            }),
        }
    }
}

/// A word of a shell, in quotes only where it needs them.
fn in_shell(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

/// The workflow that runs `ClusterFuzzLite` on GitHub.
///
/// # Errors
/// `Internal` if the template is wrong.
pub fn workflow() -> Result<String> {
    let job = |mode: &str, title: &str, when: &str, seconds: u32, sanitizer: &str| {
        context! {
            mode, title, when, seconds, sanitizer, minutes => seconds / 60 + 60, concurrent => mode == "code-change",
            sarif => mode != "coverage",
        }
    };
    let batch =
        "github.event_name == 'workflow_dispatch' || github.event.schedule == '0 */6 * * *'".to_owned();
    let daily = "github.event.schedule == '0 3 * * *'";
    let jobs = vec![
        job("code-change", "Fuzz a pull request", "github.event_name == 'pull_request'", 600, "address"),
        job("batch", "Fuzz everything", &batch, 3600, "address"),
        job("prune", "Prune the corpora", daily, 600, "address"),
        job("coverage", "Measure coverage", daily, 600, "coverage"),
    ];
    let values = context!(jobs, page => Page::ContinuousFuzzing.to_string());
    render("workflow", include_str!("../../templates/export/cflite.yml.j2"), values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn integration(service: Service) -> Integration<'static> {
        Integration {
            service,
            name: "kit",
            main_repo: Some("https://example.org/kit.git"),
            homepage: Some("https://example.org/kit"),
            contact: Some("fuzz@example.org"),
            within: Path::new(""),
            rust: Path::new("rust"),
            left_out: &[],
            has_drivers: false,
            is_configured: false,
            max_len: 4096,
            asan: &["detect_leaks=0", "redzone=1024"],
            words: None,
        }
    }

    fn text(integration: &Integration, file: &str) -> String {
        let files = integration.files().unwrap();
        files.into_iter().find(|(path, _)| path == Path::new(file)).unwrap().1
    }

    #[test]
    fn the_files_of_a_repository() {
        for file in ["project.yaml", "Dockerfile", "build.sh"] {
            insta::assert_snapshot!(file, text(&integration(Service::OssFuzz), file));
        }
        insta::assert_snapshot!("workflow", workflow().unwrap());
    }

    #[test]
    fn everything_that_a_repository_may_have() {
        let left_out = ["now".to_owned(), "ask".to_owned()];
        let all = Integration {
            within: Path::new("lib/x y"),
            left_out: &left_out,
            has_drivers: true,
            is_configured: true,
            words: Some("\"ab\"\n"),
            contact: None,
            ..integration(Service::ClusterFuzzLite)
        };
        for file in ["project.yaml", "Dockerfile", "build.sh"] {
            insta::assert_snapshot!(format!("all {file}"), text(&all, file));
        }
        assert_eq!(text(&all, "words.dict"), "\"ab\"\n");
    }

    #[test]
    fn names_are_words_of_the_shell() {
        assert_eq!(in_shell("https://example.org/a_b.git"), "https://example.org/a_b.git");
        assert_eq!(in_shell("it's; rm -r"), "'it'\\''s; rm -r'");
        assert_eq!(in_shell(""), "''");
    }
}
