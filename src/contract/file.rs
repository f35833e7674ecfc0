//! `rust/contracts/<symbol>.toml`: contracts as people read and edit them.
//!
//! A generated file carries a hash of its own content. While the hash fits, the tool may regenerate the file; after
//! any edit it does not fit, and the tool never overwrites the file.

use super::parameter_roles::Keys;
use super::sound;
pub use super::sound::wrong;
use super::types::{Contract, Equivalent, GlobalUse, Harness, Parameter, Returns, Sequence, Signature};
use crate::error::Result;
use crate::symbol::SymbolName;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

const VERSION: u32 = 1;
const FINGERPRINT: &str = "# fingerprint: ";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ContractFile {
    version: u32,
    symbol: String,
    #[serde(default, skip_serializing_if = "Harness::is_inferred")]
    harness: Harness,
    signature: Signature,
    returns: String,
    /// For `returns = "table"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    elements: Option<usize>,
    #[serde(default)]
    errno: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    chance: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    proposed_by: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    require: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    interesting: Vec<usize>,
    #[serde(default, rename = "param")]
    params: Vec<Keys>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    equivalent: Vec<Equivalent>,
    #[serde(default, rename = "global", skip_serializing_if = "Vec::is_empty")]
    globals: Vec<GlobalUse>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sequence: Option<Box<Sequence>>,
}

/// Largest number of table elements that a harness compares.
pub(super) const TABLE: usize = 1 << 16;

/// Parses the `returns` word.
fn returned(word: &str, elements: Option<usize>) -> std::result::Result<Returns, String> {
    let table = Returns::Table(elements.unwrap_or(0));
    let mut all = Returns::WITHOUT_LENGTH.into_iter().chain([table]);
    match (all.find(|returns| returns.word() == word), elements) {
        (Some(Returns::Table(1..=TABLE)), _) => Ok(table),
        (Some(Returns::Table(_)), _) => Err(format!("a returned table needs `elements`, from 1 to {TABLE}")),
        (Some(_), Some(_)) => Err("`elements` is only for a returned table".to_owned()),
        (Some(returns), None) => Ok(returns),
        (None, _) => Err(format!("`returns = \"{word}\"` is not known")),
    }
}

/// The text of the file for a contract.
pub fn render(contract: &Contract) -> String {
    let body = body(contract);
    let head = "# How to call the function, and what is compared. Inferred from the C text by cargo-implfuzz;\n\
                # edit it freely: an edited contract is never overwritten.\n";
    format!("{head}{FINGERPRINT}{}\n{body}", fingerprint(&body))
}

fn body(contract: &Contract) -> String {
    let file = ContractFile {
        version: VERSION,
        symbol: contract.symbol.to_string(),
        harness: contract.harness,
        signature: contract.signature,
        returns: contract.returns.word().to_owned(),
        elements: contract.returns.elements(),
        errno: contract.errno,
        chance: contract.chance,
        proposed_by: contract.proposed_by.clone(),
        require: contract.require.clone(),
        interesting: contract.interesting.clone(),
        params: contract.params.iter().map(Keys::of).collect(),
        equivalent: contract.equivalent.clone(),
        globals: contract.globals.clone(),
        sequence: contract.sequence.clone(),
    };
    toml::to_string(&file).expect("a contract has only types that TOML knows")
}

/// The text without `proposed_by`; `None` where no model proposed it.
pub fn approved(text: &str) -> Option<String> {
    let mut document: toml_edit::DocumentMut = text.parse().ok()?;
    document.remove("proposed_by")?;
    Some(document.to_string())
}

/// The file text of a contract that a model proposed. It has no hash, so that it is never overwritten, and it names
/// the model.
pub fn proposed(contract: &Contract) -> String {
    let body = body(contract);
    format!(
        "# Proposed by a model and tried against C; `cargo implfuzz contract --approve {}`\n\n{body}",
        contract.symbol
    )
}

/// Whether a person has changed the text since it was generated.
pub fn is_edited(text: &str) -> bool {
    let Some((_, rest)) = text.split_once(FINGERPRINT) else { return true };
    let Some((mark, body)) = rest.split_once('\n') else { return true };
    mark != fingerprint(body)
}

