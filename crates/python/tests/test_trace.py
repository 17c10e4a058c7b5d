"""Traces, comparisons, interruption."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest

import langevin as lv

SETTINGS = dict(step_size=0.05, n_steps=800, n_chains=6, burn_in=100, thin=5, seed=0,
                progress=False)  # fmt: skip


def check_attributes(data) -> None:
    for group in ("posterior", "sample_stats"):
        attributes = data[group].attrs
        assert attributes["inference_library"] == "langevin"
        assert attributes["inference_library_version"] == lv.__version__
        assert (attributes["dynamics"], attributes["seed"]) == ("RM", 0)


def test_draws_in_arviz_0(native) -> None:
    arviz = pytest.importorskip("arviz")
    if not arviz.__version__.startswith("0."):
        pytest.skip("this is a newer ArviZ")
    trace = lv.sample(native, "RM", **SETTINGS)
    data = trace.to_arviz()
    assert isinstance(data, arviz.InferenceData)
    check_attributes(data)
    theirs = arviz.summary(data, kind="all", round_to="none")
    for name, row in trace.summary().items():
        for column in ("mean", "sd", "ess_bulk", "ess_tail", "r_hat", "mcse_mean"):
            np.testing.assert_allclose(row[column], float(theirs.loc[name, column]), rtol=1e-9)


def test_draws_in_arviz_1(native, monkeypatch) -> None:
    arviz_base = pytest.importorskip("arviz_base")
    xarray = pytest.importorskip("xarray")
    # ArviZ 1 is made of arviz_base and others; where it is not installed, its part answers.
    one = SimpleNamespace(__version__="1.0.0", from_dict=arviz_base.from_dict)
    if sys.modules.get("arviz", one).__version__.startswith("0."):
        monkeypatch.setitem(sys.modules, "arviz", one)
    trace = lv.sample(native, "RM", **SETTINGS)
    tree = trace.to_arviz()
    assert isinstance(tree, xarray.DataTree)
    check_attributes(tree)
    np.testing.assert_array_equal(tree["posterior"]["mu"], trace["mu"])
    assert not tree["sample_stats"]["diverging"].any()


def test_labels_of_dimensions_reach_arviz() -> None:
    pytest.importorskip("arviz")
    pm = pytest.importorskip("pymc")
    with pm.Model(coords={"feature": ["age", "income"], "row": range(2)}) as model:
        pm.Normal("w", dims=("row", "feature"))
        pm.Normal("a", shape=2)
    target = lv.from_pymc(model, mode="FAST_COMPILE")
    trace = lv.sample(target, step_size=0.05, n_steps=50, seed=0, progress=False)
    assert trace.names[:2] == ("w[0, age]", "w[0, income]")
    array = trace.to_arviz()["posterior"]["w"]
    assert array.dims == ("chain", "draw", "row", "feature")
    np.testing.assert_array_equal(array.sel(feature="income"), trace["w"][..., 1])


def test_draws_are_thinned_states(native) -> None:
    everything = lv.sample(native, "RM", **(SETTINGS | {"burn_in": 0, "thin": 1}))
    thinned = lv.sample(native, "RM", **SETTINGS)
    assert np.array_equal(thinned.draws, everything.draws[:, 100::5])
    assert np.array_equal(thinned["sigma"], thinned.draws[..., 1])


def test_results_do_not_depend_on_threads_or_on_the_other_chains(native) -> None:
    all_chains = lv.sample(native, "GiIrr", threads=2, **SETTINGS).draws
    assert np.array_equal(lv.sample(native, "GiIrr", threads=1, **SETTINGS).draws, all_chains)
    few = lv.sample(native, "GiIrr", **(SETTINGS | {"n_chains": 3})).draws
    assert np.array_equal(few, all_chains[:3])


def test_without_a_seed_every_run_is_new_and_can_be_repeated(native, tmp_path) -> None:
    options = SETTINGS | {"seed": None}
    # Not from the generators that people seed.
    random.seed(1)
    np.random.seed(1)
    first = lv.sample(native, "RM", **options)
    random.seed(1)
    np.random.seed(1)
    second = lv.sample(native, "RM", **options)
    assert first.seed != second.seed and not np.array_equal(first.draws, second.draws)
    assert all(0 <= trace.seed < 2**63 for trace in (first, second))
    again = lv.sample(native, "RM", **(options | {"seed": first.seed}))
    assert np.array_equal(again.draws, first.draws)
    assert f", seed {first.seed})" in repr(first)
    first.save(tmp_path / "draws.zarr")
    stored = lv.open_store(tmp_path / "draws.zarr")
    assert (stored.seed, repr(stored)) == (first.seed, repr(first))


def test_dynamics_of_a_comparison_share_a_new_seed(native) -> None:
    comparisons = [
        lv.compare(native, ["RM", "GiIrr"], keep_draws=True, **(SETTINGS | {"seed": None}))
        for _ in range(2)
    ]
    seeds = [{trace.seed for trace in c.traces.values()} for c in comparisons]
    assert [len(s) for s in seeds] == [1, 1] and seeds[0] != seeds[1]
    seed = seeds[0].pop()
    again = lv.sample(native, "GiIrr", **(SETTINGS | {"seed": seed}))
    assert np.array_equal(again.draws, comparisons[0]["GiIrr"].draws)


def test_running_averages_and_batches_are_those_of_the_draws(native) -> None:
    options = SETTINGS | {"thin": 1, "burn_in": 0}
    trace = lv.sample(native, "RM", observables=["sum"], n_batches=10, **options)
    values = trace.draws.sum(axis=2)
    marks, averages = trace.running_average("sum")
    for i, mark in enumerate(marks):
        np.testing.assert_allclose(averages[:, i], values[:, :mark].mean(axis=1), rtol=1e-12)
    batches = values.reshape(6, 10, 80).mean(axis=2)
    np.testing.assert_allclose(trace.batch_averages("sum"), batches, rtol=1e-12)
    by_chain = [lv.batch_means(v, step_size=0.05, n_batches=10) for v in values]
    estimate = trace.asymptotic_variance("sum")
    np.testing.assert_allclose(estimate.mean, np.mean(by_chain), rtol=1e-12)
    np.testing.assert_allclose(estimate.se, np.std(by_chain, ddof=1) / np.sqrt(6), rtol=1e-12)


def test_decreasing_steps_weight_their_states(native) -> None:
    schedule = lv.decreasing(0.5, b=10.0, gamma=0.5)
    trace = lv.sample(native, "RM", observables=["sum"], **(SETTINGS | {
        "step_size": schedule, "burn_in": 0, "thin": 1}))  # fmt: skip
    sizes = 0.5 * (10.0 + np.arange(800)) ** -0.5
    expected = (trace.draws.sum(axis=2) * sizes).sum(axis=1) / sizes.sum()
    np.testing.assert_allclose(trace.running_average("sum")[1][:, -1], expected, rtol=1e-9)


def test_matrices_come_back_the_right_way_round() -> None:
    data = np.random.default_rng(2).logistic(size=(80, 3))
    target = lv.Ica(data)
    w = np.array([[1.0, 0.2, 0.3], [0.4, 1.5, 0.6], [0.7, 0.8, 2.0]])
    trace = lv.sample(target, step_size=1e-4, n_steps=5, start=w.ravel(order="F"), seed=0,
                      progress=False)  # fmt: skip
    assert np.array_equal(trace["W"][2, 0], w)
    # The target's density in terms of W settles which way the right one is.
    y = data @ w.T
    by_hand = 80 * np.log(abs(np.linalg.det(w))) + (y - 2 * np.logaddexp(0, y)).sum()
    by_hand -= 0.5 * (w**2).sum()
    np.testing.assert_allclose(target.log_density(w.ravel(order="F")), by_hand, rtol=1e-12)


def test_comparison_has_a_table_and_a_figure(native, tmp_path) -> None:
    step = {"LD": 0.01, "RM": 0.1, "GiIrr": 0.1}
    comparison = lv.compare(native, list(step), step_size=step, n_steps=2_000, n_chains=8,
                            seed=0, progress=False)  # fmt: skip
    rows = comparison.rows()
    assert [r.dynamics for r in rows] == ["LD", "RM", "GiIrr"] * 2
    assert rows[0].gain.mean == 1.0 and all(r.variance.mean > 0 for r in rows)
    assert len(comparison.table().splitlines()) == 7
    figure = comparison.plot()
    figure.savefig(tmp_path / "comparison.png")
    lines = figure.axes[0].get_lines()
    assert [line.get_color() for line in lines] == ["#0072b2", "#e69f00", "#d55e00"]


INTERRUPTED = """
import os, signal, threading, time, warnings
import numpy as np
import langevin as lv
warnings.simplefilter("ignore")
# Programs started in the background ignore the signal unless told otherwise.
signal.signal(signal.SIGINT, signal.default_int_handler)
x = np.random.default_rng(0).normal(size=(100, 5))
targets = [lv.LogisticRegression(x, x[:, 0] > 0), lv.Target(5, score=lambda t: -t)]
for target in targets:
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    begin = time.perf_counter()
    trace = lv.sample(target, step_size=1e-4, n_steps=10**8, n_chains=16, thin=100, progress=False)
    assert trace.interrupted and trace.draws.shape[1] > 10, trace
    assert np.isfinite(trace.draws).all()
    assert time.perf_counter() - begin < 3.0
