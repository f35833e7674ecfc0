//! The C text of a driver that calls the library's functions as their contracts say. `public_headers` finds the headers,
//! and `new_driver` leaves out what does not compile.

use super::callable::Callable;
use super::ends::ends;
use super::object_kinds::Kinds;
use super::outputs::{Outputs, RESULT, is_size_of_place, outputs};
use super::rooms::{Rooms, rooms, with_room};
use crate::contract::handles::{Guess, object_behind};
use crate::contract::parameter_roles::in_driver::{variable, variable_type};
use crate::contract::parameter_roles::{Handle, InDriver, Life, ParameterContext, Role};
use crate::contract::preconditions::in_c;
use crate::contract::types::{Contract, Returns};
use crate::error::{Error, ErrorKind, Result};
use crate::symbol::{CType, SymbolName, TypeKind};
use minijinja::value::Serde;
use minijinja::{Environment, context};
use serde::Serialize;

const TEMPLATE: &str = include_str!("../../templates/driver_of_contracts.c");

/// What makes memory that C reads.
const DATA: [&str; 2] = ["driver_data(", "driver_block("];

/// The calls of one function.
#[derive(Debug, Clone, Serialize)]
pub struct Call {
    pub name: String,
    #[serde(skip)]
    pub symbol: SymbolName,
    lines: Vec<String>,
    /// Functions that its arguments need.
    functions: Vec<String>,
    #[serde(skip)]
    has_stream: bool,
    #[serde(skip)]
    has_outputs: bool,
    /// Whether it may be called many times on end.
    adds: bool,
    /// The same call without calls of functions that say how large memory must be, which a driver may not know.
    #[serde(skip)]
    pub without_sizes: Option<Box<Call>>,
}

/// The calls of these functions: of those whose arguments can be made.
pub fn calls(all: &[Callable]) -> Vec<Call> {
    let kinds = Kinds::of_all(all);
    let call = |one: &Callable| {
        let rooms = rooms(all, one);
        let has_sizes = rooms.values().any(|sizes| !sizes.is_empty());
        let without: Rooms = rooms.keys().map(|at| (*at, Vec::new())).collect();
        let plain = has_sizes.then(|| call(one, &without, &kinds)).flatten().map(Box::new);
        Some(Call { without_sizes: plain, ..call(one, &rooms, &kinds)? })
    };
    all.iter().filter_map(call).collect()
}

/// The text of a driver with these calls, and texts of examples, which are literals of C. `all` has all functions, so that objects keep their kinds.
///
/// # Errors
/// `Internal` if the template is wrong.
pub fn text(all: &[Callable], headers: &[String], calls: &[Call], examples: &[String]) -> Result<String> {
    let kinds = Kinds::of_all(all);
    let called = all.iter().filter(|one| calls.iter().any(|call| call.symbol == one.function.name));
    let ends = ends(called.collect(), &kinds);
    let wrong =
        |error: minijinja::Error| Error::new(ErrorKind::Internal, format!("driver_of_contracts.c: {error}"));
    let values = context! {
        headers => Serde(headers), examples => Serde(examples), calls => Serde(calls), ends => Serde(ends),
        kinds => kinds.count.max(1), lent => kinds.has_lent(), lists => kinds.has_lists(),
        streams => calls.iter().any(|call| call.has_stream),
        outputs => calls.iter().any(|call| call.has_outputs),
        adding => calls.iter().map(|call| u8::from(call.adds)).collect::<Vec<_>>(),
        adds => calls.iter().any(|call| call.adds),
    };
    Environment::new().render_str(TEMPLATE, values).map(|text| text + "\n").map_err(wrong)
}

