"""Draws of a posterior without choices, from every kind of target."""

from __future__ import annotations

import numpy as np
import pytest

import langevin as lv


def normal(dim: int = 3, **more) -> lv.Target:
    """N(1, 2²) in every coordinate."""
    return lv.Target(
        dim,
        score=lambda t: -(t - 1.0) / 4.0,
        log_density=lambda t: -((t - 1.0) ** 2).sum(axis=1) / 8.0,
        **more,
    )


def agrees(trace: lv.PosteriorTrace, name: str, mean: float, sd: float) -> None:
    """Mean and sd within 4.5 standard errors: a false alarm in 10⁵ for each."""
    row = trace.summary()[name]
    assert abs(row["mean"] - mean) < 4.5 * row["mcse_mean"], row
    assert abs(row["sd"] - sd) < 4.5 * row["mcse_sd"], row


def test_a_target_and_nothing_else() -> None:
    trace = lv.sample(normal(), seed=1, progress=False)
    assert isinstance(trace, lv.PosteriorTrace)
    assert trace.precise and trace.warnings == () and trace.ess > 1000
    for i in range(3):
        agrees(trace, f"theta[{i}]", 1.0, 2.0)
    assert trace.report["why"] == "precise"
    assert trace.report["gradients"] > 0 and trace.report["warm_up"]["gradients"] > 0
    # The control: with another mean the test above would fail.
    row = trace.summary()["theta[0]"]
    assert abs(row["mean"] - 1.5) > 4.5 * row["mcse_mean"]


def test_native_models_and_the_scale_of_people() -> None:
    data = np.random.default_rng(5).normal(1.0, 3.0, 60)
    target = lv.NormalParameters(data)
    trace = lv.sample(target, seed=2, progress=False)
    assert trace["sigma"].min() > 0.0
    np.testing.assert_allclose(np.exp(trace.unconstrained[..., 1]), trace["sigma"], rtol=1e-12)
    row = trace.summary()["mu"]
    assert abs(row["mean"] - data.mean()) < 4.5 * row["mcse_mean"]
    # 1/σ² is Gamma((N − 2)/2, rate N s²/2) under the flat prior.
    n, s2 = len(data), data.var()
    precision = 1.0 / trace["sigma"] ** 2
    error = precision.std() / np.sqrt(trace.ess)
    assert abs(precision.mean() - (n - 2) / (n * s2)) < 4.5 * error


def test_gaussian_model_is_exact() -> None:
    rng = np.random.default_rng(3)
    target = lv.LinearGaussian(rng.normal(size=(15, 4)), noise_precision=0.3)
    trace = lv.sample(target, seed=3, progress=False)
    sds = np.sqrt(np.diag(np.linalg.inv(target.precision)))
    for i in range(4):
        agrees(trace, f"theta[{i}]", target.mean[i], sds[i])
    estimate = trace.control_variates()
    assert abs(estimate["theta[0]"].mean - target.mean[0]) < 1e-8


