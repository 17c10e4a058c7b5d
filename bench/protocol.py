"""How the harness talks to the programs that it compares.

A program takes one request as command-line arguments and prints one JSON line, or, with `--serve`,
reads one request per line from its standard input and answers each with one JSON line. Serving keeps
compiled code alive between runs, so that the runs of different programs can be interleaved.
"""

from __future__ import annotations

import argparse
import json
import resource
import shlex
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np

from workloads import KSD_WORKLOADS, WORKLOADS


@dataclass(frozen=True)
class Request:
    """One run: `chains` chains of `steps` steps, or one KSD curve of `points` points."""

    workload: str
    precision: str
    chains: int
    steps: int
    burn_in: int
    seed: int
    threads: int
    #: Minibatches with replacement; only to check programs that cannot do without.
    replacement: bool


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(description="One program of the benchmark.")
    p.add_argument("--workload", choices=[*WORKLOADS, *KSD_WORKLOADS], required=True)
    p.add_argument("--precision", choices=["f32", "f64"], default="f64")
    p.add_argument("--chains", type=int, default=256)
    p.add_argument("--steps", type=int, help="steps of every chain, or points of a KSD curve")
    p.add_argument("--burn-in", type=int)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--replacement", action="store_true")
    return p


def request(arguments: list[str]) -> Request:
    a = parser().parse_args(arguments)
    if a.workload in KSD_WORKLOADS:
        steps, burn_in = a.steps or KSD_WORKLOADS[a.workload].points, 0
    else:
        w = WORKLOADS[a.workload]
        steps = a.steps or w.steps
        # The same share of a run is left out whatever its length.
        burn_in = a.burn_in if a.burn_in is not None else steps * w.burn_in // w.steps
    return Request(
        a.workload, a.precision, a.chains, steps, burn_in, a.seed, a.threads, a.replacement
    )


class Stopwatch:
    """Wall time and processor time of a block; their ratio tells how busy the machine was."""

    def __enter__(self) -> Self:
        self._wall, self._cpu = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.perf_counter() - self._wall
        self.cpu_seconds = time.process_time() - self._cpu


def chain_answer(
    peer: str, r: Request, watch: Stopwatch, averages: np.ndarray, replacement: bool = False
) -> dict:
    """The answer to a run; `averages` has one row (φ1, φ2) for every chain.

    φ1 = Σθᵢ and φ2 = Σθᵢ², averaged over the states after burn-in. Chains that left the finite
    numbers count as escaped and in no mean.
    """
    averages = np.asarray(averages, dtype=np.float64)
    healthy = averages[np.isfinite(averages).all(axis=1)]
    count = len(healthy)
    mean = healthy.mean(axis=0) if count else np.full(2, np.nan)
    error = healthy.std(axis=0, ddof=1) / np.sqrt(count) if count > 1 else np.full(2, np.nan)
    return {
        "peer": peer,
        "workload": r.workload,
        "precision": r.precision,
        "replacement": replacement,
        "threads": r.threads,
        "chains": r.chains,
        "steps": r.steps,
        "burn_in": r.burn_in,
        "seconds": watch.seconds,
        "cpu_seconds": watch.cpu_seconds,
        "rate": r.chains * r.steps / watch.seconds,
        "phi1": _number(mean[0]),
        "phi1_se": _number(error[0]),
        "phi2": _number(mean[1]),
        "phi2_se": _number(error[1]),
        "escaped": len(averages) - count,
        "rss_mb": peak_rss_mb(),
    }


def ksd_answer(peer: str, r: Request, watch: Stopwatch, value: float) -> dict:
    """The answer to a KSD curve, with its last value."""
    return {
        "peer": peer,
        "workload": r.workload,
        "precision": r.precision,
        "threads": r.threads,
        "points": r.steps,
        "seconds": watch.seconds,
        "cpu_seconds": watch.cpu_seconds,
        "ns_per_pair": 1e9 * watch.seconds / r.steps**2,
        "ksd": value,
        "rss_mb": peak_rss_mb(),
    }


def _number(x: float) -> float | None:
    """JSON knows no NaN."""
    return float(x) if np.isfinite(x) else None


def peak_rss_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def main(run: Callable[[Request], dict | None]) -> None:
    """Answers the request on the command line, or those on standard input.

    A `run` that does not know the workload returns `None`, which is answered with `null`.
    """
    if sys.argv[1:] == ["--serve"]:
        for line in sys.stdin:
            print(json.dumps(run(request(shlex.split(line)))), flush=True)
    else:
        print(json.dumps(run(request(sys.argv[1:]))), flush=True)
