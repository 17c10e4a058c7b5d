"""The programs under comparison, as processes that answer requests with JSON lines."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BENCH = ROOT / "bench"
PYTHON = ROOT / ".venv-bench/bin/python"
PYTHON_SGMCMC = ROOT / ".venv-bench-sgmcmc/bin/python"


class ProgramFailed(Exception):
    """A program ended without an answer."""


@dataclass
class Program:
    """One program; those that serve stay alive between requests, waiting without using time."""

    name: str
    command: list[str]
    precisions: tuple[str, ...] = ("f64",)
    serves: bool = True
    _process: subprocess.Popen[str] | None = field(default=None, repr=False)

    def ask(self, arguments: list[str]) -> dict | None:
        """The answer, or `None` where the program does not do this workload."""
        answer = self._serve(arguments) if self.serves else self._once(arguments)
        return json.loads(answer)

    def _serve(self, arguments: list[str]) -> str:
        if self._process is None:
            self._process = subprocess.Popen(
                [*self.command, "--serve"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                cwd=BENCH,
            )
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(" ".join(arguments) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise ProgramFailed(f"{self.name} gave no answer to: {' '.join(arguments)}")
        return answer

    def _once(self, arguments: list[str]) -> str:
        process = subprocess.Popen(
            [*self.command, *arguments], stdout=subprocess.PIPE, text=True, cwd=ROOT
        )
        assert process.stdout
        lines = process.stdout.read().splitlines()
        # wait4 and not wait: it also tells the largest resident memory of this one process.
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        process.stdout.close()
        if process.returncode != 0 or not lines:
            raise ProgramFailed(
                f"{self.name} ended with code {process.returncode} on: {' '.join(arguments)}"
            )
        answer = json.loads(lines[-1])
        if answer is not None:
            answer["rss_mb"] = usage.ru_maxrss / 1024.0
        return json.dumps(answer)

    def close(self) -> None:
        if self._process is not None and self._process.stdin:
            self._process.stdin.close()
            self._process.wait()
            self._process = None


def rust_example() -> Path:
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return target / "release/examples/bench"


def programs() -> dict[str, Program]:
    """All programs by name."""
    python = str(PYTHON if PYTHON.exists() else sys.executable)

    def peer(name: str, *script: str, precisions: tuple[str, ...] = ("f64",)) -> Program:
        interpreter = str(PYTHON_SGMCMC) if name == "sgmcmcjax" else python
        return Program(name, [interpreter, *script], precisions)

    rust = str(rust_example())
    return {
        p.name: p
        for p in [
            Program("langevin", [rust], serves=False),
            Program("floor", [rust, "--floor"], serves=False),
            peer("numba", "numba_peer.py"),
            peer("jax", "jax_peer.py", precisions=("f32", "f64")),
            peer("blackjax", "blackjax_peer.py", precisions=("f32",)),
            peer("sgmcmcjax", "sgmcmcjax_peer.py", precisions=("f32",)),
            peer("numpy", "ksd_peers.py", "numpy"),
            peer("stein-thinning", "ksd_peers.py", "stein-thinning"),
        ]
    }
