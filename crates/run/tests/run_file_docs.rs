//! The documents about run files are true: their examples pass every check, and no field is left
//! out.

use std::path::{Path, PathBuf};

use langevin_run::run_file::{Posterior, Run, Source};

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every document with its text.
fn documents() -> Vec<(PathBuf, String)> {
    let folders = [project(), project().join("docs")];
    let entries = folders.iter().flat_map(|f| std::fs::read_dir(f).unwrap());
    let paths = entries.map(|entry| entry.unwrap().path());
    let documents = paths.filter(|path| path.extension().is_some_and(|e| e == "md"));
    documents
        .map(|path| (path.clone(), std::fs::read_to_string(path).unwrap()))
        .collect()
}

#[test]
fn every_example_is_a_run_file() {
    let mut models = vec![];
    for (path, text) in documents() {
        for block in text.split("```toml\n").skip(1) {
            let (example, _) = block.split_once("```").unwrap();
            let source = Source::from_text(&path, example);
            if Posterior::is_in(&source) {
                Posterior::from_source(&source, None).unwrap_or_else(|e| panic!("{e}\n{example}"));
                continue;
            }
            match Run::from_source(&source, None) {
                Ok(run) => models.push(run.target.name().to_string()),
                Err(error) => panic!("{error}\n{example}"),
            }
        }
    }
    models.sort_unstable();
    models.dedup();
    assert_eq!(models, ["ica", "linear-gaussian", "logistic", "normal"]);
}

/// The fields that the reader asks for, from its own source.
fn fields() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/run_file");
    let mut fields = vec![];
    for file in [
        "typed.rs",
        "typed_run.rs",
        "typed_target.rs",
        "typed_data.rs",
        "typed_measure.rs",
        "posterior.rs",
    ] {
        let text = std::fs::read_to_string(folder.join(file)).unwrap();
        let text: String = text.split_whitespace().collect();
        for call in ["required(\"", "optional(\""] {
            let found = text.split(call).skip(1);
            fields.extend(found.map(|rest| rest.split('"').next().unwrap().to_owned()));
        }
    }
    fields.sort();
    fields.dedup();
    fields
}

#[test]
fn every_field_is_documented() {
    let fields = fields();
    assert!(fields.len() > 40, "{fields:?}");
    let text = std::fs::read_to_string(project().join("docs/run-file.md")).unwrap();
    // Examples do not explain: only text in backquotes and headings counts.
    let explained: String = text
        .split("```")
        .step_by(2)
        .flat_map(|part| part.split('`').skip(1).step_by(2))
        .flat_map(|code| [code, " "])
        .collect();
    let words: Vec<&str> = explained
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .collect();
    for field in fields {
        assert!(words.contains(&field.as_str()), "{field}");
    }
}
