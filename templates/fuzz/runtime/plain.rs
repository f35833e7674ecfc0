//! Inputs and results as text for exchange with the parent: the content of JSON in a form that is trivial to
//! parse. This module defines the form; the generated crate's `value` converts the library's types to it and
//! from it.
//! Written by cargo-implfuzz.

use super::report::Parts;
use std::fmt::Write;

/// A value in an input or a result.
#[derive(Clone, PartialEq)]
pub enum Plain {
    Null,
    Integer(i128),
    /// A double, as its bits.
    Float(u64),
    Bytes(Vec<u8>),
    List(Vec<Plain>),
    /// In the order of the parameters or fields.
    Object(Vec<(String, Plain)>),
    /// An object that may have a special meaning, such as `{"hex": …}` for bytes: that meaning, or why it is
    /// invalid as such, and the object itself. The reader's type decides between them. Only the parent writes
    /// it.
    Either(Box<Result<Plain, String>>, Box<Plain>),
}

/// Maximum nesting depth, for example for handles of handles of structs of arrays.
const DEPTH: usize = 32;

impl Plain {
    /// Parses the output of [`Plain::text`].
    pub fn of_text(text: &str) -> Option<Self> {
        let mut rest = text.as_bytes();
        let plain = parse(&mut rest, DEPTH)?;
        rest.is_empty().then_some(plain)
    }

    pub fn text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        text
    }

    fn write(&self, text: &mut String) {
        match self {
            Self::Null => text.push('~'),
            Self::Integer(number) => _ = write!(text, "i{number};"),
            Self::Float(bits) => _ = write!(text, "f{bits:x};"),
            Self::Bytes(bytes) => _ = write!(text, "x{};", super::report::hex(bytes)),
            Self::List(list) => {
                text.push('[');
                list.iter().for_each(|one| one.write(text));
                text.push(']');
            }
            Self::Object(fields) => {
                text.push('{');
                for (name, value) in fields {
                    _ = write!(text, "{};", super::report::hex(name.as_bytes()));
                    value.write(text);
                }
                text.push('}');
            }
            Self::Either(meant, object) => {
                text.push('?');
                match &**meant {
                    Ok(meant) => meant.write(text),
                    Err(why) => _ = write!(text, "!{};", super::report::hex(why.as_bytes())),
                }
                object.write(text);
            }
        }
    }

    /// Texts for people, which do not occur in inputs.
    pub fn of_parts(parts: Parts) -> Self {
        Self::Object(parts.into_iter().map(|(name, text)| (name, Self::Bytes(text.into_bytes()))).collect())
    }

    /// The object, which must not have other fields than these.
    pub fn fields<'a>(&'a self, known: &[&str]) -> Result<Fields<'a>, String> {
        let object = if let Self::Either(_, object) = self { object } else { self };
        let Self::Object(fields) = object else {
            return Err(format!("an object is wanted, not {}", self.kind()));
        };
        match fields.iter().find(|(name, _)| !known.contains(&name.as_str())) {
            Some((name, _)) => Err(format!("`{name}` is unknown; known are {}", known.join(", "))),
            None => Ok(Fields(fields)),
        }
    }

    /// The special meaning, where no object with fields is expected.
    pub fn meant(&self) -> Result<&Self, String> {
        match self {
            Self::Either(meant, _) => (**meant).as_ref().map_err(String::clone),
            _ => Ok(self),
        }
    }

    /// Also accepts a double with an integer value, and digits in a text.
    pub fn integer(&self) -> Result<i128, String> {
        let number = match self {
            Self::Integer(number) => Some(*number),
            Self::Float(bits) => {
                let float = f64::from_bits(*bits);
                (float.fract() == 0.0 && float.abs() < 1e15).then_some(float as i128)
            }
            Self::Bytes(digits) => std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()),
            _ => None,
        };
        number.ok_or_else(|| format!("an integer is wanted, not {}", self.kind()))
    }

    /// Like [`Plain::integer`], where a byte is expected: a text may be digits, or the byte itself.
    pub fn of_a_byte(&self) -> Result<i128, String> {
        match self {
            Self::Bytes(_) => Err("a number is wanted, not bytes".to_owned()),
            _ => self.integer(),
        }
    }

    /// A number of bytes, elements or steps.
    pub fn count(&self) -> Result<usize, String> {
        let number = self.integer()?;
        usize::try_from(number).map_err(|_| format!("{number} is no number of elements"))
    }

    pub fn byte(&self) -> Result<u8, String> {
        let number = self.of_a_byte()?;
        u8::try_from(number).map_err(|_| format!("{number} is no byte"))
    }

    pub fn bytes(&self) -> Result<Vec<u8>, String> {
        match self.meant()? {
            Self::Bytes(bytes) => Ok(bytes.clone()),
            Self::List(list) => list.iter().map(Self::byte).collect(),
            _ => Err(format!("bytes are wanted, not {}", self.kind())),
        }
    }

    pub fn list(&self) -> Result<&[Self], String> {
        match self.meant()? {
            Self::List(list) => Ok(list),
            _ => Err(format!("a list is wanted, not {}", self.kind())),
        }
    }

    /// The kind of the value, for error messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Integer(_) => "an integer",
            Self::Float(_) => "a float",
            Self::Bytes(_) => "bytes",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
            Self::Either(meant, _) => meant.as_ref().as_ref().map_or("an object", Self::kind),
        }
    }
}