def test_scales_are_declared() -> None:
    shape, rate = 3.0, 2.0
    target = lv.Target(
        5,
        score=lambda t: np.concatenate(
            [(shape - 1.0) / t[:, :1] - rate, 1.0 / t[:, 1:4], -t[:, 4:]], axis=1
        ),
        log_density=lambda t: (shape - 1.0) * np.log(t[:, 0])
        - rate * t[:, 0]
        + np.log(t[:, 1:4]).sum(axis=1)
        - 0.5 * t[:, 4] ** 2,
        parameters={"rate": lv.positive(), "p": lv.simplex(3), "z": ()},
    )
    trace = lv.sample(target, seed=4, progress=False)
    assert trace.draws.shape[2] == 5 and trace.unconstrained.shape[2] == 4
    assert trace["p"].shape[2:] == (3,)
    np.testing.assert_allclose(trace["p"].sum(axis=2), 1.0, rtol=1e-12)
    agrees(trace, "rate", shape / rate, np.sqrt(shape) / rate)
    # A Dirichlet(2, 2, 2).
    agrees(trace, "p[1]", 1 / 3, np.sqrt(2 * 4 / (6**2 * 7)))
    # Starts and observables are on the scales, too.
    start = [1.0, 0.2, 0.3, 0.5, 0.0]
    unadjusted = lv.sample(
        target, "LD", step_size=1e-3, n_steps=50, n_chains=2, start=start, seed=0,
        observables={"first": "rate", "all": "sum"}, marks=[1], progress=False,
    )
    assert unadjusted.running_average("first")[1][0, 0] == pytest.approx(1.0, rel=1e-14)
    assert unadjusted.running_average("all")[1][0, 0] == pytest.approx(2.0, rel=1e-14)
    np.testing.assert_allclose(unadjusted.draws[0, 0], start, rtol=1e-14)
    with pytest.raises(ValueError, match="rate is -1, but must be greater than 0"):
        lv.sample(target, initvals=[[-1.0, 0.2, 0.3, 0.5, 0.0]] * 4, progress=False)


def test_declarations_are_checked() -> None:
    with pytest.raises(ValueError, match="parameters have 1 coordinates, but dim is 3"):
        normal(parameters={"x": lv.positive()})
    with pytest.raises(ValueError, match="low must be less than high"):
        lv.interval(2.0, 1.0)
    with pytest.raises(ValueError, match="simplex"):
        normal(parameters={"x": lv.simplex(1), "y": (2,)})


def test_jax_with_scales() -> None:
    jnp = pytest.importorskip("jax.numpy")
    target = lv.from_jax(
        lambda t: 2.0 * jnp.log(t[0]) - t[0], dim=1, parameters={"x": lv.positive()}
    )
    agrees(lv.sample(target, seed=5, progress=False), "x", 3.0, np.sqrt(3.0))


def test_pymc_gives_names_scales_and_deterministics() -> None:
    pm = pytest.importorskip("pymc")
    with pm.Model() as model:
        sigma = pm.Gamma("sigma", alpha=3.0, beta=2.0)
        pm.Normal("z")
        pm.Deterministic("twice", 2.0 * sigma)
    trace = lv.sample(lv.from_pymc(model), seed=6, progress=False)
    agrees(trace, "sigma", 1.5, np.sqrt(3.0) / 2.0)
    np.testing.assert_allclose(trace["twice"], 2.0 * trace["sigma"], rtol=1e-12)


def test_the_seed_decides_and_threads_do_not() -> None:
    rng = np.random.default_rng(1)
    features = rng.normal(size=(50, 4))
    target = lv.LogisticRegression(features, rng.integers(0, 2, 50))
    one = lv.sample(target, draws=300, seed=7, threads=1, progress=False)
    two = lv.sample(target, draws=300, seed=7, threads=2, progress=False)
    other = lv.sample(target, draws=300, seed=8, progress=False)
    assert (one.draws == two.draws).all() and one.draws.shape[1] == 300
    assert not (one.draws == other.draws).all()
    drawn = lv.sample(target, draws=50, progress=False)
    again = lv.sample(target, draws=50, seed=drawn.seed, progress=False)
    assert (drawn.draws == again.draws).all()


def test_chains_starts_and_lengths_are_as_asked() -> None:
    starts = np.random.default_rng(0).normal(size=(5, 3))
    trace = lv.sample(normal(), initvals=starts, draws=40, seed=0, progress=False)
    assert trace.draws.shape == (5, 40, 3)
    trace = lv.sample(normal(), chains=6, min_ess=3000, seed=0, progress=False)
    assert len(trace.draws) == 6 and trace.ess >= 3000
    longer = lv.sample(normal(), chains=6, min_ess=9000, seed=0, progress=False)
    n = trace.draws.shape[1]
    assert (longer.draws[:, :n] == trace.draws).all()


