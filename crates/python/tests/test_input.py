"""Input that looks right and is not: refused with its name and the reason."""

from __future__ import annotations

import numpy as np
import pytest

import langevin as lv

SETTINGS = dict(step_size=0.05, n_steps=800, n_chains=6, seed=0, progress=False)
GAUSSIAN = lv.LinearGaussian([[1.0, 2.0], [3.0, 1.0]])
NORMAL = lv.NormalParameters([float(x) for x in range(30)])


def mean(theta):
    return theta.mean(axis=1)


SAMPLE = [
    ({"step_size": np.nan}, ValueError, "step size must be finite and greater than 0"),
    ({"step_size": np.inf}, ValueError, "step size must be finite and greater than 0"),
    ({"step_size": 0}, ValueError, "step size must be finite and greater than 0"),
    ({"step_size": "0.1"}, TypeError, "step_size must be a number, but is '0.1'"),
    ({"step_size": True}, TypeError, "step_size must be a number, but is True"),
    ({"step_size": [0.1]}, TypeError, "step_size must be a number"),
    ({"step_size": {"LD": 0.1}}, TypeError, "step_size must be a number"),
    ({"step_size": lv.decreasing(np.nan)}, ValueError, "must be finite and greater than 0"),
    ({"step_size": lv.decreasing(0.1, gamma=np.nan)}, ValueError, "gamma"),
    ({"thin": -1}, ValueError, "thin must be at least 1"),
    ({"thin": True}, TypeError, "thin must be a whole number"),
    ({"burn_in": -1}, ValueError, "burn_in must be at least 0"),
    ({"burn_in": 1.0}, TypeError, "burn_in must be a whole number"),
    ({"n_steps": True}, TypeError, "n_steps must be a whole number"),
    ({"n_chains": np.True_}, TypeError, "n_chains must be a whole number"),
    ({"n_batches": 1}, ValueError, "n_batches must be at least 2"),
    ({"batch_size": True}, TypeError, "batch_size must be a whole number"),
    ({"batch_size": 0}, ValueError, "batch_size must be at least 1"),
    ({"seed": False}, TypeError, "seed must be a whole number"),
    ({"seed": -1}, ValueError, "seed must be at least 0"),
    ({"threads": 0}, ValueError, "threads must be at least 1"),
    ({"with_replacement": True}, ValueError, "no effect without a batch_size"),
    ({"with_replacement": "no"}, TypeError, "with_replacement must be True or False"),
    ({"keep_draws": 0}, TypeError, "keep_draws must be True or False"),
    ({"progress": "never"}, TypeError, "progress must be True or False"),
    ({"start": ["1", "2"]}, TypeError, "start must be an array of real numbers"),
    ({"start": [[1.0], [1.0, 2.0]]}, TypeError, "start must be an array of real numbers"),
    ({"start": [1.0, 2.0j]}, TypeError, "start must be an array of real numbers.*complex"),
    ({"marks": 100}, TypeError, "marks must be a list"),
    ({"marks": [True]}, TypeError, "marks must be a whole number"),
    ({"marks": [10, 801]}, ValueError, "marks must be at most n_steps = 800, but one is 801"),
    ({"observables": mean}, TypeError, "observables must be a list"),
    ({"observables": "sum"}, TypeError, "observables must be a list"),
    ({"observables": [True]}, TypeError, "an observable must be a name"),
    ({"observables": [None]}, TypeError, "an observable must be a name"),
    ({"observables": {"a": [1.0]}}, TypeError, "an observable must be a name"),
    ({"observables": {1: "sum"}}, TypeError, "name of an observable must be a text"),
    ({"observables": {"": "sum"}}, TypeError, "name of an observable must be a text"),
    ({"observables": [lambda t: t[:, 0]]}, TypeError, "functions need names"),
    ({"observables": [mean, mean]}, ValueError, "two observables are called 'mean'"),
    ({"observables": ["theta[0]", 0]}, ValueError, "two observables are called 'theta"),
    ({"dynamics": lv.RM([["1", "0"], ["0", "1"]])}, TypeError, "metric must be an array"),
]


@pytest.mark.parametrize(("options", "error", "message"), SAMPLE)
def test_bad_settings_of_a_run(options, error, message) -> None:
    with pytest.raises(error, match=message):
        lv.sample(GAUSSIAN, **(SETTINGS | options))
    if "dynamics" not in options and not isinstance(options.get("step_size"), dict):
        with pytest.raises(error, match=message):
            lv.compare(GAUSSIAN, ["LD"], **(SETTINGS | options))


