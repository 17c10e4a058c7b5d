"""The program's run files and stores."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from . import _core
from ._arrays import count
from .comparison import Comparison
from .escape import Escape, warn_of
from .dynamics import Dynamics
from .progress import Bar, wanted
from .target import Parameter
from .trace import Trace


def run(
    path: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    seed: int | None = None,
    progress: bool = True,
    *,
    dynamics: str | None = None,
) -> Trace | Comparison:
    r"""Runs a run file as the program does, to the same bits.

    A run file with one dynamics is sampled (``langevin sample``) and gives a `Trace`; one with
    several is compared (``langevin compare``) and gives a `Comparison`, whose `results` are those
    of results.json. `dynamics` names one of several to sample.

    With `out`, that folder gets the numbers that the program writes there (``results.json``,
    ``timing.json``, ``draws.zarr``), and finished work that is in it already is not done again;
    ``langevin compare`` draws figures and a report of it. Without, nothing is left on disk. `seed`
    replaces that of the run file; where there is none one is drawn, which is in the result. Results
    do not depend on `threads`. Ctrl-C raises KeyboardInterrupt.

    >>> import pathlib, tempfile
    >>> import langevin as lv
    >>> text = '''
    ... dynamics = ["GiIrr"]
    ... [target]
    ... model = "normal"
    ... data.generate = { n = 30, mean = 0, sd = 10, seed = 2 }
    ... [run]
    ... n_chains = 4
    ... n_steps = 1000
    ... step_size = 0.05
    ... skew = { kind = "sign-pattern", delta = 2 }
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "normal.toml")
    ...     _ = path.write_text(text)
    ...     trace = lv.run(path, seed=0, progress=False)
    >>> trace
    Trace(4 chains × 1000 draws of mu, sigma; GiIrr, seed 0)
    """
    file = _core.RunFile(os.fspath(path), None if seed is None else count("seed", seed, 0))
    names = file.dynamics
    name = names[0] if dynamics is None and len(names) == 1 else dynamics
    folder = None if out is None else os.fspath(out)
    workers = None if threads is None else count("threads", threads, 1)
    label = "compare" if name is None else name
    with Bar(file.work(name), label, wanted(progress)) as bar:
        if name is None:
            return _comparison(file.compare((folder, workers, bar)), names)
        stored, escapes, seconds = file.sample(name, (folder, workers, bar))
    trace = Trace._of_stored(stored, escapes, seconds)
    warn_of(trace.escapes, stored.values().shape[0])
    return trace


def _comparison(compared: _core.Compared, names: list[str]) -> Comparison:
    results: dict[str, Any] = json.loads(compared.results())
    settings = results["settings"]
    parameters = tuple(Parameter(label) for label in settings["coordinates"])
    observables = tuple(entry["observable"] for entry in results["truth"])
    traces = {}
    for i, (name, arm) in enumerate(zip(names, settings["dynamics"])):
        found = results["dynamics"][i]["escapes"]
        escapes = tuple(Escape(d["chain"], d["step"]) for d in found)
        chains = np.setdiff1d(np.arange(settings["n_chains"]), [d.chain for d in escapes])
        empty = np.empty((len(chains), 0, len(parameters)))
        step_size = arm["step_size"]
        warn_of(escapes, settings["n_chains"])
        traces[name] = Trace(
            draws=empty,
            unconstrained=empty,
            chains=chains,
            parameters=parameters,
            escapes=escapes,
            interrupted=False,
            seconds=compared.seconds(i),
            metric_error=None,
            dynamics=Dynamics(
                name,
                metric=arm["metric"],
                skew=arm["skew"],
                field=arm["field"],
                beta=arm["beta"],
            ),
            n_steps=settings["n_steps"],
            step_size=step_size["a"] if isinstance(step_size, dict) else step_size,
            burn_in=settings["burn_in"],
            thin=1,
            seed=settings["seed"],
            observables=observables,
            attributes={"title": settings["title"], "model": settings["model"]},
            _averages=compared.averages(i),
        )
    return Comparison(traces, observables, results, json.loads(compared.timing()))


def open_store(path: str | os.PathLike[str]) -> Trace:
    """Opens a Zarr store of draws, one that the program or `Trace.save` wrote, or xarray or ArviZ.

    Chains with draws that are not finite have escaped: they are in `escapes` and not in
    `draws`. The settings of the run are in `attributes`, numbers per draw in `sample_stats`.

    >>> import tempfile
    >>> import langevin as lv
    >>> trace = lv.sample(lv.NormalParameters([1.0, 2.0, 4.0]), "RM", step_size=0.1, n_steps=50,
    ...                   seed=0, progress=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     trace.save(f"{folder}/draws.zarr")
    ...     lv.open_store(f"{folder}/draws.zarr")
    Trace(4 chains × 50 draws of mu, sigma; RM, seed 0)
    """
    return Trace._of_stored(_core.Stored.read(os.fspath(path)))
