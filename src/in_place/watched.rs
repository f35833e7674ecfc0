//! What calls of a function look like, as `watch.c` tells it.

/// One call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The arguments that are integers or pointers: those in registers, then those on the stack.
    pub arguments: Vec<Word>,
    pub result: Word,
    /// The result is a block that the call allocated.
    pub is_new: bool,
    /// Arguments whose blocks the call freed, by position.
    pub freed: Vec<usize>,
    /// Arguments behind which C touched memory.
    pub touched: Vec<Touched>,
}

/// How far C went behind an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Touched {
    /// The argument's position.
    pub argument: usize,
    /// Bytes from it that C read or wrote.
    pub bytes: u64,
    /// Those of them that it wrote.
    pub written: u64,
}

/// A word that may be a pointer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Word {
    pub value: u64,
    /// The start of the block that it leads to.
    pub block: Option<u64>,
    /// It leads to a constant.
    pub is_constant: bool,
    /// Bytes to the end of the block or the constant.
    pub room: Option<u64>,
    /// The length of the text that it leads to, if a NUL ends it there.
    pub text: Option<u64>,
    /// What is read behind it.
    pub behind: Option<u64>,
}

impl Call {
    /// Reads a line behind its first word.
    pub(super) fn read(words: &[&str]) -> Option<Self> {
        let result = words.iter().position(|word| *word == "=")?;
        let told = words.get(result + 1)?;
        let (mut freed, mut touched) = (Vec::new(), Vec::new());
        for word in &words[result + 2..] {
            match word.split_at_checked(1)? {
                ("f", argument) => freed.push(argument.parse().ok()?),
                ("d", rest) => touched.push(Touched::read(rest)?),
                _ => return None,
            }
        }
        Some(Self {
            arguments: words[..result].iter().map(|word| Word::read(word)).collect::<Option<_>>()?,
            result: Word::read(told)?,
            is_new: told.ends_with(",n"),
            freed,
            touched,
        })
    }
}

impl Touched {
    fn read(text: &str) -> Option<Self> {
        let mut numbers = text.split(':').map(|number| number.parse().ok());
        let mut next = || numbers.next()?;
        Some(Self { argument: next()? as usize, bytes: next()?, written: next()? })
    }
}

impl Word {
    fn read(text: &str) -> Option<Self> {
        let mut parts = text.split(',');
        let hex = |text: &str| u64::from_str_radix(text, 16).ok();
        let mut word = Self { value: hex(parts.next()?)?, ..Self::default() };
        for part in parts {
            let (kind, rest) = part.split_at_checked(1)?;
            match kind {
                "b" => word.block = Some(hex(rest)?),
                "c" => word.is_constant = true,
                "r" => word.room = Some(rest.parse().ok()?),
                "t" => word.text = Some(rest.parse().ok()?),
                "w" => word.behind = Some(hex(rest)?),
                _ => {}
            }
        }
        Some(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_and_a_cut_one_is_not() {
        let read = |line: &str| Call::read(&line.split(' ').collect::<Vec<_>>());
        let call = read("7f10,b7f00,r16,t3,wff 5 = 7f40,b7f40,r8,n f0 d0:12:8").unwrap();
        let first = Word {
            value: 0x7f10,
            block: Some(0x7f00),
            room: Some(16),
            text: Some(3),
            behind: Some(0xff),
            ..Word::default()
        };
        assert_eq!(call.arguments, [first, Word { value: 5, ..Word::default() }]);
        assert_eq!((call.result.room, call.is_new, &*call.freed), (Some(8), true, &[0][..]));
        assert_eq!(call.touched, [Touched { argument: 0, bytes: 12, written: 8 }]);
        let constant = read("= 4008,c,r2").unwrap();
        assert_eq!(
            (constant.arguments.len(), constant.result.is_constant, constant.is_new),
            (0, true, false)
        );
        for cut in ["7f10,b7f0 5", "5 =", "5 = zz", "5,rx = 1", "1 = 2 fx", "1 = 2 d0:4", "1 = 2 x"] {
            assert_eq!(read(cut), None, "{cut}");
        }
    }
}
