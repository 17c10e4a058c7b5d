"""Targets and metrics of Python functions follow the native ones, and fail cleanly."""

from __future__ import annotations

import numpy as np
import pytest

import langevin as lv

SETTINGS = dict(step_size=0.01, n_steps=301, n_chains=13, seed=5, progress=False)


def normal_target(data: np.ndarray, **options: object) -> lv.Target:
    n = len(data)

    def datum_score(theta: np.ndarray, rows: np.ndarray) -> np.ndarray:
        shift = data[rows] - theta[:, :1]
        sigma = theta[:, 1:]
        first = shift.sum(axis=1) / sigma[:, 0] ** 2
        second = (shift**2 / sigma**3 - 1 / sigma).sum(axis=1)
        return np.stack([first, second], axis=1)

    return lv.Target(2, datum_score=datum_score, n_data=n, positive=[1],
                     parameters=["mu", "sigma"], **options)  # fmt: skip


def natural(n: int):
    def matrix(theta: np.ndarray) -> np.ndarray:
        out = np.zeros((len(theta), 2, 2))
        out[:, 0, 0] = theta[:, 1] ** 2 / n
        out[:, 1, 1] = theta[:, 1] ** 2 / (2 * n)
        return out

    def derivative(theta: np.ndarray) -> np.ndarray:
        out = np.zeros((len(theta), 2, 2, 2))
        out[:, 0, 0, 1] = 2 * theta[:, 1] / n
        out[:, 1, 1, 1] = theta[:, 1] / n
        return out

    return matrix, derivative


@pytest.mark.parametrize("batch_size", [None, 9])
@pytest.mark.parametrize("name", ["LD", "Irr"])
def test_a_numpy_copy_gives_the_same_chain(logistic, name, batch_size) -> None:
    signs, x, native = logistic

    def datum_score(theta, rows):
        z = np.einsum("cnd,cd->cn", x[rows], theta) * signs[rows]
        return np.einsum("cn,cnd->cd", signs[rows] / (1 + np.exp(z)), x[rows])

    target = lv.Target(4, datum_score=datum_score, prior_score=lambda t: -0.5 * t, n_data=60)
    ours = lv.sample(native, name, batch_size=batch_size, **SETTINGS)
    theirs = lv.sample(target, name, batch_size=batch_size, **SETTINGS)
    np.testing.assert_allclose(theirs.draws, ours.draws, atol=1e-12, rtol=0)


@pytest.mark.parametrize("kind", ["differences", "derivative", "jax"])
@pytest.mark.parametrize("name", ["RM", "RMIrr", "GiIrr"])
def test_a_metric_of_ones_own_gives_the_same_chain(data, native, name, kind) -> None:
    matrix, derivative = natural(len(data))
    if kind == "jax":
        jnp = pytest.importorskip("jax.numpy")
        metric = lv.JaxMetric(lambda t: t[1] ** 2 / len(data) * jnp.diag(jnp.array([1.0, 0.5])))
    else:
        metric = lv.Metric(matrix, derivative if kind == "derivative" else None)
    skew = lv.sign_skew(0.1 if name == "RMIrr" else 2.0)
    choose = {
        "RM": lambda m: lv.RM(m),
        "RMIrr": lambda m: lv.RMIrr(metric=m, skew=skew),
        "GiIrr": lambda m: lv.GiIrr(metric=m, skew=skew),
    }[name]
    ours = lv.sample(native, choose("natural"), batch_size=9, **SETTINGS)
    for target in (native, normal_target(data)):
        start = [data.mean(), data.std()]
        theirs = lv.sample(target, choose(metric), batch_size=9, start=start, **SETTINGS)
        np.testing.assert_allclose(theirs.draws, ours.draws, atol=1e-9, rtol=0)
        assert theirs.metric_error is not None and theirs.metric_error < 1e-8


def test_a_wrong_derivative_is_refused(data, native) -> None:
    matrix, derivative = natural(len(data))
    wrong = lv.Metric(matrix, lambda t: 1.1 * derivative(t))
    with pytest.raises(ValueError, match="disagrees with central differences"):
        lv.sample(native, lv.RM(wrong), **SETTINGS)


