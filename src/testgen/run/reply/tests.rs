use super::*;
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeSet;

const ASKED: TestCategory = TestCategory::Boundary;

fn inputs(text: &str) -> Vec<Value> {
    read(text, ASKED).tests.into_iter().map(|test| test.input).collect()
}

const TWO: &str = r#"[{"id": "a", "input": {"n": 1}}, {"id": "b", "input": {"n": 2}}]"#;

#[test]
fn an_entry_has_everything_that_was_said() {
    let text = r#"[{"id": " long
        id ", "input": {"n": 1}, "predictedOutput": {"return": 2}, "reasoning": "wraps", "category": "Anti-Cheat", "confidence": 0.25},
        {"Input": {"n": 2}, "expectedOutput": 3, "confidence": "150%"}, {"input": {"n": 3}, "confidence": -1, "category": "speed"}]"#;
    let Entries { tests, problems, unreadable } = read(text, ASKED);
    assert_eq!((problems.len(), unreadable.len()), (0, 0));
    let [first, second, third] = &tests[..] else { panic!("{tests:?}") };
    assert_eq!((first.id.as_str(), first.reasoning.as_str()), ("long id", "wraps"));
    assert_eq!(first.predicted_output, Some(json!({"return": 2})));
    assert_eq!(
        (first.category, first.confidence),
        (ASKED, Some(0.25)),
        "what was asked for, whatever it says"
    );
    assert_eq!((second.predicted_output.clone(), second.expected_output.clone()), (Some(json!(3)), None));
    assert_eq!((second.confidence, second.category), (Some(1.0), ASKED));
    assert_eq!((third.confidence, third.category), (Some(0.0), ASKED));
    assert_eq!((second.id.as_str(), third.id.as_str()), ("boundary-1", "boundary-2"));
}

#[test]
fn tests_are_found_wherever_they_stand() {
    let two = [json!({"n": 1}), json!({"n": 2})];
    for text in [
        TWO.to_owned(),
        format!("{{\"tests\": {TWO}}}"),
        format!("{{\"test_cases\": {TWO}, \"note\": 1}}"),
        format!("Here they are:\n```json\n{TWO}\n```\nThey use {{n}} and `int a[] = {{\"x\", \"y\"}}`."),
        format!("~~~json\n{TWO}\n~~~"),
        format!("```\n{TWO}"),
        "```json\n[{\"input\": {\"n\": 1}}]\n```\nand\n```json\n[{\"input\": {\"n\": 2}},]\n```".to_owned(),
        "{\"input\": {\"n\": 1}}\n{\"input\": {\"n\": 2}}".to_owned(),
        format!("<think>[{{\"input\": {{\"n\": 9}}}}]</think>{TWO}"),
        TWO.replace("}}", "},}").replace("}]", "},]"),
        "[{\"input\": \"{\\\"n\\\": 1}\"}, {\"input\": {\"n\": 2}}]".to_owned(),
        format!("{{\"boundary\": {TWO}}}"),
        format!("{{\"category\": \"boundary\", \"tests\": {TWO}}}"),
        format!("{{\"count\": 2, \"inputs\": {TWO}, \"left_out\": [{{\"why\": \"known\"}}]}}"),
        format!("{{\"notes\": [{{\"of\": \"n\"}}], \"answer\": {{\"tests\": {TWO}}}}}"),
        "{\"a\": {\"input\": {\"n\": 1}}, \"b\": {\"input\": {\"n\": 2}}}".to_owned(),
        TWO.replace("{\"id\": \"b\",", "{\"tags\": [], \"steps\": [{\"input\": {}}],"),
    ] {
        assert_eq!(inputs(&text), two, "{text}");
        assert_eq!(read(&text, ASKED).problems, [""; 0], "{text}");
    }
    // A truncated or faulty object is used for its list, too.
    for (text, told) in [
        (&TWO[..TWO.len() - 2], "entry 2: the reply ends in the middle of it"),
        (
            "[{\"input\": {\"n\": 1}}, {\"input\": {\"n\" 2}}]}",
            "entry 2: a colon is missing after a key (line 1)",
        ),
    ] {
        let found = read(&format!("{{\"category\": \"boundary\", \"tests\": {text}"), ASKED);
        assert_eq!((found.tests.len(), found.problems), (1, vec![told.to_owned()]));
    }
    // A wrong object before them is reported, and they are read.
    let text = format!("{{\"plan\": \"x\", \"n\": 3}}\n{{\"test_cases\": {TWO}, \"note\": 1}}");
    assert_eq!(inputs(&text), two);
    assert_eq!(read(&text, ASKED).problems, ["entry 1: it has no `input`"]);
}

#[test]
fn of_a_reflection_the_self_assessment_is_read() {
    for (text, wanted) in [
        ("Try n below zero.\nself-assessment: 7", Some(7.0)),
        ("**Self-Assessment:** 8.5/10.", Some(8.5)),
        ("self_assessment = 6.\nThat is all.", Some(6.0)),
        ("Self assessment (0 to 10): 4", Some(4.0)),
        ("Self-assessment: 3\nself-assessment: 5", Some(5.0)),
        ("<think>self-assessment: 9</think>Line 3 survives.", None),
        ("self-assessment: 400", Some(10.0)),
        ("self-assessment: -2", Some(0.0)),
        ("self-assessment: good", None),
        ("self-assessment: of 3 branches none", None),
        ("Nothing is missing.", None),
        ("", None),
    ] {
        assert_eq!(self_assessment(text), wanted, "{text}");
    }
}

