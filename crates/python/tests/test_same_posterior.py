"""The same posterior, written for NumPy, JAX, numba, PyMC and Stan."""

from __future__ import annotations

import ctypes
import importlib.util
import json
import shutil
import sys
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

import langevin as lv

# On (mu, log sigma), where all of these live, the chains of the same seed must be the same.
FORMS: dict[str, Callable[[np.ndarray], lv.Target]] = {}


def form(function: Callable[[np.ndarray], lv.Target]) -> Callable[[np.ndarray], lv.Target]:
    FORMS[function.__name__] = function
    return function


@form
def numpy(data: np.ndarray) -> lv.Target:
    n, mean = len(data), data.mean()
    squares = ((data - mean) ** 2).sum()

    def score(theta: np.ndarray) -> np.ndarray:
        shift, precision = theta[:, 0] - mean, np.exp(-2 * theta[:, 1])
        rest = (squares + n * shift**2) * precision
        return np.stack([-n * shift * precision, rest - n + 1], axis=1)

    return lv.Target(2, score=score, parameters=["mu", "log_sigma"])


@form
def jax(data: np.ndarray) -> lv.Target:
    jnp = pytest.importorskip("jax.numpy")

    def log_density(theta):
        z = (data - theta[0]) * jnp.exp(-theta[1])
        return -(len(data) - 1) * theta[1] - 0.5 * (z**2).sum()

    return lv.from_jax(log_density, 2, parameters=["mu", "log_sigma"])


@form
def cfunc(data: np.ndarray) -> lv.Target:
    numba = pytest.importorskip("numba")
    n, mean = len(data), data.mean()
    squares = ((data - mean) ** 2).sum()
    number = numba.types.CPointer(numba.types.double)
    signature = numba.types.int64(
        numba.types.uint64, number, number, number, numba.types.voidptr
    )

    @numba.cfunc(signature)
    def log_density(dim, theta, gradient, value, _):
        shift, precision = theta[0] - mean, np.exp(-2 * theta[1])
        rest = (squares + n * shift**2) * precision
        value[0] = -(n - 1) * theta[1] - 0.5 * rest
        gradient[0] = -n * shift * precision
        gradient[1] = rest - n + 1
        return 0

    return lv.from_cfunc(log_density, 2, parameters=["mu", "log_sigma"])


@form
def pymc(data: np.ndarray) -> lv.Target:
    pm = pytest.importorskip("pymc")
    with pm.Model() as model:
        mu = pm.Flat("mu")
        sigma = pm.HalfFlat("sigma")
        pm.Normal("x", mu, sigma, observed=data)
        pm.Deterministic("ratio", sigma / mu)
    target = lv.from_pymc(model)
    assert target.compiled == (importlib.util.find_spec("numba") is not None)
    return target


@form
def stan(data: np.ndarray) -> lv.Target:
    if shutil.which("g++") is None or sys.platform != "linux":
        pytest.skip("building the Stan library needs g++ on Linux")
    from build_stan import build

    return lv.from_stan(build(), {"N": len(data), "x": data})


@pytest.fixture(scope="module")
def reference(data: np.ndarray) -> np.ndarray:
    """The chains of the NumPy form."""
    return run(numpy(data)).unconstrained


def run(target: lv.Target, **options: object) -> lv.Trace:
    settings = dict(step_size=1e-3, n_steps=10_000, n_chains=100, burn_in=500, thin=5, seed=4)
    start = [3.0, np.log(2.0)]
    return lv.sample(target, start=start, progress=False, **(settings | options))


