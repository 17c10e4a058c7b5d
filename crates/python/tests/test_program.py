"""Run files: the same bits as the program, and as `sample`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sys
from pathlib import Path

import numpy as np
import pytest
from build_stan import build

import langevin as lv

ROOT = Path(__file__).parents[3]

NORMAL = """
dynamics = ["GiIrr"]

[target]
model = "normal"
data.generate = { n = 30, mean = 0, sd = 10, seed = 2 }

[run]
n_chains = 21
n_steps = 3000
step_size = 0.05
burn_in = 500
thin = 5
seed = 7
batch_size = 6
skew = { kind = "sign-pattern", delta = 2 }
"""

ICA = """
dynamics = ["LD", "GiIrr"]

[target]
model = "ica"
prior_precision = 1.0
data.generate = { n = 60, signals = ["laplace", "logistic", "logistic"], seed = 3 }

[run]
n_chains = 9
n_steps = 500
step_size = 1e-3
burn_in = 100
thin = 3
seed = 0
skew = { kind = "kronecker" }
"""

GAUSSIAN = """
title = "A small Gaussian"
dynamics = ["LD", "RM", "GiIrr"]

[target]
model = "linear-gaussian"
noise_precision = 0.05
prior_precision = { eigenvalues = [0.2, 0.01, 0.05], eigenvector_seed = 3 }
data.generate = { n = 10, mean = 1.0, dim = 3, seed = 5 }

[run]
n_chains = 24
n_steps = 4000
step_size = 0.1
burn_in = 500
seed = 1
batch_size = 2
skew = { kind = "sign-pattern", delta = 0.5 }

[measure]
ksd = { n_points = 50, n_chains = 4 }
"""


@pytest.fixture(scope="session")
def program() -> Path:
    """The program, as cargo built it."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    path = ROOT / target / "release" / "langevin"
    if not path.exists():
        pytest.skip("the program is not built: cargo build --release -p langevin-cli")
    return path


def write(folder: Path, text: str) -> Path:
    path = folder / "run.toml"
    path.write_text(text)
    return path


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and bool((a.view(np.int64) == b.view(np.int64)).all())


@pytest.mark.parametrize("seed", [None, 11])
@pytest.mark.parametrize(("text", "dynamics"), [(NORMAL, None), (ICA, "GiIrr")])
def test_sample_gives_the_bits_of_the_program(program, tmp_path, text, dynamics, seed) -> None:
    path = write(tmp_path, text)
    options = [] if seed is None else ["--seed", str(seed)]
    options += [] if dynamics is None else ["--dynamics", dynamics]
    out = tmp_path / "theirs"
    subprocess.run([program, "sample", path, "--out", out, "--quiet", *options], check=True)
    theirs = lv.open_store(out / "draws.zarr")
    for threads in (1, 2):
        ours = lv.run(path, threads=threads, seed=seed, progress=False, dynamics=dynamics)
        assert isinstance(ours, lv.Trace)
        assert same_bits(ours.draws, theirs.draws)
        assert same_bits(ours.sample_stats["lp"], theirs.sample_stats["lp"])
        assert (ours.names, ours.seed) == (theirs.names, 7 if text is NORMAL and seed is None
                                           else seed or 0)  # fmt: skip
    # The negative control: another seed gives other bits.
    other = lv.run(path, seed=12, progress=False, dynamics=dynamics)
    assert not same_bits(other.draws, theirs.draws)


def files_in(folder: Path) -> set[Path]:
    """All files but the records of when a start began."""
    files = (p.relative_to(folder) for p in folder.rglob("*") if p.is_file())
    return {p for p in files if not p.name.startswith("start-")}


def test_compare_gives_the_numbers_of_the_program(program, tmp_path) -> None:
    path = write(tmp_path, GAUSSIAN)
    out = tmp_path / "theirs"
    subprocess.run([program, "compare", path, "--out", out, "--quiet"], check=True)
    theirs = (out / "results.json").read_text()
    ours = lv.run(path, out=tmp_path / "ours", progress=False)
    assert isinstance(ours, lv.Comparison)
    assert ours.results == json.loads(theirs)
    assert (tmp_path / "ours" / "results.json").read_text() == theirs
    # The program draws figures and a report of the same units beside it.
    drawn = {"tables", "figures", "report.html", "report.md"}
    numbers = {path for path in files_in(out) if path.parts[0] not in drawn}
    assert numbers == files_in(tmp_path / "ours")
    assert {Path("results.json"), Path("timing.json")} < numbers
    # Rows, averages and curves are made of the same sums, to the same bits.
    for row in ours.rows():
        found = next(d for d in ours.results["dynamics"] if d["name"] == row.dynamics)
        found = next(o for o in found["observables"] if o["name"] == row.observable)
        assert row.mean == found["mean"]["value"]
        assert row.variance.mean == found["asymptotic_variance"]["value"]
        assert row.variance.se == found["asymptotic_variance"]["se"]
        assert row.gain.mean == pytest.approx(1 / found["ratio_to_first"]["value"], rel=1e-12)
        steps, averages = ours[row.dynamics].running_average(row.observable)
        curve = found["running_averages"]
        assert steps.tolist() == [point["n_steps"] for point in curve]
        np.testing.assert_allclose(
            averages.mean(axis=0), [point["mean"] for point in curve], rtol=1e-13
        )
    assert len(ours.plot().axes) == 4


