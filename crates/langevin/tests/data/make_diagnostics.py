"""Write diagnostics.json: draws of awkward kinds and what ArviZ says about them.

    python -m venv venv && venv/bin/pip install arviz==0.23.4
    venv/bin/python make_diagnostics.py

The draws are rounded to six decimals, stored, and only then given to ArviZ, so that the test
sees exactly the same numbers. NaN and infinity are stored as strings.
"""

import json
import logging
import pathlib
import warnings

import arviz as az
import numpy as np

SEED = 20210719
PROBS = [0.05, 0.25, 0.5, 0.9]


def ar1(rng, n_chains, n_draws, phi):
    """Stationary AR(1) chains of unit variance."""
    x = np.empty((n_chains, n_draws))
    x[:, 0] = rng.standard_normal(n_chains)
    for t in range(1, n_draws):
        x[:, t] = phi * x[:, t - 1] + np.sqrt(1 - phi**2) * rng.standard_normal(n_chains)
    return x


def cases(rng):
    """Name and draws, shape (chain, draw), of every case."""
    yield "independent normal", rng.standard_normal((4, 250))
    yield "odd number of draws", ar1(rng, 3, 101, 0.5)
    yield "slow chains", ar1(rng, 4, 500, 0.97)
    yield "antithetic chains", ar1(rng, 4, 300, -0.8)
    yield "strongly antithetic chains", ar1(rng, 2, 400, -0.99)
    yield "one chain", ar1(rng, 1, 600, 0.7)
    yield "one chain, odd", ar1(rng, 1, 77, 0.3)
    yield "two long chains", ar1(rng, 2, 2000, 0.9)
    yield "many short chains", ar1(rng, 60, 12, 0.6)
    yield "Cauchy", rng.standard_cauchy((4, 250))
    yield "Student t with two degrees", rng.standard_t(2, (4, 251))
    yield "ties: Poisson", rng.poisson(3.0, (4, 250)).astype(float)
    yield "ties: two values", (ar1(rng, 4, 200, 0.5) > 0.4).astype(float)
    yield "ties: rejected proposals", np.repeat(rng.standard_normal((4, 60)), 5, axis=1)
    yield "one chain shifted", rng.standard_normal((4, 200)) + np.array([[0], [0], [0], [1.5]])
    yield "one chain wider", rng.standard_normal((4, 200)) * np.array([[1], [1], [1], [4.0]])
    yield "drift", rng.standard_normal((3, 200)) + np.linspace(0, 2, 200)
    yield "one chain stuck", np.concatenate([rng.standard_normal((3, 100)), np.full((1, 100), 0.5)])
    yield "far from zero", 1e6 + ar1(rng, 4, 150, 0.5)
    yield "large scale", np.round(1e9 * ar1(rng, 2, 150, 0.5))
    yield "constant", np.full((3, 50), 2.5)
    yield "four draws", rng.standard_normal((2, 4))
    yield "five draws", rng.standard_normal((3, 5))
    yield "seven draws", rng.standard_normal((2, 7))
    yield "three draws", rng.standard_normal((4, 3))
    yield "one draw", rng.standard_normal((4, 1))
    with_nan = rng.standard_normal((2, 30))
    with_nan[1, 7] = np.nan
    yield "with a NaN", with_nan


def number(x):
    """A JSON number, or a string for what JSON has no number for."""
    x = float(x)
    return x if np.isfinite(x) else str(x)


def answers(x):
    """Every diagnostic of ArviZ that the library has."""
    plain = {
        "rhat": az.rhat(x, method="rank"),
        "ess_bulk": az.ess(x, method="bulk"),
        "ess_tail": az.ess(x, method="tail"),
        "ess_mean": az.ess(x, method="mean"),
        "ess_sd": az.ess(x, method="sd"),
        "mcse_mean": az.mcse(x, method="mean"),
        "mcse_sd": az.mcse(x, method="sd"),
        "mean": np.mean(x),
        "sd": np.std(x, ddof=1),
    }
    at_probs = {
        "ess_quantile": [az.ess(x, method="quantile", prob=p) for p in PROBS],
        "mcse_quantile": [az.mcse(x, method="quantile", prob=p) for p in PROBS],
        "quantile": [np.quantile(x, p) for p in PROBS],
    }
    return {k: number(v) for k, v in plain.items()} | {
        k: [number(v) for v in values] for k, values in at_probs.items()
    }


def main():
    """Write the file beside this script."""
    warnings.simplefilter("ignore")
    logging.getLogger("arviz").setLevel(logging.ERROR)
    rng = np.random.default_rng(SEED)
    out = []
    for name, draws in cases(rng):
        x = np.round(draws, 6)
        values = [number(v) for v in x.ravel()]
        shape = {"n_chains": x.shape[0], "n_draws": x.shape[1]}
        out.append({"name": name} | shape | answers(x) | {"values": values})
    about = f"Written by make_diagnostics.py with ArviZ {az.__version__}, numpy {np.__version__}."
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in out)
    head = json.dumps({"_about": about, "probs": PROBS})[:-1]
    text = f'{head}, "cases": [\n{lines}\n]}}\n'
    pathlib.Path(__file__).with_name("diagnostics.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