def test_what_ends_early_says_so() -> None:
    with pytest.warns(lv.SamplingWarning, match="gradients were used up"):
        trace = lv.sample(
            normal(), min_ess=1e7, max_gradients=20_000, seed=0, progress=False
        )
    assert not trace.precise and trace.report["why"] == "gradients"
    with pytest.warns(lv.SamplingWarning, match="the time was over"):
        trace = lv.sample(normal(), min_ess=1e9, max_time=0.3, seed=0, progress=False)
    assert trace.seconds < 2.0


BAD = {
    "not the gradient": dict(
        score=lambda t: -2.0 * t, log_density=lambda t: -0.5 * (t**2).sum(axis=1)
    ),
    "not deterministic": dict(
        score=lambda t: -t,
        log_density=lambda t: -0.5 * (t**2).sum(axis=1) + np.random.normal(size=len(t)),
    ),
    "depends on the other states": dict(
        score=lambda t: -t - t.mean(axis=0), log_density=lambda t: -0.5 * (t**2).sum(axis=1)
    ),
    "no start was found": dict(
        score=lambda t: -t, log_density=lambda t: np.full(len(t), np.nan)
    ),
    "needs log densities|needs log_density": dict(score=lambda t: -t),
}


@pytest.mark.parametrize("message", BAD)
def test_bad_targets_are_refused_with_the_reason(message) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        lv.sample(lv.Target(2, **BAD[message]), seed=0, progress=False)


def test_exceptions_of_own_code_come_back() -> None:
    def density(theta):
        if len(theta) and (theta[:, 0] > 0.5).any():
            raise RuntimeError("not defined here")
        return -0.5 * (theta**2).sum(axis=1)

    target = lv.Target(2, score=lambda t: -t, log_density=density)
    with pytest.raises(RuntimeError, match="not defined here"):
        lv.sample(target, seed=0, progress=False)


def test_two_far_modes_are_no_precision() -> None:
    target = lv.Target(
        1,
        score=lambda t: -t + 8.0 * np.tanh(8.0 * t),
        log_density=lambda t: np.logaddexp(
            -0.5 * (t[:, 0] - 8.0) ** 2, -0.5 * (t[:, 0] + 8.0) ** 2
        ),
    )
    with pytest.warns(lv.SamplingWarning, match="nested R-hat"):
        trace = lv.sample(target, seed=0, max_gradients=200_000, progress=False)
    assert trace.ess is None and not trace.precise


def test_arguments_of_the_other_way_are_refused() -> None:
    with pytest.raises(TypeError, match="n_chains belongs to runs of a dynamics"):
        lv.sample(normal(), n_chains=4)
    with pytest.raises(TypeError, match="min_ess belongs to sample"):
        lv.sample(normal(), "LD", step_size=0.1, n_steps=10, min_ess=100)
    with pytest.raises(TypeError, match="needs n_steps"):
        lv.sample(normal(), "LD", step_size=0.1)
    with pytest.raises(ValueError, match="give one of them"):
        lv.sample(normal(), draws=10, min_ess=10)
    with pytest.raises(ValueError, match="max_time must be greater than 0"):
        lv.sample(normal(), max_time=-1)
    with pytest.raises(ValueError, match="say for how many chains"):
        lv.sample(normal(), initvals=[0.0, 0.0, 0.0])
    with pytest.raises(ValueError, match="target_accept"):
        lv.sample(normal(), target_accept=1.5, progress=False)


def test_stores_and_arviz(tmp_path) -> None:
    trace = lv.sample(normal(), draws=60, chains=4, seed=0, progress=False)
    trace.save(tmp_path / "draws.zarr")
    again = lv.open_store(tmp_path / "draws.zarr")
    assert (again.draws == trace.draws).all()
    assert (again.sample_stats["lp"] == trace.sample_stats["lp"]).all()
    pytest.importorskip("arviz")
    stats = trace.to_arviz()["sample_stats"]
    assert {"lp", "acceptance_rate", "energy_error", "diverging"} <= set(stats.data_vars)
