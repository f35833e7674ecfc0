//! Call sequences in the parent's text: the constructor call, the steps before the call under test, its
//! arguments, and the steps after it.
//! Written by cargo-implfuzz.

use super::sequence_boundaries::spare;
use super::plain::{Fields, Plain, handle};
use super::sequence::{Entry, Plan};
use super::sequence_input::{AFTER, BEFORE, Content, Feed, Source, Spoil, Step, Story};

type Of<T> = Result<T, String>;

impl Story {
    pub fn of_plain(plan: &'static Plan, plain: &Plain) -> Of<Self> {
        let fields = plain.fields(&["make", "before", "args", "after", "$file", "$fail"])?;
        let make = match (plan.makes, fields.get("make")) {
            (true, None) => None,
            (true, Some(_)) => return Err("`make`: the function makes the handle itself; leave it out".into()),
            (false, _) => Some(fields.read("make", |plain| made(plan, plain))?),
        };
        let steps = |name: &str, most: usize| {
            fields.read_or(name, Vec::new, |plain| {
                let list = plain.list()?;
                match list.len() > most {
                    true => Err(format!("{} steps, and {most} are taken", list.len())),
                    false => list.iter().map(|one| Step::of_plain(plan, one)).collect(),
                }
            })
        };
        let call = match fields.get("args") {
            Some(args) => (plan.under.of_plain)(args).map_err(|why| format!("`args`: {why}"))?,
            None => (plan.under.of_plain)(&Plain::Object(Vec::new()))?,
        };
        let file = match plan.shape.file {
            Some(_) => fields.read_or("$file", Content::default, Content::of_plain)?,
            None if fields.get("$file").is_some() => return Err("`$file`: no file is opened".into()),
            None => Content::default(),
        };
        let fail = match plan.shape.fails {
            true => fields.read_or("$fail", || 0, Plain::byte)?,
            false if fields.get("$fail").is_some() => return Err("`$fail`: the contract lets no allocation fail".into()),
            false => 0,
        };
        let (before, after) = (steps("before", BEFORE)?, steps("after", AFTER)?);
        Ok(Self { make, before, call, after, spare: spare(plan), file, fail })
    }

    /// The inverse of [`Story::of_plain`].
    pub fn plain(&self, plan: &'static Plan) -> Plain {
        let steps = |steps: &[Step]| Plain::List(steps.iter().map(|step| step.plain(plan)).collect());
        let make = self.make.iter().map(|make| ("make".to_owned(), make.plain(plan)));
        let rest = [
            ("before".to_owned(), steps(&self.before)),
            ("args".to_owned(), (plan.under.plain)(&*self.call)),
            ("after".to_owned(), steps(&self.after)),
        ];
        let file = plan.shape.file.map(|_| ("$file".to_owned(), self.file.plain()));
        let fail = (self.fail > 0).then(|| ("$fail".to_owned(), Plain::Integer(i128::from(self.fail))));
        Plain::Object(make.chain(rest).chain(file).chain(fail).collect())
    }
}

fn made(plan: &'static Plan, plain: &Plain) -> Of<Step> {
    let (name, args) = call(plain)?;
    let maker = known(plan.makers.iter().copied(), &name)?;
    Ok(Step::Call(maker, (maker.of_plain)(args).map_err(|why| format!("`{name}`: {why}"))?))
}

/// The name of the called function, and its arguments.
fn call(plain: &Plain) -> Of<(String, &Plain)> {
    static NONE: Plain = Plain::Object(Vec::new());
    let fields = plain.fields(&["call", "args"])?;
    let name = fields.read("call", text)?;
    Ok((name, fields.get("args").unwrap_or(&NONE)))
}

fn text(plain: &Plain) -> Of<String> {
    String::from_utf8(plain.bytes()?).map_err(|_| "it is no name".to_owned())
}