def test_a_run_file_and_sample_give_the_same_bits(tmp_path) -> None:
    data = np.random.default_rng(5).normal(1.0, 3.0, size=25)
    values = ", ".join(map(repr, data.tolist()))
    path = write(tmp_path, f"""
dynamics = ["GiIrr"]
[target]
model = "normal"
data.values = [{values}]
[run]
n_chains = 10
n_steps = 2000
step_size = 0.05
burn_in = 100
thin = 10
batch_size = 5
seed = 3
skew = {{ kind = "sign-pattern", delta = 2 }}
[measure]
observables = ["mu", "sum_of_squares"]
""")
    target = lv.NormalParameters(data)
    options = dict(step_size=0.05, n_steps=2_000, n_chains=10, burn_in=100, batch_size=5, seed=3,
                   progress=False)  # fmt: skip
    dynamics = lv.GiIrr(skew=lv.sign_skew(2.0))
    ours = lv.sample(target, dynamics, thin=10, **options)
    assert same_bits(lv.run(path, progress=False).draws, ours.draws)
    # And the averages of a comparison, with a second dynamics in the file.
    path.write_text(path.read_text().replace('["GiIrr"]', '["LD", "GiIrr"]'))
    theirs = lv.run(path, progress=False)["GiIrr"]
    marks = theirs.running_average("mu")[0].tolist()
    ours = lv.sample(target, dynamics, observables=theirs.observables, marks=marks, **options)
    for name in ours.observables:
        assert ours.mean(name) == theirs.mean(name)
        assert ours.asymptotic_variance(name) == theirs.asymptotic_variance(name)
        assert same_bits(ours.batch_averages(name), theirs.batch_averages(name))


def test_output_is_kept_and_resumed_or_not_there(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path, NORMAL)
    lv.run(path, progress=False)
    assert os.listdir(tmp_path) == ["run.toml"]
    first = lv.run(path, out="kept", progress=False)
    names = ("draws.zarr", "results.json")
    assert all((tmp_path / "kept" / name).exists() for name in names)
    def units() -> dict[Path, int]:
        found = (tmp_path / "kept" / "units").glob("*.bin")
        return {path: path.stat().st_mtime_ns for path in found}

    before = units()
    second = lv.run(path, out="kept", progress=False)
    assert before and units() == before
    assert same_bits(first.draws, second.draws)


def test_bad_run_files_are_value_errors_with_file_line_and_hint(tmp_path) -> None:
    path = write(tmp_path, NORMAL.replace("burn_in", "burnin"))
    with pytest.raises(ValueError, match=r"run.toml, line 12: .*did you mean `burn_in`"):
        lv.run(path, progress=False)
    path = write(tmp_path, NORMAL)
    with pytest.raises(ValueError, match='no dynamics "RM"; expected one of GiIrr'):
        lv.run(path, progress=False, dynamics="RM")
    with pytest.raises(ValueError, match="missing.toml: cannot be read"):
        lv.run(tmp_path / "missing.toml")
    with pytest.raises(TypeError, match="seed must be a whole number"):
        lv.run(path, seed=1.5)
    with pytest.raises(OSError, match="output folder"):
        lv.run(path, out=path, progress=False)
    # The process is as healthy as before.
    assert lv.run(path, progress=False).draws.shape == (21, 500, 2)


def test_escapes_are_reported(program, tmp_path) -> None:
    path = write(tmp_path, NORMAL.replace("step_size = 0.05", "step_size = 0.7"))
    with pytest.warns(lv.EscapeWarning, match="of 21 chains escaped"):
        trace = lv.run(path, out=tmp_path / "out", progress=False)
    assert len(trace.chains) + len(trace.escapes) == 21
    assert np.isfinite(trace.draws).all()
    assert lv.open_store(tmp_path / "out" / "draws.zarr").escapes == trace.escapes


INTERRUPTED = """
import os, signal, sys, threading, time
import langevin as lv
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
begin = time.perf_counter()
try:
    lv.run(sys.argv[1], progress=False)
except KeyboardInterrupt:
    print("stopped" if time.perf_counter() - begin < 3.0 else "late")
print(lv.run(sys.argv[2], progress=False).draws.shape)
"""


