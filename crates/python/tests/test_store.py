"""Stores of draws: ours in xarray and ArviZ, theirs in ours."""

from __future__ import annotations

import datetime
import json
import warnings
from pathlib import Path

import numpy as np
import pytest

import langevin as lv
from langevin import _core

xr = pytest.importorskip("xarray")
zarr = pytest.importorskip("zarr")

N_CHAINS, N_DRAWS, DIVERGED_AT = 3, 50, 40
FEATURES = ["age", "größe", "x y"]
PARAMETERS = ["sigma", "μ", "w", "W", "alpha"]
STEPS = np.broadcast_to(1000 + 10 * np.arange(N_DRAWS), (N_CHAINS, N_DRAWS))


def value(i: int) -> np.ndarray:
    """Entry i of all draws, (chain, draw); exact in binary. The last chain escapes."""
    x = 1000.0 * np.arange(N_CHAINS)[:, None] + np.arange(N_DRAWS) + i / 64
    x[-1, DIVERGED_AT:] = np.nan
    return x


def block(first: int, *shape: int) -> np.ndarray:
    """Entries from `first` on as an array (chain, draw, *shape)."""
    x = np.stack([value(first + k) for k in range(int(np.prod(shape)))], axis=-1)
    return x.reshape(N_CHAINS, N_DRAWS, *shape)


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    """A store with every kind of name, dimension, statistic and attribute."""
    feature = ("feature", 3, FEATURES)
    layout = [
        ("sigma", []),
        ("μ", []),
        ("w", [feature]),
        ("W", [("row", 2, None), feature]),
        ("alpha", [("alpha_dim_0", 4, None)]),
    ]
    stats = [("lp", -0.5 * value(0)), ("step", STEPS.copy())]
    attributes = {
        "seed": 2**64 - 1,
        "step_size": 0.1,
        "dynamics": "GiIrr",
        "settings": '{"thin":10,"burn_in":1000}',
    }
    stored = _core.Stored(
        layout, block(0, 15), np.isnan(value(0)), stats, json.dumps(attributes)
    )
    path = tmp_path / "ours.zarr"
    stored.write(str(path), False)
    return path


def check_posterior(ds) -> None:
    assert list(ds.data_vars) == PARAMETERS
    dims = [(), (), ("feature",), ("row", "feature"), ("alpha_dim_0",)]
    for name, inner in zip(PARAMETERS, dims):
        assert ds[name].dims == ("chain", "draw", *inner)
        assert ds[name].dtype == np.float64
    expected = [value(0), value(1), block(2, 3), block(5, 2, 3), block(11, 4)]
    for name, values in zip(PARAMETERS, expected):
        np.testing.assert_array_equal(ds[name], values)
    assert ds["feature"].values.tolist() == FEATURES
    np.testing.assert_array_equal(ds["w"].sel(feature="größe"), value(3))
    for name, n in [("chain", N_CHAINS), ("draw", N_DRAWS), ("row", 2), ("alpha_dim_0", 4)]:
        np.testing.assert_array_equal(ds[name], np.arange(n))


def check_sample_stats(ds) -> None:
    assert list(ds.data_vars) == ["diverging", "lp", "step"]
    assert [ds[name].dtype for name in ds.data_vars] == [np.bool_, np.float64, np.int64]
    np.testing.assert_array_equal(ds["diverging"], np.isnan(value(0)))
    np.testing.assert_array_equal(ds["lp"], -0.5 * value(0))
    np.testing.assert_array_equal(ds["step"], STEPS)


def check_attributes(attrs) -> None:
    assert attrs["inference_library"] == "langevin"
    assert attrs["inference_library_version"] == lv.__version__
    created = datetime.datetime.fromisoformat(attrs["created_at"])
    age = datetime.datetime.now(datetime.timezone.utc) - created
    assert abs(age.total_seconds()) < 600
    assert (attrs["seed"], attrs["step_size"]) == (2**64 - 1, 0.1)
    assert attrs["dynamics"] == "GiIrr"
    assert json.loads(attrs["settings"]) == {"thin": 10, "burn_in": 1000}


def check_tree(tree) -> None:
    assert set(tree.children) == {"posterior", "sample_stats"}
    check_posterior(tree["posterior"].to_dataset())
    check_sample_stats(tree["sample_stats"].to_dataset())
    for node in (tree, tree["posterior"], tree["sample_stats"]):
        check_attributes(node.attrs)


