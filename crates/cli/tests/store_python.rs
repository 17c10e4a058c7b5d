//! Stores against xarray and ArviZ: they open ours, and we read theirs.
//!
//! Run with `LANGEVIN_PYTHON=<python> cargo test -p langevin-cli --test store_python -- --ignored`,
//! where that Python has xarray, zarr and one of arviz or arviz-base.

mod common;

use std::path::Path;
use std::process::Command;

use common::{draws, value};
use langevin_cli::store::{self, Dim, Draws, Existing};

fn python(arguments: &[&Path]) {
    let python = std::env::var_os("LANGEVIN_PYTHON").unwrap_or("python3".into());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/check_store.py");
    let mut command = Command::new(&python);
    let status = command.arg(script).args(arguments).status();
    let status = status.unwrap_or_else(|e| panic!("cannot run {}: {e}", python.display()));
    assert!(status.success(), "{command:?}: {status}");
}

fn check_values(draws: &Draws) {
    for chain in 0..draws.n_chains() {
        for draw in 0..draws.n_draws() {
            for (i, x) in draws.draw(chain, draw).unwrap().iter().enumerate() {
                let expected = value(chain, draw, i);
                assert!(*x == expected || (x.is_nan() && expected.is_nan()));
            }
        }
    }
}

#[test]
#[ignore = "needs a Python with xarray, zarr and ArviZ"]
fn python_opens_our_store_and_we_read_its_stores() {
    let dir = tempfile::tempdir().unwrap();
    let ours = dir.path().join("ours.zarr");
    let theirs = dir.path().join("theirs");
    store::write(&ours, &draws(), Existing::Refuse).unwrap();
    python(&[&ours, &theirs]);
    let mut n_read = 0;
    for entry in std::fs::read_dir(&theirs).unwrap() {
        let path = entry.unwrap().path();
        let back = store::read(&path).unwrap_or_else(|e| panic!("{e}"));
        let names: Vec<&str> = back.layout().params().iter().map(|p| p.name()).collect();
        assert_eq!(names, ["a", "b"], "{}", path.display());
        let feature = Dim::named("feature", ["age", "größe", "x"]);
        assert_eq!(
            back.layout().params()[1].dims(),
            [feature],
            "{}",
            path.display()
        );
        check_values(&back);
        let marks: Vec<bool> = back.values().chunks(4).map(|x| x[0].is_nan()).collect();
        assert_eq!(back.diverging(), Some(marks.as_slice()));
        assert_eq!(back.stats().len(), 1, "lp, but not the energy in f32");
        assert_eq!(back.attributes()["inference_library"], "check_store");
        n_read += 1;
    }
    assert!(n_read >= 4, "only {n_read} stores");
}