@pytest.mark.parametrize("name", FORMS)
def test_same_chains_and_the_exact_posterior(
    name: str, data: np.ndarray, native: lv.NormalParameters, reference: np.ndarray
) -> None:
    target = FORMS[name](data)
    trace = run(target)
    # Scores differ in the last digits, and the contracting drift keeps states together: 1e-9 is
    # some 10^4 times the rounding of one step.
    np.testing.assert_allclose(trace.unconstrained, reference, atol=1e-9, rtol=0)
    sigma = trace["sigma"] if name in ("pymc", "stan") else np.exp(trace["log_sigma"])
    exact = lv.theory.Normal(native)
    for coordinate, draws in ((0, trace["mu"]), (1, sigma)):
        # Chains are independent, so their means give an honest error. |z| < 5 has a false-alarm
        # rate of 1e-6 (t with 99 degrees of freedom: 3e-6); the bias of this step size is below
        # half a standard error.
        means = draws.mean(axis=1)
        error = means.std(ddof=1) / np.sqrt(len(means))
        z = (means.mean() - exact.expectation(coordinate)) / error
        assert abs(z) < 5, (name, coordinate, z)
        # The standard deviation within 5 %: Euler–Maruyama adds h·rate/2 ≈ 1 % to the variance.
        sd = np.sqrt(exact.variance(coordinate))
        assert abs(draws.std() / sd - 1) < 0.05


def test_the_native_posterior_is_exact_too(native: lv.NormalParameters) -> None:
    trace = lv.sample(native, "RM", step_size=0.05, n_steps=10_000, n_chains=100, burn_in=500,
                      thin=20, seed=0, progress=False)  # fmt: skip
    exact = lv.theory.Normal(native)
    means = trace["mu"].mean(axis=1)
    z = (means.mean() - exact.expectation(0)) / (means.std(ddof=1) / 10)
    assert abs(z) < 5
    # The negative control: a mean that is off by half a standard deviation must be seen.
    off = exact.expectation(0) + 0.5 * np.sqrt(exact.variance(0))
    assert abs((means.mean() - off) / (means.std(ddof=1) / 10)) > 5


def test_constrained_names_and_shapes() -> None:
    pm = pytest.importorskip("pymc")
    with pm.Model() as model:
        pm.Normal("w", shape=(2, 3))
        pm.Uniform("u", -1.0, 2.0)
        pm.Dirichlet("p", np.ones(3))
    # The quick mode: compiling would take longer than sampling.
    target = lv.from_pymc(model, mode="FAST_COMPILE")
    trace = lv.sample(target, step_size=0.05, n_steps=400, seed=0, progress=False)
    assert trace["w"].shape == (4, 400, 2, 3)
    assert trace["u"].min() > -1.0 and trace["u"].max() < 2.0
    np.testing.assert_allclose(trace["p"].sum(axis=-1), 1.0)
    assert trace["w"][0, 7, 1, 2] == trace.draws[0, 7, list(trace.summary()).index("w[1, 2]")]


def test_compiled_functions_run_in_all_threads_alike(data: np.ndarray) -> None:
    target = cfunc(data)
    one = run(target, n_steps=600, threads=1).draws
    for threads in (2, 3):
        assert np.array_equal(run(target, n_steps=600, threads=threads).draws, one)


def pymc_model():
    pm = pytest.importorskip("pymc")
    pytest.importorskip("numba")
    with pm.Model() as model:
        scale = pm.Data("scale", 2.0)
        w = pm.Normal("w", shape=3)
        sigma = pm.HalfNormal("sigma", scale)
        pm.Normal("y", w.sum(), sigma, observed=[0.3, -1.2, 0.4])
    return model


def test_pymc_compiled_or_not_gives_the_same_chains() -> None:
    model = pymc_model()
    compiled, plain = lv.from_pymc(model), lv.from_pymc(model, mode="FAST_COMPILE")
    assert compiled.compiled and not plain.compiled
    theta = np.random.default_rng(0).normal(size=(5, 4))
    np.testing.assert_allclose(compiled.log_density(theta), plain.log_density(theta), rtol=1e-12)
    np.testing.assert_allclose(compiled.score(theta), plain.score(theta), rtol=1e-10)
    options = dict(step_size=0.02, n_steps=300, n_chains=13, seed=0, progress=False)
    one = lv.sample(compiled, threads=1, **options)
    np.testing.assert_allclose(one.draws, lv.sample(plain, **options).draws, atol=1e-9)
    for threads in (2, 3):
        assert np.array_equal(lv.sample(compiled, threads=threads, **options).draws, one.draws)
    # A metric of one's own works with both.
    metric = lv.RM(lambda t: np.broadcast_to(2.0 * np.eye(4), (len(t), 4, 4)))
    a, b = (lv.sample(target, metric, **options).draws for target in (compiled, plain))
    np.testing.assert_allclose(a, b, atol=1e-9)


