//! What a configuration says to the model where nobody has changed it.

use super::category::TestCategory;

/// Characters of one prompt, at most.
pub const MOST_PROMPT_CHARS: usize = 4_000;

/// What is demanded of the tests of a category; nothing where nobody is asked for them.
pub(super) fn of_category(category: TestCategory) -> Option<&'static str> {
    Some(match category {
        TestCategory::AntiCheat => {
            "Write inputs on which a port that does not do the whole work gives itself away. Vary every parameter, and never \
             give the same result twice. Use long and irregular data: change only the last byte, only the first, only one in \
             the middle. Use values that wrap around instead of saturating. Where calls leave something behind, let two inputs \
             follow each other that a port with stale state would answer alike. Prefer inputs that nobody would guess or look up."
        }
        TestCategory::Existence => return None,
        TestCategory::Correctness => {
            "Write typical inputs as real callers would give them. Over all tests each parameter takes several different values, \
             and each changes the result at least once while the others stay. Cover every case that the function tells apart, \
             also the ones that it refuses. Each test has a purpose of its own: name the mutant or the branch that it is for."
        }
        TestCategory::Boundary => {
            "Write inputs at the edges: for each number the least and the greatest value of its type and of the contract, 0, 1, \
             -1; for each constant that the code compares with, that value, one less and one more; buffers that are empty, have \
             one element, are full, one short of full; bytes 0x00, 0x7f, 0x80, 0xff; NaN, infinities and -0.0; null where the \
             contract allows it. One edge in each test."
        }
        TestCategory::Integration => {
            "Write inputs in which parts work together: sequences of calls on one object, among them calls in an unusual order, \
             repeated, and after an error; inputs that lead through several callees; round trips, where what one call wrote is \
             read by the next. Aim at state that is carried over and at results of callees that are not checked. Each sequence is \
             as short as its purpose allows."
        }
    })
}

/// Which shortcuts tests are to find out.
pub(super) const ANTI_CHEAT: &str = "A port must compute its results. These shortcuts are planted, and tests must tell them \
    from C: a constant is returned; the first argument is returned; long input is answered early; arithmetic saturates instead of \
    wrapping; the last byte is ignored; state of the call before is used again; answers to the visible tests are recorded.";

/// What is asked after a round that was not enough.
pub(super) const REFLECTION: &str = "These mutants of the C function gave the same results as C on all tests so far, and these \
    branches were not reached. For each, say in one line which values of which parameters would tell it or reach it, and why the \
    tests so far do not. Say so where no valid input can. Give no tests and no code.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_are_short_and_one_line() {
        let of_categories = TestCategory::ALL.into_iter().filter_map(of_category);
        assert_eq!(of_categories.clone().count(), 4);
        for prompt in of_categories.chain([ANTI_CHEAT, REFLECTION]) {
            let length = prompt.chars().count();
            assert!((100..=600).contains(&length), "{length}: {prompt}");
            assert!(!prompt.contains("  ") && !prompt.contains('\n') && prompt.ends_with('.'), "{prompt}");
        }
    }
}
