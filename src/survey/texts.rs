//! The text of a function on both sides, with the numbers of its lines.

use crate::error::Result;
use crate::project::Project;
use crate::project::ported::Ported;
use crate::rust::signature::ident;
use crate::symbol::Function;
use syn::spanned::Spanned as _;

/// Lines of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text {
    /// Relative to the root.
    pub file: String,
    /// Number of the first line, from 1.
    pub first: usize,
    pub lines: Vec<String>,
}

impl Text {
    fn of(file: String, text: &str, first: usize, last: usize) -> Self {
        let lines = text.lines().skip(first.saturating_sub(1)).take(last + 1 - first.min(last));
        Self { file, first, lines: lines.map(str::to_owned).collect() }
    }
}

/// The C definition. C files need not be UTF-8.
pub(super) fn c(project: &Project, function: &Function) -> Result<Text> {
    let place = &function.place;
    let bytes = fs_err::read(project.workspace.root().join(&place.file.0))?;
    let (first, last) = (place.line as usize, place.end_line as usize);
    Ok(Text::of(place.file.to_string(), &String::from_utf8_lossy(&bytes), first, last))
}

/// The port, if there is one.
pub(super) fn rust(project: &Project, function: &Function) -> Result<Option<Text>> {
    if project.ported(function) != Ported::Yes {
        return Ok(None);
    }
    let module = project.module(&function.module)?;
    let file = project.shown(&project.module_path(&function.module));
    Ok(module.function(&ident(function).to_string()).map(|item| {
        let span = item.span();
        Text::of(file, module.text(), span.start().line, span.end().line)
    }))
}

#[cfg(test)]
mod tests {
    use super::Text;

    #[test]
    fn lines_are_cut_by_their_numbers() {
        let text = Text::of("a.c".into(), "1\n2\n3\n4\n", 2, 3);
        assert_eq!((text.first, text.lines), (2, vec!["2".to_owned(), "3".to_owned()]));
        assert_eq!(Text::of("a.c".into(), "1\n", 1, 1).lines, ["1"]);
        assert!(Text::of("a.c".into(), "1\n", 7, 9).lines.is_empty());
    }
}
