//! The ports that a port calls: a verdict is about them, too.

use crate::digest::of_parts;
use crate::project::ported::{PortModule, Ported};
use std::collections::BTreeSet;
use std::ops::Deref;
use std::rc::Rc;

/// What is hashed of a port that has no body any more.
const ABSENT: &str = "absent";

/// The ports that a port mentions, directly or through others. `mentioned_by` tells what a function of the library mentions, by its
/// Rust name, if it has a body.
pub fn ports_called<N: Deref<Target = BTreeSet<String>>>(
    name: &str,
    mentioned_by: impl Fn(&str) -> Option<N>,
) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![name.to_owned()];
    while let Some(next) = open.pop() {
        let Some(mentioned) = mentioned_by(&next) else { continue };
        if next != name && !found.insert(next.clone()) {
            continue;
        }
        open.extend(mentioned.iter().filter(|other| *other != name && !found.contains(*other)).cloned());
    }
    found
}

/// The hash of these ports, empty where there are none; one that has no body any more counts as another text.
pub(super) fn hash(names: &BTreeSet<String>, hash_of: &dyn Fn(&str) -> Option<String>) -> String {
    if names.is_empty() {
        return String::new();
    }
    let hash = |name: &String| hash_of(name).unwrap_or_else(|| ABSENT.to_owned());
    of_parts(names.iter().flat_map(|name| [name.clone(), hash(name)]))
}

/// The names that a function mentions, if it has a body.
pub fn port_mentions(module: &PortModule, name: &str) -> Option<Rc<BTreeSet<String>>> {
    (module.state_of(name) == Ported::Yes).then(|| module.mentioned_by(name))
}

/// The hash of a function that has a body.
pub fn port_hash(module: &PortModule, name: &str) -> Option<String> {
    let has_body = module.state_of(name) == Ported::Yes;
    has_body.then(|| module.hash_of(name)).flatten().map(|hash| hash.as_str().to_owned())
}