def test_ctrl_c_stops_a_run_file(tmp_path) -> None:
    small = write(tmp_path, NORMAL)
    large = tmp_path / "large.toml"
    text = NORMAL.replace("n_steps = 3000", "n_steps = 1e9\n")
    large.write_text(text.replace("thin = 5", "thin = 1e6"))
    command = [sys.executable, "-c", INTERRUPTED, str(large), str(small)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.stdout.split("\n")[:2] == ["stopped", "(21, 500, 2)"], done.stderr


def test_progress_counts_all_work(tmp_path, capfd) -> None:
    path = write(tmp_path, GAUSSIAN)
    lv.run(path, progress=True)
    text = capfd.readouterr().err
    assert "compare" in text and "100%" in text
    lv.run(path, progress=False)
    assert capfd.readouterr().err == ""


def test_the_program_diagnoses_a_saved_trace(program, tmp_path, native) -> None:
    trace = lv.sample(native, "RM", step_size=0.05, n_steps=800, burn_in=100, seed=0,
                      progress=False)  # fmt: skip
    trace.save(tmp_path / "draws.zarr")
    command = [program, "diagnose", tmp_path / "draws.zarr", "--out", tmp_path / "o", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = json.loads(done.stdout)["summary"]["parameters"]
    ours = trace.summary()
    for row in rows:
        assert row.pop("parameter") in ours
    assert [dict(sorted(row.items())) for row in rows] == [
        dict(sorted(row.items())) for row in ours.values()
    ]


COLUMNS = ("mean", "sd", "ess_bulk", "ess_tail", "r_hat", "mcse_mean")


@pytest.mark.parametrize("package", ["arviz", "arviz_stats"])
def test_summary_of_a_store_equals_that_of_arviz(program, tmp_path, package) -> None:
    """`arviz_stats` is the part of ArviZ 1 that summarises."""
    arviz = pytest.importorskip(package)
    xarray = pytest.importorskip("xarray")
    path = write(tmp_path, ICA)
    out = tmp_path / "out"
    subprocess.run(
        [program, "sample", path, "--dynamics", "LD", "--out", out, "--quiet"], check=True
    )
    data = xarray.open_datatree(out / "draws.zarr", engine="zarr")
    trace = lv.open_store(out / "draws.zarr")
    if package == "arviz_stats" or not arviz.__version__.startswith("0."):
        # Our tails are 5 % and 95 %; those of ArviZ 1 are at 1 − p and p of this setting.
        base = pytest.importorskip("arviz_base")
        with base.rc_context({"stats.ci_prob": 0.95}):
            theirs = arviz.summary(data, kind="all", round_to="none")
        # ArviZ 1 divides by n, ArviZ 0 and we by n − 1.
        n = trace.draws[..., 0].size
        theirs["sd"] *= np.sqrt(n / (n - 1))
    else:
        data = arviz.InferenceData.from_datatree(data)
        theirs = arviz.summary(data, kind="all", round_to="none")
    ours = trace.summary()
    assert list(ours) == list(theirs.index)
    for name, row in ours.items():
        for column in COLUMNS:
            np.testing.assert_allclose(row[column], float(theirs.loc[name, column]), rtol=1e-8)


def test_a_run_file_can_name_a_stan_library(program, tmp_path) -> None:
    if shutil.which("g++") is None or sys.platform != "linux":
        pytest.skip("building the Stan library needs g++ on Linux")
    data = np.random.default_rng(4).normal(2.0, 3.0, 30)
    (tmp_path / "data.json").write_text(json.dumps({"N": 30, "x": data.tolist()}))
    target = f'[target]\nmodel = "stan"\nlibrary = "{build()}"\ndata = {{ file = "data.json" }}\n'
    path = write(tmp_path, target)
    command = [program, "sample", path, "--out", tmp_path / "o", "--seed", "1"]
    refused = subprocess.run(command, capture_output=True, text=True)
    assert refused.returncode == 2 and "--allow-libraries" in refused.stderr
    subprocess.run([*command, "--allow-libraries"], check=True, capture_output=True)
    exact = lv.sample(lv.NormalParameters(data), seed=2, progress=False)
    stored = lv.open_store(tmp_path / "o" / "draws.zarr")
    for name in ("mu", "sigma"):
        ours, theirs = stored.summary()[name], exact.summary()[name]
        error = np.hypot(ours["mcse_mean"], theirs["mcse_mean"])
        assert abs(ours["mean"] - theirs["mean"]) < 5 * error
    # The paper's dynamics run on it, too.
    run = 'dynamics = ["LD"]\n' + target
    run += "[run]\nn_chains = 4\nn_steps = 2000\nstep_size = 1e-3\nstart = [2.0, 1.0]\n"
    path = write(tmp_path, run)
    command = [program, "sample", path, "--out", tmp_path / "p", "--allow-libraries"]
    subprocess.run([*command, "--seed", "1"], check=True, capture_output=True)
    assert (lv.open_store(tmp_path / "p" / "draws.zarr")["sigma"] > 0).all()
