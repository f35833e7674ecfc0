//! Maps the paths in a build to paths relative to the project's root.

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

/// The project, and the copy of it in which a build system ran, if any.
pub(super) struct ProjectPaths<'a> {
    /// Absolute, without symbolic links.
    pub root: &'a Utf8Path,
    /// Absolute; it may no longer exist.
    pub copy: Option<&'a Utf8Path>,
}

impl ProjectPaths<'_> {
    /// The path relative to the root; `None` if it is outside.
    pub fn inside(&self, path: &Utf8Path) -> Option<Utf8PathBuf> {
        self.real(path).strip_prefix(self.root).ok().map(Utf8Path::to_path_buf)
    }

    /// The path as a compiler that runs in the root needs it.
    pub fn show(&self, path: &Utf8Path) -> String {
        match self.inside(path) {
            Some(inside) if inside.as_str().is_empty() => ".".into(),
            Some(inside) => inside.into_string(),
            None => self.real(path).into_string(),
        }
    }

    fn real(&self, path: &Utf8Path) -> Utf8PathBuf {
        let plain = without_dots(path);
        let original = self.copy.and_then(|copy| plain.strip_prefix(copy).ok()).map(|p| self.root.join(p));
        let path = original.as_deref().unwrap_or(path);
        path.canonicalize_utf8().unwrap_or_else(|_| without_dots(path))
    }
}

/// Removes `.` and `x/..` from the text of the path, because the path may not exist.
fn without_dots(path: &Utf8Path) -> Utf8PathBuf {
    let mut plain = Utf8PathBuf::new();
    for component in path.components() {
        match component {
            Utf8Component::CurDir => {}
            Utf8Component::ParentDir => drop(plain.pop()),
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_the_copy_are_paths_of_the_project() {
        let places = ProjectPaths { root: "/no/p".into(), copy: Some("/no/p/.x/copy".into()) };
        for (path, shown) in [
            ("/no/p/.x/copy/lib/../a", "a"),
            ("/no/p/.x/copy/lib/../../gen", ".x/gen"),
            ("/no/p/.x/copy", "."),
            ("/no/p/./b", "b"),
            ("/no/other/../q", "/no/q"),
        ] {
            assert_eq!(places.show(path.into()), shown, "{path}");
        }
        assert_eq!(places.inside("/no/q".into()), None);
    }
}