fn call(one: &Callable, rooms: &Rooms, kinds: &Kinds) -> Option<Call> {
    let Callable { function, contract, .. } = one;
    let list = one.places().next().map(|(at, of)| (variable(&function.params[at].name), of.to_owned()));
    let mut text = Text { list, ..Text::default() };
    let (mut arguments, mut lengths) = (Vec::new(), Vec::new());
    for (at, (param, of)) in contract.params.iter().zip(&function.params).enumerate() {
        let lines_before = text.before.len();
        let argument = match &param.role {
            _ if one.guesses.contains_key(&at) => {
                let (before, after, argument) = made_up(one, at, kinds)?;
                text.makes |= one.left_behind().any(|(place, _)| place == at);
                // Elements of a list need the list.
                let is_list = one.guesses[&at] == Guess::ObjectPlace;
                if is_list { &mut lengths } else { &mut text.before }.extend(before);
                text.after.extend(after);
                argument
            }
            Role::Handle(handle) => text.object(one, (at, handle), kinds)?,
            role => {
                let place = ParameterContext { params: &contract.params, param, ty: &of.ty, is_safe: false };
                let unique = format!("driver_{}_{}", function.c_name, param.name);
                let InDriver { functions, before, argument } = role.in_driver(&place, &unique)?;
                text.functions.extend(functions);
                let sizes = rooms.get(&at);
                let padded = one.padded(at).filter(|_| sizes.is_none());
                let padded = padded.map(|beside| format!("driver_padded({}, ", variable(beside)));
                let padded = |line: String| match &padded {
                    Some(padded) => DATA.iter().fold(line, |line, data| line.replace(data, padded)),
                    None => line,
                };
                // Buffers need the lengths that they have, and the numbers beside these.
                let is_number = !matches!(of.ty.kind, TypeKind::Pointer(_) | TypeKind::Array { .. });
                let is_first = role.length().is_some() || is_number;
                let before = before.into_iter().map(padded);
                let before = before.flat_map(|line| {
                    let roomy = sizes.and_then(|sizes| with_room(&line, &param.name, sizes));
                    roomy.map_or_else(|| vec![line], Vec::from)
                });
                if is_first { &mut lengths } else { &mut text.before }.extend(before);
                argument
            }
        };
        let rarely = |text: &str| text.replace("driver_is_null()", "driver_is_rarely_null()");
        let is_rare = one.rarely_null.contains(&at);
        arguments.push(if is_rare { rarely(&argument) } else { argument });
        if is_rare {
            text.before.iter_mut().skip(lines_before).for_each(|line| *line = rarely(line));
        }
        // What stands behind a null pointer has no bytes.
        if is_size_of_place(one, at) {
            let zeros = |line: &str| {
                line.replace("driver_block(", "driver_zeros(").replace("driver_room(", "driver_zeros(")
            };
            text.before.iter_mut().skip(lines_before).for_each(|line| *line = zeros(line));
        }
    }
    if function.is_variadic {
        // What any function with a format knows.
        arguments.pop();
        arguments.extend(["\"[%s] %i %u%%\"", "driver_word", "driver_int", "driver_size"].map(str::to_owned));
        text.before.extend([
            "const char *driver_word = driver_text(64, NULL, 0);".to_owned(),
            "int driver_int = (int)driver_any(sizeof(int));".to_owned(),
            "unsigned driver_size = (unsigned)driver_any(sizeof(unsigned));".to_owned(),
        ]);
    }
    let requires =
        contract.require.iter().map(|condition| Some(format!("if (!{}) break;", in_c(condition)?)));
    let requires = requires.collect::<Option<Vec<_>>>()?;
    let called = format!("{}({})", function.c_name, arguments.join(", "));
    let Outputs { lines: outputs, result } = outputs(one, rooms);
    let called = text.called(one, (called, outputs, result), kinds)?;
    let has_memory = function
        .params
        .iter()
        .any(|param| matches!(param.ty.kind, TypeKind::Pointer(_) | TypeKind::Array { .. }));
    let full = has_memory.then(|| "if (driver_is_full) break;".to_owned());
    let lines = text.first.into_iter().chain(lengths).chain(text.before).chain(requires).chain(full);
    let lines = lines.chain([called]).chain(text.after);
    Some(Call {
        name: function.c_name.clone(),
        symbol: function.name.clone(),
        lines: lines.collect(),
        functions: text.functions,
        has_stream: one.guesses.values().any(|guess| *guess == Guess::Stream),
        has_outputs: text.has_outputs,
        adds: one.adds,
        without_sizes: None,
    })
}