#[test]
fn an_array_that_is_cut_off_keeps_what_is_whole() {
    let whole = r#"{"tests": [{"input": {"n": 1}}, {"input": {"a": {"b": 1}, "n": 2}}, {"input": {"s": {"x": 1}, "n": "#;
    let found = read(whole, ASKED);
    assert_eq!(found.tests.len(), 2);
    assert_eq!(found.problems, ["entry 3: the reply ends in the middle of it"]);
    assert_eq!(found.unreadable, found.problems);
    for end in 0..TWO.len() - 2 {
        let found = read(&TWO[..end], ASKED);
        assert!(found.tests.len() <= 1 && (!found.problems.is_empty() || found.tests.len() == 1), "{end}");
    }
}

#[test]
fn a_bad_entry_never_loses_the_others() {
    let bad = [
        (r#"{"input": {"n": 3 "m": {"k": 1}}}"#, "entry 2: a comma is missing (line 2)"),
        (r#"{"input": {"n: 3}}"#, "entry 2: a"),
        (r#"{"input": [1]}"#, "entry 2: `input` is not an object"),
        (r#"{"input": null}"#, "entry 2: it has no `input`"),
        (r#"{"n": 3}"#, "entry 2: it has no `input`"),
        (r#"{}"#, "entry 2: it has no `input`"),
        (r#"{"input": {"s": "\x"}}"#, "entry 2: a string has a wrong escape (line 2)"),
    ];
    for (bad, told) in bad {
        let text = format!(
            "[{{\"input\": {{\"n\": 1}}}},\n{bad},\n{{\"id\": \"b\", \"input\": {{\"n\": 2}}}}, {{\"id\": \"c\", \"input\": {{\"n\": 4}}}}]"
        );
        let found = read(&text, ASKED);
        let ends = [json!({"n": 1}), json!({"n": 4})];
        let got: Vec<_> = found.tests.iter().map(|test| test.input.clone()).collect();
        assert!(ends.iter().all(|end| got.contains(end)), "{bad}: {got:?}");
        assert!(
            found.problems.len() == 1
                && found.problems[0].starts_with(told)
                && found.unreadable == found.problems,
            "{bad}: {:?}",
            found.problems
        );
    }
}

#[test]
fn limits_and_replies_without_tests_are_told() {
    let many = vec![r#"{"input": {"n": 1}}"#; MOST_ENTRIES + 9].join(",");
    let found = read(&many, ASKED);
    assert_eq!(found.tests.len(), MOST_ENTRIES);
    assert_eq!(found.problems, ["only the first 64 entries were read"]);
    assert_eq!(found.unreadable, [""; 0], "nothing is said of those that were not read");
    let ids: BTreeSet<_> = found.tests.iter().map(|test| &test.id).collect();
    assert_eq!(ids.len(), MOST_ENTRIES);
    let long = format!("{TWO}{}", "é".repeat(LONGEST));
    let found = read(&long, ASKED);
    assert_eq!((found.tests.len(), found.problems.len()), (2, 1));
    for text in
        ["", "I cannot do that.", "[]", "```json\n```", "{\"tests\": []}", "{\"note\": \"x\", \"tests\": []}"]
    {
        let found = read(text, ASKED);
        assert_eq!(found.problems, ["the reply has no JSON array of tests"], "{text:?}");
        assert_eq!(found.unreadable, [""; 0], "there is no entry");
    }
    let noise = read(&"{\"a\": [ {".repeat(50_000), ASKED);
    assert!(noise.tests.is_empty() && noise.problems.len() <= TOLD && noise.unreadable.len() <= MOST_ENTRIES);
    let around = read("{\"tests\": [{\"n\": 1}, {\"n\": 2}], \"tags\": []}", ASKED);
    assert_eq!(around.unreadable, ["entry 1: it has no `input`"], "nothing came of it");
    let bad = read(&vec![r#"{"n": 1}"#; TOLD + 5].join(","), ASKED);
    assert_eq!(
        (bad.problems.len(), bad.unreadable.len()),
        (TOLD, TOLD + 5),
        "all are counted, some are told"
    );
}

proptest! {
    #[test]
    fn nothing_panics(text in any::<String>()) {
        read(&text, ASKED);
    }

    #[test]
    fn nothing_panics_on_what_looks_like_json(
        text in "([\\[\\]{},:\"\\\\]|\"input\":|\"tests\": ?\\[|\"id\":|[0-9]|```|~~~|null|é|//|/\\*| |\n){0,60}",
    ) {
        let found = read(&text, ASKED);
        let ids: BTreeSet<_> = found.tests.iter().map(|test| &test.id).collect();
        prop_assert_eq!(ids.len(), found.tests.len());
    }

    #[test]
    fn whatever_stands_around_it_an_entry_comes_out(
        before in "[a-z .\n`~\\[\\]]{0,30}", after in "[a-z .\n`~\\[\\]{},]{0,30}", n in any::<i64>(), word in "[a-z\"\\\\{}\\[\\]é\n]{0,9}",
    ) {
        let entry = json!([{"id": "x", "input": {"n": n, "word": word}}]);
        for text in [entry.to_string(), serde_json::to_string_pretty(&entry).unwrap()] {
            let found = read(&format!("{before}\n{text}\n{after}"), ASKED);
            prop_assert_eq!(&found.tests.first().map(|test| test.input.clone()), &Some(entry[0]["input"].clone()));
        }
    }
}
