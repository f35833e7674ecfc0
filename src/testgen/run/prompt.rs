//! Prompts for tests and for reflections on them: templates filled with the function, what a valid input is, where C runs, and
//! what is known so far.
//!
//! What stays the same over all rounds of a function comes first, so that providers cache it. Text from C, from models and from
//! configurations, which models may write, stands in fences.

use super::environment::EnvironmentInfo;
use super::schema::Schema;
use crate::error::Result;
use crate::llm::quoted::one_line;
use crate::llm::{Block, Message, Prompt, Speaker, templates};
use crate::symbol::Function;
use crate::test_record::{TestCategory, TestGenConfig};
use minijinja::value::Serde;
use minijinja::{Value, context};
use std::path::Path;

/// The built-in templates: name and text.
const BUILT_IN: [(&str, &str); 5] = [
    ("testgen-task.j2", include_str!("../../../templates/prompts/testgen-task.j2")),
    ("testgen-state.j2", include_str!("../../../templates/prompts/testgen-state.j2")),
    ("testgen.j2", include_str!("../../../templates/prompts/testgen.j2")),
    ("testgen-reflect.j2", include_str!("../../../templates/prompts/testgen-reflect.j2")),
    ("testgen-config.j2", include_str!("../../../templates/prompts/testgen-config.j2")),
];

/// Tests, branches and survivors, dropped inputs: of more of them the last, or the first, are shown.
const TESTS: usize = 40;
const GAPS: usize = 20;
const DROPPED: usize = 10;
/// Characters of an input, of a result, and of any other line.
const CHARS: usize = 300;

/// What all prompts about a function have in common.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    pub function: &'a Function,
    pub schema: &'a Schema,
    pub environment: &'a EnvironmentInfo,
    /// The text of the fuzz target, where one reads the arguments.
    pub target: Option<&'a str>,
}

/// A test that was run, as it is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Tried {
    pub id: String,
    pub input: serde_json::Value,
    /// What C left behind.
    pub left: serde_json::Value,
}

/// What is known when a model is asked. Whoever fills it decides what may be shown: of the mutants the visible half alone.
#[derive(Debug, Clone, Copy, Default)]
pub struct Round<'a> {
    /// Tests that are asked for.
    pub wanted: usize,
    /// In the order in which they came.
    pub tests: &'a [Tried],
    /// Branches of C that no test reaches, a line each.
    pub uncovered: &'a [String],
    /// Mutants that no test tells from C, a line each.
    pub survivors: &'a [String],
    /// Inputs and entries of replies that could not be used, each with the reason.
    pub dropped: &'a [String],
    /// What was thought about the round before.
    pub reflection: Option<&'a str>,
}

/// The templates of prompts about tests.
#[derive(Debug)]
pub struct Templates(templates::Templates);

impl Templates {
    /// The built-in templates, each replaced by the file of the same name in `overrides` where there is one. `Err`
    /// (kind `Config`) when such a file is no template.
    pub fn load(overrides: Option<&Path>) -> Result<Self> {
        templates::Templates::load(&BUILT_IN, overrides).map(Self)
    }

    /// Asks for tests of a category. `attempt` is counted from 1 over all rounds of the function.
    pub fn tests(
        &self,
        config: &TestGenConfig,
        subject: &Subject,
        (category, round): (TestCategory, &Round),
        attempt: u32,
    ) -> Result<Prompt> {
        let values = context! {
            category => category.word(),
            count => round.wanted.max(1),
            demand => config.prompt(category),
            shortcuts => &config.anti_cheat_prompt,
            example => subject.schema.example.to_string(),
            reflection => round.reflection,
            ..state(round)
        };
        let user = self.render("testgen.j2", values)?;
        self.prompt(config, subject, ("testgen", user), attempt)
    }

    /// Asks for thoughts about the last round.
    pub fn reflection(
        &self,
        config: &TestGenConfig,
        subject: &Subject,
        (category, round): (TestCategory, &Round),
        attempt: u32,
    ) -> Result<Prompt> {
        let question = &config.reflection_prompt;
        let values = context! { category => category.word(), question => question, ..state(round) };
        let user = self.render("testgen-reflect.j2", values)?;
        self.prompt(config, subject, ("testgen-reflect", user), attempt)
    }

    fn prompt(
        &self,
        config: &TestGenConfig,
        subject: &Subject,
        (role, user): (&str, String),
        attempt: u32,
    ) -> Result<Prompt> {
        let task = self.render("testgen-task.j2", task(subject))?;
        Ok(Prompt {
            role: role.to_owned(),
            symbol: subject.function.name.clone(),
            attempt,
            enlarged: false,
            system: vec![Block { text: task, cache: true }],
            messages: vec![Message { speaker: Speaker::User, text: user }],
            max_tokens: u64::from(config.max_tokens),
        })
    }

    /// One of the templates, filled.
    pub(crate) fn render(&self, name: &str, values: Value) -> Result<String> {
        self.0.render(name, values)
    }
}

/// What the first part of each prompt says.
fn task(subject: &Subject) -> Value {
    let function = subject.function;
    let comment = if function.comment.is_empty() { String::new() } else { format!("{}\n", function.comment) };
    context! {
        function => context! {
            name => &function.c_name,
            file => one_line(function.place.file.0.as_str()),
            line => function.place.line,
            text => format!("{comment}{}", function.text),
        },
        target => subject.target,
        schema => subject.schema.text(),
        result => &subject.schema.result,
        environment => Value::from(Serde(subject.environment)),
    }
}

/// What is known so far.
fn state(round: &Round) -> Value {
    let hidden = round.tests.len().saturating_sub(TESTS);
    let told = |test: &Tried| {
        let (input, left) = (short(&test.input.to_string()), short(&test.left.to_string()));
        format!("{}: {input} → {left}", short(&test.id))
    };
    let first = |lines: &[String], most: usize| -> Vec<String> {
        lines.iter().take(most).map(|line| short(line)).collect()
    };
    context! {
        tests => round.tests[hidden..].iter().map(told).collect::<Vec<_>>(),
        hidden,
        uncovered => first(round.uncovered, GAPS),
        survivors => first(round.survivors, GAPS),
        dropped => first(round.dropped, DROPPED),
    }
}

/// One line that is not too long.
pub(crate) fn short(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

#[cfg(test)]
mod tests;
