//! Stores of draws: what is written is read back, and each refusal says why.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{DIVERGED_AT, N_CHAINS, N_DRAWS, draws, value};
use langevin_run::store::{self, Dim, Draws, Existing, Labels, Layout, Param, Stat, StoreError};

fn folder() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("draws.zarr");
    (dir, path)
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|x| x.to_bits()).collect()
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let mut names: Vec<_> = entries
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn json(path: &Path) -> serde_json::Value {
    serde_json::from_slice(&fs::read(path.join("zarr.json")).unwrap()).unwrap()
}

fn one_parameter(n_chains: usize, n_draws: usize, values: Vec<f64>) -> Draws {
    let layout = Layout::new(vec![Param::scalar("x")]).unwrap();
    Draws::new(layout, n_chains, n_draws, values).unwrap()
}

#[test]
fn everything_comes_back() {
    let (dir, path) = folder();
    let draws = draws();
    store::write(&path, &draws, Existing::Refuse).unwrap();
    let back = store::read(&path).unwrap();
    assert_eq!(back.layout(), draws.layout());
    assert_eq!((back.n_chains(), back.n_draws()), (N_CHAINS, N_DRAWS));
    assert_eq!(bits(back.values()), bits(draws.values()));
    assert_eq!(back.diverging(), draws.diverging());
    let text = |d: &Draws| format!("{:?}", d.stats()); // NaN is not equal to itself
    assert_eq!(text(&back), text(&draws));
    for (name, value) in draws.attributes() {
        assert_eq!(back.attributes().get(name), Some(value));
    }
    assert_eq!(back.attributes()["inference_library"], "langevin");
    assert!(!back.attributes().contains_key("parameters"));
    assert_eq!(names(dir.path()), ["draws.zarr"], "nothing is left over");
}

#[test]
fn numbers_survive_bit_for_bit() {
    let (_dir, path) = folder();
    let special = [0, 1 << 63, 1, 0x7ff0 << 48, 0xfff8_dead_beef_0001];
    let values: Vec<f64> = special.iter().map(|b| f64::from_bits(*b)).collect();
    store::write(&path, &one_parameter(1, 5, values), Existing::Refuse).unwrap();
    assert_eq!(bits(store::read(&path).unwrap().values()), special);
}

/// Several chunks in both directions, the last ones not full.
#[test]
fn arrays_of_many_chunks_come_back() {
    for (n_chains, n_draws, len) in [(3, 300_000, 1), (300, 1000, 1), (2, 3, 200_000)] {
        let (_dir, path) = folder();
        let layout = Layout::new(vec![Param::of_shape("x", &[len])]).unwrap();
        let n = n_chains * n_draws * len;
        let values: Vec<f64> = (0..n).map(|i| i as f64).collect();
        let draws = Draws::new(layout, n_chains, n_draws, values).unwrap();
        store::write(&path, &draws, Existing::Refuse).unwrap();
        assert!(names(&path.join("posterior/x")).len() > 2, "chunks");
        assert!(store::read(&path).unwrap().values() == draws.values());
    }
}

#[test]
fn consolidated_metadata_repeats_that_of_the_nodes() {
    let (_dir, path) = folder();
    store::write(&path, &draws(), Existing::Refuse).unwrap();
    let root = json(&path);
    let nodes = root["consolidated_metadata"]["metadata"]
        .as_object()
        .unwrap();
    let parameters = ["sigma", "μ", "w", "W", "alpha"].map(|p| format!("posterior/{p}"));
    let order: Vec<&String> = nodes.keys().skip(1).take(5).collect();
    assert_eq!(order, parameters.iter().collect::<Vec<_>>());
    for (node, metadata) in nodes {
        let own = json(&path.join(node));
        if node.contains('/') {
            assert_eq!(&own, metadata, "{node}");
        } else {
            assert_eq!(own["attributes"], metadata["attributes"], "{node}");
        }
    }
}

