"""The examples run, small."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

EXAMPLES = Path(__file__).parents[3] / "examples"


def load(name: str) -> ModuleType:
    specification = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_logistic_credit(capsys, tmp_path) -> None:
    comparison = load("logistic_credit").main(n_steps=400, n_chains=4)
    assert list(comparison.traces) == ["LD", "RM", "Irr", "RMIrr", "GiIrr"]
    assert "per second of computing" in capsys.readouterr().out
    comparison.plot().savefig(tmp_path / "figure.png")


def test_own_posterior(capsys, monkeypatch, tmp_path) -> None:
    figure = tmp_path / "figure.png"
    monkeypatch.setattr(sys, "argv", ["own_posterior.py", str(figure)])
    load("own_posterior").main()
    text = capsys.readouterr().out
    assert "intercept" in text and "GiIrr" not in text
    assert figure.stat().st_size > 10_000
