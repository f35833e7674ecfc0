//! The kind of a function, derived from its contract. Functions of one kind tend to fail in the same ways.

use super::types::{Contract, Direction, Life, Role};

/// Kinds of functions, as named in prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Archetype {
    Pure,
    BufferTransform,
    Text,
    StatefulDecoder,
    Lifecycle,
    Callbacks,
    TemporaryFile,
}

impl Archetype {
    /// Classifies the function of a contract; `None` where no kind fits.
    pub fn of(contract: &Contract) -> Option<Self> {
        let any = |is: &dyn Fn(&Role) -> bool| contract.params.iter().any(|param| is(&param.role));
        if any(&|role| role.callback().is_some()) {
            return Some(Self::Callbacks);
        }
        if let Some(sequence) = &contract.sequence {
            let is_end = |role: &Role| role.handle().is_some_and(|handle| handle.life != Life::Uses);
            return Some(match sequence.file {
                Some(_) => Self::TemporaryFile,
                None if any(&is_end) => Self::Lifecycle,
                None => Self::StatefulDecoder,
            });
        }
        if !contract.globals.is_empty() || contract.chance {
            return None;
        }
        if contract.hands_over() {
            return Some(Self::Lifecycle);
        }
        if any(&writes) {
            return Some(Self::BufferTransform);
        }
        if any(&changes) {
            return None;
        }
        Some(if any(&|role| role.c_string().is_some()) { Self::Text } else { Self::Pure })
    }

    /// The wording in prompts.
    pub fn text(self) -> &'static str {
        match self {
            Self::Pure => "pure function",
            Self::BufferTransform => "buffer transform",
            Self::Text => "string function",
            Self::StatefulDecoder => "stateful decoder",
            Self::Lifecycle => "object lifecycle",
            Self::Callbacks => "callback registration",
            Self::TemporaryFile => "temporary file user",
        }
    }
}

/// Whether the function writes into more memory than one value.
fn writes(role: &Role) -> bool {
    role.pointer().is_none() && role.direction().is_some_and(|direction| direction != Direction::In)
}

/// Whether the function changes an object that it gets, beyond filling it.
fn changes(role: &Role) -> bool {
    role.pointer().is_some() && role.direction() == Some(Direction::InOut)
}

#[cfg(test)]
mod tests {
    use super::super::types::Sequence;
    use super::super::{fixture, parameter_roles};
    use super::*;

    fn contract(roles: Vec<Role>) -> Contract {
        fixture::contract("f", roles.into_iter().map(|role| ("p", role)).collect())
    }

    fn buffer(direction: Direction) -> Role {
        Role::Buffer(parameter_roles::Buffer { direction, length: "n".into(), max: 9, nullable: false })
    }

    fn handle(life: Life) -> Role {
        Role::Handle(parameter_roles::Handle { life, through: None, nullable: false })
    }

    #[test]
    fn the_contract_tells_the_kind() {
        let text = || Role::CString(parameter_roles::CString { max: 9, nullable: false });
        for (roles, kind) in [
            (vec![Role::Value(parameter_roles::Value { min: None, max: None })], Archetype::Pure),
            (vec![buffer(Direction::In)], Archetype::Pure),
            (vec![buffer(Direction::In), buffer(Direction::Out)], Archetype::BufferTransform),
            (vec![text()], Archetype::Text),
            (vec![text(), buffer(Direction::InOut)], Archetype::BufferTransform),
            (
                vec![
                    buffer(Direction::In),
                    Role::Callback(parameter_roles::Callback { order: true, nullable: false }),
                ],
                Archetype::Callbacks,
            ),
        ] {
            assert_eq!(Archetype::of(&contract(roles.clone())), Some(kind), "{roles:?}");
        }
    }

    #[test]
    fn functions_on_handles_are_told_by_what_they_do_with_its_life() {
        for (life, file, kind) in [
            (Life::Makes, None, Archetype::Lifecycle),
            (Life::Ends, None, Archetype::Lifecycle),
            (Life::Uses, None, Archetype::StatefulDecoder),
            (Life::Uses, Some("x"), Archetype::TemporaryFile),
        ] {
            let sequence = Sequence { file: file.map(str::to_owned), ..fixture::sequence("kit") };
            let contract = Contract { sequence: Some(Box::new(sequence)), ..contract(vec![handle(life)]) };
            assert_eq!(Archetype::of(&contract), Some(kind));
        }
    }

    #[test]
    fn what_asks_for_chance_is_of_no_kind() {
        assert_eq!(Archetype::of(&Contract { chance: true, ..contract(vec![]) }), None);
    }
}
