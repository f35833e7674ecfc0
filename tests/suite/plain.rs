//! Inputs as JSON: what a harness makes of them is what it says of them, for every shape of contract.

use crate::support::Repo;
use crate::support::clib::copy_tree;
use cargo_implfuzz::contract::types::Judgeable;
use cargo_implfuzz::fuzz::build::Built;
use cargo_implfuzz::fuzz::measure::Left;
use cargo_implfuzz::fuzz::run::Campaign;
use cargo_implfuzz::judge::Judge;
use cargo_implfuzz::process::Interrupt;
use cargo_implfuzz::project::{Options, Project};
use serde_json::{Value, json};
use std::path::Path;

/// Inputs of one function: those that the harness tries first are said, read, and said again.
fn round_trip(campaign: &Campaign, interrupt: &Interrupt) -> usize {
    let inputs = campaign.boundary_inputs(interrupt).unwrap();
    let some: Vec<&Vec<u8>> = inputs.iter().step_by(inputs.len().div_ceil(60)).collect();
    let left = campaign.left_by_c(&some, interrupt).unwrap();
    let known: Vec<Left> = left.into_iter().flatten().collect();
    let said: Vec<Value> = known.iter().map(|left| left.given.clone()).collect();
    let read: Vec<_> = campaign.read_inputs(&said, interrupt).unwrap();
    let name = &campaign.target;
    let read: Vec<_> = said
        .iter()
        .zip(read)
        .map(|(said, read)| read.unwrap_or_else(|why| panic!("{name}: {said}: {why}")))
        .collect();
    let bytes: Vec<&Vec<u8>> = read.iter().map(|input| &input.bytes).collect();
    let again = campaign.left_by_c(&bytes, interrupt).unwrap();
    for ((before, read), after) in known.iter().zip(&read).zip(again) {
        let after = match after {
            Ok(after) => after,
            // What was just in time is not always: a busy machine.
            Err(why) if why == "hang" => continue,
            Err(why) => panic!("{name}: {}: {why}", before.given),
        };
        assert_eq!(read.canonical, before.given, "{name}");
        assert_eq!((&after.given, &after.record), (&before.given, &before.record), "{name}");
        assert_eq!(after.value, before.value, "{name}: {}", before.given);
    }
    known.len()
}

fn opened(repo: &Repo) -> (Project, Interrupt) {
    let interrupt = Interrupt::none();
    let options = Options { dir: Some(repo.root().to_owned()), ..Options::default() };
    (Project::open(&options, &interrupt).unwrap(), interrupt)
}

#[test]
fn the_inputs_of_a_library_are_what_they_say() {
    let repo = Repo::empty();
    copy_tree(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/c-lib"), repo.root());
    repo.run(&["init", "--config", "fuzz.fail_allocations=true"]).ok();
    let (project, interrupt) = opened(&repo);
    let judge = Judge::new(&project, &interrupt);
    let Built::Binary(binary) = judge.build(&[]).unwrap() else { panic!("the harnesses do not build") };
    let judged = project.planned.iter().filter(|p| matches!(p.judgeable, Judgeable::Yes(_)));
    let mut functions = 0;
    for planned in judged {
        let inputs = round_trip(&judge.campaign(&binary, planned), &interrupt);
        assert!(inputs > 0, "{}", planned.function.name);
        functions += 1;
    }
    assert!(functions > 55, "{functions}");
}

#[test]
fn what_is_no_input_is_refused_in_words() {
    let repo = Repo::library();
    repo.run(&["init"]).ok();
    let (project, interrupt) = opened(&repo);
    let judge = Judge::new(&project, &interrupt);
    let Built::Binary(binary) = judge.build(&[]).unwrap() else { panic!("the harnesses do not build") };
    let planned = project.find("sum_bytes").unwrap();
    let campaign = judge.campaign(&binary, planned);
    let read = |input: Value| campaign.read_inputs(&[input], &interrupt).unwrap().pop().unwrap();
    let names: Vec<&str> =
        planned.judgeable.contract().unwrap().params.iter().map(|p| p.name.as_str()).collect();
    let [buffer, length] = names[..] else { panic!("{names:?}") };
    let right = read(json!({ buffer: {"repeat": "ab", "times": 2} })).unwrap();
    assert_eq!(right.canonical, json!({ buffer: "abab", length: 4 }));
    for (wrong, why) in [
        (json!([1]), "an object is wanted, not a list"),
        (json!({}), "is missing"),
        (json!({ buffer: 7 }), "bytes are wanted, not an integer"),
        (json!({ buffer: [256] }), "256 is no u8"),
        (json!({ buffer: "ab", length: 3 }), "is 3, and the buffer has 2 elements"),
        (json!({ buffer: "ab", "other": 3 }), "`other` is unknown"),
        (json!({ buffer: {"hex": "0"} }), "even number"),
        (json!({ buffer: {"repeat": "a", "times": 100_000} }), "no such input"),
    ] {
        let told = read(wrong.clone()).unwrap_err();
        assert!(told.contains(why), "{wrong}: {told}");
    }
}