#[test]
fn a_store_is_replaced_only_when_asked() {
    let (dir, path) = folder();
    let (old, new) = (one_parameter(1, 2, vec![1.0, 2.0]), draws());
    store::write(&path, &old, Existing::Refuse).unwrap();
    let error = store::write(&path, &new, Existing::Refuse).unwrap_err();
    assert!(matches!(error, StoreError::Exists { .. }), "{error}");
    assert!(error.to_string().contains(path.to_str().unwrap()));
    assert_eq!(store::read(&path).unwrap().values(), [1.0, 2.0]);
    store::write(&path, &new, Existing::Replace).unwrap();
    assert_eq!(store::read(&path).unwrap().layout(), new.layout());
    assert!(!path.join("posterior/x").exists(), "the old one is gone");
    assert_eq!(names(dir.path()), ["draws.zarr"], "nothing is left over");
}

#[test]
fn what_is_not_a_store_is_never_replaced() {
    let (_dir, path) = folder();
    let draws = draws();
    fs::create_dir(&path).unwrap();
    let error = store::write(&path, &draws, Existing::Refuse).unwrap_err();
    assert!(matches!(error, StoreError::Exists { .. }), "{error}");
    store::write(&path, &draws, Existing::Replace).unwrap(); // an empty folder is no loss
    fs::remove_dir_all(&path).unwrap();
    fs::create_dir(&path).unwrap();
    fs::write(path.join("thesis.tex"), "years of work").unwrap();
    let error = store::write(&path, &draws, Existing::Replace).unwrap_err();
    assert!(matches!(error, StoreError::NotReplaced { .. }), "{error}");
    assert_eq!(names(&path), ["thesis.tex"]);
    fs::remove_dir_all(&path).unwrap();
    fs::write(&path, "a file").unwrap();
    let error = store::write(&path, &draws, Existing::Replace).unwrap_err();
    assert!(matches!(error, StoreError::NotReplaced { .. }), "{error}");
}

#[test]
fn a_place_that_cannot_be_written_is_named() {
    let (dir, _) = folder();
    fs::write(dir.path().join("results"), "a file").unwrap();
    let path = dir.path().join("results/draws.zarr");
    let message = store::write(&path, &draws(), Existing::Refuse)
        .unwrap_err()
        .to_string();
    let place = dir.path().join("results");
    assert!(message.contains(place.to_str().unwrap()), "{message}");
}

/// The superuser may write anywhere, so this says nothing when run as root.
#[cfg(unix)]
#[test]
fn a_read_only_folder_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let (dir, path) = folder();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o555)).unwrap();
    if fs::write(dir.path().join("probe"), "").is_ok() {
        return;
    }
    let error = store::write(&path, &draws(), Existing::Refuse).unwrap_err();
    let message = error.to_string();
    assert!(message.contains(path.to_str().unwrap()), "{message}");
    assert!(message.contains("ermission"), "{message}");
}

#[test]
fn escape_is_counted_and_shown() {
    let draws = draws();
    assert_eq!(draws.not_finite(), [0, 0, N_DRAWS - DIVERGED_AT]);
    assert_eq!(
        draws.require_finite().unwrap_err().to_string(),
        "10 of 150 draws are not finite; the first is sigma = NaN at chain 2, draw 40"
    );
    assert!(value(2, 39, 0).is_finite());
    one_parameter(1, 2, vec![1.0, 2.0])
        .require_finite()
        .unwrap();
}

#[test]
fn what_is_not_a_store_is_not_read() {
    let (dir, path) = folder();
    let message = store::read(&path).unwrap_err().to_string();
    assert!(message.starts_with("cannot open the store "), "{message}");
    let error = store::read(dir.path()).unwrap_err();
    assert!(matches!(error, StoreError::NotAStore { .. }), "{error}");
    fs::write(dir.path().join("zarr.json"), "{ half").unwrap();
    let error = store::read(dir.path()).unwrap_err();
    assert!(matches!(error, StoreError::Zarr { .. }), "{error}");
}

#[test]
fn a_single_array_is_not_a_store_of_draws() {
    let (_dir, path) = folder();
    store::write(&path, &draws(), Existing::Refuse).unwrap();
    let error = store::read(path.join("posterior/w")).unwrap_err();
    assert!(error.to_string().contains("posterior/w"), "{error}");
}

