"""Do all programs sample the same distribution, and compute the same discrepancy?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from itertools import combinations

#: Two right programs differ by more than this many standard errors once in 1.7 million comparisons.
LIMIT = 5.0
#: Relative difference of two discrepancies: rounding of 10¹⁰ terms, far below any real mistake.
KSD_TOLERANCE = 1e-9


def pooled(answers: list[dict], phi: str) -> tuple[float, float]:
    """Mean and standard error over the repetitions, which have independent seeds."""
    mean = sum(a[phi] for a in answers) / len(answers)
    error = math.sqrt(sum(a[f"{phi}_se"] ** 2 for a in answers)) / len(answers)
    return mean, error


def label(answer: dict) -> str:
    return f"{answer['peer']} {answer['precision']}"


def wrong_programs(answers: Iterable[dict]) -> list[str]:
    """Complaints, each naming the program that differs from most others; empty when all agree.

    All answers of one workload have the same numbers of steps and the same start, so that right
    programs agree in mean even where chains are too short to be stationary. Minibatches with and
    without replacement make different chains, which are compared among themselves only.
    """
    complaints = []
    groups: dict[tuple, dict[str, list[dict]]] = {}
    for a in answers:
        same_law = (a["workload"], a["replacement"], a["steps"], a["burn_in"])
        groups.setdefault(same_law, {}).setdefault(label(a), []).append(a)
    for (workload, *_), programs in groups.items():
        for name, runs in programs.items():
            chains = sum(a["chains"] for a in runs)
            escaped = sum(a["escaped"] for a in runs)
            if escaped:
                complaints.append(f"{workload}: {escaped} of {chains} chains of {name} escaped")
        complete = {n: r for n, r in programs.items() if all(_has_means(a) for a in r)}
        complaints += [
            f"{workload}: {name} has no means" for name in programs if name not in complete
        ]
        for phi in ("phi1", "phi2"):
            complaints += _outliers(workload, phi, complete)
    return complaints


def _has_means(answer: dict) -> bool:
    return all(answer[k] is not None for k in ("phi1", "phi1_se", "phi2", "phi2_se"))


def _outliers(workload: str, phi: str, programs: dict[str, list[dict]]) -> list[str]:
    values = {name: pooled(runs, phi) for name, runs in programs.items()}
    against: Counter[str] = Counter()
    worst: dict[str, tuple[float, str]] = {}
    for a, b in combinations(values, 2):
        (mean_a, error_a), (mean_b, error_b) = values[a], values[b]
        distance = abs(mean_a - mean_b) / math.hypot(error_a, error_b)
        if not distance <= LIMIT:
            for name, other in ((a, b), (b, a)):
                against[name] += 1
                worst[name] = max(worst.get(name, (0.0, "")), (distance, other))
    # The odd one out has the most others against it; of only two programs both are named.
    suspects = [n for n, count in against.items() if count == max(against.values())]
    return [
        f"{workload}: {name} is wrong in {phi}: {values[name][0]:.6g} ± {values[name][1]:.2g}, "
        f"{worst[name][0]:.1f} standard errors from {worst[name][1]} "
        f"({values[worst[name][1]][0]:.6g} ± {values[worst[name][1]][1]:.2g})"
        for name in suspects
    ]


def wrong_discrepancies(answers: Iterable[dict]) -> list[str]:
    """The same for the discrepancy, where the median of all programs is the reference."""
    groups: dict[tuple, dict[str, float]] = {}
    for a in answers:
        groups.setdefault((a["workload"], a["points"]), {})[label(a)] = a["ksd"]
    complaints = []
    for (workload, _), values in groups.items():
        middle = sorted(values.values())[len(values) // 2]
        complaints += [
            f"{workload}: {name} is wrong: {value!r}, others have {middle!r}"
            for name, value in values.items()
            if not abs(value - middle) <= KSD_TOLERANCE * abs(middle)
        ]
    return complaints