#[derive(Clone, Copy)]
pub struct Fields<'a>(&'a [(String, Plain)]);

impl<'a> Fields<'a> {
    pub fn get(&self, name: &str) -> Option<&'a Plain> {
        self.0.iter().find(|(other, _)| other == name).map(|(_, value)| value)
    }

    /// Converts a required field; errors mention its name.
    pub fn read<T>(&self, name: &str, make: impl FnOnce(&Plain) -> Result<T, String>) -> Result<T, String> {
        let plain = self.get(name).ok_or_else(|| format!("`{name}` is missing"))?;
        make(plain).map_err(|why| format!("`{name}`: {why}"))
    }

    /// The same, with a default for an omitted field.
    pub fn read_or<T>(
        &self,
        name: &str,
        default: impl FnOnce() -> T,
        make: impl FnOnce(&Plain) -> Result<T, String>,
    ) -> Result<T, String> {
        self.get(name)
            .map_or_else(|| Ok(default()), |plain| make(plain).map_err(|why| format!("`{name}`: {why}")))
    }

    /// Converts a field that may be null.
    pub fn read_nullable<T>(
        &self,
        name: &str,
        make: impl FnOnce(&Plain) -> Result<T, String>,
    ) -> Result<Option<T>, String> {
        self.read(name, |plain| if *plain == Plain::Null { Ok(None) } else { make(plain).map(Some) })
    }

    /// The common length of these buffers, and whether it is given as a negative number; without buffers, the
    /// given length.
    pub fn length(&self, name: &str, of: &[Option<usize>]) -> Result<(bool, usize), String> {
        let given =
            self.get(name).map(Plain::integer).transpose().map_err(|why| format!("`{name}`: {why}"))?;
        let mut lengths = of.iter().flatten().copied();
        let first = lengths.next();
        if let Some(first) = first
            && let Some(other) = lengths.find(|other| *other != first)
        {
            return Err(format!("`{name}` is the length of buffers of {first} and of {other} elements"));
        }
        let below = given.is_some_and(|number| number < 0);
        let said = given
            .map(|number| usize::try_from(if below { -1 - number } else { number }).unwrap_or(usize::MAX));
        let length = first.or(said).unwrap_or(0);
        match said {
            Some(said) if said != length && below => Err(format!(
                "`{name}`: with {length} elements a length below zero is {}",
                -1 - length as i128
            )),
            Some(said) if said != length => {
                Err(format!("`{name}` is {said}, and the buffer has {length} elements"))
            }
            _ => Ok((below, length)),
        }
    }
}

/// An output: its number of elements, and its content before the call.
pub fn output(plain: &Plain) -> Result<(usize, [u8; 4]), String> {
    match plain {
        Plain::Integer(_) => Ok((plain.count()?, FILL)),
        _ => {
            let fields = plain.fields(&["room", "fill"])?;
            Ok((fields.read("room", Plain::count)?, fields.read_or("fill", || FILL, fill)?))
        }
    }
}

/// The content of an output whose number of elements is known.
pub fn room(plain: &Plain) -> Result<[u8; 4], String> {
    plain.fields(&["fill"])?.read_or("fill", || FILL, fill)
}

/// The default content of an output.
pub const FILL: [u8; 4] = [0x5a; 4];

fn fill(plain: &Plain) -> Result<[u8; 4], String> {
    plain.bytes()?.try_into().map_err(|_| "a fill is four bytes".to_owned())
}

pub fn plain_output(room: usize, fill: [u8; 4]) -> Plain {
    let room = ("room".to_owned(), Plain::Integer(room as i128));
    Plain::Object(vec![room, ("fill".to_owned(), Plain::Bytes(fill.to_vec()))])
}

pub fn plain_room(fill: [u8; 4]) -> Plain {
    Plain::Object(vec![("fill".to_owned(), Plain::Bytes(fill.to_vec()))])
}

