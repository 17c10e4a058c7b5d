"""Tables of the runs of `sampling.py`."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

Answer = dict[str, Any]


def tables(answers: list[Answer]) -> str:
    found: Any = defaultdict(lambda: defaultdict(list))
    cold: dict[str, list[Answer]] = defaultdict(list)
    for a in answers:
        if "cold" in a:
            cold[a["cold"]].append(a)
            continue
        found[a["posterior"]][a["sampler"]].append(a)
    found = {p: dict(theirs) for p, theirs in found.items()}
    german = found.pop("german_credit", None)
    parts = [_native(german)] if german else []
    if cold:
        parts.append(_cold(cold))
    if found:
        parts += [_ratios(found), _costs(found), _agreement(found)]
    return "\n\n".join(parts)


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _short(value: float) -> str:
    if not np.isfinite(value):
        return "–"
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.2g}" if value < 1 else f"{value:.1f}"


def _native(german: dict[str, list[Answer]]) -> str:
    """Effective draws per processor second, median and best; ratios of medians to nutpie's better."""
    kinds = ("bulk", "tail", "squares")
    rates = {
        s: {k: np.array([a[f"ess_{k}"] / a["cpu"] for a in runs]) for k in kinds}
        for s, runs in german.items()
    }
    peers = [s for s in rates if s.startswith("nutpie")]
    better = {k: max(np.median(rates[s][k]) for s in peers) for k in kinds}
    rows = []
    for sampler, rate in rates.items():
        ratio = [np.median(rate[k]) / better[k] for k in kinds]
        cpu = np.median([a["cpu"] for a in german[sampler]])
        cells = [f"{np.median(rate[k]):.0f} ({rate[k].max():.0f})" for k in kinds]
        last = " / ".join(map(_short, ratio)) + f"; smallest **{_short(min(ratio))}**"
        rows.append([sampler, f"{cpu:.3g}", *cells, last])
    head = ["German credit", "CPU s", *(f"{k} ESS per CPU s: median (best)" for k in kinds)]
    return _table([*head, "to the better nutpie"], rows)


def _cold(found: dict[str, list[Answer]]) -> str:
    """Processor seconds where the error is that of the wanted independent draws, interpolated."""
    took = {}
    for sampler, answers in found.items():
        by_error = sorted((np.log(a["error"]), np.log(a["cpu"])) for a in answers)
        took[sampler] = float(np.exp(np.interp(0.0, *np.transpose(by_error))))
    ours = took["langevin native"]
    rows = [[s, f"{1000 * t:.0f}", f"{t / ours:.1f}"] for s, t in took.items()]
    return _table(["German credit from cold, error of 400 draws", "CPU ms", "times ours"], rows)


def _cost(runs: list[Answer], of: str, kind: str) -> np.ndarray:
    """Cost of an effective draw of each run; infinite if there was none."""
    with np.errstate(divide="ignore"):
        return np.array([a[of] for a in runs]) / np.array([a[kind] for a in runs])


def _gain(theirs: dict[str, list[Answer]], name: str, of: str, kind: str) -> tuple[float, float]:
    """How much cheaper than the better nutpie: ratio of geometric means, factor of its spread."""
    logs = {s: np.log(_cost(runs, of, kind)) for s, runs in theirs.items()}
    peer = min((s for s in logs if s.startswith("nutpie")), key=lambda s: logs[s].mean())
    spread = np.hypot(*(logs[s].std(ddof=1) / np.sqrt(len(logs[s])) for s in (peer, name)))
    return float(np.exp(logs[peer].mean() - logs[name].mean())), float(np.exp(spread))


COLUMNS = [(s, of, kind) for s in ("langevin", "langevin, same goal")
           for of, kind in (("gradients", "ess"), ("cpu", "ess"), ("gradients", "ess_bulk"),
                            ("cpu", "ess_bulk"))]  # fmt: skip


def _ratios(found: dict[str, dict[str, list[Answer]]]) -> str:
    rows, all_gains = [], []
    for posterior, theirs in found.items():
        gains = [_gain(theirs, *column) for column in COLUMNS]
        all_gains.append([g for g, _ in gains])
        rows.append([posterior, *(f"{_short(g)} ×/÷ {s:.2f}" for g, s in gains)])
    rows.append(["**median**", *(f"**{_short(m)}**" for m in np.median(all_gains, axis=0))])
    wins = (np.array(all_gains) > 1).sum(axis=0)
    rows.append(["cheaper here in", *(f"{w} of {len(all_gains)}" for w in wins)])
    names = {"gradients": "gradients", "cpu": "CPU", "ess": "worst", "ess_bulk": "bulk"}
    head = [f"{s.replace('langevin, ', '').replace('langevin', 'default')}: {names[of]}, {names[k]}"
            for s, of, k in COLUMNS]  # fmt: skip
    return _table(["posterior", *head], rows)


def _costs(found: dict[str, dict[str, list[Answer]]]) -> str:
    """What stands behind the ratios: medians."""
    rows = []
    for posterior, theirs in found.items():
        for sampler, runs in theirs.items():
            middle = {k: float(np.median([a[k] for a in runs]))
                      for k in ("gradients", "warm_up", "cpu", "ess_bulk", "ess_tail",
                                "ess_squares", "rhat")}  # fmt: skip
            escaped = sum(a.get("divergences", 0) for a in runs)
            warned = sum(bool(a["warnings"]) for a in runs)
            rows.append([
                posterior, sampler, f"{middle['gradients']:.0f}", f"{middle['warm_up']:.0f}",
                f"{middle['cpu']:.2f}", f"{middle['ess_bulk']:.0f}", f"{middle['ess_tail']:.0f}",
                f"{middle['ess_squares']:.0f}", f"{middle['rhat']:.3f}",
                str(escaped) if sampler.startswith("nutpie") else "",
                f"{warned} of {len(runs)}" if sampler.startswith("langevin") else "",
            ])  # fmt: skip
    head = ["posterior", "sampler", "gradients", "of them warm-up", "CPU s", "bulk", "tail",
            "squares", "R-hat", "divergences in all", "runs with warnings"]  # fmt: skip
    return _table(head, rows)


def _agreement(found: dict[str, dict[str, list[Answer]]]) -> str:
    """Means and standard deviations, averaged over seeds, as differences in standard errors."""
    rows = []
    for posterior, theirs in found.items():
        cells = []
        for which in ("mean", "sd"):
            sides = []
            # (Both runs of langevin from one seed share their draws: one counts.)
            for names in (("nutpie", "nutpie low rank"), ("langevin",)):
                runs = [a for name in names for a in theirs[name]]
                value = np.array([a[which] for a in runs])
                error = np.array([a[f"{which}_error"] for a in runs])
                sides.append((value.mean(0), np.sqrt((error**2).mean(0) / len(runs))))
            (x, dx), (y, dy) = sides
            z = np.abs(x - y) / np.hypot(dx, dy)
            scale = np.mean([a["sd"] for r in theirs.values() for a in r], axis=0)
            worst = int(np.nanargmax(z))
            cells += [f"{z[worst]:.1f}", f"{(y - x)[worst] / scale[worst]:+.3f}"]
        rows.append([posterior, str(len(scale)), *cells])
    head = ["posterior", "numbers", "mean: largest z", "difference there, in sd",
            "sd: largest z", "difference there, in sd"]  # fmt: skip
    return _table(head, rows)
