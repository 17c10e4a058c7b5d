"""Opens a store written by `langevin` in xarray and ArviZ, and writes stores for it to read.

    python check_store.py OURS.zarr THEIRS

OURS.zarr holds the draws of tests/common/mod.rs; the same formula is in `value` below. Into the
folder THEIRS go stores of these draws in both Zarr formats and with several codecs. Any warning
while ours is opened is an error.
"""

import datetime
import json
import pathlib
import sys
import warnings

import numpy as np
import xarray as xr
import zarr

N_CHAINS, N_DRAWS, DIVERGED_AT = 3, 50, 40
FEATURES = ["age", "größe", "x y"]
PARAMETERS = ["sigma", "μ", "w", "W", "alpha"]


def value(i):
    """Entry i of all draws, (chain, draw)."""
    x = 1000.0 * np.arange(N_CHAINS)[:, None] + np.arange(N_DRAWS) + i / 64
    x[-1, DIVERGED_AT:] = np.nan
    return x


def block(first, *shape):
    """Entries from `first` on as an array (chain, draw, *shape)."""
    n = int(np.prod(shape))
    x = np.stack([value(first + k) for k in range(n)], axis=-1)
    return x.reshape(N_CHAINS, N_DRAWS, *shape)


def same(a, b):
    np.testing.assert_array_equal(np.asarray(a), b)


def check_posterior(ds):
    assert list(ds.data_vars) == PARAMETERS, list(ds.data_vars)
    dims = {
        "sigma": (),
        "μ": (),
        "w": ("feature",),
        "W": ("row", "feature"),
        "alpha": ("alpha_dim_0",),
    }
    for name, inner in dims.items():
        assert ds[name].dims == ("chain", "draw", *inner), ds[name].dims
        assert ds[name].dtype == np.float64, ds[name].dtype
    same(ds["sigma"], value(0))
    same(ds["μ"], value(1))
    same(ds["w"], block(2, 3))
    same(ds["W"], block(5, 2, 3))
    same(ds["alpha"], block(11, 4))
    assert ds["feature"].values.tolist() == FEATURES
    same(ds["w"].sel(feature="größe"), value(3))
    for name, n in [("chain", N_CHAINS), ("draw", N_DRAWS), ("row", 2), ("alpha_dim_0", 4)]:
        same(ds[name], np.arange(n))


def check_sample_stats(ds):
    assert list(ds.data_vars) == ["diverging", "lp", "step"], list(ds.data_vars)
    assert ds["diverging"].dtype == np.bool_, ds["diverging"].dtype
    same(ds["diverging"], np.isnan(value(0)))
    same(ds["lp"], -0.5 * value(0))
    assert ds["step"].dtype == np.int64, ds["step"].dtype
    same(ds["step"], np.broadcast_to(1000 + 10 * np.arange(N_DRAWS), (N_CHAINS, N_DRAWS)))


def check_attributes(attrs):
    assert attrs["inference_library"] == "langevin"
    assert attrs["inference_library_version"]
    created = datetime.datetime.fromisoformat(attrs["created_at"])
    age = datetime.datetime.now(datetime.timezone.utc) - created
    assert abs(age.total_seconds()) < 600, age
    assert (attrs["seed"], attrs["step_size"]) == (2**64 - 1, 0.1)
    assert attrs["dynamics"] == "GiIrr"
    assert json.loads(attrs["settings"]) == {"thin": 10, "burn_in": 1000}


def check_tree(tree):
    assert set(tree.children) == {"posterior", "sample_stats"}, tree.children
    check_posterior(tree["posterior"].to_dataset())
    check_sample_stats(tree["sample_stats"].to_dataset())
    for node in (tree, tree["posterior"], tree["sample_stats"]):
        check_attributes(node.attrs)


def check_arviz(path):
    """Opens the store in the ArviZ there is; returns what was checked."""
    done = []
    try:
        import arviz
    except ImportError:
        arviz = None
    try:
        import arviz_base
    except ImportError:
        arviz_base = None
    if arviz is not None and hasattr(arviz, "InferenceData"):
        tree = xr.open_datatree(path, engine="zarr")
        idata = arviz.InferenceData.from_datatree(tree)
        check_posterior(idata.posterior)
        check_sample_stats(idata.sample_stats)
        kept = idata.isel(chain=[0, 1])
        summary = arviz.summary(kept, var_names=["w"], kind="stats", round_to="none")
        assert list(summary.index) == [f"w[{f}]" for f in FEATURES], summary.index
        same(summary["mean"], value(0)[:2].mean() + np.arange(2, 5) / 64)
        done.append(f"arviz {arviz.__version__} (InferenceData)")
    elif arviz is not None and hasattr(arviz, "from_zarr"):
        check_tree(arviz.from_zarr(path))
        done.append(f"arviz {arviz.__version__} (from_zarr)")
    if arviz_base is not None:
        check_tree(arviz_base.convert_to_datatree(path, engine="zarr"))
        done.append(f"arviz-base {arviz_base.__version__}")
    assert done, "neither arviz nor arviz-base is installed"
    return done


def check_ours(path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_tree(xr.open_datatree(path, engine="zarr"))
        check_posterior(xr.open_zarr(path, group="posterior"))
        check_posterior(xr.open_zarr(path, group="posterior", consolidated=True))
        check_posterior(xr.open_zarr(path, group="posterior", consolidated=False)[PARAMETERS])
        check_sample_stats(xr.open_zarr(path, group="sample_stats"))
    # Warnings of ArviZ about itself are not ours to prevent.
    return check_arviz(path)


def write_theirs(folder):
    posterior = xr.Dataset(
        {"b": (("chain", "draw", "feature"), block(1, 3)), "a": (("chain", "draw"), value(0))},
        coords={
            "chain": np.arange(N_CHAINS),
            "draw": np.arange(N_DRAWS),
            "feature": ["age", "größe", "x"],
            "weight": ("feature", [0.5, 1.0, 2.0]),
        },
        attrs={"inference_library": "check_store"},
    )
    stats = xr.Dataset(
        {
            "diverging": (("chain", "draw"), np.isnan(value(0))),
            "lp": (("chain", "draw"), value(0)),
            "energy": (("chain", "draw"), value(0).astype("f4")),
        },
        coords={"chain": np.arange(N_CHAINS), "draw": np.arange(N_DRAWS)},
    )
    chunks = {"chunks": (1, 20), "shards": (2, 40)}
    encodings = [
        ("default", 3, {}),
        ("gzip", 3, {"compressors": zarr.codecs.GzipCodec()}),
        ("blosc", 3, {"compressors": zarr.codecs.BloscCodec(cname="zstd")}),
        ("uncompressed", 3, {"compressors": None}),
        ("sharded", 3, chunks),
        ("default", 2, {}),
    ]
    folder.mkdir(parents=True)
    for name, zarr_format, encoding in encodings:
        path = folder / f"{name}-{zarr_format}.zarr"
        tree = xr.DataTree.from_dict({"posterior": posterior, "sample_stats": stats})
        tree.to_zarr(path, zarr_format=zarr_format, encoding={"/posterior": {"a": encoding}})
        print(f"wrote {path.name}")


def main():
    ours, theirs = map(pathlib.Path, sys.argv[1:])
    done = check_ours(str(ours))
    print(f"ok: xarray {xr.__version__}, zarr {zarr.__version__}, {', '.join(done)}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about formats that are not in the specification
        write_theirs(theirs)


if __name__ == "__main__":
    main()
