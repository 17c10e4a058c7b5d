"""Turns the results of the benchmark into Markdown tables."""

from __future__ import annotations

from workloads import KSD_WORKLOADS, WORKLOADS

#: Smallest wanted ratio to the fastest of numba and JAX.
WANTED = {
    "gaussian-ld": 3.0,
    "normal-ld": 3.0,
    "normal-giirr": 3.0,
    "logistic-ld": 5.0,
    "logistic-rm": 4.0,
    "logistic-giirr": 4.0,
    "ica-ld": 4.0,
    "ica-giirr": 4.0,
    "ksd-1e4": 2.5,
    "ksd-1e5": 2.5,
}
#: A run that got less than this share of its processors was disturbed by other work.
UNDISTURBED = 0.9

COLUMNS = [
    ("numba", "f64"),
    ("jax", "f64"),
    ("jax", "f32"),
    ("blackjax", "f32"),
    ("sgmcmcjax", "f32"),
]


def best(answers: list[dict], **wanted: object) -> dict | None:
    """The quickest of the answers that have these values."""
    fitting = [a for a in answers if all(a.get(k) == v for k, v in wanted.items())]
    return min(fitting, key=lambda a: a.get("ns_per_pair") or 1.0 / a["rate"], default=None)


def si(rate: float | None) -> str:
    """A rate with three digits: 94 M, 60.1 k."""
    if rate is None:
        return "–"
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if rate >= size:
            return f"{rate / size:.3g} {unit}"
    return f"{rate:.3g}"


def ratio(a: float | None, b: float | None) -> str:
    return "–" if a is None or b is None else f"{a / b:.2f}"


def row(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def table(header: list[str], rows: list[list[str]]) -> str:
    return "\n".join([row(header), "|" + "---|" * len(header), *map(row, rows)])


def rate_of(answers: list[dict], **wanted: object) -> float | None:
    found = best(answers, **wanted)
    return found["rate"] if found else None


def chains_table(answers: list[dict]) -> str:
    rows = []
    for name, work in WORKLOADS.items():
        mine = rate_of(answers, workload=name, peer="langevin")
        floor = rate_of(answers, workload=name, peer="floor")
        others = {c: rate_of(answers, workload=name, peer=c[0], precision=c[1]) for c in COLUMNS}
        double = max(filter(None, [others["numba", "f64"], others["jax", "f64"]]), default=None)
        fastest = max(filter(None, [double, others["jax", "f32"]]), default=None)
        if mine is None and fastest is None and not any(others.values()):
            continue
        rows.append(
            [work.title, si(mine), *(si(others[c]) for c in COLUMNS)]
            + [ratio(mine, double), ratio(mine, fastest), f"{WANTED[name]:g}", ratio(floor, mine)]
        )
    header = ["workload", "langevin f64", *(f"{p} {precision}" for p, precision in COLUMNS)]
    header += ["to fastest f64", "to fastest f64 or f32", "wanted", "floor / langevin"]
    return table(header, rows)


def giirr_against_rm(answers: list[dict]) -> list[str]:
    rm = rate_of(answers, workload="logistic-rm", peer="langevin")
    giirr = rate_of(answers, workload="logistic-giirr", peer="langevin")
    if rm is None or giirr is None:
        return []
    return [f"Logistic GiIrr costs {rm / giirr:.2f} times RM (wanted: at most 1.3)."]


def single_table(answers: list[dict]) -> str:
    rows = []
    for name, work in WORKLOADS.items():
        mine = rate_of(answers, workload=name, peer="langevin")
        other = rate_of(answers, workload=name, peer="numba")
        if mine or other:
            rows.append([work.title, si(mine), si(other), ratio(mine, other)])
    return table(["one chain, one thread", "langevin", "numba", "ratio"], rows)


def ksd_table(answers: list[dict]) -> str:
    names = ["langevin", "numba", "numpy", "stein-thinning"]
    rows = []
    for name, work in KSD_WORKLOADS.items():
        found = [best(answers, workload=name, peer=p) for p in names]
        if not any(found):
            continue
        times = [f["ns_per_pair"] if f else None for f in found]
        cells = ["–" if t is None else f"{t:.3g}" for t in times]
        rows.append([work.title, *cells, ratio(times[1], times[0]), f"{WANTED[name]:g}"])
    return table(["ns per ordered pair", *names, "numba / langevin", "wanted"], rows)


def langevin_tables(found: dict[str, list[dict]]) -> list[str]:
    """Threads, growth and memory of langevin itself."""
    threads = []
    for name, work in WORKLOADS.items():
        answers = found[f"threads {name}"]
        one, two = rate_of(answers, value=1), rate_of(answers, value=2)
        threads.append([work.title, si(one), si(two), ratio(two, one)])
    parts = [table(["threads", "one", "two", "two / one"], threads)]
    growth = []
    for name, answers in found.items():
        if name.startswith("threads") or name == "memory":
            continue
        values = sorted({a["value"] for a in answers})
        rates = [rate_of(answers, value=v) for v in values]
        cells = [f"{v}: {1e9 / r:.3g} ns" for v, r in zip(values, rates) if r]
        growth.append([name, "; ".join(cells)])
    parts.append(table(["growing", "time of a chain-step"], growth))
    memory = found["memory"][0]
    parts.append(
        f"Peak resident memory of {memory['chains']} chains × {memory['steps']} steps with all "
        f"recorders of the paper: {memory['rss_mb']:.0f} MB (wanted: below 200 MB)."
    )
    return parts


def disturbed(results: dict) -> str:
    """Names the best runs that had to share their processors."""
    names = []
    for kind in ("chains", "ksd"):
        seen = {(a["workload"], a["peer"], a.get("precision")) for a in results[kind]}
        for workload, peer, precision in sorted(seen, key=str):
            answer = best(results[kind], workload=workload, peer=peer, precision=precision)
            if not answer or "cpu_seconds" not in answer or peer == "stein-thinning":
                continue
            share = answer["cpu_seconds"] / (answer["seconds"] * answer["threads"])
            if share < UNDISTURBED:
                names.append(f"{peer} {precision} on {workload} ({share:.0%})")
    if not names:
        return "Every best run had its two processors to itself."
    return "These best runs had to share their processors: " + ", ".join(names) + "."


def markdown(results: dict) -> str:
    e = results["environment"]
    versions = ", ".join(f"{k} {v}" for k, v in e["versions"].items())
    where = (
        f"Measured on {e['date']}: {e['processor']}, {e['cores']} cores, {e['threads']} threads, "
        f"Python {e['python']}. Best run of each program, runs interleaved; chain-steps per second."
    )
    parts = [where, f"Versions: {versions}."]
    if results["chains"]:
        parts.append(chains_table(results["chains"]))
        parts += giirr_against_rm(results["chains"])
    if results["single"]:
        parts.append(single_table(results["single"]))
    if results["ksd"]:
        parts.append(ksd_table(results["ksd"]))
    if "langevin" in results:
        parts += langevin_tables(results["langevin"])
    parts.append(disturbed(results))
    parts.append(verdict(results))
    return "\n\n".join(parts) + "\n"


def verdict(results: dict) -> str:
    """Whether all programs agree."""
    if results["complaints"]:
        return "\n".join(f"- WRONG: {c}" for c in results["complaints"])
    peers = {a["peer"] for kind in ("chains", "ksd") for a in results[kind]} - {"floor"}
    if len(peers) < 2:
        return "Only one program ran: there was nothing to check it against."
    return "All programs agree in the means of φ1 and φ2 within 5 standard errors."