@pytest.mark.parametrize(
    ("dynamics", "error", "message"),
    [
        ([], ValueError, "dynamics is empty"),
        ("LD", TypeError, "dynamics must be a list, but is 'LD'"),
        (lv.LD(), TypeError, "dynamics must be a list"),
        (["LD", "RM", "LD"], ValueError, "two dynamics are called 'LD'"),
        ([lv.Irr(), lv.Irr(lv.sign_skew(2.0))], ValueError, "two dynamics are called 'Irr'"),
        (["LD", 3], TypeError, "dynamics must be a name or a Dynamics"),
    ],
)
def test_bad_lists_of_dynamics(dynamics, error, message) -> None:
    with pytest.raises(error, match=message):
        lv.compare(GAUSSIAN, dynamics, **SETTINGS)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: lv.LD(beta=np.nan), ValueError, "beta must be finite"),
        (lambda: lv.LD(beta=0.0), ValueError, "beta must be greater than 0"),
        (lambda: lv.LD(beta=True), TypeError, "beta must be a number"),
        (lambda: lv.LD(beta="1"), TypeError, "beta must be a number"),
        (lambda: lv.Dynamics(""), TypeError, "name must be a text"),
        (lambda: lv.Dynamics(7), TypeError, "name must be a text"),
        (lambda: lv.Dynamics("a", skew=lv.sign_skew()), ValueError, "skew has no effect"),
        (lambda: lv.sign_skew(np.nan), ValueError, "delta must be finite"),
        (lambda: lv.sign_skew("2"), TypeError, "delta must be a number"),
        (lambda: lv.random_skew(norm=-1.0), ValueError, "norm must not be negative"),
        (lambda: lv.kronecker_skew(np.inf), ValueError, "norm must be finite"),
        (lambda: lv.Irr([["0", "1"], ["-1", "0"]]), TypeError, "skew must be an array"),
        (lambda: lv.decreasing("0.1"), TypeError, "a must be a number"),
        (lambda: lv.decreasing(0.1, b=True), TypeError, "b must be a number"),
    ],
)
def test_bad_dynamics(make, error, message) -> None:
    with pytest.raises(error, match=message):
        make()


def score(theta):
    return -theta


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: lv.NormalParameters(["1", "2", "3"]), TypeError, "array of real numbers"),
        (lambda: lv.NormalParameters(np.array(["2020-01-01"], "M8[D]")), TypeError, "real numbers"),
        (lambda: lv.LinearGaussian([[1.0]], "2"), TypeError, "noise_precision must be a number"),
        (lambda: lv.LinearGaussian([[1.0]], 1.0, True), TypeError, "prior_precision must be a"),
        (lambda: lv.LogisticRegression([[1.0]], [1], "1"), TypeError, "prior_precision must be"),
        (lambda: lv.Ica([[1.0, 2.0]], "1"), TypeError, "prior_precision must be a number"),
        (lambda: lv.Target(2, score=score, parameters="ab"), TypeError, "parameters must be a list"),
        (lambda: lv.Target(2, score=score, parameters=["a", "a"]), ValueError, "two parameters"),
        (lambda: lv.Target(2, score=score, parameters={"a": 2}), TypeError, "shape of 'a' must"),
        (lambda: lv.Target(2, score=score, parameters={"a": (2.5,)}), TypeError, "whole number"),
        (lambda: lv.Target(2, score=score, parameters={"a": (-2, -1)}), ValueError, "at least 0"),
        (lambda: lv.Target(2, score=score, positive=1), TypeError, "positive must be a list"),
        (lambda: lv.Target(2, score=score, positive=[True]), TypeError, "whole number"),
        (lambda: lv.from_cfunc(1, 2, user_data=-1), ValueError, "user_data must be at least 0"),
        (lambda: GAUSSIAN.score(["1", "2"]), TypeError, "theta must be an array of real numbers"),
        (lambda: GAUSSIAN.log_density([1.0, 1j]), TypeError, "theta must be an array.*complex"),
    ],
)
def test_bad_targets(make, error, message) -> None:
    with pytest.raises(error, match=message):
        make()


def flat(theta):
    return np.tile(np.eye(theta.shape[1]), (len(theta), 1, 1))


