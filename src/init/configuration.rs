//! The first `implfuzz.toml`: what was found out, for the user to correct.

use crate::project::Project;
use std::collections::BTreeSet;

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
    let mut includes: Vec<String> = Vec::new();
    let mut seen = BTreeSet::new();
    for flag in project.library.units.iter().flat_map(|u| &u.flags) {
        if let Some(dir) = flag.strip_prefix("-I")
            && seen.insert(dir)
        {
            includes.push(dir.to_owned());
        }
    }
    let mut text = String::from(
        "# What cargo-implfuzz ports and how. Every key can be overridden with --config 'key=value'.\n\
         version = 1\n\n[c]\n",
    );
    if project.workspace.root().join("compile_commands.json").exists()
        || project.workspace.root().join("build/compile_commands.json").exists()
    {
        text += "# Sources and flags come from compile_commands.json. To choose them by hand:\n";
        text += &format!("# sources = {}\n", list(&sources).replace('\n', "\n# "));
    } else {
        text += &format!("sources = {}\ninclude_dirs = {}\n", list(&sources), list(&includes));
    }
    text += "# defines = [\"NAME=value\"]\n# flags = [\"-std=c99\"]\n# link = [\"m\"]\n";
    for left in &project.library.left_out {
        let reason = left.reason.lines().next().unwrap_or_default();
        text += &format!("# left out: {}: {reason}\n", left.file);
    }
    text += &format!("\n[rust]\ncrate_name = {:?}\n", project.crate_name());
    text += "# signature = \"c\"    # keep C's types everywhere; \"safe\" where every role allows it is the default\n";
    text += "\n[fuzz]\n# accept_seconds = 60\n# accept_executions = 1000000\n";
    text +=
        "\n[llm]\n# provider = \"anthropic\" | \"openai\" | \"command\" | \"replay\"\n# model = \"...\"\n";
    text
}