/// The argument of a parameter of which nothing says what it means, with the lines before and after the call.
fn made_up(one: &Callable, at: usize, kinds: &Kinds) -> Option<(Vec<String>, Option<String>, String)> {
    let param = &one.function.params[at];
    let name = variable(&param.name);
    let size = || match &param.ty.kind {
        TypeKind::Pointer(of) | TypeKind::Array { of, .. } => format!("sizeof({})", variable_type(of)),
        _ => "1".to_owned(),
    };
    let before = match one.guesses[&at] {
        Guess::Null => return Some((Vec::new(), None, "NULL".to_owned())),
        Guess::Count(most) if matches!(param.ty.kind, TypeKind::Pointer(_)) => {
            let number = if most == 0 { "0".to_owned() } else { format!("driver_count({most})") };
            format!("void *{name} = driver_number_at({}, {number});", size())
        }
        Guess::Count(0) => return Some((Vec::new(), None, "0".to_owned())),
        Guess::Count(most) => {
            return Some((vec![format!("size_t {name} = driver_length({most});")], None, name));
        }
        Guess::Place => format!("void **{name} = driver_zeros(sizeof(void *));"),
        Guess::ObjectPlace => {
            let kind = kinds.behind(param)?;
            let find = match kinds.is_from_null(param) && !one.ends_object() {
                true => format!("void **{name} = driver_list({kind});"),
                false => format!("void **{name} = driver_own((const int[]){{{kind}}}, 1);"),
            };
            let ended = one.ends_object().then(|| format!("*{name} = NULL;"));
            let others = one.places().map(|(at, _)| variable(&one.function.params[at].name));
            let others = others.take_while(|other| *other != name);
            let same = others.map(|other| format!("if ({name} == {other}) break;"));
            let before = [find, format!("if (!{name}) break;")].into_iter().chain(same).collect();
            return Some((before, ended, format!("(void *){name}")));
        }
        Guess::TextPlace => format!("void **{name} = driver_texts();"),
        Guess::Structs(count) => format!("void *{name} = driver_some({count} * {});", size()),
        Guess::EmptyStructs(count) => format!("void *{name} = driver_zeros({count} * {});", size()),
        Guess::Text => format!("void *{name} = driver_text(4096, NULL, 0);"),
        Guess::Bytes(count) => format!("void *{name} = driver_chars({count});"),
        Guess::Given => format!("void *{name} = driver_given(64);"),
        Guess::Stream => format!("void *{name} = driver_stream();"),
    };
    let left = one.left_behind().any(|(place, _)| place == at);
    let kind = if left { kinds.behind(param) } else { None };
    let room = kind.map(|kind| format!("if (!driver_new({kind})) break;"));
    let after = kind.map(|kind| format!("driver_keep({kind}, *{name});"));
    Some((room.into_iter().chain([before]).collect(), after, format!("(void *){name}")))
}

/// Which objects a call may get.
#[derive(Debug)]
enum Find {
    Any,
    /// Those that the driver may end, or those that this variable's object lent.
    Own(Option<String>),
}

/// The lines of a call.
#[derive(Debug, Default)]
struct Text {
    functions: Vec<String>,
    /// What must hold before anything is made for the call.
    first: Vec<String>,
    before: Vec<String>,
    after: Vec<String>,
    /// The variable with the address of a pointer to an object, which the call may replace, and the kind of object.
    list: Option<(String, String)>,
    /// The variables of the objects that it gets, and whether they are gone after it.
    objects: Vec<(String, bool)>,
    /// Whether it leaves an object at an address that it gets.
    makes: bool,
    /// Whether later calls may get what it makes.
    has_outputs: bool,
}

impl Text {
    /// The argument of a parameter that gets an object, or room for a new one.
    fn object(&mut self, one: &Callable, (at, handle): (usize, &Handle), kinds: &Kinds) -> Option<String> {
        let (param, of) = (&one.contract.params[at], &one.function.params[at]);
        let found = kinds.of(&of.ty, &one.function.c_name).filter(|_| handle.through.is_none())?;
        let numbers = match handle.life {
            Life::Makes => vec![kinds.made(&of.ty, &one.function.c_name)?],
            // Without an object, the call would never run.
            Life::Uses | Life::Ends if !handle.nullable && !kinds.has_objects(&of.ty) => return None,
            Life::Uses | Life::Ends => found,
        };
        let name = variable(&param.name);
        // The driver must not end an object that another one keeps.
        let life = match handle.life {
            Life::Uses if one.keeps.contains(&at) => Life::Ends,
            life => life,
        };
        if handle.life == Life::Ends {
            let made_from = kinds.made_from(&of.ty).into_iter();
            self.before.extend(made_from.map(|kind| format!("if (driver_has({kind})) break;")));
        }
        let is_part = one.removes.contains(&at) && handle.life == Life::Uses && kinds.is_lent(&of.ty);
        let owner = self.objects.first().filter(|(_, ends)| is_part && !ends).map(|(name, _)| name.clone());
        let list = self.list_of(&of.ty).filter(|_| kinds.is_lent(&of.ty));
        let find = match life {
            Life::Uses if list.is_some() => Find::Own(list),
            Life::Ends => Find::Own(list.or(owner)),
            Life::Uses | Life::Makes => Find::Any,
        };
        self.handle((&numbers, &name, &of.ty), (life, handle.nullable), find);
        // What is to end must not be another argument, too.
        for (other, ends) in &self.objects {
            if *ends || life == Life::Ends {
                self.before.push(format!("if ((void *){name} == (void *){other}) break;"));
            }
        }
        self.objects.push((name.clone(), life == Life::Ends));
        if one.filled.is_some() && one.filled == object_behind(&of.ty) {
            self.fill(&one.contract, &name);
        }
        if handle.life == Life::Makes {
            self.makes = true;
            self.after.push(format!("*{name}_place = {name};"));
        }
        Some(name)
    }

