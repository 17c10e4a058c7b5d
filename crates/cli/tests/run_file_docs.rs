//! The examples of `docs/run-file.md` are run files that pass every check.

use langevin_cli::run_file::{Run, Source};

#[test]
fn every_example_is_a_run_file() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/run-file.md");
    let text = std::fs::read_to_string(path).unwrap();
    let mut models = vec![];
    for block in text.split("```toml\n").skip(1) {
        let (example, _) = block.split_once("```").unwrap();
        let source = Source::from_text("docs/run-file.md", example);
        match Run::from_source(&source, None) {
            Ok(run) => models.push(run.target.model.name()),
            Err(error) => panic!("{error}\n{example}"),
        }
    }
    models.sort_unstable();
    assert_eq!(models, ["ica", "linear-gaussian", "logistic", "normal"]);
}