#[test]
fn a_missing_posterior_is_named_with_the_groups_there_are() {
    let (_dir, path) = folder();
    store::write(&path, &draws(), Existing::Refuse).unwrap();
    fs::rename(path.join("posterior"), path.join("prior")).unwrap();
    let mut root = json(&path);
    root.as_object_mut()
        .unwrap()
        .remove("consolidated_metadata");
    fs::write(path.join("zarr.json"), root.to_string()).unwrap();
    let message = store::read(&path).unwrap_err().to_string();
    let end = "has no group \"posterior\"; its groups are [\"prior\", \"sample_stats\"]";
    assert!(message.ends_with(end), "{message}");
}

#[test]
fn missing_statistics_are_none() {
    let (_dir, path) = folder();
    let draws = one_parameter(1, 2, vec![1.0, 2.0]);
    store::write(&path, &draws, Existing::Refuse).unwrap();
    assert_eq!(names(&path), ["posterior", "zarr.json"]);
    let back = store::read(&path).unwrap();
    assert_eq!(back.diverging(), None);
    assert!(back.stats().is_empty());
}

#[test]
fn a_damaged_chunk_is_noticed() {
    let (_dir, path) = folder();
    let draws = one_parameter(1, 50, (0..50).map(|i| f64::from(i).sin()).collect());
    store::write(&path, &draws, Existing::Refuse).unwrap();
    let chunk = path.join("posterior/x/c.0.0");
    let whole = fs::read(&chunk).unwrap();
    for at in 0..whole.len() {
        let mut altered = whole.clone();
        altered[at] ^= 1;
        fs::write(&chunk, altered).unwrap();
        match store::read(&path) {
            Err(error) => assert!(error.to_string().contains("posterior/x"), "{error}"),
            // Zstandard has header bits that do not matter.
            Ok(back) => assert_eq!(bits(back.values()), bits(draws.values()), "byte {at}"),
        }
        fs::write(&chunk, &whole[..at]).unwrap();
        assert!(store::read(&path).is_err(), "cut to {at} bytes");
    }
}

/// Changes the metadata of an array, without the copies of it in the groups.
fn alter(path: &Path, array: &str, change: impl Fn(&mut serde_json::Value)) {
    for group in ["", "posterior", "sample_stats"] {
        let mut metadata = json(&path.join(group));
        metadata
            .as_object_mut()
            .unwrap()
            .remove("consolidated_metadata");
        fs::write(path.join(group).join("zarr.json"), metadata.to_string()).unwrap();
    }
    let mut metadata = json(&path.join(array));
    change(&mut metadata);
    fs::write(path.join(array).join("zarr.json"), metadata.to_string()).unwrap();
}

#[test]
fn a_wrong_type_is_named() {
    let (_dir, path) = folder();
    store::write(&path, &draws(), Existing::Refuse).unwrap();
    alter(&path, "posterior/w", |m| m["data_type"] = "int64".into());
    alter(&path, "posterior/w", |m| m["fill_value"] = 0.into());
    let message = store::read(&path).unwrap_err().to_string();
    let end = "\"posterior/w\" is of type int64, but float64 was expected";
    assert!(message.ends_with(end), "{message}");
}

/// The way in which xarray before 2025 writes truth values; the bytes are the same.
#[test]
fn truth_values_may_be_whole_numbers_with_a_note() {
    let (_dir, path) = folder();
    let draws = draws();
    store::write(&path, &draws, Existing::Refuse).unwrap();
    alter(&path, "sample_stats/diverging", |m| {
        m["data_type"] = "int8".into();
        m["fill_value"] = 0.into();
    });
    let message = store::read(&path).unwrap_err().to_string();
    assert!(message.ends_with("but bool was expected"), "{message}");
    alter(&path, "sample_stats/diverging", |m| {
        m["attributes"] = serde_json::json!({"dtype": "bool"});
    });
    assert_eq!(store::read(&path).unwrap().diverging(), draws.diverging());
}

