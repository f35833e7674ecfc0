//! Values as lines of Rust: a long array has eight numbers in each line.

use super::value::Value;

/// Largest width of a line, columns.
const WIDTH: usize = 100;
/// Plain elements in a line of a long array.
const PER_LINE: usize = 8;

/// `head`, the value and a semicolon, on one line where that fits.
pub(super) fn statement(head: &str, value: &Value) -> String {
    let mut text = head.to_owned();
    write(&mut text, value, 0, head.len() + 1);
    text.push(';');
    text
}

/// Writes a value after `used` columns of the current line, which has this indent.
fn write(text: &mut String, value: &Value, indent: usize, used: usize) {
    // A short array of numbers goes on one line; a long array of arrays on one line would be hard to read.
    if let Some(line) = one_line(value, WIDTH.saturating_sub(used)) {
        *text += &line;
        return;
    }
    let inner = indent + 4;
    let new_line = |text: &mut String, indent: usize| {
        text.push('\n');
        text.extend(std::iter::repeat_n(' ', indent));
    };
    match value {
        Value::Plain(plain) => *text += plain,
        Value::Repeat(element, len) => {
            let (open, close) = repeated(element);
            *text += open;
            new_line(text, inner);
            write(text, element, inner, inner);
            new_line(text, indent);
            *text += &format!("{close}; {len}]");
        }
        Value::Array(elements) => {
            text.push('[');
            let mut column = 0;
            for (at, element) in elements.iter().enumerate() {
                let width = plain_width(element);
                let fits = width.is_some_and(|width| column + width + 2 <= WIDTH);
                if fits && at % PER_LINE != 0 && column > 0 {
                    text.push(' ');
                    column += 1;
                } else {
                    new_line(text, inner);
                    column = inner;
                }
                write(text, element, inner, inner + 1);
                text.push(',');
                column = width.map_or(WIDTH, |width| column + width + 1);
            }
            new_line(text, indent);
            text.push(']');
        }
        Value::Record(name, fields) => {
            *text += &format!("{name} {{");
            for (field, value) in fields {
                new_line(text, inner);
                *text += &format!("{field}: ");
                write(text, value, inner, inner + field.len() + 3);
                text.push(',');
            }
            new_line(text, indent);
            text.push('}');
        }
    }
}

/// The text around a repeated element. A struct may lack `Copy`, so it must be a constant.
fn repeated(element: &Value) -> (&'static str, &'static str) {
    match element {
        Value::Plain(_) => ("[", ""),
        Value::Repeat(inner, _) => repeated(inner),
        Value::Array(elements) => elements.first().map_or(("[", ""), repeated),
        Value::Record(..) => ("[const {", "}"),
    }
}

fn plain_width(value: &Value) -> Option<usize> {
    match value {
        Value::Plain(plain) => Some(plain.len()),
        _ => None,
    }
}

/// The value on one line of at most `room` columns.
fn one_line(value: &Value, room: usize) -> Option<String> {
    let text = match value {
        Value::Plain(plain) => plain.clone(),
        Value::Repeat(element, len) => {
            let (open, close) = repeated(element);
            let gap = if open == "[" { "" } else { " " };
            format!("{open}{gap}{}{gap}{close}; {len}]", one_line(element, room)?)
        }
        // Each element takes at least one column, so a longer array is not tried.
        Value::Array(elements) if elements.len() > room => return None,
        Value::Array(elements) => {
            let elements: Option<Vec<String>> = elements.iter().map(|e| one_line(e, room)).collect();
            format!("[{}]", elements?.join(", "))
        }
        Value::Record(name, fields) => {
            let fields: Option<Vec<String>> =
                fields.iter().map(|(field, v)| Some(format!("{field}: {}", one_line(v, room)?))).collect();
            format!("{name} {{ {} }}", fields?.join(", "))
        }
    };
    (text.len() <= room).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(count: usize) -> Value {
        Value::Array((0..count).map(|n| Value::Plain(format!("0x{n:08x}"))).collect())
    }

    #[test]
    fn a_table_has_eight_numbers_to_a_line() {
        let text = statement("pub static T: [u32; 20] = ", &numbers(20));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 5);
        assert_eq!(lines[1].matches("0x").count(), 8);
        assert_eq!(lines[3], "    0x00000010, 0x00000011, 0x00000012, 0x00000013,");
        assert!(lines.iter().all(|l| l.len() <= WIDTH));
        assert_eq!(statement("pub static T: [u32; 2] = ", &numbers(2)).lines().count(), 1);
    }

    #[test]
    fn wide_elements_take_fewer_to_a_line() {
        let texts = Value::Array(vec![Value::Plain(format!("Some(c\"{}\")", "x".repeat(40))); 3]);
        let text = statement("T = ", &texts);
        assert_eq!(text.lines().count(), 5);
    }
}
