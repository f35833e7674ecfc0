//! Splits command lines of C compilers like a shell. The crate `shlex` splits words only; what make prints also has
//! operators and redirections.

/// Splits a command as a shell would: blanks, single and double quotes, backslashes.
pub(super) fn split(command: &str) -> Vec<String> {
    scan(command, |_| false).concat()
}

/// The simple commands of a shell line, in order. Each parenthesis is a separate command; redirections and
/// text in backquotes are left out.
pub(super) fn commands(line: &str) -> Vec<Vec<String>> {
    let line = without_substitutions(line);
    let mut commands = scan(&line, |c| matches!(c, ';' | '&' | '|' | '(' | ')' | '\n'));
    for command in &mut commands {
        drop_redirections(command);
    }
    commands.retain(|command| !command.is_empty());
    commands
}

/// Splits the line at characters for which `ends` is true, and each piece into words. A `#` begins a comment
/// only if a line break ends a command too.
fn scan(line: &str, ends: impl Fn(char) -> bool) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        let last = commands.last_mut().expect("it begins with one command and only grows");
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '\\') => word.get_or_insert_default().extend(chars.next()),
            // In double quotes a backslash stays before most characters.
            (Some('"'), '\\') => {
                let next = chars.next();
                let stays = !matches!(next, Some('$' | '`' | '"' | '\\' | '\n'));
                let kept = stays.then_some('\\').into_iter().chain(next.filter(|next| *next != '\n'));
                word.get_or_insert_default().extend(kept);
            }
            (None, c) if ends(c) => {
                last.extend(word.take());
                if matches!(c, '(' | ')') {
                    commands.push(vec![c.to_string()]);
                }
                commands.push(Vec::new());
            }
            (None, '#') if word.is_none() && ends('\n') => drop(chars.find(|c| *c == '\n')),
            (None, c) if c.is_whitespace() => last.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    if let Some(last) = commands.last_mut() {
        last.extend(word);
    }
    commands
}

/// Drops `` `…` ``, whose output is unknown. Automake's substitutions (`` `test -f 'a.c' || echo './'`a.c ``)
/// print nothing if the build runs in the source directory.
fn without_substitutions(line: &str) -> String {
    line.split('`').step_by(2).collect()
}

/// Drops `>`, `2>>`, `<` and the file name after them.
fn drop_redirections(command: &mut Vec<String>) {
    let mut kept = Vec::new();
    let mut words = command.drain(..);
    while let Some(word) = words.next() {
        match word.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix(['>', '<']) {
            Some(rest) if rest.trim_start_matches('>').is_empty() => drop(words.next()),
            Some(_) => {}
            None => kept.push(word),
        }
    }
    drop(words);
    *command = kept;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_shell_line_has_several_commands() {
        for (line, expected) in [
            ("cd x && cc -c a.c", "cd x|cc -c a.c"),
            ("echo \"a; b\";cc a.c 2>&1 >log.c | tee y", "echo a; b|cc a.c|1|tee y"),
            ("(cd x; cc a.c) # cc b.c", "(|cd x|cc a.c|)"),
            ("cc -c `test -f 'a.c' || echo './'`a.c -DX=a\\;b#c", "cc -c a.c -DX=a;b#c"),
            ("cc -c a.c > /dev/null 2>> log", "cc -c a.c"),
            ("", ""),
        ] {
            let commands: Vec<String> = commands(line).iter().map(|c| c.join(" ")).collect();
            assert_eq!(commands.join("|"), expected, "{line}");
        }
    }

    proptest! {
        #[test]
        fn splitting_undoes_quoting(words in prop::collection::vec("[a-z ;&#'\"\\\\]{0,6}", 0..6)) {
            let quoted: Vec<String> = words.iter().map(|w| format!("'{}'", w.replace('\'', "'\\''"))).collect();
            prop_assert_eq!(split(&quoted.join(" ")), words.clone());
            prop_assert_eq!(commands(&quoted.join(" ")), if words.is_empty() { vec![] } else { vec![words] });
        }

        #[test]
        fn words_are_those_of_a_shell(line in "[ab \"'$`\\\\]{0,12}") {
            if let Some(words) = shlex::split(&line) {
                prop_assert_eq!(split(&line), words);
            }
        }

        #[test]
        fn any_line_can_be_read(line in any::<String>()) {
            commands(&line);
            split(&line);
        }
    }
}
