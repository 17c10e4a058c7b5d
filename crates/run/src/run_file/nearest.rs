//! What somebody who misspelt a word meant.

/// The word that was probably meant: at most a third of its letters are off.
pub fn nearest<'w>(text: &str, words: impl Iterator<Item = &'w str>) -> Option<&'w str> {
    let text = text.to_lowercase();
    let length = text.chars().count();
    let near = |edits: usize, word: &str| 3 * edits <= word.chars().count().max(3);
    words
        // As many letters as one text has more must be off: there is no need to compare.
        .filter(|word| near(length.abs_diff(word.chars().count()), word))
        .map(|word| (edits(&text, &word.to_lowercase()), word))
        .min()
        .filter(|(edits, word)| near(*edits, word))
        .map(|(_, word)| word)
}

/// Number of letters to insert, delete, replace or swap with a neighbour (optimal string
/// alignment distance).
fn edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            if i == 0 || j == 0 {
                table[i][j] = i + j;
                continue;
            }
            let same = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (table[i - 1][j] + 1)
                .min(table[i][j - 1] + 1)
                .min(table[i - 1][j - 1] + same);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(table[i - 2][j - 2] + 1);
            }
            table[i][j] = best;
        }
    }
    table[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_word_is_near() {
        let words = || ["step_size", "steps", "seed", "start"].into_iter();
        assert_eq!(nearest("stepsize", words()), Some("step_size"));
        assert_eq!(nearest("sede", words()), Some("seed"));
        assert_eq!(nearest("chains", words()), None);
        assert_eq!(edits("abc", "acb"), 1);
        assert_eq!(edits("", "abc"), 3);
    }
}
