//! Contracts that a model proposes where inference left roles open. The model supplies roles and nothing else:
//! compared results, reached variables and buffer sizes follow from the C text, and a proposal may not exclude
//! inputs.

use super::errno::sets_errno;
use super::file;
use super::infer::constants;
use super::length_inference::inferred_max;
use super::observed_calls::Observed;
use super::parameter_roles::{Typed, Value};
use super::pointer_facts::{FactTable, Facts};
use super::returned::returns_of;
use super::roles_from_calls::contradicted;
use super::safe_signature::signature_of;
use super::state;
use super::types::{Contract, Direction, GlobalUse, Harness, Parameter, Returns, Role};
use crate::libc_facts::is_answered;
use crate::symbol::{Function, Library, TypeKind};

/// The parts of a contract besides the parameters' roles.
#[derive(Debug, Clone)]
pub struct Frame {
    returns: Returns,
    errno: bool,
    chance: bool,
    globals: Vec<GlobalUse>,
    interesting: Vec<usize>,
    /// Largest length of buffers and strings.
    max: usize,
    /// What the C text does with each parameter.
    facts: Vec<Facts>,
    /// What real calls look like.
    calls: Option<Observed>,
}

impl Frame {
    /// The frame of a function that lacks only roles. `Err` names another obstacle, which no role can remove.
    pub fn of(library: &Library, facts: &FactTable, function: &Function) -> Result<Self, String> {
        if let Some(reason) = &function.unsupported {
            return Err(reason.clone());
        }
        let interesting = constants(library, function);
        let mut reached = facts.index.reached(function);
        let of: Vec<Facts> = (0..function.params.len()).map(|index| facts.of(function, index)).collect();
        for (param, facts) in function.params.iter().zip(&of) {
            expressible(&Typed { library, ty: &param.ty }, facts)
                .map_err(|why| format!("`{}` is `{}`: {why}", param.name, param.ty.spelling))?;
        }
        let globals = state::globals(library, &facts.index, function)?;
        if let Some(why) = state::unfilled(library, &facts.index, (function, &globals)) {
            return Err(why);
        }
        Ok(Self {
            returns: returns_of(library, facts, function)?,
            globals,
            errno: sets_errno(&facts.index, function),
            chance: reached.any(|f| f.externs.iter().any(|name| is_answered(name))),
            max: inferred_max(&interesting),
            interesting,
            facts: of,
            calls: facts.observed(function).cloned(),
        })
    }

    /// Fills the frame with the proposed roles. `Err` says what is wrong with the proposal, in words for the model.
    pub fn filled(&self, function: &Function, proposal: &str, model: &str) -> Result<Contract, String> {
        let mut params = file::roles(proposal, self.max)?;
        let theirs: Vec<&str> = params.iter().map(|p| p.name.as_str()).collect();
        let ours: Vec<&str> = function.params.iter().map(|p| p.name.as_str()).collect();
        if theirs != ours {
            return Err(format!("its parameters are ({}), C has ({})", theirs.join(", "), ours.join(", ")));
        }
        for ((param, of), facts) in params.iter_mut().zip(&function.params).zip(&self.facts) {
            admit(param, &of.ty.kind, self.max)?;
            wide(param, facts)?;
            let is_const = matches!(&of.ty.kind, TypeKind::Pointer(target) if target.is_const);
            compared(param, facts, is_const)?;
            let calls = self.calls.as_ref();
            if let Some(why) = calls.and_then(|calls| contradicted(&param.name, &param.role, calls)) {
                return Err(why);
            }
        }
        let contract = Contract {
            symbol: function.name.clone(),
            harness: Harness::Inferred,
            signature: signature_of(function, &params, self.returns, None),
            params,
            returns: self.returns,
            errno: self.errno,
            require: Vec::new(),
            interesting: self.interesting.clone(),
            equivalent: Vec::new(),
            chance: self.chance,
            globals: self.globals.clone(),
            sequence: None,
            proposed_by: Some(model.to_owned()),
        };
        // Contracts written by people pass the same checks.
        file::parse(&file::render(&contract), "the contract").map_err(|error| error.to_string())
    }
}

