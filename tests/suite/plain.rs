//! Inputs as JSON: the harness decodes them to exactly the values they state, for every shape of contract.

use crate::support::Repo;
use crate::support::clib::copy_tree;
use cargo_implfuzz::contract::types::Judgeable;
use cargo_implfuzz::fuzz::campaign::{Budget, Campaign};
use cargo_implfuzz::fuzz::evaluate_inputs::Left;
use cargo_implfuzz::judge::Judge;
use cargo_implfuzz::platform::process::Interrupt;
use cargo_implfuzz::project::{Options, Project};
use serde_json::{Value, json};
use std::path::Path;

/// Inputs of one function: of those that the harness tries first what C takes is said, read, and said again.
fn round_trip(campaign: &Campaign, interrupt: &Interrupt) -> usize {
    let once = Budget { seconds: 1, executions: Some(1) };
    campaign.against_itself(once, interrupt, &mut |_| ()).unwrap();
    let inputs = campaign.accepted(interrupt).unwrap();
    let some: Vec<&Vec<u8>> = inputs.iter().step_by(inputs.len().div_ceil(60)).collect();
    let left = campaign.left_by_c(&some, interrupt).unwrap();
    let known: Vec<Left> = left.into_iter().flatten().collect();
    let mut said: Vec<Value> = known.iter().map(|left| left.given.clone()).collect();
    // That the harness took another handle than is asked for, or made one, is no part of an input.
    for said in said.iter_mut().filter_map(Value::as_object_mut) {
        said.retain(|name, _| !["$spare", "$mistaken"].contains(&name.as_str()));
    }
    let read: Vec<_> = campaign.read_inputs(&said, interrupt).unwrap();
    let name = &campaign.target;
    let read: Vec<_> = said
        .iter()
        .zip(read)
        .map(|(said, read)| read.unwrap_or_else(|why| panic!("{name}: {said}: {why}")))
        .collect();
    let bytes: Vec<&Vec<u8>> = read.iter().map(|input| &input.bytes).collect();
    let again = campaign.left_by_c(&bytes, interrupt).unwrap();
    for (((before, said), read), after) in known.iter().zip(&said).zip(&read).zip(again) {
        let after = match after {
            Ok(after) => after,
            // What was just in time is not always: a busy machine.
            Err(why) if why == "hang" => continue,
            Err(why) => panic!("{name}: {}: {why}", before.given),
        };
        assert_eq!(read.canonical, *said, "{name}");
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
#[ignore = "minutes: cargo test --test suite plain -- --ignored"]
fn the_inputs_of_a_library_are_what_they_say() {
    let repo = Repo::empty();
    copy_tree(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/c-lib"), repo.root());
    repo.run(&["init", "--config", "fuzz.fail_allocations=true"]).ok();
    let (project, interrupt) = opened(&repo);
    let judge = Judge::new(&project, &interrupt);
    let binary = judge.build(&project.planned.iter().collect::<Vec<_>>()).unwrap();
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
    let binary = judge.build(&project.planned.iter().collect::<Vec<_>>()).unwrap();
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

/// What a name says does not decide what is meant, but the role of what it is given for.
#[test]
#[ignore = "half a minute: cargo test --test suite plain -- --ignored"]
fn parameters_fields_and_variables_may_be_called_as_the_ways_to_write_values_are() {
    let repo = Repo::empty();
    repo.write(
        "names.c",
        "#include <stddef.h>\n#include <stdint.h>\n\nstruct word { uint8_t bits[4]; };\nuint8_t hex[4];\n\n\
         uint32_t text(const char *hex) { uint32_t h = 0; while (*hex) h = h * 31u + (uint8_t)*hex++; return h; }\n\n\
         uint32_t sum(const uint8_t *args, size_t len) { uint32_t s = 0; for (size_t i = 0; i < len; i++) s += args[i]; return s; }\n\n\
         uint32_t many(const char *repeat, uint32_t times) { uint32_t n = 0; while (*repeat++) n += times; return n; }\n\n\
         double twice(double bits) { return bits * 2; }\n\nfloat half(float bits) { return bits / 2; }\n\n\
         uint32_t first(struct word word) { return word.bits[0]; }\n\n\
         uint32_t next(void) { return ++hex[0]; }\n\n\
         uint32_t brief(const uint8_t *data, uint8_t len) { uint32_t s = 0; for (uint8_t i = 0; i < len; i++) s += data[i]; return s; }\n\n\
         static uint32_t bump(uint32_t x) { static uint32_t n; return x + ++n; }\n\
         static uint32_t (*const ways[])(uint32_t) = { bump };\nuint32_t counted(uint32_t x) { return ways[0](x); }\n",
    );
    repo.run(&["init"]).ok();
    let (project, interrupt) = opened(&repo);
    let judge = Judge::new(&project, &interrupt);
    let binary = judge.build(&project.planned.iter().collect::<Vec<_>>()).unwrap();
    let signalling = json!({"bits": "0x7ff0000020000000"});
    let quiet = json!({"bits": "0x7ff8000000000001"});
    for (name, given, canonical) in [
        ("text", json!({"hex": "00ff"}), json!({"hex": "00ff"})),
        ("text", json!({"hex": {"hex": "4142"}}), json!({"hex": "AB"})),
        ("sum", json!({"args": {"hex": "0001"}}), json!({"args": {"hex": "0001"}, "len": 2})),
        ("many", json!({"repeat": "ab", "times": 3}), json!({"repeat": "ab", "times": 3})),
        (
            "many",
            json!({"repeat": {"repeat": "ab", "times": 2}, "times": 3}),
            json!({"repeat": "abab", "times": 3}),
        ),
        ("twice", json!({"bits": {"bits": "0x3ff8000000000000"}}), json!({"bits": 1.5})),
        ("twice", json!({"bits": {"float": "nan"}}), json!({"bits": {"float": "nan"}})),
        ("twice", json!({"bits": quiet}), json!({"bits": quiet})),
        ("half", json!({"bits": signalling}), json!({"bits": signalling})),
        ("first", json!({"word": {"bits": "0x00"}}), json!({"word": {"bits": "0x00"}})),
        ("next", json!({"$globals": {"hex": "abcd"}}), json!({"$globals": {"hex": "abcd"}})),
    ] {
        let campaign = judge.campaign(&binary, project.find(name).unwrap());
        let read = campaign.read_inputs(std::slice::from_ref(&given), &interrupt).unwrap().pop().unwrap();
        let read = read.unwrap_or_else(|why| panic!("{name}: {given}: {why}"));
        assert_eq!(read.canonical, canonical, "{name}: {given}");
        let left = campaign.left_by_c(&[&read.bytes], &interrupt).unwrap().pop().unwrap().unwrap();
        assert_eq!(left.given, canonical, "{name}: {given}");
    }
    // As a number the same is wrong.
    for (name, wrong, why) in [
        ("twice", json!({"bits": "0x3ff8000000000000"}), "a float is wanted, not bytes"),
        ("twice", json!({"bits": {"bits": "7"}}), "`7` is not 0x and up to 16 digits"),
        ("half", json!({"bits": 1e39}), "is no f32"),
        ("many", json!({"repeat": "a", "times": {"hex": "30"}}), "an integer is wanted, not bytes"),
        ("sum", json!({"args": ["1", "2"]}), "a number is wanted, not bytes"),
        // More than the length's type can say.
        ("brief", json!({"data": {"repeat": "a", "times": 256}}), "no such input"),
    ] {
        let campaign = judge.campaign(&binary, project.find(name).unwrap());
        let told = campaign.read_inputs(&[wrong], &interrupt).unwrap().pop().unwrap().unwrap_err();
        assert!(told.contains(why), "{name}: {told}");
    }
    // What one call leaves for the next is no answer to an input, of one as little as of several.
    let campaign = judge.campaign(&binary, project.find("counted").unwrap());
    for n in 1..=5 {
        let inputs: Vec<Value> = (0..n).map(|x| json!({ "x": x })).collect();
        for outcome in campaign.measure(&inputs, &interrupt).unwrap() {
            assert!(outcome.unwrap_err().contains("when it is called again"), "{inputs:?}");
        }
    }
}

#[test]
fn a_step_of_a_life_says_one_thing_and_names_a_handle_that_there_is() {
    let repo = Repo::empty();
    repo.write("box.h", include_str!("handles/box.h"));
    repo.write("rot.c", include_str!("handles/rot.c"));
    repo.run(&["init"]).ok();
    let (project, interrupt) = opened(&repo);
    let judge = Judge::new(&project, &interrupt);
    let binary = judge.build(&project.planned.iter().collect::<Vec<_>>()).unwrap();
    let campaign = judge.campaign(&binary, project.find("rot_run").unwrap());
    let version = json!({"call": "rot_init", "args": {"key": 3, "version": "v1"}});
    let read = |step: Value| {
        let input = json!({"make": version, "before": [step]});
        campaign.read_inputs(&[input], &interrupt).unwrap().pop().unwrap()
    };
    let right = read(json!({"feed": "next_in", "handle": 1, "with": "abc"})).unwrap();
    assert_eq!(right.canonical["before"][0]["handle"], 1);
    for (wrong, why) in [
        (json!({"feed": "next_in", "handle": 2, "with": "abc"}), "`handle`: a handle is 0 or 1, not 2"),
        (json!({"feed": "next_in", "handle": 256, "with": "abc"}), "`handle`: a handle is 0 or 1, not 256"),
        (json!({"feed": "next_in", "call": "rot_run", "with": "abc"}), "`call` is unknown; known are feed"),
        (json!({"spoil": 1, "call": "rot_run", "with": 2}), "`call` is unknown; known are spoil"),
    ] {
        let told = read(wrong.clone()).unwrap_err();
        assert!(told.contains(why), "{wrong}: {told}");
    }
}

#[test]
fn a_life_whose_calls_get_other_handles_than_it_says_is_no_test() {
    let repo = Repo::empty();
    repo.write("box.h", include_str!("handles/box.h"));
    repo.write("stack.c", include_str!("handles/stack.c"));
    repo.run(&["init"]).ok();
    let (project, interrupt) = opened(&repo);
    let judge = Judge::new(&project, &interrupt);
    let binary = judge.build(&project.planned.iter().collect::<Vec<_>>()).unwrap();
    let campaign = judge.campaign(&binary, project.find("stack_push").unwrap());
    let new = |cap: u64| json!({"call": "stack_new", "args": {"cap": cap}});
    let free = |s: u8| json!({"call": "stack_free", "args": {"s": s}});
    let push = |s: u8| json!({"s": s, "value": 7});
    let (right, spare, other) = (
        "",
        "no handle is left for the call: the constructor made none, or it was ended before",
        "a call asks for a handle that is not there: it was not made yet, or was ended before",
    );
    let lives = [
        (json!({"make": new(4), "args": push(0)}), right),
        (json!({"make": new(4), "before": [new(2)], "args": push(1)}), right),
        (json!({"make": new(4), "before": [free(0), new(4)], "args": push(0)}), right),
        (json!({"make": new(4), "before": [free(0)], "args": push(0)}), spare),
        (json!({"make": new(4), "args": push(1)}), other),
        (json!({"make": new(4), "before": [new(2), free(0)], "args": push(0)}), other),
        (json!({"make": new(4), "args": push(2)}), "`args`: `s`: a handle is 0 or 1, not 2"),
    ];
    let inputs: Vec<Value> = lives.iter().map(|(life, _)| life.clone()).collect();
    let outcomes = campaign.measure(&inputs, &interrupt).unwrap();
    for ((life, why), outcome) in lives.iter().zip(outcomes) {
        assert_eq!(outcome.err().as_deref().unwrap_or_default(), *why, "{life}");
    }
}