comparison = lv.compare(targets[0], ["LD"], step_size=1e-3, n_steps=500, n_chains=4, seed=0,
                        progress=False)
print("healthy", len(comparison.traces))
"""


def test_ctrl_c_returns_what_is_finished() -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=120
    )
    assert done.stdout.split() == ["healthy", "1"], done.stderr


def test_other_threads_run_while_sampling(native) -> None:
    import threading

    count = 0
    stop = threading.Event()

    def work() -> None:
        nonlocal count
        while not stop.is_set():
            count += 1
            time.sleep(0.001)

    thread = threading.Thread(target=work)
    thread.start()
    trace = lv.sample(native, "GiIrr", **(SETTINGS | {"n_steps": 400_000, "thin": 1000}))
    stop.set()
    thread.join()
    assert count > 50 * trace.seconds


def test_progress_is_shown_or_not(native, capfd) -> None:
    lv.sample(native, "RM", **SETTINGS)
    assert capfd.readouterr().err == ""
    lv.sample(native, "RM", **(SETTINGS | {"progress": True}))
    assert "RM" in capfd.readouterr().err


def test_own_progress_bar_says_rate_escapes_and_time(capsys, monkeypatch) -> None:
    from langevin.progress import Bar

    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with Bar(1000, "LD", show=True) as bar:
        bar(500, 2)
        bar(1000, 2)
    text = capsys.readouterr().err
    assert "50%" in text and "100%" in text and "2 escaped" in text
    assert "steps/s" in text and "left" in text


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"step_size": -1.0}, ValueError, "step size must be finite and greater than 0"),
        ({"step_size": "x"}, TypeError, "step_size must be a number"),
        ({"n_steps": 2.5}, TypeError, "n_steps must be a whole number"),
        ({"n_chains": 0}, ValueError, "n_chains must be at least 1"),
        ({"n_chains": 2**45}, ValueError, "GB, but this machine has"),
        ({"n_steps": 2**45}, ValueError, "GB, but this machine has"),
        ({"seed": 2**64}, ValueError, "seed must be less than"),
        ({"start": "here"}, TypeError, "start must be an array of real numbers"),
        ({"dynamics": lv.RM(object())}, TypeError, "metric must be an array of real numbers"),
        ({"observables": {"a": 0.5}}, TypeError, "observable must be a name"),
        ({"observables": ["sum"], "marks": "ab"}, TypeError, "marks must be a list"),
        ({"burn_in": 800}, ValueError, "burn_in must be less than n_steps"),
        ({"batch_size": 41}, ValueError, "minibatch of 41 rows"),
        ({"start": [1.0]}, ValueError, "start must have shape"),
        ({"start": [1.0, -1.0]}, ValueError, "coordinate 1 of the state is -1"),
        ({"start": [np.nan, 1.0]}, ValueError, "initial state holds NaN"),
        ({"observables": ["nothing"]}, ValueError, "no observable called 'nothing'"),
        ({"observables": [7]}, ValueError, "no coordinate 7"),
        ({"dynamics": "XY"}, ValueError, "expected one of LD, RM, Irr, RMIrr, GiIrr"),
        ({"dynamics": lv.RM("other")}, ValueError, "no metric called 'other'"),
        ({"dynamics": lv.Irr(np.zeros((3, 3)))}, ValueError, "J has size 3"),
    ],
)
def test_bad_settings_are_refused(native, options, error, message) -> None:
    with pytest.raises(error, match=message):
        lv.sample(native, **(SETTINGS | options))


@pytest.mark.parametrize("name", ["steps", "batches", "replace"])
def test_numbers_have_one_name(native, name) -> None:
    """Those of the library: n_steps, n_chains, n_batches, with_replacement."""
    for function in (lv.sample, lv.compare):
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'"):
            function(native, step_size=0.05, n_steps=10, **{name: 2})
    trace = lv.sample(native, "RM", batch_size=9, with_replacement=True, n_batches=5, **SETTINGS)
    assert (trace.n_steps, trace.chains.tolist()) == (800, [0, 1, 2, 3, 4, 5])
    other = lv.sample(native, "RM", batch_size=9, with_replacement=False, **SETTINGS)
    assert not np.array_equal(trace.draws, other.draws)


def test_metrics_have_one_name(native, logistic) -> None:
    for target, name in ((native, "fisher"), (logistic[2], "fisher+identity")):
        with pytest.raises(ValueError, match="expected one of identity, natural"):
            lv.sample(target, lv.RM(name), **SETTINGS)
    own = lv.Target(1, score=lambda t: -t, metric=lambda t: np.ones((len(t), 1, 1)))
    with pytest.raises(ValueError, match="no metric called 'fisher'"):
        lv.sample(own, lv.RM("fisher"), **SETTINGS)
    assert lv.sample(own, lv.RM("natural"), **SETTINGS).metric_error is not None


@pytest.mark.parametrize("dynamics", [lv.RMIrr, lv.GiIrr])
def test_a_lone_matrix_needs_a_name(dynamics) -> None:
    j = [[0.0, 2.0], [-2.0, 0.0]]
    for given in ((j,), (lv.sign_skew(2.0),), (None, j)):
        with pytest.raises(TypeError, match="say skew= or metric="):
            dynamics(*given)
    assert dynamics(skew=j).skew.matrix(2).tolist() == j
    assert dynamics(metric=j).metric == j
    # Where there is only one, its name may be left out.
    assert lv.RM(j).metric == j and lv.Irr(j).skew.matrix(2).tolist() == j


def test_bad_data_are_refused() -> None:
    with pytest.raises(ValueError, match="X must have 2 axes"):
        lv.LogisticRegression([1.0, 2.0], [0, 1])
    with pytest.raises(ValueError, match="label 2 in row 1"):
        lv.LogisticRegression([[1.0], [2.0]], [0, 2])
    with pytest.raises(ValueError, match="list of labels has size 3"):
        lv.LogisticRegression([[1.0], [2.0]], [0, 1, 1])
    with pytest.raises(ValueError, match="NaN"):
        lv.NormalParameters([1.0, 2.0, np.nan])
    with pytest.raises(TypeError, match="array of real numbers"):
        lv.NormalParameters(["a", "b"])
    with pytest.raises(TypeError, match="complex"):
        lv.NormalParameters([1.0, 2.0 + 1j, 3.0])
    with pytest.raises(TypeError, match="beta must be a number"):
        lv.LD(beta="warm")
    with pytest.raises(TypeError, match="target must be"):
        lv.sample(3, **SETTINGS)
    with pytest.raises(ValueError, match="not skew-symmetric"):
        lv.Irr([[0.0, 1.0], [1.0, 0.0]])


@pytest.mark.parametrize("kind", [np.float32, np.int64, "F", "strided"])
def test_any_kind_of_array_is_taken(logistic, kind) -> None:
    signs, x, _ = logistic
    x = np.round(4 * x)
    y = signs > 0
    expected = lv.LogisticRegression(x, y).score(np.ones(4))
    if kind == "F":
        given = np.asfortranarray(x)
    elif kind == "strided":
        given = np.repeat(x, 2, axis=1)[:, ::2]
    else:
        given = x.astype(kind)
    assert np.array_equal(lv.LogisticRegression(given, y).score(np.ones(4)), expected)


def test_a_missing_extra_names_the_command(monkeypatch, native) -> None:
    monkeypatch.setitem(sys.modules, "arviz", None)
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(ImportError, match=r"pip install 'langevin\[arviz\]'"):
        lv.sample(native, "RM", **SETTINGS).to_arviz()
    with pytest.raises(ImportError, match=r"pip install 'langevin\[jax\]'"):
        lv.from_jax(lambda t: -0.5 * t @ t, 2)