/// Whether there is a role that a model may propose for a parameter of this type. No question is asked that has no answer.
fn expressible(of: &Typed, facts: &Facts) -> Result<(), &'static str> {
    let is_memory = of.target().is_some() && (of.leads_to_numbers() || facts.freed);
    if of.is_flat() || is_memory { Ok(()) } else { Err("no role describes it") }
}

/// Refuses roles that narrow the inputs or do not fit the C types.
fn admit(param: &mut Parameter, ty: &TypeKind, most: usize) -> Result<(), String> {
    let is_pointer = matches!(ty, TypeKind::Pointer(_) | TypeKind::Array { .. });
    param.role.propose(is_pointer, most).map_err(|what| format!("`{}`: {what}", param.name))
}

/// Widens roles to what the C text examines: null where C checks for it, memory as far as C goes, and content where
/// C reads.
fn wide(param: &mut Parameter, facts: &Facts) -> Result<(), String> {
    if let Some(nullable) = param.role.nullable() {
        *nullable |= facts.null_checked;
    }
    let (name, role) = (&param.name, &param.role);
    if let Some(array) = role.fixed_array()
        && facts.constant_index.is_some_and(|index| index >= array.len as i64)
    {
        return Err(format!("`{name}`: C goes further than {} elements", array.len));
    }
    match role.is_output() && facts.reads {
        true => Err(format!("`{name}`: C reads there, so its direction is `in` or `inout`")),
        false => Ok(()),
    }
}

/// Refuses directions that would leave out of the comparison what C may write.
fn compared(param: &Parameter, facts: &Facts, is_const: bool) -> Result<(), String> {
    let name = &param.name;
    if param.role.given().is_some() && !facts.freed {
        return Err(format!("`{name}`: C frees nothing there, so it is not `given`"));
    }
    let Some(direction) = param.role.direction() else { return Ok(()) };
    match (direction, facts) {
        (Direction::In | Direction::Out, _)
            if !is_const && (facts.stored || facts.returned || facts.called) =>
        {
            Err(format!(
                "`{name}` is stored or passed on, and C may write there, so its direction is `inout`"
            ))
        }
        (_, Facts { freed: true, .. }) => {
            Err(format!("`{name}` is freed, so its only possible role is `given`"))
        }
        (Direction::In, Facts { writes: true, .. }) => {
            Err(format!("`{name}`: C writes there, so its direction is `out` or `inout`"))
        }
        (Direction::In, Facts { escapes: Some(_), .. }) if is_const => Ok(()),
        (Direction::In | Direction::Out, Facts { escapes: Some(to), .. }) => {
            Err(format!("`{name}`: it is unknown what `{to}` does with it, so its direction is `inout`"))
        }
        _ => Ok(()),
    }
}

/// Whether the rule is a plain inequality. A rule that can exclude single inputs is no precondition that trials can
/// confirm.
pub fn is_inequality(rule: &str) -> bool {
    use syn::{BinOp, Expr};
    let is_order = |op: &BinOp| matches!(op, BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_));
    let is_plain = rule.len() <= 200 && !rule.contains(['!', '&', '|']) && !rule.contains("==");
    is_plain && matches!(syn::parse_str(rule), Ok(Expr::Binary(binary)) if is_order(&binary.op))
}

/// The contract with rules that bound one number (`n < 64`) turned into limits of that number: inputs are folded
/// into limits, but discarded by rules.
pub fn folded(contract: &Contract) -> Contract {
    let mut folded = contract.clone();
    folded.require.retain(|rule| !bound(&mut folded.params, rule));
    folded
}