fn fingerprint(body: &str) -> String {
    let digest = Sha256::digest(body.as_bytes());
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Parses a contract; `path` is for error messages.
pub fn parse(text: &str, path: &str) -> Result<Contract> {
    let bad = |message: String| wrong(path, &message);
    let file: ContractFile = toml::from_str(text).map_err(|error| bad(error.to_string()))?;
    if file.version != VERSION {
        return Err(bad(format!(
            "version {} is not known to this cargo-implfuzz (it knows {VERSION})",
            file.version
        )));
    }
    let contract = Contract {
        symbol: SymbolName::new(file.symbol),
        harness: file.harness,
        signature: file.signature,
        params: file.params.into_iter().map(parameter).collect::<std::result::Result<_, _>>().map_err(bad)?,
        returns: returned(&file.returns, file.elements).map_err(bad)?,
        errno: file.errno,
        chance: file.chance,
        require: file.require,
        interesting: file.interesting,
        equivalent: file.equivalent,
        globals: file.globals,
        sequence: file.sequence,
        proposed_by: file.proposed_by,
    };
    match sound::complaint(&contract) {
        Some(what) => Err(bad(what)),
        None => Ok(contract),
    }
}

/// Parses the roles in a text that has only `[[param]]` tables; `most` is the default for `max`.
pub fn roles(text: &str, most: usize) -> std::result::Result<Vec<Parameter>, String> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Roles {
        #[serde(default, rename = "param")]
        params: Vec<Keys>,
    }
    let file: Roles = toml::from_str(text).map_err(|error| error.to_string())?;
    let with_max = |mut keys: Keys| {
        keys.usual_max = Some(most);
        parameter(keys)
    };
    file.params.into_iter().map(with_max).collect()
}

fn parameter(keys: Keys) -> std::result::Result<Parameter, String> {
    let name = keys.name.clone();
    keys.parameter().map_err(|what| format!("parameter `{name}`: {what}"))
}

#[cfg(test)]
mod tests {
    use super::super::types::{Direction, Life, Role};
    use super::super::{fixture, parameter_roles};
    use super::*;
    use proptest::prelude::*;

    fn contract(max: usize, nullable: bool, values: Vec<i64>) -> Contract {
        let param = |name: &str, role| Parameter {
            likely: vec![-1],
            texts: vec!["r".into()],
            reason: "a.c:1: `x`".into(),
            ..fixture::param(name, role)
        };
        let names = |name: &str| vec![SymbolName::new(name)];
        Contract {
            symbol: SymbolName::new("f"),
            harness: Harness::Inferred,
            signature: Signature::C,
            params: vec![
                param(
                    "h",
                    Role::Handle(parameter_roles::Handle {
                        life: Life::Uses,
                        through: nullable.then(|| "state".into()),
                        nullable,
                    }),
                ),
                param("mode", Role::OneOf(parameter_roles::OneOf { values })),
                param(
                    "buf",
                    Role::Buffer(parameter_roles::Buffer {
                        direction: Direction::InOut,
                        length: "n".into(),
                        max,
                        nullable,
                    }),
                ),
                param("n", Role::Length(parameter_roles::Length)),
                param("s", Role::CString(parameter_roles::CString { max, nullable })),
                param("out", Role::Pointer(parameter_roles::Pointer { direction: Direction::Out, nullable })),
                param(
                    "room",
                    Role::Room(parameter_roles::Room { direction: Direction::InOut, len: max + 1, nullable }),
                ),
                param(
                    "a",
                    Role::FixedArray(parameter_roles::FixedArray { direction: Direction::In, len: max }),
                ),
                param("v", Role::Value(parameter_roles::Value { min: Some(-3), max: None })),
                param(
                    "lent",
                    Role::Lent(parameter_roles::Lent {
                        of: "header".into(),
                        pointers: vec![("name".into(), vec!["name_max".into()])],
                        numbers: vec!["flags".into()],
                        nullable,
                    }),
                ),
                param("cb", Role::Callback(parameter_roles::Callback { order: !nullable, nullable })),
                param("token", Role::UserData(parameter_roles::UserData)),
                param(
                    "e",
                    Role::Elements(parameter_roles::Elements {
                        direction: Direction::In,
                        count: "n".into(),
                        size: "n".into(),
                        max,
                    }),
                ),
            ],
            returns: Returns::StaticString,
            errno: true,
            chance: nullable,
            require: vec!["v < 3".into()],
            interesting: vec![5552],
            proposed_by: nullable.then(|| "m".into()),
            equivalent: vec![Equivalent { mutant: "0a1b".into(), reason: "x".into() }],
            globals: vec![GlobalUse {
                name: SymbolName::new("mode"),
                direction: Direction::In,
                vary: nullable,
                functions: false,
                values: vec![0, 3],
                reason: "a.c:2: `mode = x`".into(),
            }],
            sequence: Some(Box::new(Sequence {
                of: "stream".into(),
                by_caller: nullable,
                buffers: vec![("next".into(), "avail".into())],
                texts: vec!["msg".into()],
                fail_allocations: nullable,
                file: nullable.then(|| "a.file".into()),
                makers: names("f_init"),
                operations: names("f_more"),
                enders: names("f_end"),
            })),
        }
    }

