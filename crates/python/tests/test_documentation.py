"""Everything that the documentation shows runs."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import re
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest
from build_stan import build

import langevin as lv

ROOT = Path(__file__).parents[3]
#: What an example says that needs an optional package.
EXTRAS = {
    "arviz": r"to_arviz\(|import arviz",
    "jax": r"jax",
    "matplotlib": r"\.plot\(",
    "numba": r"import.* cfunc|from_pymc",
    "pymc": r"pymc",
    "xarray": r"import xarray",
    "zarr": r"open_datatree",
}


def skip_without_extras(source: str) -> None:
    for package, words in EXTRAS.items():
        if re.search(words, source) and find_spec(package) is None:
            pytest.skip(f"needs {package}")


def provide_stan(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiler that always returns the library of the tests, as BridgeStan downloads Stan."""
    if "bridgestan" in source:
        if shutil.which("g++") is None or sys.platform != "linux":
            pytest.skip("building the Stan library needs g++ on Linux")
        compiler = SimpleNamespace(compile_model=lambda *_, **__: build())
        monkeypatch.setitem(sys.modules, "bridgestan", compiler)


def doctests() -> list[doctest.DocTest]:
    names = [m.name for m in pkgutil.iter_modules(lv.__path__, "langevin.")]
    modules = [lv, *(importlib.import_module(n) for n in names if not n.endswith("_core"))]
    found = [t for module in modules for t in doctest.DocTestFinder().find(module)]
    return [test for test in found if test.examples]


@pytest.mark.parametrize("test", doctests(), ids=lambda test: test.name)
def test_examples_in_docstrings_run(test: doctest.DocTest, monkeypatch) -> None:
    source = " ".join(example.source for example in test.examples)
    skip_without_extras(source)
    provide_stan(source, monkeypatch)
    assert "SKIP" not in test.docstring
    messages: list[str] = []
    result = doctest.DocTestRunner().run(test, out=messages.append)
    assert result.failed == 0, "".join(messages)


def public() -> list[tuple[str, object]]:
    names = [(n, getattr(lv, n)) for n in lv.__all__ if n not in ("__version__", "theory")]
    names += [(f"theory.{n}", getattr(lv.theory, n)) for n in lv.theory.__all__]
    methods = []
    for name, value in names:
        if inspect.isclass(value):
            for method, function in vars(value).items():
                # All targets have these two, and `Target` shows them.
                inherited = name != "Target" and method in ("log_density", "score")
                if not method.startswith("_") and inspect.isfunction(function) and not inherited:
                    methods.append((f"{name}.{method}", function))
    return names + methods


@pytest.mark.parametrize(("name", "value"), public(), ids=lambda v: v if isinstance(v, str) else "")
def test_every_public_name_has_an_example(name: str, value: object) -> None:
    assert ">>>" in (inspect.getdoc(value) or ""), name


def pages() -> list[tuple[str, str]]:
    """The Python blocks of a page, one after the other, as one program."""
    found = []
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        blocks = re.findall(r"^```python\n(.*?)^```", path.read_text(), re.MULTILINE | re.DOTALL)
        if blocks:
            found.append((path.name, "\n".join(blocks)))
    return found


@pytest.mark.parametrize(("page", "text"), pages(), ids=lambda v: v if len(v) < 40 else "")
def test_pages_run(page: str, text: str, monkeypatch, tmp_path, capsys) -> None:
    skip_without_extras(text)
    provide_stan(text, monkeypatch)
    # In a copy, so that what a page writes is not left behind.
    for name in ("data", "examples", "experiments"):
        shutil.copytree(ROOT / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    exec(compile(text, page, "exec"), {"__name__": page})