/// The number of a handle: a call sequence has two.
pub fn handle(plain: &Plain) -> Result<u8, String> {
    match plain.integer()? {
        0 => Ok(0),
        1 => Ok(1),
        other => Err(format!("a handle is 0 or 1, not {other}")),
    }
}

/// Elements whose size is an argument.
pub fn elements(plain: &Plain) -> Result<(usize, Vec<u8>), String> {
    let fields = plain.fields(&["size", "bytes"])?;
    let (size, bytes) = (fields.read("size", Plain::count)?, fields.read("bytes", Plain::bytes)?);
    match size {
        1..=16 if bytes.len() % size == 0 => Ok((size, bytes)),
        1..=16 => Err(format!("{} bytes are no elements of {size}", bytes.len())),
        _ => Err(format!("elements of {size} bytes: 1 to 16 are tried")),
    }
}

pub fn plain_elements((size, bytes): &(usize, Vec<u8>)) -> Plain {
    let size = ("size".to_owned(), Plain::Integer(*size as i128));
    Plain::Object(vec![size, ("bytes".to_owned(), Plain::Bytes(bytes.clone()))])
}

/// The answers of a callback: an order by its number, or bytes.
pub fn answers(plain: &Plain, order: bool) -> Result<Vec<u8>, String> {
    match (order, plain) {
        (true, _) => match plain.byte()? {
            order @ 0..=7 => Ok(vec![order]),
            other => Err(format!("an order is a number from 0 to 7, not {other}")),
        },
        (false, Plain::Object(_)) => plain.fields(&["answers"])?.read("answers", Plain::bytes),
        (false, _) => plain.bytes(),
    }
}

pub fn plain_answers(answers: &[u8], order: bool) -> Plain {
    match order {
        true => Plain::Integer(i128::from(answers.first().copied().unwrap_or(0))),
        false => Plain::Object(vec![("answers".to_owned(), Plain::Bytes(answers.to_vec()))]),
    }
}

const FRACTION: u32 = 0x007f_ffff;

/// The bits of a single's value as a double; a numeric conversion could change a NaN.
pub fn of_single(value: f32) -> u64 {
    let bits = value.to_bits();
    match value.is_nan() {
        true => u64::from(bits >> 31) << 63 | 0x7ff << 52 | u64::from(bits & FRACTION) << 29,
        false => f64::from(value).to_bits(),
    }
}

/// The inverse; other doubles give the nearest single.
pub fn single(bits: u64) -> f32 {
    let value = f64::from_bits(bits);
    if !value.is_nan() {
        return value as f32;
    }
    let fraction = (bits >> 29) as u32 & FRACTION;
    // Without a fraction it would be infinite.
    let fraction = if fraction == 0 { 0x0040_0000 } else { fraction };
    f32::from_bits(((bits >> 63) as u32) << 31 | 0xff << 23 | fraction)
}

fn parse(rest: &mut &[u8], depth: usize) -> Option<Plain> {
    let depth = depth.checked_sub(1)?;
    Some(match next(rest)? {
        b'~' => Plain::Null,
        b'i' => Plain::Integer(word(rest)?.parse().ok()?),
        b'f' => Plain::Float(u64::from_str_radix(word(rest)?, 16).ok()?),
        b'x' => Plain::Bytes(unhex(word(rest)?)?),
        b'[' => {
            let mut list = Vec::new();
            while *rest.first()? != b']' {
                list.push(parse(rest, depth)?);
            }
            next(rest)?;
            Plain::List(list)
        }
        b'{' => {
            let mut fields = Vec::new();
            while *rest.first()? != b'}' {
                let name = String::from_utf8(unhex(word(rest)?)?).ok()?;
                fields.push((name, parse(rest, depth)?));
            }
            next(rest)?;
            Plain::Object(fields)
        }
        b'?' => {
            let meant = match rest.first()? {
                b'!' => Err(String::from_utf8(unhex(word(rest)?.get(1..)?)?).ok()?),
                _ => Ok(parse(rest, depth)?),
            };
            Plain::Either(Box::new(meant), Box::new(parse(rest, depth)?))
        }
        _ => return None,
    })
}

fn next(rest: &mut &[u8]) -> Option<u8> {
    let (first, tail) = rest.split_first()?;
    *rest = tail;
    Some(*first)
}

/// The text up to the next semicolon.
fn word<'a>(rest: &mut &'a [u8]) -> Option<&'a str> {
    let end = rest.iter().position(|byte| *byte == b';')?;
    let (word, tail) = rest.split_at(end);
    *rest = &tail[1..];
    std::str::from_utf8(word).ok()
}

fn unhex(word: &str) -> Option<Vec<u8>> {
    let digits = word.as_bytes();
    if digits.len() % 2 != 0 {
        return None;
    }
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}