fn known(entries: impl Iterator<Item = &'static Entry> + Clone, name: &str) -> Of<&'static Entry> {
    entries.clone().find(|entry| entry.name == name).ok_or_else(|| {
        let names: Vec<&str> = entries.map(|entry| entry.name).collect();
        format!("`{name}` cannot be called there; what can: {}", names.join(", "))
    })
}

fn object<const N: usize>(fields: [(&str, Plain); N]) -> Plain {
    Plain::Object(fields.map(|(name, value)| (name.to_owned(), value)).into())
}

fn number(number: impl Into<i128>) -> Plain {
    Plain::Integer(number.into())
}

impl Step {
    fn of_plain(plan: &'static Plan, plain: &Plain) -> Of<Self> {
        let fields = plain.fields(&["call", "args", "feed", "handle", "with", "spoil"])?;
        // A step is one of three kinds; fields of another kind are errors.
        if fields.get("feed").is_some() {
            let fields = plain.fields(&["feed", "handle", "with"])?;
            return Feed::of_plain(plan, &fields).map(Self::Feed);
        }
        if let Some(at) = fields.get("spoil") {
            let fields = plain.fields(&["spoil", "with"])?;
            if plan.shape.file.is_none() {
                return Err("`spoil`: no file is opened".into());
            }
            let place = at.count()?;
            let at = u16::try_from(place).map_err(|_| format!("`spoil`: {place} is beyond the file"))?;
            return Ok(Self::Spoil(Spoil { at, with: fields.read("with", Plain::byte)? }));
        }
        let (name, args) = call(plain)?;
        let all = plan.others.iter().chain(plan.makers).chain(plan.enders).chain([&plan.under]).copied();
        let entry = known(all, &name)?;
        Ok(Self::Call(entry, (entry.of_plain)(args).map_err(|why| format!("`{name}`: {why}"))?))
    }

    fn plain(&self, plan: &'static Plan) -> Plain {
        match self {
            Self::Call(entry, args) => {
                object([("call", Plain::Bytes(entry.name.into())), ("args", (entry.plain)(&**args))])
            }
            Self::Feed(feed) => feed.plain(plan),
            Self::Spoil(spoil) => object([("spoil", number(spoil.at)), ("with", number(spoil.with))]),
        }
    }
}

impl Feed {
    fn of_plain(plan: &'static Plan, fields: &Fields) -> Of<Self> {
        let names: Vec<&str> = plan.shape.buffers.iter().map(|buffer| buffer.name).collect();
        let name = fields.read("feed", text)?;
        let buffer = names.iter().position(|other| **other == *name);
        let buffer = buffer.ok_or_else(|| format!("`feed`: `{name}` is none of {}", names.join(", ")))?;
        let which = fields.read_or("handle", || 0, handle)?;
        let source = fields.read("with", |with| match with {
            Plain::Object(fields) if fields.iter().any(|(name, _)| name == "room" || name == "earlier") => {
                let fields = with.fields(&["room", "earlier"])?;
                match fields.get("earlier") {
                    Some(earlier) => Ok(Source::Earlier(earlier.byte()?)),
                    None => fields.read("room", |room| {
                        u16::try_from(room.count()?).map(Source::Room).map_err(|_| "65,535 bytes at most".to_owned())
                    }),
                }
            }
            _ => Content::of_plain(with).map(Source::Content),
        })?;
        Ok(Self { which, buffer: buffer as u8, source })
    }

    fn plain(&self, plan: &'static Plan) -> Plain {
        let buffers = plan.shape.buffers;
        let name = buffers.get(usize::from(self.buffer) % buffers.len().max(1)).map_or("", |buffer| buffer.name);
        let with = match &self.source {
            Source::Content(content) => content.plain(),
            Source::Room(n) => object([("room", number(*n))]),
            Source::Earlier(k) => object([("earlier", number(*k))]),
        };
        object([("feed", Plain::Bytes(name.into())), ("handle", number(self.which)), ("with", with)])
    }
}

impl Content {
    fn of_plain(plain: &Plain) -> Of<Self> {
        let short = |plain: &Plain| {
            let piece = plain.bytes()?;
            match piece.len() {
                0..256 => Ok(piece),
                n => Err(format!("{n} bytes: 255 at most; longer ones by `times`")),
            }
        };
        if !matches!(plain, Plain::Object(_)) {
            return Ok(Self { piece: short(plain)?, times: 1, noise: 0 });
        }
        let fields = plain.fields(&["piece", "times", "noise"])?;
        let piece = fields.read("piece", short)?;
        Ok(Self {
            piece,
            times: fields.read_or("times", || 1, Plain::byte)?,
            noise: fields.read_or("noise", || 0, Plain::byte)?,
        })
    }

    fn plain(&self) -> Plain {
        let (times, noise) = (number(self.times), number(self.noise));
        object([("piece", Plain::Bytes(self.piece.clone())), ("times", times), ("noise", noise)])
    }
}