/// Turns a rule that bounds a number into a limit of that number; `false` if the rule does not.
fn bound(params: &mut [Parameter], rule: &str) -> bool {
    use syn::{BinOp, Expr};
    let Ok(Expr::Binary(binary)) = syn::parse_str(rule) else { return false };
    let (name, number, is_turned) = match (&*binary.left, &*binary.right) {
        (Expr::Path(path), other) => (path.path.get_ident(), whole(other), false),
        (other, Expr::Path(path)) => (path.path.get_ident(), whole(other), true),
        _ => return false,
    };
    let (Some(name), Some(number)) = (name.map(ToString::to_string), number) else { return false };
    let (is_most, limit) = match (binary.op, is_turned) {
        (BinOp::Lt(_), false) | (BinOp::Gt(_), true) => (true, number - 1),
        (BinOp::Le(_), false) | (BinOp::Ge(_), true) => (true, number),
        (BinOp::Gt(_), false) | (BinOp::Lt(_), true) => (false, number + 1),
        (BinOp::Ge(_), false) | (BinOp::Le(_), true) => (false, number),
        _ => return false,
    };
    let param = params.iter_mut().find(|param| param.name == name);
    let Some(Parameter { role: Role::Value(Value { min, max }), .. }) = param else { return false };
    match is_most {
        true => *max = Some(max.map_or(limit, |old| old.min(limit))),
        false => *min = Some(min.map_or(limit, |old| old.max(limit))),
    }
    true
}

/// A literal number that fits 32 bits, so that its neighbours fit 64 bits.
fn whole(expr: &syn::Expr) -> Option<i64> {
    let text = quote::ToTokens::to_token_stream(expr).to_string().replace(' ', "");
    text.parse::<i32>().ok().map(i64::from)
}

#[cfg(test)]
mod tests {
    use super::super::parameter_roles;
    use super::*;
    use crate::symbol::CType;

    fn param(role: Role) -> Parameter {
        super::super::fixture::param("p", role)
    }

    fn pointer() -> TypeKind {
        let void = crate::symbol::CType { spelling: "void".into(), is_const: false, kind: TypeKind::Void };
        TypeKind::Pointer(Box::new(void))
    }

    #[test]
    fn no_question_is_asked_that_no_role_answers() {
        let library = Library::default();
        let to = |kind| TypeKind::Pointer(Box::new(CType { spelling: String::new(), is_const: false, kind }));
        let is_asked = |kind, facts: &Facts| {
            let ty = CType { spelling: String::new(), is_const: false, kind };
            expressible(&Typed { library: &library, ty: &ty }, facts).is_ok()
        };
        let (plain, freed) = (Facts::default(), Facts { freed: true, ..Facts::default() });
        let int = || TypeKind::Int { signed: true, bits: 32, plain_char: false };
        assert!(is_asked(int(), &plain) && is_asked(to(int()), &plain) && is_asked(pointer(), &plain));
        assert!(!is_asked(to(to(int())), &plain) && !is_asked(to(TypeKind::Record("handle".into())), &plain));
        assert!(is_asked(to(TypeKind::Record("block".into())), &freed));
        let function = TypeKind::Function {
            params: Vec::new(),
            ret: Box::new(crate::symbol::fixture::int("int", true, 32)),
            variadic: false,
        };
        assert!(!is_asked(to(function), &plain));
    }

    #[test]
    fn no_input_is_ruled_out() {
        let int = TypeKind::Int { signed: true, bits: 32, plain_char: false };
        let value = |min, max| param(Role::Value(parameter_roles::Value { min, max }));
        assert!(admit(&mut value(None, None), &int, 64).is_ok());
        for (mut wrong, ty) in [
            (value(Some(1), None), &int),
            (value(None, Some(1)), &int),
            (value(None, None), &pointer()),
            (param(Role::OneOf(parameter_roles::OneOf { values: vec![1] })), &int),
            (param(Role::CString(parameter_roles::CString { max: 9, nullable: false })), &int),
            (param(Role::UserData(parameter_roles::UserData)), &pointer()),
            (param(Role::Callback(parameter_roles::Callback { order: false, nullable: false })), &pointer()),
            (
                param(Role::FixedArray(parameter_roles::FixedArray { direction: Direction::In, len: 0 })),
                &pointer(),
            ),
        ] {
            assert!(admit(&mut wrong, ty, 64).is_err(), "{wrong:?}");
        }
        let mut short = param(Role::CString(parameter_roles::CString { max: 1, nullable: false }));
        admit(&mut short, &pointer(), 64).unwrap();
        assert_eq!(short.role, Role::CString(parameter_roles::CString { max: 64, nullable: false }));
    }