    /// The line with the call, and what is done with its result and its outputs.
    fn called(
        &mut self,
        one: &Callable,
        (called, mut outputs, result): (String, Vec<String>, Option<&str>),
        kinds: &Kinds,
    ) -> Option<String> {
        let returns = one.contract.returns;
        let is_object = returns == Returns::Handle || one.lends;
        let made = kinds.of(&one.function.ret, &one.function.c_name).filter(|_| is_object);
        // What it ended is gone, whether or not it worked.
        let has_ended = self.objects.iter().any(|(_, ends)| *ends);
        let success = one.success.as_ref().filter(|_| made.is_none() && self.makes && !has_ended);
        if success.is_some() {
            self.after.insert(0, "if (!driver_worked) break;".to_owned());
        }
        // Objects, and whether the call worked, come first.
        let result = result.filter(|_| made.is_none() && success.is_none());
        if result.is_none() {
            outputs.retain(|line| !line.contains(RESULT));
        }
        self.has_outputs = !outputs.is_empty();
        let first = usize::from(success.is_some());
        self.after.splice(first..first, outputs);
        if kinds.has_lent() && one.may_free {
            self.after.insert(0, "driver_return_lent();".to_owned());
        }
        Some(match (returns, &one.function.ret.kind) {
            _ if made.is_some() => {
                let kind = *made?.first()?;
                if !one.lends {
                    self.first.push(format!("if (!driver_new({kind})) break;"));
                }
                let owner = self.objects.iter().find(|(_, ends)| !ends).map(|(name, _)| name);
                let list = self.list_of(&one.function.ret);
                let owner = list.as_ref().or(owner).map_or("NULL", |name| name);
                self.after.push(match one.lends {
                    true => format!("driver_borrow({kind}, driver_made, {owner});"),
                    false => format!("driver_keep({kind}, driver_made);"),
                });
                format!("void *driver_made = (void *){called};")
            }
            (Returns::Handle, _) if !one.lends => return None,
            _ if success.is_some() => format!("int driver_worked = {called} {};", success?),
            (Returns::Memory, _) if result.is_some() => {
                self.after.push(format!("free((void *){RESULT});"));
                format!("{} {RESULT} = {called};", result?)
            }
            (Returns::Memory, _) => format!("free((void *){called});"),
            _ if result.is_some() => format!("{} {RESULT} = {called};", result?),
            (_, TypeKind::Void) => format!("{called};"),
            _ => format!("(void){called};"),
        })
    }

    /// The variable of the list of such objects.
    fn list_of(&self, pointer: &CType) -> Option<String> {
        let list = self.list.as_ref().filter(|(_, of)| object_behind(pointer) == Some(of));
        list.map(|(name, _)| name.clone())
    }

    fn handle(
        &mut self,
        (kinds, name, ty): (&[usize], &str, &CType),
        (life, nullable): (Life, bool),
        find: Find,
    ) {
        let place = format!("{name}_place");
        let spelling = variable_type(ty);
        let numbers: Vec<String> = kinds.iter().map(usize::to_string).collect();
        let all = format!("(const int[]){{{}}}, {}", numbers.join(", "), kinds.len());
        self.before.push(match (life, kinds, find) {
            (Life::Makes, [kind, ..], _) => format!("void **{place} = driver_new({kind});"),
            (_, _, Find::Any) => format!("void **{place} = driver_old({all});"),
            (_, _, Find::Own(None)) => format!("void **{place} = driver_own({all});"),
            (_, _, Find::Own(Some(owner))) => format!("void **{place} = driver_part({all}, {owner});"),
        });
        if nullable && life != Life::Makes {
            self.before.push(format!("{spelling} {name} = {place} && !driver_is_null() ? *{place} : NULL;"));
        } else {
            self.before.push(format!("if (!{place}) break;"));
            let object = match life {
                Life::Makes => format!("driver_zeros(sizeof *({spelling})0)"),
                Life::Uses | Life::Ends => format!("*{place}"),
            };
            self.before.push(format!("{spelling} {name} = {object};"));
        }
        if life == Life::Ends {
            self.after.push(match self.list_of(ty) {
                // The list may begin with another one by now.
                Some(_) => format!("if ({name} && *{place} == (void *){name}) *{place} = NULL;"),
                None => format!("if ({name}) *{place} = NULL;"),
            });
        }
    }

    /// Sets the fields that the caller points to memory.
    fn fill(&mut self, contract: &Contract, name: &str) {
        for (field, length) in contract.sequence.iter().flat_map(|sequence| &sequence.buffers) {
            let count = format!("{name}_{field}_count");
            self.before.push(format!("size_t {count} = driver_count(300);"));
            self.before.push(format!(
                "if ({name}) {name}->{field} = driver_block({count}), {name}->{length} = {count};"
            ));
        }
        for field in contract.sequence.iter().flat_map(|sequence| &sequence.texts) {
            self.before.push(format!("if ({name}) {name}->{field} = driver_text(100, NULL, 0);"));
        }
    }
}