def test_xarray_opens_our_store_without_a_warning(ours: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_tree(xr.open_datatree(ours, engine="zarr"))
        for consolidated in (None, True):
            check_posterior(xr.open_zarr(ours, group="posterior", consolidated=consolidated))
        raw = xr.open_zarr(ours, group="posterior", consolidated=False)
        check_posterior(raw[PARAMETERS])
        check_sample_stats(xr.open_zarr(ours, group="sample_stats"))


def test_arviz_opens_our_store(ours: Path) -> None:
    arviz = pytest.importorskip("arviz")
    tree = xr.open_datatree(ours, engine="zarr")
    if arviz.__version__.startswith("0."):
        data = arviz.InferenceData.from_datatree(tree)
        check_posterior(data.posterior)
        check_sample_stats(data.sample_stats)
        kept = data.isel(chain=[0, 1])
        summary = arviz.summary(kept, var_names=["w"], kind="stats", round_to="none")
        assert list(summary.index) == [f"w[{f}]" for f in FEATURES]
        np.testing.assert_array_equal(
            summary["mean"], value(0)[:2].mean() + np.arange(2, 5) / 64
        )
    else:
        check_tree(arviz.from_zarr(ours))


def test_arviz_base_opens_our_store(ours: Path) -> None:
    """The part of ArviZ 1 that reads."""
    arviz_base = pytest.importorskip("arviz_base")
    check_tree(arviz_base.convert_to_datatree(str(ours), engine="zarr"))


def test_we_open_our_store(ours: Path) -> None:
    trace = lv.open_store(ours)
    assert trace.names[:5] == ("sigma", "μ", "w[age]", "w[größe]", "w[x y]")
    assert trace.names[5] == "W[0, age]"
    assert trace.chains.tolist() == [0, 1]
    assert trace.escapes == (lv.Escape(2, DIVERGED_AT),)
    np.testing.assert_array_equal(trace["W"], block(5, 2, 3)[:2])
    np.testing.assert_array_equal(trace.sample_stats["step"], STEPS[:2])
    check_attributes(trace.attributes)


ENCODINGS = {
    "default": (3, lambda: {}),
    "gzip": (3, lambda: {"compressors": zarr.codecs.GzipCodec()}),
    "blosc": (3, lambda: {"compressors": zarr.codecs.BloscCodec(cname="zstd")}),
    "uncompressed": (3, lambda: {"compressors": None}),
    "sharded": (3, lambda: {"chunks": (1, 20), "shards": (2, 40)}),
    "format 2": (2, lambda: {}),
}


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.filterwarnings("ignore")  # about formats that are not in the specification
def test_we_open_stores_of_xarray(name: str, tmp_path: Path) -> None:
    index = {"chain": np.arange(N_CHAINS), "draw": np.arange(N_DRAWS)}
    posterior = xr.Dataset(
        {"b": (("chain", "draw", "feature"), block(1, 3)), "a": (("chain", "draw"), value(0))},
        coords=index | {"feature": FEATURES, "weight": ("feature", [0.5, 1.0, 2.0])},
        attrs={"inference_library": "somebody"},
    )
    stats = xr.Dataset(
        {
            "diverging": (("chain", "draw"), np.isnan(value(0))),
            "lp": (("chain", "draw"), value(0)),
            "energy": (("chain", "draw"), value(0).astype("f4")),
        },
        coords=index,
    )
    tree = xr.DataTree.from_dict({"posterior": posterior, "sample_stats": stats})
    zarr_format, encoding = ENCODINGS[name]
    path = tmp_path / "theirs.zarr"
    tree.to_zarr(path, zarr_format=zarr_format, encoding={"/posterior": {"a": encoding()}})
    trace = lv.open_store(path)
    assert trace.names == ("a", *(f"b[{feature}]" for feature in FEATURES))
    np.testing.assert_array_equal(trace.draws, block(0, 4)[:2])
    assert trace.escapes == (lv.Escape(2, DIVERGED_AT),)
    assert sorted(trace.sample_stats) == ["diverging", "lp"], "but not the energy in f32"
    assert trace.attributes["inference_library"] == "somebody"
    assert trace.seed is None and np.isnan(trace.step_size)


def test_a_trace_that_is_saved_comes_back(tmp_path: Path) -> None:
    def score(theta):
        return np.where(np.abs(theta) < 2.5, -theta, np.inf)

    target = lv.Target(2, score=score, parameters={"a": (), "b": (1,)})
    with pytest.warns(lv.EscapeWarning):
        trace = lv.sample(target, lv.Irr(lv.sign_skew(0.5)), step_size=0.1, n_steps=300,
                          n_chains=20, burn_in=20, thin=4, seed=3, progress=False)  # fmt: skip
    assert 0 < len(trace.chains) < 20
    trace.save(tmp_path / "draws.zarr")
    with pytest.raises(ValueError, match="exists already"):
        trace.save(tmp_path / "draws.zarr")
    trace.save(tmp_path / "draws.zarr", replace=True)
    again = lv.open_store(tmp_path / "draws.zarr")
    for name in ("draws", "chains"):
        np.testing.assert_array_equal(getattr(again, name), getattr(trace, name))
    for name in ("escapes", "names", "seed", "n_steps", "step_size", "burn_in", "thin"):
        assert getattr(again, name) == getattr(trace, name), name
    for name, values in trace.sample_stats.items():
        np.testing.assert_array_equal(again.sample_stats[name], values)
    assert (again.dynamics.name, again.dynamics.field) == ("Irr", "constant")
    assert again.dynamics.skew.matrix(2).tolist() == [[0.0, 0.5], [-0.5, 0.0]]
    assert again.summary() == trace.summary()


def test_matrices_are_saved_row_by_row(tmp_path: Path) -> None:
    target = lv.Ica(np.random.default_rng(2).logistic(size=(80, 3)))
    trace = lv.sample(target, step_size=1e-4, n_steps=5, seed=0, progress=False)
    trace.save(tmp_path / "draws.zarr")
    again = lv.open_store(tmp_path / "draws.zarr")
    np.testing.assert_array_equal(again["W"], trace["W"])
    tree = xr.open_datatree(tmp_path / "draws.zarr", engine="zarr")
    np.testing.assert_array_equal(tree["posterior"]["W"], trace["W"])


def test_what_is_no_store_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="missing.zarr"):
        lv.open_store(tmp_path / "missing.zarr")
    with pytest.raises(ValueError, match="not a Zarr store"):
        lv.open_store(tmp_path)