DRAWS = np.random.default_rng(0).normal(size=(4, 50))
EXACT = lv.theory.Gaussian(GAUSSIAN)
CHAIN = EXACT.euler_maruyama(0.1)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: lv.ess_mean(DRAWS + 1j), TypeError, "draws must be an array.*complex"),
        (lambda: lv.rhat([["1", "2"]]), TypeError, "draws must be an array of real numbers"),
        (lambda: lv.ess_quantile(DRAWS, "0.5"), TypeError, "prob must be a number"),
        (lambda: lv.ess_quantile(DRAWS, np.nan), ValueError, "probability"),
        (lambda: lv.batch_means(DRAWS[0], "1"), TypeError, "step_size must be a number"),
        (lambda: lv.batch_means(DRAWS[0], 1.0, True), TypeError, "n_batches must be a whole"),
        (lambda: lv.ksd(DRAWS, DRAWS, c="1"), TypeError, "c must be a number"),
        (lambda: lv.ksd(DRAWS, DRAWS * 1j), TypeError, "scores must be an array.*complex"),
        (lambda: lv.theory.Gaussian(NORMAL), TypeError, "target must be a LinearGaussian"),
        (lambda: lv.theory.Normal(GAUSSIAN), TypeError, "target must be a NormalParameters"),
        (lambda: EXACT.expectation(2), ValueError, "no coordinate 2; dim is 2"),
        (lambda: EXACT.expectation(True), TypeError, "a coordinate must be a whole number"),
        (lambda: EXACT.expectation(([1.0, 2.0],)), ValueError, "no observable called"),
        (lambda: EXACT.batch_means_expectation(0, -1, 1.0), ValueError, "n_batches must be at"),
        (lambda: EXACT.batch_means_expectation(0, 5, "1"), TypeError, "batch_time must be a num"),
        (lambda: EXACT.euler_maruyama("0.1"), TypeError, "step_size must be a number"),
        (lambda: EXACT.euler_maruyama(0.1, 1, "no"), TypeError, "with_replacement must be True"),
        (lambda: EXACT.euler_maruyama(0.1, None, True), ValueError, "without a batch_size"),
        (lambda: lv.theory.Gaussian(GAUSSIAN, lv.RM(["1", "2"])), TypeError, "metric must be"),
        (lambda: lv.theory.Normal(NORMAL, lv.Irr(np.zeros((3, 3)))), ValueError, "J has size 3"),
        (lambda: lv.Metric(flat).divergence([1.0, 2.0]), ValueError, "theta must have 2 axes"),
        (lambda: lv.Metric(flat).error([1.0, 2.0]), ValueError, "theta must have 2 axes"),
        (lambda: CHAIN.batch_means_expectation(0, 5, 0), ValueError, "batch_steps must be at"),
        (lambda: CHAIN.running_average(0, 2.0, [0.0, 0.0]), TypeError, "n_steps must be a whole"),
    ],
)
def test_bad_input_of_statistics_and_theory(make, error, message) -> None:
    with pytest.raises(error, match=message):
        make()


def test_what_is_right_is_still_taken() -> None:
    options = SETTINGS | {
        "step_size": np.float32(0.0625),
        "n_steps": np.int64(100),
        "keep_draws": np.True_,
        "start": np.ones((6, 2), dtype=int),
    }
    marks, observables = np.array([10, 100]), ("sum", mean, np.int64(1))
    trace = lv.sample(GAUSSIAN, marks=marks, observables=observables, **options)
    assert trace.observables == ("sum", "mean", "theta[1]")
    assert trace.running_average("mean")[0].tolist() == [10, 100]
    assert (trace.step_size, trace.n_steps, trace.draws.shape) == (0.0625, 100, (6, 100, 2))
    assert lv.LD(beta=np.array(0.25)).beta == 0.25
    assert lv.Metric(flat).divergence([[1, 2]])[0].tolist() == [[0.0, 0.0]]
    # What a function returns may be of any kind that holds real numbers.
    for kind in (np.float32, np.int64, object):
        target = lv.Target(2, score=lambda t: np.round(-t).astype(kind))
        expected = lv.Target(2, score=lambda t: np.round(-t))
        draws = [lv.sample(t, **SETTINGS).draws for t in (target, expected)]
        assert np.array_equal(*draws)
    one = lv.LinearGaussian([[1.0]])
    assert lv.sample(one, lv.RM(0.5), **(SETTINGS | {"start": 2.0})).draws[0, 0] == 2.0