def test_the_check_of_a_score_can_fail() -> None:
    def value(t):
        return -0.5 * (t**2).sum(axis=1)

    theta = np.array([[1.0, -2.0], [0.3, 4.0]])
    assert lv.Target(2, score=lambda t: -t, log_density=value).check(theta) < 1e-7
    assert lv.Target(2, score=lambda t: -1.1 * t, log_density=value).check(theta) > 0.1


def healthy() -> None:
    """The process still samples as before."""
    draws = lv.sample(lv.Target(2, score=lambda t: -t), **SETTINGS).draws
    assert abs(draws.mean()) < 1.0 and draws.shape == (13, 301, 2)


def raises(theta):
    raise ZeroDivisionError("deep inside")


@pytest.mark.parametrize(
    ("score", "error", "message"),
    [
        (lambda t: t[:, 0], ValueError, r"score returned an array of shape \(13,\)"),
        (lambda t: -t[:1], ValueError, r"\(1, 2\), but \(13, 2\) was expected"),
        (lambda t: "no", TypeError, "score returned a str"),
        (lambda t: None, (TypeError, ValueError), "NoneType|shape|initial state"),
        (lambda t: -t + 0j, TypeError, "score returned a ndarray, but an array of floats"),
        (lambda t: np.full(t.shape, "0.5"), TypeError, "score returned a ndarray"),
        (lambda t: t * np.nan, ValueError, "score at the initial state of chain 0 is NaN"),
        (raises, ZeroDivisionError, "deep inside"),
    ],
)
def test_bad_functions_give_clear_errors(score, error, message) -> None:
    with pytest.raises(error, match=message):
        lv.sample(lv.Target(2, score=score), **SETTINGS)
    healthy()


def test_a_function_that_fails_late_is_raised_as_itself() -> None:
    calls = []

    def score(theta):
        calls.append(len(theta))
        if len(calls) == 100:
            raise LookupError("late")
        return -theta

    with pytest.raises(LookupError, match="late"):
        lv.sample(lv.Target(2, score=score), **SETTINGS)
    assert calls == [13] * 100
    healthy()


@pytest.mark.parametrize(
    ("metric", "error", "message"),
    [
        (lambda t: np.eye(2), ValueError, r"metric returned an array of shape \(2, 2\)"),
        (lambda t: np.tile(-np.eye(2), (len(t), 1, 1)), ValueError, "not positive definite"),
        (lambda t: np.tile([[1.0, 0.5], [0.0, 1.0]], (len(t), 1, 1)), ValueError, "symmetric"),
        (lambda t: 1 / 0, ZeroDivisionError, "division"),
        (np.ones(3), ValueError, "metric must have shape"),
    ],
)
def test_bad_metrics_give_clear_errors(metric, error, message) -> None:
    with pytest.raises(error, match=message):
        lv.sample(lv.Target(2, score=lambda t: -t), lv.RM(metric), **SETTINGS)
    healthy()


@pytest.mark.parametrize("target", ["native", "functions"])
@pytest.mark.parametrize(
    ("function", "error"),
    [
        (lambda t: t, ValueError),
        (lambda t: 1 / 0, ZeroDivisionError),
        (lambda t: t[:, 0] + 1j, TypeError),
    ],
)
def test_bad_observables_give_clear_errors(native, data, target, function, error) -> None:
    chosen = native if target == "native" else normal_target(data)
    start = [data.mean(), data.std()]
    with pytest.raises(error):
        lv.sample(chosen, observables={"f": function}, start=start, **SETTINGS)
    healthy()


def test_observables_of_functions_equal_built_in_ones(native) -> None:
    functions = {"a": lambda t: t.sum(axis=1), "b": lambda t: (t**2).sum(axis=1), "c": 1}
    ours = lv.sample(native, observables=["sum", "sum_of_squares", 1], **SETTINGS)
    theirs = lv.sample(native, observables=functions, **SETTINGS)
    for name, function in zip(ours.observables, functions):
        np.testing.assert_allclose(
            theirs.running_average(function)[1], ours.running_average(name)[1], rtol=1e-13
        )


