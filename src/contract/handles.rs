//! Contracts of functions on handles: their constructors, operations and destructors.
//!
//! A handle is a pointer to a struct that the library's own functions make. `contract::infer` has no role for it;
//! here the function becomes one step in a call sequence that other functions of the library begin and end.

mod call;
mod driver_arguments;
mod life;

pub use call::Origins;
pub use driver_arguments::{Guess, named_pointer, object_behind};
pub use life::is_named_as_end;

use super::constructors::{Constructors, sets_up};
use super::errno::sets_errno;
use super::flat::flat;
use super::infer::{constants, reason_of, roles_where};
use super::length_inference::{MAX_OF_STEP, free_lengths};
use super::parameter_roles;
use super::pointer_facts::FactTable;
use super::returned::returns_of;
use super::types::{
    Contract, Direction, GlobalUse, Harness, Life, Parameter, Returns, Role, Sequence, Signature,
};
use super::{borrowed, compared_values, state};
use crate::libc_facts::{is_answered, is_on_descriptors};
use crate::symbol::{Access, CType, Function, Library, Linkage, Param, Record, TypeKind, UseKind};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The path of the file that handles are opened on.
const FILE: &str = "implfuzz.file";
/// Largest number of other operations in a call sequence.
const MOST: usize = 32;

/// The handles of a library.
pub struct Handles<'a> {
    library: &'a Library,
    facts: &'a FactTable<'a>,
    constructors: Constructors<'a>,
    /// Records that are reached through a field of a handle: the handle's record and the field.
    inner: HashMap<&'a str, (&'a str, &'a str)>,
    steps: BTreeMap<&'a str, Vec<Step<'a>>>,
    /// Names of pointers to numbers that lead to objects.
    named: BTreeSet<&'a str>,
    /// Records of which public functions leave an object at an address.
    left: BTreeSet<&'a str>,
    /// The callers of each function, by position in the porting order.
    callers: Vec<Vec<usize>>,
}

/// A function that takes or returns a handle, with a role for each parameter.
struct Step<'a> {
    function: &'a Function,
    roles: Vec<Role>,
    returns: Returns,
    life: Life,
    /// The allocators that it reads.
    globals: Vec<GlobalUse>,
}

impl<'a> Handles<'a> {
    /// Analyses the whole library once.
    pub fn of(library: &'a Library, facts: &'a FactTable<'a>) -> Self {
        let constructors = Constructors::of(library);
        let mut callers = vec![Vec::new(); library.functions.len()];
        for (caller, callees) in facts.index.callees().iter().enumerate() {
            callees.iter().for_each(|callee| callers[*callee].push(caller));
        }
        let (inner, steps) = Default::default();
        let named = driver_arguments::named_objects(library, facts);
        let left = BTreeSet::new();
        let mut handles = Self { library, facts, constructors, inner, steps, named, left, callers };
        handles.left = handles.left_records();
        handles.inner = handles.inner_records();
        let mut steps: BTreeMap<&str, Vec<Step>> = BTreeMap::new();
        for function in &library.functions {
            if let Some((of, Ok(step))) = handles.step(function) {
                steps.entry(of).or_default().push(step);
            }
        }
        handles.steps = steps;
        handles
    }

    /// The contract of a function on handles, or the obstacle to one; `None` where the function has no handle.
    pub fn contract(&self, function: &Function) -> Option<Result<Contract, String>> {
        let (of, step) = self.step(function)?;
        Some(step.and_then(|step| self.whole(of, step)))
    }

    fn whole(&self, of: &'a str, step: Step) -> Result<Contract, String> {
        let function = step.function;
        let record = &self.library.records[of];
        let sequence = self.sequence(of, record, &step)?;
        let contract = self.contract_of(function, step.roles, step.returns);
        Ok(Contract { sequence: Some(Box::new(sequence)), globals: step.globals, ..contract })
    }

