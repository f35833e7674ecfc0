//! What the audit allows a port. It follows from the C original, which the analysis knows and the lock keeps, and from what stands
//! around the port in the tree. `judge` and `status` both build it here.

use crate::audit::{Allowed, Around, FfiNames};
use crate::evidence::fingerprint::Links;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// What a port may use by its C original. Functions go by their Rust names.
#[derive(Debug, Clone)]
pub struct Original {
    pub signature: syn::Signature,
    /// Functions of the system that it calls.
    pub libc: BTreeSet<String>,
    /// Variables that it reads or changes.
    pub globals: BTreeSet<String>,
    /// Functions whose C text leads back to it.
    pub ways_back: BTreeSet<String>,
    /// Functions that keep more state than it does. Only the analysis knows them: where a port calls one, its text changed, so
    /// it is stale until `verify` refuses it.
    pub keeps_more: BTreeSet<String>,
}

/// What stands around the ports, the same for all of them.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    pub ffi: Arc<FfiNames>,
    /// The functions of the library.
    pub callees: Arc<BTreeSet<String>>,
    /// Those that have a body in Rust, by module.
    pub ported: Arc<BTreeMap<String, BTreeSet<String>>>,
    /// Statics that every port may use.
    pub constants: Arc<BTreeSet<String>>,
    /// Functions of the system that programs can replace through variables of the library.
    pub replaceable: Arc<BTreeSet<String>>,
}

impl Surroundings {
    /// What the port with this original may use in a module.
    pub fn allowed(&self, original: Original, around: Around) -> Allowed {
        let Original { signature, libc, globals, mut ways_back, keeps_more } = original;
        let without = |(module, names): (&String, &BTreeSet<String>)| {
            (module.clone(), names.difference(&keeps_more).cloned().collect())
        };
        let ported = match keeps_more.is_empty() {
            true => Arc::clone(&self.ported),
            false => Arc::new(self.ported.iter().map(without).collect()),
        };
        ways_back.extend(keeps_more);
        ways_back.insert(crate::rust::item::plain(&signature.ident));
        Allowed {
            ffi: Arc::clone(&self.ffi),
            callees: Arc::clone(&self.callees),
            constants: Arc::clone(&self.constants),
            replaceable: Arc::clone(&self.replaceable),
            ported,
            ways_back,
            globals,
            libc,
            around,
            ..Allowed::new(signature)
        }
    }
}

/// Which chunks of C call which.
#[derive(Debug)]
pub struct Callers<'l> {
    callers: HashMap<&'l str, Vec<&'l str>>,
    calls: HashMap<&'l str, &'l BTreeSet<String>>,
}

impl<'l> Callers<'l> {
    /// Of chunks with what they lead to.
    pub fn of(links: impl Iterator<Item = (&'l String, &'l Links)>) -> Self {
        let mut all = Self { callers: HashMap::new(), calls: HashMap::new() };
        for (caller, links) in links {
            links.calls.iter().for_each(|callee| all.callers.entry(callee).or_default().push(caller));
            all.calls.insert(caller, &links.calls);
        }
        all
    }

    /// Chunks that lead back to the function with these chunks: its callers, directly or not, but for those that it calls itself.
    pub fn ways_back(&self, own: &'l [String]) -> BTreeSet<&'l str> {
        let mut found: BTreeSet<&str> = BTreeSet::new();
        let mut open: Vec<&str> = own.iter().map(String::as_str).collect();
        while let Some(next) = open.pop() {
            let callers = self.callers.get(next).into_iter().flatten().copied();
            open.extend(callers.filter(|caller| found.insert(caller)));
        }
        let called: Vec<&BTreeSet<String>> =
            own.iter().filter_map(|own| self.calls.get(own.as_str())).copied().collect();
        found.retain(|id| !called.iter().any(|calls| calls.contains(*id)));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_lead_back_unless_the_function_calls_them() {
        let links = |calls: &[&str]| Links {
            calls: calls.iter().map(|c| (*c).to_owned()).collect(),
            ..Links::default()
        };
        // `top` calls `mid`, which calls `low`; `odd` and `even` call each other; `top` calls `odd`.
        let all: BTreeMap<String, Links> = [
            ("top", links(&["mid", "odd"])),
            ("mid", links(&["low"])),
            ("odd", links(&["even"])),
            ("even", links(&["odd"])),
        ]
        .into_iter()
        .map(|(name, links)| (name.to_owned(), links))
        .collect();
        let callers = Callers::of(all.iter());
        let back = |own: &str| {
            let own = [own.to_owned()];
            // The chunks live as long as the answer.
            callers.ways_back(Box::leak(Box::new(own))).into_iter().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(back("low"), "mid top");
        assert_eq!(back("mid"), "top");
        assert_eq!(back("even"), "even top");
        assert_eq!(back("top"), "");
    }

    #[test]
    fn what_keeps_more_state_is_neither_called_nor_named() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        let all = Surroundings {
            callees: Arc::new(names(&["f", "g", "counts"])),
            ported: Arc::new(BTreeMap::from([("a".to_owned(), names(&["g", "counts"]))])),
            ..Surroundings::default()
        };
        let original = Original {
            signature: syn::parse_quote!(fn f()),
            libc: BTreeSet::new(),
            globals: BTreeSet::new(),
            ways_back: BTreeSet::new(),
            keeps_more: names(&["counts"]),
        };
        let allowed = all.allowed(original, Around::default());
        assert_eq!(allowed.ways_back, names(&["counts", "f"]));
        assert_eq!(allowed.ported["a"], names(&["g"]));
    }
}
