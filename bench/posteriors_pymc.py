"""Posteriors as users of PyMC write them: what samplers are compared on.

Chosen and written down before any of them was run. Data are made here, from fixed seeds, except the
eight schools (Rubin 1981) and German credit. Parameterisations are the plain ones; where there are two
usual ones, both are here.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pymc as pm
import pytensor.tensor as pt

CREDIT = Path(__file__).parents[1] / "data" / "german-credit.csv"


def credit() -> tuple[np.ndarray, np.ndarray]:
    """The 400 rows for training: features with mean 0 and variance 1, and labels."""
    with CREDIT.open() as file:
        rows = [r for r in csv.DictReader(file) if r["train"] == "1"]
    names = [n for n in rows[0] if n not in ("bad", "train")]
    x = np.array([[float(r[n]) for n in names] for r in rows])
    return (x - x.mean(0)) / x.std(0), np.array([float(r["bad"]) for r in rows])


def german_credit() -> None:
    x, y = credit()
    theta = pm.Normal("theta", 0.0, 1.0, shape=x.shape[1])
    pm.Bernoulli("y", logit_p=x @ theta, observed=y)


def linear_bad_scales() -> None:
    rng = np.random.default_rng(1)
    scales = np.array([1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1e3])
    x = rng.normal(size=(150, 7)) * scales
    y = 2.0 + x @ (rng.normal(size=7) / scales) + rng.normal(size=150)
    intercept = pm.Normal("intercept", 0.0, 10.0)
    slopes = pm.Normal("slopes", 0.0, 5.0 / scales, shape=7)
    sigma = pm.HalfNormal("sigma", 5.0)
    pm.Normal("y", intercept + x @ slopes, sigma, observed=y)


def logistic() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(300, 10)) + rng.normal(size=(300, 1))
    y = rng.random(300) < 1 / (1 + np.exp(-(x @ rng.normal(0, 0.5, 10) - 1)))
    intercept = pm.Normal("intercept", 0.0, 2.5)
    slopes = pm.Normal("slopes", 0.0, 1.0, shape=10)
    pm.Bernoulli("y", logit_p=intercept + x @ slopes, observed=y.astype(float))


def poisson() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(200, 5))
    y = rng.poisson(np.exp(1.0 + x @ np.array([0.5, -0.4, 0.3, 0.0, 0.2])))
    intercept = pm.Normal("intercept", 0.0, 5.0)
    slopes = pm.Normal("slopes", 0.0, 1.0, shape=5)
    pm.Poisson("y", pt.exp(intercept + x @ slopes), observed=y)


def robust_t() -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=(100, 4))
    y = 1.0 + x @ np.array([1.0, -1.0, 0.5, 0.0]) + 0.7 * rng.standard_t(3, size=100)
    intercept = pm.Normal("intercept", 0.0, 5.0)
    slopes = pm.Normal("slopes", 0.0, 2.0, shape=4)
    sigma = pm.HalfNormal("sigma", 2.0)
    nu = pm.Gamma("nu", 2.0, 0.1)
    pm.StudentT("y", nu=nu, mu=intercept + x @ slopes, sigma=sigma, observed=y)


SCHOOLS = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
SCHOOLS_SE = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])


def eight_schools_centred() -> None:
    mu, tau = pm.Normal("mu", 0.0, 5.0), pm.HalfCauchy("tau", 5.0)
    theta = pm.Normal("theta", mu, tau, shape=8)
    pm.Normal("y", theta, SCHOOLS_SE, observed=SCHOOLS)


def eight_schools_noncentred() -> None:
    mu, tau = pm.Normal("mu", 0.0, 5.0), pm.HalfCauchy("tau", 5.0)
    z = pm.Normal("z", 0.0, 1.0, shape=8)
    pm.Normal("y", mu + tau * z, SCHOOLS_SE, observed=SCHOOLS)


def _radon(centred: bool) -> None:
    rng = np.random.default_rng(5)
    county = np.repeat(np.arange(30), rng.integers(2, 21, size=30))
    floor = (rng.random(len(county)) < 0.2).astype(float)
    uranium = rng.normal(size=30)
    level = 1.4 + 0.7 * uranium + 0.3 * rng.normal(size=30)
    y = level[county] - 0.6 * floor + 0.75 * rng.normal(size=len(county))
    gamma = pm.Normal("gamma", 0.0, 5.0, shape=2)
    slope = pm.Normal("slope", 0.0, 5.0)
    tau, sigma = pm.HalfNormal("tau", 1.0), pm.HalfNormal("sigma", 1.0)
    mean = gamma[0] + gamma[1] * uranium
    if centred:
        alpha = pm.Normal("alpha", mean, tau, shape=30)
    else:
        alpha = mean + tau * pm.Normal("z", 0.0, 1.0, shape=30)
    pm.Normal("y", alpha[county] + slope * floor, sigma, observed=y)


def radon_centred() -> None:
    _radon(True)


def radon_noncentred() -> None:
    _radon(False)


def ar1() -> None:
    rng = np.random.default_rng(6)
    y = np.zeros(200)
    for t in range(1, 200):
        y[t] = 0.3 + 0.85 * y[t - 1] + 0.5 * rng.normal()
    constant = pm.Normal("constant", 0.0, 2.0)
    phi = pm.Uniform("phi", -1.0, 1.0)
    sigma = pm.HalfNormal("sigma", 2.0)
    pm.Normal("y", constant + phi * y[:-1], sigma, observed=y[1:])


def _powers(base: pt.TensorVariable, n: int) -> pt.TensorVariable:
    """The lower triangular matrix of base^(i − j)."""
    lag = np.subtract.outer(np.arange(n), np.arange(n))
    return pt.power(base, np.maximum(lag, 0)) * (lag >= 0)


def stochastic_volatility() -> None:
    rng = np.random.default_rng(7)
    n = 100
    h = np.empty(n)
    h[0] = 0.25 / np.sqrt(1 - 0.95**2) * rng.normal()
    for t in range(1, n):
        h[t] = 0.95 * h[t - 1] + 0.25 * rng.normal()
    y = np.exp((-1.0 + h) / 2) * rng.normal(size=n)
    mu = pm.Normal("mu", 0.0, 2.0)
    phi = pm.Beta("phi", 20.0, 1.5)
    sigma = pm.HalfNormal("sigma", 0.5)
    z = pm.Normal("z", 0.0, 1.0, shape=n)
    first = pt.set_subtensor(z[0], z[0] / pt.sqrt(1 - phi**2))
    pm.Normal("y", 0.0, pt.exp((mu + sigma * (_powers(phi, n) @ first)) / 2), observed=y)


def garch() -> None:
    rng = np.random.default_rng(8)
    n = 150
    y, v = np.empty(n), 1.0
    for t in range(n):
        y[t] = 0.2 + np.sqrt(v) * rng.normal()
        v = 0.2 + 0.25 * (y[t] - 0.2) ** 2 + 0.6 * v
    mu = pm.Normal("mu", 0.0, 2.0)
    omega = pm.HalfNormal("omega", 1.0)
    alpha, beta = pm.Beta("alpha", 1.5, 3.0), pm.Beta("beta", 2.0, 2.0)
    # v_t = ω + α e²_{t−1} + β v_{t−1}, written out.
    into = omega + alpha * (y[:-1] - mu) ** 2
    into = pt.concatenate([pt.ones(1) * float(np.var(y)), into])
    pm.Normal("y", mu, pt.sqrt(_powers(beta, n) @ into), observed=y)


def mixture() -> None:
    rng = np.random.default_rng(9)
    first = rng.random(150) < 0.4
    y = np.where(first, rng.normal(-1.2, 0.8, 150), rng.normal(1.5, 1.1, 150))
    weight = pm.Beta("weight", 2.0, 2.0)
    ordered = pm.distributions.transforms.ordered
    mu = pm.Normal("mu", 0.0, 3.0, shape=2, transform=ordered, initval=np.array([-1.0, 1.0]))
    sigma = pm.HalfNormal("sigma", 2.0, shape=2)
    pm.NormalMixture("y", pt.stack([weight, 1 - weight]), mu, sigma=sigma, observed=y)


def item_response() -> None:
    rng = np.random.default_rng(10)
    people, items = 30, 10
    a, b = np.exp(0.3 * rng.normal(size=items)), rng.normal(size=items)
    p = 1 / (1 + np.exp(-a * (rng.normal(size=(people, 1)) - b)))
    y = (rng.random((people, items)) < p).astype(float)
    ability = pm.Normal("ability", 0.0, 1.0, shape=people)
    difficulty = pm.Normal("difficulty", 0.0, 2.0, shape=items)
    discrimination = pm.LogNormal("discrimination", 0.0, 0.5, shape=items)
    pm.Bernoulli("y", logit_p=discrimination * (ability[:, None] - difficulty), observed=y)


def gaussian_process() -> None:
    rng = np.random.default_rng(11)
    x = np.sort(rng.uniform(0, 10, 25))
    y = np.sin(x) + 0.3 * rng.normal(size=25)
    length = pm.InverseGamma("length", 3.0, 4.0)
    height, noise = pm.HalfNormal("height", 2.0), pm.HalfNormal("noise", 1.0)
    square = np.subtract.outer(x, x) ** 2
    covariance = height**2 * pt.exp(-0.5 * square / length**2) + noise**2 * np.eye(25)
    pm.MvNormal("y", np.zeros(25), cov=covariance, observed=y)


def student_t() -> None:
    """Ten coordinates that are t with 5 degrees of freedom together, scales 1 to 10, correlated."""
    scale = np.linspace(1.0, 10.0, 10)
    lag = np.abs(np.subtract.outer(np.arange(10), np.arange(10)))
    precision = np.linalg.inv(np.outer(scale, scale) * 0.6**lag)
    x = pm.Flat("x", shape=10, initval=np.zeros(10))
    pm.Potential("density", -7.5 * pt.log1p(x @ precision @ x / 5))


def banana() -> None:
    x = pm.Normal("x", 0.0, 10.0)
    pm.Normal("y", 0.03 * (x**2 - 100.0), 1.0)


def hierarchical_logistic() -> None:
    rng = np.random.default_rng(12)
    group = np.repeat(np.arange(20), 15)
    x = rng.normal(size=(300, 2))
    level = -0.5 + 0.8 * rng.normal(size=20)
    p = 1 / (1 + np.exp(-(level[group] + x @ np.array([1.0, -0.5]))))
    y = (rng.random(300) < p).astype(float)
    mu, tau = pm.Normal("mu", 0.0, 2.0), pm.HalfNormal("tau", 1.0)
    z = pm.Normal("z", 0.0, 1.0, shape=20)
    slopes = pm.Normal("slopes", 0.0, 2.0, shape=2)
    pm.Bernoulli("y", logit_p=(mu + tau * z)[group] + x @ slopes, observed=y)


def growth_curve() -> None:
    """Logistic growth with relative error."""
    rng = np.random.default_rng(13)
    t = np.linspace(0, 10, 25)
    y = 50 / (1 + np.exp(-0.9 * (t - 4))) * np.exp(0.1 * rng.normal(size=25))
    top = pm.LogNormal("top", 4.0, 1.0)
    rate, middle = pm.HalfNormal("rate", 2.0), pm.Normal("middle", 5.0, 5.0)
    sigma = pm.HalfNormal("sigma", 1.0)
    curve = pt.log(top) - pt.log1p(pt.exp(-rate * (t - middle)))
    pm.LogNormal("y", curve, sigma, observed=y)


POSTERIORS: dict[str, Callable[[], None]] = {
    f.__name__: f
    for f in (
        linear_bad_scales, logistic, poisson, robust_t,
        eight_schools_centred, eight_schools_noncentred, radon_centred, radon_noncentred,
        hierarchical_logistic, ar1, stochastic_volatility, garch, growth_curve,
        mixture, item_response, gaussian_process, student_t, banana,
    )
}  # fmt: skip


def model(name: str) -> pm.Model:
    """The PyMC model of this name."""
    with pm.Model() as made:
        {**POSTERIORS, "german_credit": german_credit}[name]()
    return made