#[test]
fn wrong_dimensions_are_named() {
    let (_dir, path) = folder();
    store::write(&path, &draws(), Existing::Refuse).unwrap();
    alter(&path, "posterior/sigma", |m| {
        m["dimension_names"] = serde_json::json!(["draw", "chain"]);
    });
    let message = store::read(&path).unwrap_err().to_string();
    let end =
        "\"posterior/sigma\" has the dimensions (draw, chain), but (chain, draw, …) were expected";
    assert!(message.ends_with(end), "{message}");
    alter(&path, "posterior/sigma", |m| {
        m["dimension_names"] = serde_json::json!(["chain", "draw"]);
        m["shape"] = serde_json::json!([3, 49]);
    });
    let message = store::read(&path).unwrap_err().to_string();
    assert!(
        message.contains("3 chains and 49 draws were expected"),
        "{message}"
    );
}

#[test]
fn layouts_that_cannot_be_stored_are_refused() {
    let refused = |params| Layout::new(params).unwrap_err().to_string();
    assert_eq!(refused(vec![]), "there must be at least one parameter");
    for name in ["", "a/b", "..", "__x", "chain", "draw", "zarr.json"] {
        let message = refused(vec![Param::scalar(name)]);
        assert!(
            message.starts_with(&format!("\"{name}\" cannot be")),
            "{message}"
        );
    }
    assert_eq!(
        refused(vec![Param::scalar("a"), Param::scalar("a")]),
        "\"a\" cannot be the name of a parameter: another parameter has it"
    );
    let w = |dims| Param::array("w", dims);
    assert_eq!(
        refused(vec![Param::scalar("k"), w(vec![Dim::indexed("k", 2)])]),
        "\"k\" cannot be the name of a dimension: a parameter has it"
    );
    assert_eq!(
        refused(vec![w(vec![Dim::indexed("k", 2), Dim::indexed("k", 2)])]),
        "\"k\" cannot be the name of a dimension: its parameter has it twice"
    );
    assert_eq!(
        refused(vec![w(vec![Dim::indexed("k", 0)])]),
        "there must be at least one entry along dimension \"k\""
    );
    let v = Param::array("v", vec![Dim::indexed("k", 3)]);
    assert!(refused(vec![w(vec![Dim::indexed("k", 2)]), v]).starts_with("dimension \"k\""));
}

#[test]
fn draws_that_do_not_fit_their_shape_are_refused() {
    let layout = || Layout::new(vec![Param::of_shape("w", &[2])]).unwrap();
    let refused = |c, d, n| {
        let result = Draws::new(layout(), c, d, vec![0.0; n]);
        result.unwrap_err().to_string()
    };
    assert_eq!(
        refused(2, 3, 11),
        "the array of draws has 11 values, but 12 were expected (2 chains × 3 draws × 2 parameters)"
    );
    assert_eq!(refused(0, 3, 0), "there must be at least one chain");
    assert_eq!(refused(2, 0, 0), "there must be at least one draw");
    assert!(refused(usize::MAX, 2, 0).contains("has 0 values"));
    let two = || one_parameter(1, 2, vec![1.0, 2.0]);
    assert_eq!(
        two().with_diverging(vec![true]).unwrap_err().to_string(),
        "the statistic \"diverging\" has 1 values, but 2 were expected (1 chains × 2 draws)"
    );
    let again = two().with_stat("diverging", Stat::Whole(vec![0, 1]));
    assert!(again.is_err(), "a second array of the same name");
    for value in [
        serde_json::json!(null),
        true.into(),
        serde_json::json!({"a": 1}),
    ] {
        let message = two().with_attribute("a", value).unwrap_err().to_string();
        assert!(message.starts_with("attribute \"a\" is "), "{message}");
    }
}

#[test]
fn a_draw_is_found_by_chain_and_number() {
    let draws = draws();
    let expected: Vec<f64> = (0..draws.layout().dim()).map(|i| value(1, 7, i)).collect();
    assert_eq!(draws.draw(1, 7), Some(expected.as_slice()));
    assert_eq!(draws.draw(N_CHAINS, 0), None);
    assert_eq!(draws.draw(0, N_DRAWS), None);
}

#[test]
fn labels_that_are_not_names_are_numbers() {
    let dim = Dim::indexed("k", 3);
    assert_eq!(dim.labels(), &Labels::Index(3));
    assert_eq!(dim.len(), 3);
}
