"""Runs every workload for every program, interleaved, and writes the tables.

Best of several runs counts; means over all runs are checked against each other. The exit code is 1
when a program samples another distribution than the rest, 2 when one fails.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Iterable
from datetime import date
from pathlib import Path

from check import wrong_discrepancies, wrong_programs
from programs import BENCH, Program, ProgramFailed, programs, rust_example
from report import markdown
from workloads import KSD_WORKLOADS, WORKLOADS

THREADS = 2

#: Chains of a timed run: enough that it lasts about a second, and for JAX what suits the caches.
CHAINS: dict[str, dict[str, int]] = {
    "gaussian-ld": {"langevin": 65536, "numba": 32768, "jax": 4096, "others": 1024},
    "normal-ld": {"langevin": 65536, "numba": 16384, "jax": 4096, "others": 1024},
    "normal-giirr": {"langevin": 65536, "numba": 16384, "jax": 4096, "others": 1024},
    "logistic-ld": {"langevin": 16384, "numba": 4096, "jax": 1024, "others": 512},
    "logistic-rm": {"langevin": 1024, "numba": 128, "jax": 256, "others": 128},
    "logistic-giirr": {"langevin": 1024, "numba": 128, "jax": 256, "others": 128},
    "ica-ld": {"langevin": 16384, "numba": 4096, "jax": 1024, "others": 512},
    "ica-giirr": {"langevin": 16384, "numba": 4096, "jax": 1024, "others": 512},
}

#: Steps of a single chain.
SINGLE_STEPS: dict[str, int] = {
    "gaussian-ld": 20_000_000,
    "normal-ld": 10_000_000,
    "normal-giirr": 10_000_000,
    "logistic-ld": 1_000_000,
    "logistic-rm": 10_000,
    "logistic-giirr": 10_000,
    "ica-ld": 500_000,
    "ica-giirr": 500_000,
}

#: Programs that draw minibatches with replacement: numba does so too, untimed, to compare means.
WITH_REPLACEMENT = {"blackjax", "sgmcmcjax"}


def chains_of(program: str, workload: str, smoke: bool) -> int:
    if smoke:
        return 64
    sizes = CHAINS[workload]
    name = "langevin" if program == "floor" else program
    return sizes.get(name, sizes["others"])


def repeated(
    jobs: list[tuple[Program, list[str]]], repetitions: int, first_seed: int = 1
) -> list[dict]:
    """All answers; every repetition runs every job once, with its own seed."""
    answers = []
    skipped: set[int] = set()
    for repetition in range(repetitions):
        for number, (program, arguments) in enumerate(jobs):
            if number in skipped:
                continue
            answer = program.ask([*arguments, "--seed", str(first_seed + repetition)])
            if answer is None:
                skipped.add(number)
            else:
                answers.append(answer)
    return answers


def time_chains(
    chosen: dict[str, Program], workload: str, repetitions: int, smoke: bool
) -> tuple[list[dict], list[dict]]:
    """Answers that count for time, and further ones that only enter the check of the means."""
    jobs = []
    for program in chosen.values():
        for precision in program.precisions:
            count = str(chains_of(program.name, workload, smoke))
            arguments = ["--workload", workload, "--precision", precision, "--chains", count]
            jobs.append((program, [*arguments, "--threads", str(THREADS)]))
    timed = repeated(jobs, repetitions)
    extra: list[dict] = []
    if "numba" in chosen and any(a.get("replacement") for a in timed):
        arguments = ["--workload", workload, "--replacement", "--threads", str(THREADS)]
        count = str(chains_of("numba", workload, smoke))
        extra = repeated([(chosen["numba"], [*arguments, "--chains", count])], repetitions)
    return timed, extra


def time_single_chains(
    chosen: dict[str, Program], workload: str, repetitions: int, smoke: bool
) -> list[dict]:
    """One chain on one thread."""
    steps = 1000 if smoke else SINGLE_STEPS[workload]
    arguments = ["--workload", workload, "--chains", "1", "--threads", "1", "--steps", str(steps)]
    jobs = [(p, arguments) for name, p in chosen.items() if name in ("langevin", "numba")]
    return repeated(jobs, repetitions)


def time_discrepancy(
    chosen: dict[str, Program], workload: str, repetitions: int, smoke: bool
) -> list[dict]:
    points = 500 if smoke else KSD_WORKLOADS[workload].points
    arguments = ["--workload", workload, "--steps", str(points), "--threads", str(THREADS)]
    names = {"langevin", "numba"}
    if workload == "ksd-1e4":
        names |= {"numpy", "stein-thinning"}
    jobs = [(p, arguments) for name, p in chosen.items() if name in names]
    slow = [(p, a) for p, a in jobs if p.name == "stein-thinning"]
    quick = [(p, a) for p, a in jobs if p.name != "stein-thinning"]
    # A quarter of a minute each: once is enough for a factor of a hundred.
    return repeated(quick, repetitions) + repeated(slow, 1)


def measure_langevin(langevin: Program, repetitions: int, smoke: bool) -> dict[str, list[dict]]:
    """What is only asked of langevin: threads, growth and memory."""
    found: dict[str, list[dict]] = {}

    def series(name: str, variable: str, values: Iterable[int], arguments: list[str]) -> None:
        jobs = [(langevin, [*arguments, f"--{variable}", str(value)]) for value in values]
        answers = repeated(jobs, repetitions)
        for position, answer in enumerate(answers):
            answer["variable"] = variable
            answer["value"] = list(values)[position % len(jobs)]
        found[name] = answers

    scale = 64 if smoke else 1
    for workload in WORKLOADS:
        chains = max(64, CHAINS[workload]["langevin"] // (4 * scale))
        arguments = ["--workload", workload, "--chains", str(chains)]
        series(f"threads {workload}", "threads", (1, 2), arguments)
    base = ["--workload", "normal-ld", "--threads", str(THREADS)]
    chains = 8192 // scale
    series("chains", "chains", [chains * k for k in (1, 2, 4, 8)], base)
    steps = 5000 // scale
    series("steps", "steps", [steps * k for k in (1, 2, 4, 8)], [*base, "--chains", str(chains)])
    for workload in ("logistic-ld", "logistic-rm"):
        chains = max(64, CHAINS[workload]["langevin"] // (8 * scale))
        steps = 20 if smoke else (2000 if workload == "logistic-ld" else 200)
        arguments = ["--workload", workload, "--chains", str(chains), "--steps", str(steps)]
        arguments += ["--threads", str(THREADS)]
        series(f"N {workload}", "n-data", (100, 200, 400, 800, 1600), arguments)
        series(f"d {workload}", "dim", (5, 10, 20, 40), arguments)
    # All recorders of the paper, 1000 chains of 10⁶ steps.
    steps = 1000 if smoke else 1_000_000
    arguments = ["--workload", "normal-ld", "--chains", "1000", "--record", "paper"]
    found["memory"] = repeated(
        [(langevin, [*arguments, "--steps", str(steps), "--threads", str(THREADS)])], 1
    )
    return found


def environment() -> dict:
    model = platform.processor()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    pins = {}
    for name in ("requirements-smoke.txt", "requirements.txt", "requirements-sgmcmc.txt"):
        for line in (BENCH / name).read_text().splitlines():
            if "==" in line:
                package, version = line.split("==")
                key = f"{package} (SGMCMCJax)" if "sgmcmc" in name else package
                pins[key] = version
    return {
        "date": date.today().isoformat(),
        "processor": model,
        "cores": os.cpu_count(),
        "threads": THREADS,
        "python": platform.python_version(),
        "load_before": os.getloadavg()[0],
        "versions": pins,
    }


def arguments() -> argparse.Namespace:
    p = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    p.add_argument("--smoke", action="store_true", help="tiny runs; nothing is saved")
    p.add_argument("--only", action="append", metavar="WORKLOAD", help="may be given again")
    p.add_argument("--peers", help="comma-separated programs (default: all)")
    p.add_argument("--repetitions", type=int, default=5)
    p.add_argument("--skip-growth", action="store_true", help="no threads, growth and memory")
    p.add_argument("--output", type=Path, default=BENCH / "results.json")
    a = p.parse_args()
    names = list(programs())
    if a.peers is not None:
        names = a.peers.split(",")
    elif a.smoke:
        names = ["langevin", "floor", "numba", "numpy"]
    unknown = [n for n in names if n not in programs()]
    if unknown:
        p.error(f"unknown peer {unknown[0]!r}: expected one of {', '.join(programs())}")
    for name in a.only or []:
        if name not in [*WORKLOADS, *KSD_WORKLOADS]:
            expected = ", ".join([*WORKLOADS, *KSD_WORKLOADS])
            p.error(f"unknown workload {name!r}: expected one of {expected}")
    a.peers = names
    return a


def run(options: argparse.Namespace, chosen: dict[str, Program]) -> tuple[dict, list[str]]:
    """All results, and complaints about wrong programs."""
    results: dict = {"environment": environment(), "chains": [], "single": [], "ksd": []}
    checked: list[dict] = []
    selected = options.only or [*WORKLOADS, *KSD_WORKLOADS]
    repetitions = 1 if options.smoke else options.repetitions
    samplers = {n: p for n, p in chosen.items() if n not in ("numpy", "stein-thinning")}
    for workload in selected:
        begin = time.monotonic()
        if workload in WORKLOADS:
            timed, extra = time_chains(samplers, workload, repetitions, options.smoke)
            results["chains"] += timed
            checked += [a for a in timed if a["peer"] != "floor"] + extra
            results["single"] += time_single_chains(samplers, workload, repetitions, options.smoke)
        else:
            count = repetitions if workload == "ksd-1e4" else min(2, repetitions)
            results["ksd"] += time_discrepancy(chosen, workload, count, options.smoke)
        print(f"{workload}: {time.monotonic() - begin:.0f} s", file=sys.stderr)
    if "langevin" in chosen and not options.skip_growth and not options.only:
        repetitions = min(3, repetitions)
        results["langevin"] = measure_langevin(chosen["langevin"], repetitions, options.smoke)
    return results, wrong_programs(checked) + wrong_discrepancies(results["ksd"])


def main() -> int:
    options = arguments()
    chosen = {name: program for name, program in programs().items() if name in options.peers}
    if {"langevin", "floor"} & set(chosen) and not rust_example().exists():
        print(f"{rust_example()} is missing: build it, or leave it out by --peers", file=sys.stderr)
        return 2
    try:
        results, complaints = run(options, chosen)
    except ProgramFailed as failure:
        print(failure, file=sys.stderr)
        return 2
    finally:
        for program in chosen.values():
            program.close()
    results["complaints"] = complaints
    text = markdown(results)
    print(text)
    if not options.smoke:
        options.output.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
        options.output.with_suffix(".md").write_text(text)
    for complaint in complaints:
        print(f"WRONG: {complaint}", file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