def test_escaped_chains_are_reported_and_left_out() -> None:
    def score(theta):
        return np.where(np.abs(theta) < 2.5, -theta, np.inf)

    with pytest.warns(lv.EscapeWarning, match="of 13 chains escaped"):
        trace = lv.sample(lv.Target(1, score=score), **(SETTINGS | {"step_size": 0.1}))
    assert 0 < len(trace.escapes) < 13
    assert len(trace.chains) + len(trace.escapes) == 13
    assert np.isfinite(trace.draws).all()
    assert {d.chain for d in trace.escapes}.isdisjoint(trace.chains)


def test_warnings_point_at_the_caller(tmp_path) -> None:
    target = lv.Target(1, score=lambda t: np.where(np.abs(t) < 2.5, -t, np.inf))
    options = SETTINGS | {"step_size": 0.1}
    rough = lv.RM(lambda t: (2.0 + np.sin(1e7 * t))[:, :, None])
    for call in (
        lambda: lv.sample(target, **options),
        lambda: lv.compare(target, ["LD"], **options),
        lambda: lv.sample(lv.Target(1, score=lambda t: -t), rough, **SETTINGS),
        lambda: lv.compare(lv.Target(1, score=lambda t: -t), [rough], **SETTINGS),
    ):
        with pytest.warns(UserWarning) as caught:
            call()
        assert {w.filename for w in caught} == {__file__}


NEGATIVE = lv.RM(lambda t: np.tile(-np.eye(2), (len(t), 1, 1)))


@pytest.mark.parametrize(
    ("second", "step_size", "message"),
    [
        (lv.RM("other"), 0.01, "no metric called 'other'"),
        (NEGATIVE, 0.01, "not positive definite"),
        (lv.RM([1.0, -1.0]), 0.01, "every diagonal entry"),
        (lv.Irr(np.zeros((3, 3))), 0.01, "J has size 3"),
        ("Irr", {"LD": 0.01, "Irr": -1.0}, "step size must be finite and greater than 0"),
        ("Irr", {"LD": 0.01, "Irr": lv.decreasing(1.0, gamma=2.0)}, "gamma"),
    ],
)
@pytest.mark.parametrize("kind", ["native", "functions"])
def test_nothing_runs_if_one_dynamics_is_refused(data, kind, second, step_size, message) -> None:
    calls = []

    def count(theta):
        calls.append(len(theta))
        return theta[:, 0]

    target = normal_target(data) if kind == "functions" else lv.NormalParameters(data)
    options = SETTINGS | {"step_size": step_size, "start": [data.mean(), data.std()]}
    with pytest.raises(ValueError, match=message):
        lv.compare(target, ["LD", second], observables={"f": count}, **options)
    assert calls == [], "a chain has moved"
    lv.compare(target, ["LD"], observables={"f": count}, **(options | {"step_size": 0.01}))
    assert calls, "the negative control"


def test_compare_gives_what_sample_gives(native) -> None:
    comparison = lv.compare(native, ["LD", "GiIrr"], keep_draws=True, thin=3, **SETTINGS)
    for name, trace in comparison.traces.items():
        alone = lv.sample(native, name, observables=["sum"], thin=3, **SETTINGS)
        assert np.array_equal(trace.draws, alone.draws)
        assert np.array_equal(trace.batch_averages("sum"), alone.batch_averages("sum"))


def test_bad_targets_are_refused() -> None:
    with pytest.raises(TypeError, match="score must be a function"):
        lv.Target(2, score=3)
    with pytest.raises(TypeError, match="from_jax"):
        lv.Target(2)
    with pytest.raises(ValueError, match="n_data"):
        lv.Target(2, datum_score=lambda t, r: t)
    with pytest.raises(ValueError, match="parameters have 3 coordinates"):
        lv.Target(2, score=lambda t: t, parameters=["a", "b", "c"])
    with pytest.raises(ValueError, match="this target has no data"):
        lv.sample(lv.Target(2, score=lambda t: -t), batch_size=3, **SETTINGS)
    for run in (lambda t: lv.sample(t, "RM", **SETTINGS), lambda t: lv.compare(t, **SETTINGS)):
        with pytest.raises(ValueError, match="RM needs a metric"):
            run(lv.Target(2, score=lambda t: -t))