    #[test]
    fn what_c_looks_at_is_tried() {
        let array = |direction| param(Role::FixedArray(parameter_roles::FixedArray { direction, len: 3 }));
        let index = |index| Facts { constant_index: Some(index), ..Facts::default() };
        assert!(wide(&mut array(Direction::In), &index(2)).is_ok());
        assert!(wide(&mut array(Direction::In), &index(3)).is_err());
        let reads = Facts { reads: true, null_checked: true, ..Facts::default() };
        assert!(wide(&mut array(Direction::Out), &reads).is_err());
        let mut text = param(Role::CString(parameter_roles::CString { max: 9, nullable: false }));
        wide(&mut text, &reads).unwrap();
        assert_eq!(text.role, Role::CString(parameter_roles::CString { max: 9, nullable: true }));
    }

    #[test]
    fn one_inequality_is_a_precondition_and_nothing_else() {
        for rule in ["n < 64", "a * b <= 100", "0 < n"] {
            assert!(is_inequality(rule), "{rule}");
        }
        let long = format!("n < {}", "1 + ".repeat(80));
        for rule in ["n != 3", "n < 64 && n != 3", "(n != 3) < 1", "!(n < 3)", "n == 1", "n", "n <", &long] {
            assert!(!is_inequality(rule), "{rule}");
        }
    }

    #[test]
    fn bounds_of_one_number_are_limits_and_other_rules_stay() {
        let number = || vec![param(Role::Value(parameter_roles::Value { min: None, max: None }))];
        for (rule, min, max) in [
            ("p < 64", None, Some(63)),
            ("64 > p", None, Some(63)),
            ("p <= 64", None, Some(64)),
            ("p >= -3", Some(-3), None),
            ("-3 < p", Some(-2), None),
        ] {
            let mut params = number();
            assert!(bound(&mut params, rule), "{rule}");
            assert_eq!(params[0].role, Role::Value(parameter_roles::Value { min, max }), "{rule}");
        }
        for rule in ["p != 3", "p < q", "p + 1 < 3", "q < 3", "p < 99999999999", "p <"] {
            assert!(!bound(&mut number(), rule), "{rule}");
        }
        let mut twice = number();
        assert!(["p < 64", "p < 80", "p > 3", "p > 1"].iter().all(|rule| bound(&mut twice, rule)));
        assert_eq!(twice[0].role, Role::Value(parameter_roles::Value { min: Some(4), max: Some(63) }));
        assert!(!bound(&mut [param(Role::Length(parameter_roles::Length))], "p < 3"));
    }

    #[test]
    fn nothing_that_c_may_write_is_left_out() {
        let buffer =
            |direction| param(Role::Pointer(parameter_roles::Pointer { direction, nullable: false }));
        let writes = Facts { writes: true, ..Facts::default() };
        let escapes = Facts { escapes: Some("ioctl".into()), ..Facts::default() };
        let freed = Facts { freed: true, ..Facts::default() };
        use Direction::{In, InOut, Out};
        for (direction, facts, is_right) in [
            (In, &Facts::default(), true),
            (In, &writes, false),
            (Out, &writes, true),
            (In, &escapes, false),
            (Out, &escapes, false),
            (InOut, &escapes, true),
            (InOut, &freed, false),
        ] {
            assert_eq!(
                compared(&buffer(direction), facts, false).is_ok(),
                is_right,
                "{direction:?} {facts:?}"
            );
        }
        assert!(
            compared(&buffer(In), &escapes, true).is_ok() && compared(&buffer(In), &writes, true).is_err()
        );
        for kept in [Facts { stored: true, ..Facts::default() }, Facts { returned: true, ..Facts::default() }]
        {
            assert!(
                compared(&buffer(In), &kept, false).is_err() && compared(&buffer(In), &kept, true).is_ok()
            );
            assert!(compared(&buffer(InOut), &kept, false).is_ok());
        }
        assert!(
            compared(
                &param(Role::CString(parameter_roles::CString { max: 9, nullable: false })),
                &writes,
                true
            )
            .is_err()
        );
    }
}
