//! SARIF 2.1.0: one result for each port that did not pass.

use super::{PortProblem, PortResult, Rule, problems};
use crate::digest::of_parts;
use crate::error::Page;
use crate::report::printable;
use serde_json::{Value, json};
use strum::VariantArray;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/// What paths are relative to.
const ROOT: &str = "%SRCROOT%";

/// The problems of ports. Without an `automationDetails`: GitHub's upload sets it from its `category`, unless the file
/// has one.
pub fn sarif(results: &[PortResult]) -> String {
    let rules: Vec<Value> = Rule::VARIANTS.iter().map(|rule| descriptor(*rule)).collect();
    let found: Vec<Value> = problems(results).map(result).collect();
    let driver = json!({
        "name": "cargo implfuzz", "version": env!("CARGO_PKG_VERSION"), "informationUri": env!("CARGO_PKG_REPOSITORY"), "rules": rules,
    });
    let root = json!({ ROOT: { "description": { "text": "The root of the git repository." } } });
    let log = json!({
        "$schema": SCHEMA, "version": "2.1.0",
        "runs": [{ "tool": { "driver": driver }, "originalUriBaseIds": root, "results": found }],
    });
    format!("{log:#}\n")
}

fn descriptor(rule: Rule) -> Value {
    let explanation = rule.explanation();
    json!({
        "id": rule.id(),
        "shortDescription": { "text": rule.sentence() },
        "fullDescription": { "text": explanation },
        "help": { "text": explanation, "markdown": explanation },
        "helpUri": format!("{}#rules", Page::Ci),
        "defaultConfiguration": { "level": "error" },
    })
}

fn result((of, problem): (&PortResult, &PortProblem)) -> Value {
    let PortProblem { rule, reason, help, .. } = problem;
    let message = printable(&format!("{}: {reason}\nhelp: {help}", of.symbol));
    json!({
        "ruleId": rule.id(),
        "ruleIndex": Rule::VARIANTS.iter().position(|one| one == rule),
        "level": "error",
        "message": { "text": message },
        "locations": [{
            "physicalLocation": {
                "artifactLocation": { "uri": uri(&of.file), "uriBaseId": ROOT },
                "region": { "startLine": of.line },
            },
            "logicalLocations": [{ "name": of.symbol, "kind": "function" }],
        }],
        // The same problem stays the same alert when lines move or the reason changes.
        "partialFingerprints": { "portAndRule/v1": of_parts([rule.id(), &of.file, &of.symbol]) },
    })
}

/// A relative path as a URI: each byte that may not stand in one is `%` and two digits.
fn uri(path: &str) -> String {
    let mut uri = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(byte.into())
            }
            _ => uri += &format!("%{byte:02X}"),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::super::tests::results;
    use super::*;

    fn parsed(results: &[PortResult]) -> Value {
        serde_json::from_str(&sarif(results)).unwrap()
    }

    #[test]
    fn every_problem_is_a_result_with_rule_and_place() {
        let log = parsed(&results());
        insta::assert_snapshot!(format!("{:#}", log["runs"][0]["results"]));
    }

    #[test]
    fn every_result_names_a_rule_with_help() {
        let log = parsed(&results());
        let rules = &log["runs"][0]["tool"]["driver"]["rules"];
        for result in log["runs"][0]["results"].as_array().unwrap() {
            let rule = &rules[usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
            assert_eq!(rule["id"], result["ruleId"]);
            assert!(rule["help"]["text"].as_str().unwrap().contains("cargo implfuzz"), "{rule}");
        }
    }

    #[test]
    fn a_fingerprint_depends_on_rule_and_port_alone() {
        let fingerprint = |change: &dyn Fn(&mut PortResult)| {
            let mut one = results().remove(1);
            change(&mut one);
            parsed(&[one])["runs"][0]["results"][0]["partialFingerprints"]["portAndRule/v1"].clone()
        };
        let same = fingerprint(&|_| {});
        assert_eq!(same, fingerprint(&|one| one.line += 10));
        assert_eq!(same, fingerprint(&|one| one.problem.as_mut().unwrap().reason = "other".into()));
        assert_ne!(same, fingerprint(&|one| one.symbol = "other".into()));
        assert_ne!(same, fingerprint(&|one| one.problem.as_mut().unwrap().rule = Rule::Audit));
    }

    #[test]
    fn paths_become_uris() {
        assert_eq!(uri("rust/src/a b%ü:c.rs"), "rust/src/a%20b%25%C3%BC%3Ac.rs");
    }
}
