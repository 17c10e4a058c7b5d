//! The import law: a module of the library imports only from those before it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// All modules, in the order in which data flows. ARCHITECTURE.md has the same list with a line on
/// each.
const ORDER: [&str; 26] = [
    "error",
    "check",
    "real",
    "linalg",
    "rng",
    "rows",
    "batch",
    "skew",
    "metric",
    "target",
    "kernels",
    "models",
    "dynamics",
    "blocks",
    "transition",
    "pack",
    "oracle",
    "record",
    "chain",
    "adapt",
    "catalog",
    "foreign",
    "stat",
    "theory",
    "contract",
    "lib",
];

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => sources(&path, found),
            false => found.push(path),
        }
    }
}

/// Names of modules that follow `crate::` in the text, tests and comments aside.
fn imported(text: &str) -> BTreeSet<String> {
    let code = text.split("#[cfg(test)]").next().unwrap();
    let mut names = BTreeSet::new();
    for line in code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
    {
        for rest in line.split("crate::").skip(1) {
            let name: String = rest
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_')
                .collect();
            // Types of the root are those of `error`.
            if name.starts_with(char::is_lowercase) {
                names.insert(name);
            }
        }
    }
    names
}

#[test]
fn modules_import_from_those_before_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = vec![];
    sources(&root, &mut files);
    let place = |name: &str| ORDER.iter().position(|m| *m == name);
    let mut seen = BTreeSet::new();
    for file in files {
        let inside = file.strip_prefix(&root).unwrap();
        let first = inside.components().next().unwrap().as_os_str();
        let module = first.to_str().unwrap().trim_end_matches(".rs").to_string();
        let own = place(&module).unwrap_or_else(|| panic!("{module} is not in the list"));
        for name in imported(&fs::read_to_string(&file).unwrap()) {
            let other = place(&name).unwrap_or_else(|| panic!("{inside:?} imports {name}"));
            assert!(
                other <= own,
                "{inside:?} imports from {name}, which comes later"
            );
        }
        seen.insert(module);
    }
    assert_eq!(
        seen.len(),
        ORDER.len(),
        "the list has modules that are not there"
    );
}

#[test]
fn the_reader_of_imports_reads_them() {
    let text = "use crate::{Error, Result};\nuse crate::chain::Pack;\n// crate::stat\nlet x = crate::rng::Rng;\n#[cfg(test)]\nuse crate::theory;";
    let names: Vec<String> = imported(text).into_iter().collect();
    assert_eq!(names, ["chain", "rng"]);
}
