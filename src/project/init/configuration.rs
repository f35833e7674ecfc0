//! The first `implfuzz.toml`: the detected configuration, for the user to correct.

use crate::c::flags::FlagSource;
use crate::project::Project;

/// How many of the files that are left out the text names.
const SHOWN: usize = 10;

/// The text of the file.
pub fn render(project: &Project) -> String {
    let list = |items: &[String]| {
        let items: Vec<String> = items.iter().map(|item| format!("{:?}", item)).collect();
        match items.len() {
            0..4 => format!("[{}]", items.join(", ")),
            _ => format!("[\n    {},\n]", items.join(",\n    ")),
        }
    };
    let sources: Vec<String> = project.library.units.iter().map(|u| u.file.to_string()).collect();
    let includes = values(project, "-I");
    let mut text = String::from(
        "# What cargo-implfuzz ports and how. Every key can be overridden with --config 'key=value'.\n\
         version = 1\n\n[c]\n",
    );
    match (&project.flags, project.flags.key()) {
        (FlagSource::Settings | FlagSource::IncludeGuess, _) | (_, None) => {
            text += &format!("sources = {}\ninclude_dirs = {}\n", list(&sources), list(&includes));
        }
        (flags, Some(way)) => {
            let defines = list(&values(project, "-D"));
            let (sources, includes) = (list(&sources), list(&includes));
            let found = format!("sources = {sources}\ninclude_dirs = {includes}\ndefines = {defines}");
            text += &format!("# Sources and flags come from {flags}.\n");
            text += &format!("from = {:?}\n", way.word());
            text +=
                "# To choose them by hand, take `from` out and these in; flags are then only those below:\n";
            text += &format!("# {}\n", found.replace('\n', "\n# "));
        }
    }
    // Options on the command line of the first `init` also apply to later commands.
    let c = &project.config.c;
    for (key, told, example) in [
        ("defines", &c.defines, "NAME=value"),
        ("flags", &c.flags, "-std=c99"),
        ("exclude", &c.exclude, "tools/*"),
        ("link", &c.link, "m"),
    ] {
        text += &match told.is_empty() {
            true => format!("# {key} = [{example:?}]\n"),
            false => format!("{key} = {}\n", list(told)),
        };
    }
    if let Some(compiler) = &c.compiler {
        text += &format!("compiler = {compiler:?}\n");
    }
    let left_out = &project.library.left_out;
    for left in left_out.iter().take(SHOWN) {
        let reason = left.reason.lines().next().unwrap_or_default();
        text += &format!("# left out: {}: {reason}\n", left.file);
    }
    if let Some(more) = left_out.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        text += &format!("# left out: {more} more: `cargo implfuzz list --unsupported`\n");
    }
    text += &format!("\n[rust]\ncrate_name = {:?}\n", project.crate_name());
    text += "# signature = \"c\"    # keep C's types everywhere; \"safe\" where every role allows it is the default\n";
    text += "\n[fuzz]\n# accept_seconds = 60\n# accept_executions = 1000000\n";
    text +=
        "\n[llm]\n# provider = \"anthropic\" | \"openai\" | \"command\" | \"replay\"\n# model = \"...\"\n";
    text
}

/// The values after this flag in any unit, each once, in order.
fn values(project: &Project, flag: &str) -> Vec<String> {
    let mut values: Vec<String> = Vec::new();
    for value in project.library.units.iter().flat_map(|u| &u.flags).filter_map(|f| f.strip_prefix(flag)) {
        if !values.iter().any(|known| known == value) {
            values.push(value.to_owned());
        }
    }
    values
}