    proptest! {
        #[test]
        fn a_contract_survives_its_file(max in 0usize..100_000, nullable: bool, values in prop::collection::vec(any::<i64>(), 1..5)) {
            let contract = contract(max, nullable, values);
            let text = render(&contract);
            prop_assert!(!is_edited(&text));
            prop_assert_eq!(parse(&text, "f.toml").unwrap(), contract);
        }

        #[test]
        fn what_is_returned_survives_its_file(max in 0usize..100_000, nullable: bool, at in 0usize..4) {
            let returns = [Returns::Memory, Returns::Table(max % TABLE + 1), Returns::Address, Returns::Nothing][at];
            let given = Role::Given(parameter_roles::Given { max, nullable });
            let mut contract = Contract { returns, sequence: None, ..contract(max, nullable, vec![1]) };
            contract.params.retain(|p| !matches!(p.role, Role::Handle(_) | Role::Lent(_)));
            contract.params[0].role = given;
            prop_assert_eq!(parse(&render(&contract), "f.toml").unwrap(), contract);
        }
    }

    #[test]
    fn what_a_returned_table_or_block_needs_is_said() {
        let returns = Returns::Table(3);
        let mut contract = Contract { returns, sequence: None, ..contract(8, false, vec![1]) };
        let said = |contract: &Contract, from: &str, to: &str| {
            let text = render(contract);
            assert!(text.contains(from), "{text}");
            parse(&text.replace(from, to), "f.toml").unwrap_err().to_string()
        };
        contract.params.truncate(0);
        assert!(said(&contract, "elements = 3\n", "").contains("needs `elements`, from 1 to 65536"));
        assert!(
            said(&contract, "\"table\"", "\"memory\"").contains("`elements` is only for a returned table")
        );
        assert!(
            said(&contract, "signature = \"c\"", "signature = \"safe\"").contains("a returned pointer needs")
        );
    }

    #[test]
    fn any_change_by_hand_is_noticed() {
        let text = render(&contract(8, false, vec![1]));
        assert!(is_edited(&text.replace("max = 8", "max = 9")));
        assert!(is_edited("version = 1"));
    }

    #[test]
    fn a_wrong_contract_says_which_parameter_and_why() {
        let text = render(&contract(8, false, vec![1]));
        let error = parse(&text.replace("length = \"n\"", "length = \"m\""), "f.toml").unwrap_err();
        assert!(error.to_string().contains("its length `m` is not a parameter"), "{error}");
        let error = parse(&text.replace("direction = \"inout\"\n", ""), "f.toml").unwrap_err();
        assert!(error.to_string().contains("parameter `buf`: a buffer needs `direction`"), "{error}");
        assert!(parse(&text.replace("nullable", "nulable"), "f.toml").is_ok());
        let unknown = parse(&text.replace("errno", "erno"), "f.toml").unwrap_err();
        assert!(unknown.to_string().contains("erno"), "{unknown}");
    }
}