    /// The contract with these roles, without a sequence.
    fn contract_of(&self, function: &Function, roles: Vec<Role>, returns: Returns) -> Contract {
        let library = self.library;
        let params = function.params.iter().zip(roles).enumerate();
        let params = params.map(|(index, (param, role))| Parameter {
            name: param.name.clone(),
            likely: match role {
                Role::Value(_) => compared_values::values(self.facts, function, param),
                _ => Vec::new(),
            },
            texts: match role {
                Role::CString(_) if self.is_path(function, param) => vec![FILE.to_owned()],
                Role::CString(_) => compared_values::texts(library, self.facts, function, param),
                _ => Vec::new(),
            },
            made_by: Vec::new(),
            reason: reason_of(self.facts, function, index, &role),
            role,
        });
        Contract {
            symbol: function.name.clone(),
            harness: Harness::Inferred,
            signature: Signature::C,
            params: params.collect(),
            returns,
            errno: sets_errno(&self.facts.index, function),
            chance: false,
            require: Vec::new(),
            interesting: constants(library, function),
            equivalent: Vec::new(),
            proposed_by: None,
            globals: Vec::new(),
            sequence: None,
        }
    }

    /// The function as a step, and the record of its handles.
    fn step<'f>(&self, function: &'f Function) -> Option<(&'a str, Result<Step<'f>, String>)> {
        if function.unsupported.is_some() {
            return None;
        }
        let of = self.record_of(function)?;
        Some((of, self.try_step(of, function)))
    }

    /// The record of the first handle among parameters and result.
    fn record_of(&self, function: &Function) -> Option<&'a str> {
        let returned =
            function.ret.target().and_then(CType::record_key).filter(|key| self.returns_new(function, key));
        let mut all = function.params.iter().filter_map(|p| p.ty.target()).chain(function.ret.target());
        let key =
            returned.or_else(|| all.find_map(|ty| ty.record_key().filter(|key| self.is_handle(key))))?;
        let (key, record) = self.library.records.get_key_value(key)?;
        let of = self.inner.get(key.as_str()).map_or(key.as_str(), |(of, _)| of);
        (!record.rust_name.is_empty()).then_some(of)
    }

    fn returns_new(&self, function: &Function, key: &str) -> bool {
        let makers = self.constructors.of_record(key);
        function.ret.target().and_then(CType::record_key) == Some(key)
            && makers.iter().any(|f| f.key == function.key)
    }

    /// Whether values of this record come from constructors, or from a field of a constructed record.
    fn is_handle(&self, key: &str) -> bool {
        let Some(known) = self.library.records.get(key).filter(|r| !r.rust_name.is_empty()) else {
            return false;
        };
        let returned = self.constructors.of_record(key).iter().any(|f| self.returns_new(f, key));
        let plain = known.complete
            && !known.is_union
            && known.fields.iter().all(|f| f.bits.is_none() && flat(self.library, &f.ty));
        self.inner.contains_key(key) || returned || !plain && !self.constructors.of_record(key).is_empty()
    }

    /// Whether a public function sets up values of this record, which has nothing but numbers. Drivers pass what was set up.
    fn is_set_up(&self, key: &str) -> bool {
        !self.is_handle(key)
            && self
                .library
                .records
                .get(key)
                .is_some_and(|known| known.complete && !known.rust_name.is_empty())
            && self.constructors.of_record(key).iter().any(|maker| sets_up(maker, key))
    }

    /// Records that a constructor of another record stores in a field of it.
    fn inner_records(&self) -> HashMap<&'a str, (&'a str, &'a str)> {
        let mut found = HashMap::new();
        for (outer, known) in self.library.records.iter().filter(|(_, r)| !r.rust_name.is_empty()) {
            let makers = self.constructors.of_record(outer);
            for field in &known.fields {
                let Some(key) = field.ty.target().and_then(CType::record_key).filter(|key| key != outer)
                else {
                    continue;
                };
                let is_write = |kind: &UseKind| matches!(kind, UseKind::Field { name, access: Access::Write } if *name == field.name);
                let writes = |f: &&Function| {
                    f.params.first().is_some_and(|p| p.uses.iter().any(|used| is_write(&used.kind)))
                };
                let returned = self.constructors.of_record(key).iter().any(|f| self.returns_new(f, key));
                if makers.iter().any(writes) && !returned && self.library.records.contains_key(key) {
                    let (key, _) = self.library.records.get_key_value(key).expect("asked just now");
                    found.entry(key.as_str()).or_insert((outer.as_str(), field.name.as_str()));
                }
            }
        }
        found
    }

    fn try_step<'f>(&self, of: &str, function: &'f Function) -> Result<Step<'f>, String> {
        let globals = state::globals_where(self.library, &self.facts.index, function, is_on_descriptors)?;
        // An allocator that it only reads is the same on both sides all the time.
        let is_fixed = |used: &&GlobalUse| used.functions && used.direction == Direction::In;
        if let Some(used) = globals.iter().find(|used| !is_fixed(used)) {
            return Err(format!("a function on handles that depends on the mutable global `{}`", used.name));
        }
        if self.facts.index.reached(function).any(|f| f.externs.iter().any(|name| is_answered(name))) {
            return Err("a function on handles that uses random numbers or clocks".to_owned());
        }
        let life = self.life(of, function);
        let mut plain = roles_where(self.library, self.facts, function, (MAX_OF_STEP, true)).into_iter();
        let mut roles = Vec::new();
        for (index, param) in function.params.iter().enumerate() {
            let plain = plain.next().unwrap_or_else(|| Err("it has no role".to_owned()));
            if self.is_path(function, param) {
                roles.push(Role::CString(parameter_roles::CString { max: 0, nullable: false }));
                continue;
            }
            let is_number = matches!(param.ty.kind, TypeKind::Int { .. });
            if is_number && matches!(param.name.as_str(), "fd" | "fildes" | "descriptor") {
                return Err(format!("`{}` is an open file", param.name));
            }
            let key = match &param.ty.kind {
                TypeKind::Pointer(to) => to.record_key(),
                _ => None,
            };
            let through = key.and_then(|key| self.inner.get(key)).filter(|(outer, _)| *outer == of);
            let is_handle = key == Some(of) || through.is_some();
            roles.push(match is_handle {
                false => plain
                    .or_else(|why| {
                        borrowed::structure(self.library, param, &self.facts.of(function, index)).ok_or(why)
                    })
                    .and_then(|role| {
                        if matches!(role, Role::Given(_)) {
                            return Err(format!("`{}` is freed, in a function on handles", param.name));
                        }
                        match role.facts().needs_c && !matches!(role, Role::Lent(_) | Role::Room(_)) {
                            true => Err(format!(
                                "`{}` is a callback, or goes with one, in a function on handles",
                                param.name
                            )),
                            false => Ok(role),
                        }
                    })?,
                true => Role::Handle(parameter_roles::Handle {
                    life: if life == Life::Uses || self.first_handle(of, function) == Some(index) {
                        life
                    } else {
                        Life::Uses
                    },
                    through: through.map(|(_, field)| (*field).to_owned()),
                    nullable: self.facts.of(function, index).null_checked,
                }),
            });
        }
        free_lengths(self.facts, function, &mut roles);
        let returned = self.returns_new(function, of);
        let returns = match (&function.ret.kind, returned) {
            (_, true) => Returns::Handle,
            (TypeKind::Pointer(to), _) if to.is_char() && to.is_const => Returns::StaticString,
            (TypeKind::Pointer(_), _) => Returns::Address,
            _ => returns_of(self.library, self.facts, function)?,
        };
        Ok(Step { function, roles, returns, life, globals })
    }

    /// Whether a parameter is the path of a file that the function opens.
    fn is_path(&self, function: &Function, param: &Param) -> bool {
        let is_text = param.ty.target().is_some_and(|to| to.is_char());
        let opens = |name: &str| matches!(name, "open" | "open64");
        is_text && compared_values::goes_to(self.facts, function, param, opens)
    }

    fn first_handle(&self, of: &str, function: &Function) -> Option<usize> {
        function.params.iter().position(|p| p.ty.target().and_then(CType::record_key) == Some(of))
    }

    /// The functions that the harness of `step` calls besides it.
    fn sequence(&self, of: &'a str, known: &'a Record, step: &Step) -> Result<Sequence, String> {
        let all = self.steps.get(of).map_or(&[][..], Vec::as_slice);
        let public = |s: &&Step| s.function.linkage == Linkage::External && !self.through(&s.roles);
        let under = step.function;
        let needs = |s: &Step| {
            s.roles
                .iter()
                .any(|r| matches!(r, Role::Handle(parameter_roles::Handle { life: Life::Uses, .. })))
        };
        let makers: Vec<&Step> =
            all.iter().filter(public).filter(|s| s.life == Life::Makes && !needs(s)).collect();
        let by_caller = !makers.iter().any(|s| s.returns == Returns::Handle);
        let makers: Vec<&Step> =
            makers.into_iter().filter(|s| by_caller || s.returns == Returns::Handle).collect();
        let callers = self.callers(under);
        let kin = |other: &Function| {
            let common = |a: &str, b: &str| a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
            let named = common(&other.c_name, &under.c_name);
            (named, other.module == under.module, callers.contains(other.module.as_str()))
        };
        let best = makers.iter().map(|s| kin(s.function)).max();
        let near = |s: &&&Step| Some(kin(s.function)) == best;
        let makes = step.life == Life::Makes && !needs(step);
        let own = match makes {
            true => vec![under.name.clone()],
            false => makers.iter().filter(near).map(|s| s.function.name.clone()).collect::<Vec<_>>(),
        };
        if own.is_empty() {
            let shown = target_name(known);
            return Err(format!("no harness can call a constructor of `{shown}`"));
        }
        let is_other = |s: &&Step| s.function.key != under.key && !own.contains(&s.function.name);
        let ends = |s: &&Step| s.life == Life::Ends && !needs(s);
        // A function on the inside of a handle needs the states that other internal functions leave.
        let inside = self.through(&step.roles);
        let callable = |s: &&Step| public(s) || inside && s.function.linkage == Linkage::External;
        let mut others: Vec<&Step> =
            all.iter().filter(callable).filter(is_other).filter(|s| !ends(s)).collect();
        others.retain(|s| s.life != Life::Makes || by_caller || s.returns == Returns::Handle);
        others.sort_by_cached_key(|s| std::cmp::Reverse(kin(s.function)));
        others.truncate(MOST);
        let enders = all.iter().filter(|s| public(s) || s.function.key == under.key).filter(ends);
        let opens = |s: &Step| s.function.params.iter().any(|p| self.is_path(s.function, p));
        let on_files = makers.iter().any(|s| opens(s)) || opens(step);
        let mut reached = self.facts.index.reached(under).flat_map(|f| &f.externs);
        if let Some(name) = reached.find(|name| !on_files && is_on_descriptors(name)) {
            return Err(format!("calls `{name}`, on a file that no function opens by its name"));
        }
        let (buffers, texts) = if by_caller { self.fields(known) } else { Default::default() };
        Ok(Sequence {
            of: known.rust_name.clone(),
            by_caller,
            buffers,
            texts,
            fail_allocations: false,
            file: on_files.then(|| FILE.to_owned()),
            makers: own,
            operations: others.into_iter().map(|s| s.function.name.clone()).collect(),
            enders: enders.map(|s| s.function.name.clone()).collect(),
        })
    }

    fn through(&self, roles: &[Role]) -> bool {
        roles
            .iter()
            .any(|role| matches!(role, Role::Handle(parameter_roles::Handle { through: Some(_), .. })))
    }

    /// The modules with functions that call `function`, directly or not.
    fn callers(&self, function: &Function) -> BTreeSet<&'a str> {
        let mut seen = BTreeSet::new();
        let mut open: Vec<usize> = self.facts.index.position(&function.key).into_iter().collect();
        while let Some(at) = open.pop() {
            open.extend(self.callers[at].iter().copied().filter(|caller| seen.insert(*caller)));
        }
        seen.into_iter().map(|at| self.library.functions[at].module.as_str()).collect()
    }

    /// Fields that the caller points to memory, each with its length field; and fields that point to a text.
    fn fields(&self, known: &Record) -> (Vec<(String, String)>, Vec<String>) {
        let (mut buffers, mut texts) = (Vec::new(), Vec::new());
        let mut seen = BTreeSet::new();
        for (field, next) in known.fields.iter().zip(known.fields.iter().skip(1).map(Some).chain([None])) {
            let TypeKind::Pointer(to) = &field.ty.kind else { continue };
            let bytes = matches!(to.kind, TypeKind::Int { bits: 8, .. });
            let length = next.filter(|n| {
                matches!(n.ty.kind, TypeKind::Int { .. }) && super::length_names::length_like(&n.name)
            });
            match length.filter(|_| bytes && seen.insert(&field.name)) {
                Some(length) => buffers.push((field.name.clone(), length.name.clone())),
                None if to.is_char() => texts.push(field.name.clone()),
                None => {}
            }
        }
        (buffers, texts)
    }
}

fn target_name(record: &Record) -> &str {
    if record.c_name.is_empty() { &record.rust_name } else { &record.c_name }
}