def left_after_holding_the_lock(target: lv.Target, n_steps: int) -> tuple[float, float]:
    """Seconds of a run alone, and those left of it once this thread has held the interpreter lock
    for longer than that."""

    def work() -> None:
        lv.sample(target, step_size=1e-3, n_steps=n_steps, n_chains=64, thin=n_steps, seed=0,
                  progress=False)  # fmt: skip

    begin = time.perf_counter()
    work()
    alone = time.perf_counter() - begin
    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(0.05)  # it has begun
    # PyDLL keeps the lock while the function runs.
    ctypes.PyDLL(None).usleep(int(1e6 * (2 * alone + 0.2)))
    begin = time.perf_counter()
    thread.join()
    return alone, time.perf_counter() - begin


@pytest.mark.skipif(sys.platform == "win32", reason="needs usleep")
def test_pymc_runs_without_the_interpreter_lock() -> None:
    model = pymc_model()
    alone, left = left_after_holding_the_lock(lv.from_pymc(model), n_steps=15_000)
    assert left < 0.5 * alone, (alone, left)
    # The negative control: PyTensor's function waits for the lock.
    plain = lv.from_pymc(model, mode="FAST_COMPILE")
    alone, left = left_after_holding_the_lock(plain, n_steps=500)
    assert left > 0.5 * (alone - 0.05), (alone, left)


def test_a_compiled_function_that_fails_ends_its_chain() -> None:
    numba = pytest.importorskip("numba")
    number = numba.types.CPointer(numba.types.double)
    signature = numba.types.int64(
        numba.types.uint64, number, number, number, numba.types.voidptr
    )

    @numba.cfunc(signature)
    def bounded(dim, theta, gradient, value, _):
        gradient[0] = -theta[0]
        return 1 if abs(theta[0]) > 2.0 else 0

    with pytest.warns(lv.EscapeWarning):
        trace = lv.sample(lv.from_cfunc(bounded, 1), step_size=0.1, n_steps=500, n_chains=20,
                          seed=0, progress=False)  # fmt: skip
    assert 0 < len(trace.escapes) == 20 - len(trace.chains)
    assert np.isfinite(trace.draws).all()


def test_stan_data_are_a_dictionary_a_text_or_a_file(data, tmp_path) -> None:
    target = stan(data)
    from build_stan import build

    values = {"N": len(data), "x": data.tolist()}
    path = tmp_path / "data.json"
    path.write_text(json.dumps(values))
    theta = [3.0, 0.5]
    for given in (values, json.dumps(values), path, str(path)):
        assert lv.from_stan(build(), given).log_density(theta) == target.log_density(theta)
    with pytest.raises(FileNotFoundError):
        lv.from_stan(build(), "missing.json")


def test_a_stan_library_without_threads_runs_in_one(data, monkeypatch) -> None:
    threaded = stan(data)
    monkeypatch.setenv("STAN_WITHOUT_THREADS", "1")
    alone = stan(data)
    assert (threaded.threaded, alone.threaded) == (True, False)
    a, b = (run(target, n_steps=600, threads=2).draws for target in (threaded, alone))
    assert np.array_equal(a, b)


def test_names_of_stan_parameters() -> None:
    from langevin.stan_target import _group

    names = ["mu", "b.1", "b.2", "m.1.1", "m.2.1", "m.1.2", "m.2.2", "z.real", "z.imag", "t:1"]
    groups = {p.name: p.shape for p in _group(names)}
    assert groups == {"mu": (), "b": (2,), "m": (2, 2), "z.real": (), "z.imag": (), "t:1": ()}


def test_stan_errors_are_messages(data: np.ndarray) -> None:
    target = stan(data)
    np.testing.assert_allclose(target.unconstrain([3.0, 2.0]), [3.0, np.log(2.0)])
    with pytest.raises(ValueError, match="sigma|lower|positive|[Bb]ound"):
        target.unconstrain([3.0, -2.0])
    from build_stan import build

    with pytest.raises(ValueError, match="x"):
        lv.from_stan(build(), {"N": 3})
    with pytest.raises(FileNotFoundError, match="compile_model"):
        lv.from_stan("missing.so")
    with pytest.raises(OSError):
        lv.from_stan(__file__)
