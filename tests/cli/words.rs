//! Commands in documents.

/// The words of a command as a shell sees them, up to a comment, a pipe or a file that it is sent to.
pub fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for letter in line.chars() {
        match (letter, quote) {
            (_, Some(mark)) if letter == mark => quote = None,
            ('\'' | '"', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (' ', None) => words.extend(word.take()),
            ('#', None) if word.is_none() => break,
            ('|' | '>' | '&' | ';', None) if word.is_none() => break,
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}
