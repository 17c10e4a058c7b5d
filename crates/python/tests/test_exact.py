"""Chains against exact answers."""

from __future__ import annotations

import numpy as np
import pytest

import langevin as lv

STEP = 0.01


@pytest.fixture(scope="module")
def gaussian() -> lv.LinearGaussian:
    rng = np.random.default_rng(3)
    noise = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.3], [0.0, 0.3, 1.5]])
    return lv.LinearGaussian(rng.normal(1.0, 1.0, size=(12, 3)), noise, 0.7)


DYNAMICS = [
    lv.LD(),
    lv.RM([0.5, 2.0, 1.0]),
    lv.Irr(lv.sign_skew(1.0)),
    lv.RMIrr(metric=[0.5, 2.0, 1.0], skew=lv.sign_skew(1.0)),
    lv.GiIrr(metric=[0.5, 2.0, 1.0], skew=lv.sign_skew(1.0)),
]


@pytest.mark.parametrize("batch_size", [None, 4])
@pytest.mark.parametrize("dynamics", DYNAMICS, ids=lambda d: d.name)
def test_gaussian_chains(gaussian, dynamics, batch_size) -> None:
    chain = lv.theory.Gaussian(gaussian, dynamics).euler_maruyama(STEP, batch_size)
    trace = lv.sample(gaussian, dynamics, step_size=STEP, n_steps=62_000, n_chains=64,
                      burn_in=2_000, batch_size=batch_size, start=gaussian.mean, keep_draws=False,
                      observables=["sum", "sum_of_squares"], seed=0, progress=False)  # fmt: skip
    for name in trace.observables:
        # Independent chains: |t| < 5 with 63 degrees of freedom is a false alarm in 5e-6.
        means = trace.batch_averages(name).mean(axis=1)
        z = (means.mean() - chain.expectation(name)) / (means.std(ddof=1) / 8)
        assert abs(z) < 5, (name, z)
        estimate = trace.asymptotic_variance(name)
        exact = chain.batch_means_expectation(name, 20, 3_000)
        z = (estimate.mean - exact) / estimate.se
        assert abs(z) < 5, (name, z)
    # The negative control: the expectation of the limit h → 0 is not that of the chain.
    if batch_size is not None:
        limit = lv.theory.Gaussian(gaussian, dynamics).expectation("sum_of_squares")
        assert abs((means.mean() - limit) / (means.std(ddof=1) / 8)) > 5


@pytest.mark.parametrize(
    "dynamics",
    [lv.RM(), lv.RMIrr(skew=lv.sign_skew(0.02)), lv.GiIrr(skew=lv.sign_skew(2.0))],
    ids=lambda d: d.name,
)
def test_normal_chains(native, dynamics) -> None:
    step, n_steps = 0.02, 20_000
    exact = lv.theory.Normal(native, dynamics)
    trace = lv.sample(native, dynamics, step_size=step, n_steps=n_steps, n_chains=64, burn_in=2_000,
                      keep_draws=False, observables=["sum", "sum_of_squares"],
                      seed=0, progress=False)  # fmt: skip
    assert not trace.escapes
    for name in trace.observables:
        expected = exact.batch_means_expectation(name, 20, step * (n_steps - 2_000) // 20)
        estimate = trace.asymptotic_variance(name)
        # Five standard errors, and 3 % for the step size: the relaxation rate is ½ per unit of
        # time (B = Fisher⁻¹, β = ½), so Euler–Maruyama is off by h/4 = 0.5 % in the variances.
        assert abs(estimate.mean - expected) < 5 * estimate.se + 0.03 * expected
        assert abs(trace.mean(name) - exact.expectation(name)) < 5 * np.sqrt(
            estimate.mean / (64 * step * (n_steps - 2_000))
        ) + 0.01 * np.sqrt(exact.variance(name))


def test_reference_numbers() -> None:
    # Asymptotic variances from a spectral method, to all digits shown.
    data = np.concatenate([np.full(15, -10.0), np.full(15, 10.0)])
    gi = lv.theory.Normal(lv.NormalParameters(data), lv.GiIrr(skew=lv.sign_skew(2.0)))
    assert abs(gi.asymptotic_variance("sum") - 1.526649315654) < 1e-10
    one = lv.theory.Gaussian(lv.LinearGaussian([[0.0]], 0.5, 0.5))
    assert abs(one.euler_maruyama(0.1).stationary_covariance[0, 0] - 1 / (1 - 0.025)) < 1e-13
    assert abs(one.asymptotic_variance("sum") - 4.0) < 1e-12


def test_exact_draws_and_ksd(gaussian) -> None:
    draws = gaussian.exact_draws(2_000, seed=1)
    scores = gaussian.score(draws)
    good = lv.ksd(draws, scores)
    bad = lv.ksd(draws + 0.5, gaussian.score(draws + 0.5))
    assert good < 0.2 * bad
    curve = lv.ksd_curve(draws, scores)
    assert curve.shape == (2_000,) and curve[-1] == good
    # By hand, for three points: k0 of the kernel (1 + r²)^(-1/2).
    x, s = draws[:3], scores[:3]
    total = 0.0
    for i in range(3):
        for j in range(3):
            r = x[i] - x[j]
            u = 1 + r @ r
            total += (
                s[i] @ s[j] * u**-0.5
                + (s[i] - s[j]) @ r * u**-1.5
                + 3 * u**-1.5
                - 3 * (r @ r) * u**-2.5
            )
    np.testing.assert_allclose(curve[2], np.sqrt(total) / 3, rtol=1e-12)


def test_diagnostics_equal_arviz() -> None:
    arviz = pytest.importorskip("arviz")
    rng = np.random.default_rng(8)
    draws = rng.normal(size=(4, 500, 2)).cumsum(axis=1) * 0.05 + rng.normal(size=(4, 500, 2))
    for name, ours in (("bulk", lv.ess_bulk), ("tail", lv.ess_tail), ("mean", lv.ess_mean)):
        for i in range(2):
            options = {"prob": (0.05, 0.95)} if name == "tail" else {}
            theirs = float(arviz.ess(draws[..., i], method=name, **options))
            np.testing.assert_allclose(ours(draws)[i], theirs, rtol=1e-10)
    for i in range(2):
        np.testing.assert_allclose(lv.rhat(draws)[i], float(arviz.rhat(draws[..., i])), rtol=1e-10)
