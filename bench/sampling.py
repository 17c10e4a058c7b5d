"""`lv.sample(target)` against nutpie, each with its defaults, runs in turn.

    bench/sampling.py german [--seeds 5]           one line of JSON for each run
    bench/sampling.py models [--only banana] …     the same; each posterior in a process of its own
    bench/sampling.py cold                         German credit to the error of 400 independent draws
    bench/sampling.py table FILE…                  Markdown from these lines

Processor seconds are those of the whole process, all threads: warm-up, looking and making the
result are in them, compiling is not. Gradients are those of all chains, warm-up included. Effective
draws are the fewest of all entries of all free variables on the model's own scale, by one code for
all; "squares" are squared distances to the mean.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

Answer = dict[str, Any]
NUTPIE = {"chains": 4, "cores": 2, "progress_bar": False}
#: Seconds for a run of langevin; the default is 600.
MAX_TIME = 20.0


def measured(draws: np.ndarray) -> Answer:
    """Effective draws, means and standard deviations of draws of shape (chain, draw, dim)."""
    import langevin as lv

    def fewest(values: np.ndarray) -> float:
        return float(np.min(values)) if np.isfinite(values).all() else 0.0

    n = {"bulk": lv.ess_bulk(draws), "tail": lv.ess_tail(draws), "squares": lv.ess_sd(draws)}
    answer: Answer = {f"ess_{k}": fewest(np.asarray(v)) for k, v in n.items()}
    answer["ess"] = min(answer.values())
    sd = draws.std(axis=(0, 1))
    answer["mean"], answer["sd"] = draws.mean(axis=(0, 1)).tolist(), sd.tolist()
    answer["mean_error"] = (sd / np.sqrt(lv.ess_mean(draws))).tolist()
    # Of a standard deviation: that of (x − mean)² over 2 sd.
    spread = ((draws - draws.mean(axis=(0, 1))) ** 2).std(axis=(0, 1)) / (2 * sd)
    answer["sd_error"] = (spread / np.sqrt(n["squares"])).tolist()
    answer["rhat"] = float(np.max(lv.rhat(draws)))
    return answer


def by_nutpie(compiled: Any, names: list[str], low_rank: bool) -> Callable[[int, float], Answer]:
    import nutpie

    def run(seed: int, _: float) -> Answer:
        begin, wall = time.process_time(), time.monotonic()
        options: Any = {"low_rank_modified_mass_matrix": True} if low_rank else {}
        trace = nutpie.sample(compiled, tune=400, draws=1000, seed=seed, **options, **NUTPIE)
        took, wall = time.process_time() - begin, time.monotonic() - wall
        steps = [int(g["n_steps"].sum()) for g in (trace.warmup_sample_stats, trace.sample_stats)]
        columns = [np.asarray(trace.posterior[n]) for n in names]
        draws = np.concatenate([c.reshape(*c.shape[:2], -1) for c in columns], axis=2)
        return {
            "cpu": took, "wall": wall, "gradients": sum(steps), "warm_up": steps[0],
            "divergences": int(trace.sample_stats["diverging"].sum()), "warnings": [],
            "n_draws": draws.shape[0] * draws.shape[1], **measured(draws),
        }  # fmt: skip

    return run


def by_langevin(target: Any, names: list[str], same_goal: bool) -> Callable[[int, float], Answer]:
    import langevin as lv

    def run(seed: int, goal: float) -> Answer:
        options: Any = {"min_ess": max(goal, 20.0)} if same_goal else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            begin, wall = time.process_time(), time.monotonic()
            trace = lv.sample(target, seed=seed, progress=False, max_time=MAX_TIME, **options)
            took, wall = time.process_time() - begin, time.monotonic() - wall
        columns = [np.asarray(trace[n]) for n in names]
        draws = np.concatenate([c.reshape(*c.shape[:2], -1) for c in columns], axis=2)
        report = trace.report
        return {
            "cpu": took, "wall": wall, "warm_up": report["warm_up"]["gradients"],
            "gradients": report["gradients"] + report["warm_up"]["gradients"],
            "warnings": list(trace.warnings), "n_draws": draws.shape[0] * draws.shape[1],
            "report": report, **measured(draws),
        }  # fmt: skip

    return run


def samplers_of(posterior: str) -> dict[str, Callable[[int, float], Answer]]:
    """Every sampler of this posterior, compiled and called once."""
    import langevin as lv
    import nutpie

    import posteriors_pymc as pp

    model = pp.model(posterior)
    names = [v.name for v in model.free_RVs]
    compiled, target = nutpie.compile_pymc_model(model), lv.from_pymc(model)
    found = {
        "nutpie": by_nutpie(compiled, names, False),
        "nutpie low rank": by_nutpie(compiled, names, True),
        "langevin": by_langevin(target, names, False),
        "langevin, same goal": by_langevin(target, names, True),
    }
    if posterior == "german_credit":
        x, y = pp.credit()
        native = lv.LogisticRegression(x, y.astype(int), prior_precision=1.0)
        found["langevin native"] = by_langevin(native, ["w"], False)
        found["langevin native, same goal"] = by_langevin(native, ["w"], True)
    for run in found.values():
        run(0, 100.0)
    return found


def runs(posterior: str, seeds: int) -> None:
    samplers = samplers_of(posterior)
    for seed in range(1, seeds + 1):
        goal = 0.0
        for name, run in samplers.items():
            answer = {"posterior": posterior, "sampler": name, "seed": seed, **run(seed, goal)}
            if name == "nutpie":
                goal = answer["ess"]
            print(json.dumps(answer), flush=True)


def cold(repeats: int = 12, wanted: int = 400) -> None:
    """What it costs until means and standard deviations are as near the truth as those of `wanted`
    independent draws: root mean square over all of them and over repeats, 1 where it is reached."""
    import langevin as lv
    import nutpie

    import posteriors_pymc as pp

    compiled = nutpie.compile_pymc_model(pp.model("german_credit"))
    x, y = pp.credit()
    native = lv.LogisticRegression(x, y.astype(int), prior_precision=1.0)
    truth = lv.sample(native, min_ess=200_000, seed=1, progress=False).draws
    mean, sd = truth.mean((0, 1)), truth.std((0, 1))

    def theirs(size: float, seed: int, low_rank: bool) -> np.ndarray:
        options: Any = {"low_rank_modified_mass_matrix": True} if low_rank else {}
        trace = nutpie.sample(compiled, tune=400, draws=int(size), seed=seed, **options, **NUTPIE)
        return np.asarray(trace.posterior["theta"])

    def ours(size: float, seed: int) -> np.ndarray:
        return lv.sample(native, draws=int(size), seed=seed, progress=False).draws

    ways: dict[str, tuple[Callable[..., np.ndarray], tuple[float, ...]]] = {
        "nutpie": (lambda n, s: theirs(n, s, False), (50, 100, 200, 400)),
        "nutpie low rank": (lambda n, s: theirs(n, s, True), (50, 100, 200, 400)),
        "langevin native": (ours, (6, 12, 25, 50, 100)),
    }
    for name, (draw, sizes) in ways.items():
        draw(sizes[0], 0)
        for size in sizes:
            squares, took = [], []
            for seed in range(1, repeats + 1):
                begin = time.process_time()
                draws = draw(size, seed)
                took.append(time.process_time() - begin)
                off = (draws.mean((0, 1)) - mean) / sd, draws.std((0, 1)) / sd - 1
                squares.append(wanted * np.concatenate([off[0] ** 2, 2 * off[1] ** 2]).mean())
            error, cpu = float(np.sqrt(np.mean(squares))), float(np.mean(took))
            answer = {"cold": name, "size": size, "error": error, "cpu": cpu}
            print(json.dumps(answer), flush=True)


def separate(chosen: list[str], seeds: int) -> int:
    """Every posterior in its own process, so that a crash costs that one only."""
    failed = 0
    for posterior in chosen:
        command = [sys.executable, __file__, "runs", "--only", posterior, "--seeds", str(seeds)]
        done = subprocess.run(command, check=False)
        if done.returncode:
            failed = 1
            print(f"{posterior} ended with {done.returncode}", file=sys.stderr)
    return failed


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("what", choices=("german", "models", "runs", "cold", "table"))
    p.add_argument("files", nargs="*")
    p.add_argument("--only", action="append")
    p.add_argument("--seeds", type=int, default=5)
    a = p.parse_args()
    if a.what == "table":
        from sampling_report import tables

        lines = [line for name in a.files for line in open(name, encoding="utf-8")]
        print(tables([json.loads(line) for line in lines]))
        return 0
    if a.what == "cold":
        cold()
        return 0
    if a.what == "german":
        return separate(["german_credit"], a.seeds)
    if a.what == "runs":
        for name in a.only or []:
            runs(name, a.seeds)
        return 0
    import posteriors_pymc as pp

    return separate(a.only or list(pp.POSTERIORS), a.seeds)


if __name__ == "__main__":
    sys.exit(main())
