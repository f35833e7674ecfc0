//! Prompts for tests and for reflections on them: templates filled with the function, the form of a valid input,
//! the environment, and the results so far.
//!
//! Parts that stay the same over all rounds of a function come first, so that providers cache them. Untrusted text,
//! from C, models and configurations, is in fences.

use super::environment::EnvironmentInfo;
use super::schema::Schema;
use crate::error::Result;
use crate::llm::quoted::one_line;
use crate::llm::{Block, Message, Prompt, Speaker, templates};
use crate::symbol::Function;
use crate::test_record::{GeneratedTest, TestCategory, TestGenConfig};
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

/// Numbers of tests, of branches and survivors, and of dropped inputs that are shown: the last ones or the first
/// ones.
const TESTS: usize = 40;
const GAPS: usize = 20;
const DROPPED: usize = 10;
/// Largest number of characters of an input, a result, or another line.
const CHARS: usize = 300;

/// The common part of all prompts about a function.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    pub function: &'a Function,
    pub schema: &'a Schema,
    pub environment: &'a EnvironmentInfo,
    /// The text of the fuzz target, if one decodes the arguments.
    pub target: Option<&'a str>,
}

/// The results so far. The caller must leave out what may not be shown, such as the hidden half of the mutants.
#[derive(Debug, Clone, Copy, Default)]
pub struct Round<'a> {
    /// Number of tests to ask for.
    pub wanted: usize,
    /// Tests that were run, in order of arrival.
    pub tests: &'a [&'a GeneratedTest],
    /// Branches of C that no test reaches, a line each.
    pub uncovered: &'a [String],
    /// Mutants that no test kills, a line each.
    pub survivors: &'a [String],
    /// Inputs and entries of replies that could not be used, each with the reason.
    pub dropped: &'a [String],
    /// The reflection on the round before.
    pub reflection: Option<&'a str>,
}

/// The templates of prompts about tests.
#[derive(Debug)]
pub struct Templates(templates::Templates);

impl Templates {
    /// The built-in templates, each replaced by the file of the same name in `overrides` if it exists. `Err` (kind
    /// `Config`) when such a file is not a valid template.
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

    /// Asks for a reflection on the last round.
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

    /// One filled template.
    pub(crate) fn render(&self, name: &str, values: Value) -> Result<String> {
        self.0.render(name, values)
    }
}

/// The values for the first part of each prompt.
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

/// The values for the results so far.
fn state(round: &Round) -> Value {
    let hidden = round.tests.len().saturating_sub(TESTS);
    let told = |test: &&GeneratedTest| {
        let left = test.expected_output.as_ref().unwrap_or(&serde_json::Value::Null);
        format!("{}: {} → {}", short(&test.id), short(&test.input.to_string()), short(&left.to_string()))
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

/// One line of limited length.
pub(crate) fn short(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

#[cfg(test)]
mod tests;
