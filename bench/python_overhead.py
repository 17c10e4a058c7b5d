"""What the Python package costs on top of what it calls.  Run by hand, on an idle machine:

    python bench/python_overhead.py path/to/langevin

It needs the installed package and the program. It prints (a) the time of `langevin.sample` over
that of `langevin sample` on the same run, and (b) the time of a run with a NumPy target of 1000
chains over that of its function called alone. Best of five, in turn.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import langevin as lv

REPEATS = 5
STEPS, CHAINS, BURN_IN, THIN, BATCH = 4_000_000, 128, 1_000_000, 30_000, 6

RUN_FILE = """
dynamics = ["GiIrr"]
[target]
model = "normal"
data.values = [{values}]
[run]
n_chains = {chains}
n_steps = {steps}
step_size = 1e-3
burn_in = {burn_in}
thin = {thin}
batch_size = {batch}
seed = 0
skew = {{ kind = "sign-pattern", delta = 2 }}
"""


def best_in_turn(*works: Callable[[], object]) -> list[float]:
    """The shortest time of each, all of them running in turn."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(REPEATS):
        for own, work in zip(times, works):
            begin = time.perf_counter()
            work()
            own.append(time.perf_counter() - begin)
    return [min(own) for own in times]


def native(program: str) -> None:
    """A native model from Python and from the program, start-up and output included."""
    data = np.random.default_rng(1).normal(0.0, 10.0, 30)
    target = lv.NormalParameters(data)
    dynamics = lv.GiIrr(skew=lv.sign_skew(2.0))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.toml")
        text = RUN_FILE.format(values=", ".join(map(repr, data.tolist())), chains=CHAINS,
                               steps=STEPS, burn_in=BURN_IN, thin=THIN, batch=BATCH)  # fmt: skip
        path.write_text(text)
        command = [program, "sample", str(path), "--fresh", "--quiet", "--out", f"{folder}/out"]

        def ours() -> lv.Trace:
            return lv.sample(target, dynamics, step_size=1e-3, n_steps=STEPS, n_chains=CHAINS,
                             burn_in=BURN_IN, thin=THIN, batch_size=BATCH,
                             seed=0, progress=False)  # fmt: skip

        theirs, python, file = best_in_turn(
            lambda: subprocess.run(command, check=True),
            ours,
            lambda: lv.run(path, progress=False),
        )
        same = np.array_equal(lv.open_store(f"{folder}/out/draws.zarr").draws, ours().draws)
    print(f"program {theirs:.3f} s, sample {python:.3f} s, run {file:.3f} s; same draws: {same}")
    print(f"(a) sample / program = {python / theirs:.3f}, run / program = {file / theirs:.3f}")


def functions() -> None:
    """A NumPy target of 1000 chains and its function alone."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 10))

    def score(theta: np.ndarray) -> np.ndarray:
        result: np.ndarray = (1 / (1 + np.exp(theta @ x.T))) @ x - theta
        return result

    theta, n_steps = rng.normal(size=(1000, 10)), 500
    target = lv.Target(10, score=score)
    alone, ours = best_in_turn(
        lambda: [score(theta) for _ in range(n_steps)],
        lambda: lv.sample(target, step_size=0.01, n_steps=n_steps, n_chains=1000, keep_draws=False,
                          seed=0, progress=False),
    )  # fmt: skip
    print(f"(b) function {alone:.3f} s, sample {ours:.3f} s, ratio {ours / alone:.3f}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    native(sys.argv[1])
    functions()
