//! The unit cache: results survive bit for bit, damage is noticed, processes do not collide.

use std::fs;
use std::path::Path;

use langevin_run::temporary::Temporary;
use langevin_run::units::{UnitCache, UnitError, UnitKey};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Moments {
    name: String,
    n: u64,
    escaped_at: Option<u64>,
    mean: Vec<f64>,
}

fn sample() -> Moments {
    Moments {
        name: "GiIrr σ".into(),
        n: u64::MAX,
        escaped_at: Some(17),
        mean: vec![1.0, -2.5e-310, 3.0],
    }
}

fn cache() -> (tempfile::TempDir, UnitCache) {
    let out = tempfile::tempdir().unwrap();
    let cache = UnitCache::open(out.path().join("units")).unwrap();
    (out, cache)
}

fn files(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn numbers_survive_bit_for_bit() {
    let (_out, cache) = cache();
    let bits = [
        0,
        1 << 63,               // -0.0
        1,                     // smallest subnormal
        0x7ff0_0000_0000_0000, // infinity
        0xfff0_0000_0000_0000, // -infinity
        0x7ff8_0000_0000_0000, // quiet NaN
        0xfff8_dead_beef_0001, // quiet NaN with sign and payload
        0x7ff0_0000_0000_0001, // signalling NaN
        0x3fb9_9999_9999_999a, // 0.1
        0x7fef_ffff_ffff_ffff, // largest
    ];
    let values: Vec<f64> = bits.iter().map(|b| f64::from_bits(*b)).collect();
    let key = UnitKey::new("bits");
    cache.put(&key, &values).unwrap();
    let back: Vec<f64> = cache.get(&key).unwrap();
    let back: Vec<u64> = back.iter().map(|x| x.to_bits()).collect();
    assert_eq!(back, bits);
}

#[test]
fn a_structure_survives_and_a_missing_unit_is_none() {
    let (_out, cache) = cache();
    let key = UnitKey::new("a");
    assert_eq!(cache.get::<Moments>(&key), None);
    cache.put(&key, &sample()).unwrap();
    assert_eq!(cache.get(&key), Some(sample()));
    assert_eq!(cache.get::<Moments>(&UnitKey::new("b")), None);
    assert_eq!(files(cache.dir()), [format!("{key}.bin")]);
}

#[test]
fn a_later_result_replaces_the_earlier() {
    let (_out, cache) = cache();
    let key = UnitKey::new("a");
    cache.put(&key, &1.0).unwrap();
    cache.put(&key, &2.0).unwrap();
    assert_eq!(cache.get(&key), Some(2.0));
}

#[test]
fn truncation_anywhere_is_noticed_and_the_file_removed() {
    let (_out, cache) = cache();
    let key = UnitKey::new("a");
    cache.put(&key, &sample()).unwrap();
    let path = cache.path(&key);
    let whole = fs::read(&path).unwrap();
    for len in 0..whole.len() {
        fs::write(&path, &whole[..len]).unwrap();
        assert_eq!(cache.get::<Moments>(&key), None, "cut to {len} bytes");
        assert!(!path.exists(), "cut to {len} bytes");
    }
    let longer = [&whole[..], &[0]].concat();
    fs::write(&path, longer).unwrap();
    assert_eq!(cache.get::<Moments>(&key), None, "one byte too long");
    fs::write(&path, &whole).unwrap();
    assert_eq!(cache.get(&key), Some(sample()));
}

#[test]
fn a_flipped_bit_anywhere_is_noticed() {
    let (_out, cache) = cache();
    let key = UnitKey::new("a");
    cache.put(&key, &sample()).unwrap();
    let path = cache.path(&key);
    let whole = fs::read(&path).unwrap();
    for at in 0..whole.len() {
        for bit in 0..8 {
            let mut altered = whole.clone();
            altered[at] ^= 1 << bit;
            fs::write(&path, altered).unwrap();
            assert_eq!(cache.get::<Moments>(&key), None, "byte {at}, bit {bit}");
        }
    }
}

#[test]
fn a_file_under_the_name_of_another_unit_is_noticed() {
    let (_out, cache) = cache();
    let (a, b) = (UnitKey::new("a"), UnitKey::new("b"));
    cache.put(&a, &1.0).unwrap();
    fs::copy(cache.path(&a), cache.path(&b)).unwrap();
    assert_eq!(cache.get::<f64>(&b), None);
    assert_eq!(cache.get(&a), Some(1.0));
}

#[test]
fn another_type_is_none() {
    let (_out, cache) = cache();
    let key = UnitKey::new("a");
    cache.put(&key, &[1.0, 2.0].as_slice()).unwrap();
    assert_eq!(cache.get::<f64>(&key), None);
}

#[test]
fn leftovers_of_the_dead_are_removed_and_no_others() {
    let (_out, cache) = cache();
    let dead = cache.dir().join(".langevin-dead.tmp");
    fs::create_dir(&dead).unwrap();
    fs::write(dead.join("owner"), "").unwrap();
    fs::write(dead.join("content"), "half").unwrap();
    let living = Temporary::new_in(cache.dir()).unwrap();
    let again = UnitCache::open(cache.dir()).unwrap();
    assert!(!dead.exists());
    assert_eq!(files(cache.dir()).len(), 1);
    assert_eq!(again.get::<f64>(&UnitKey::new("a")), None);
    drop(living);
    assert_eq!(files(cache.dir()).len(), 0);
}

#[test]
fn units_of_an_earlier_version_are_removed_and_counted() {
    let (_out, cache) = cache();
    let keys = ["a", "b", "c", "d"].map(UnitKey::new);
    for (key, version) in keys.iter().zip(["1", "1", "3"]) {
        cache.put(key, &1.0).unwrap();
        let mut bytes = fs::read(cache.path(key)).unwrap();
        bytes[14..15].copy_from_slice(version.as_bytes());
        fs::write(cache.path(key), bytes).unwrap();
    }
    cache.put(&keys[3], &4.0).unwrap();
    let again = UnitCache::open(cache.dir()).unwrap();
    assert_eq!(again.n_outdated(), 2);
    // Those of a later version may be somebody's.
    assert_eq!(
        keys.map(|key| cache.path(&key).exists()),
        [false, false, true, true]
    );
    assert_eq!(again.get(&keys[3]), Some(4.0));
    assert_eq!(UnitCache::open(cache.dir()).unwrap().n_outdated(), 0);
}

#[test]
fn clear_removes_units_and_nothing_else() {
    let (_out, cache) = cache();
    cache.put(&UnitKey::new("a"), &1.0).unwrap();
    fs::write(cache.dir().join("notes.txt"), "mine").unwrap();
    fs::write(cache.dir().join("table.bin"), "mine").unwrap();
    cache.clear().unwrap();
    assert_eq!(files(cache.dir()), ["notes.txt", "table.bin"]);
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let out = tempfile::tempdir().unwrap();
    let file = out.path().join("results");
    fs::write(&file, "a file").unwrap();
    let dir = file.join("units");
    let message = UnitCache::open(&dir).unwrap_err().to_string();
    assert!(message.contains(dir.to_str().unwrap()), "{message}");
}

#[test]
fn a_folder_that_vanished_is_named() {
    let (out, cache) = cache();
    fs::remove_dir_all(out.path()).unwrap();
    let key = UnitKey::new("a");
    let error = cache.put(&key, &1.0).unwrap_err();
    assert!(matches!(error, UnitError::Io { .. }));
    let message = error.to_string();
    assert!(
        message.contains(cache.path(&key).to_str().unwrap()),
        "{message}"
    );
}

/// The superuser may write anywhere, so this says nothing when run as root.
#[cfg(unix)]
#[test]
fn a_read_only_folder_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let (_out, cache) = cache();
    fs::set_permissions(cache.dir(), fs::Permissions::from_mode(0o555)).unwrap();
    if fs::write(cache.dir().join("probe"), "").is_ok() {
        return;
    }
    let message = cache.put(&UnitKey::new("a"), &1.0).unwrap_err().to_string();
    assert!(message.contains(cache.dir().to_str().unwrap()), "{message}");
    assert!(message.contains("ermission"), "{message}");
}

#[test]
fn many_writers_never_show_a_half_written_unit() {
    let (_out, cache) = cache();
    let key = UnitKey::new("shared");
    let value: Vec<f64> = (0..20_000).map(f64::from).collect();
    cache.put(&key, &value).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                // A handle of its own, as another process would have.
                let cache = UnitCache::open(cache.dir()).unwrap();
                for _ in 0..25 {
                    cache.put(&key, &value).unwrap();
                    assert_eq!(cache.get::<Vec<f64>>(&key).as_ref(), Some(&value));
                }
            });
        }
    });
    assert_eq!(files(cache.dir()), [format!("{key}.bin")]);
}

/// The key decides which finished work is found again, so it must never change by accident.
#[test]
fn the_key_is_stable() {
    assert_eq!(
        UnitKey::new("").to_string(),
        "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262",
        "BLAKE3 of nothing, from its specification"
    );
}
