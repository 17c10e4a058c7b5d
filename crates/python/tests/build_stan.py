"""Builds the Stan library of the tests from what the `httpstan` wheel bundles: the compiler
`stanc`, the headers and TBB. The result is cached, keyed by its sources."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).parent
CACHE = HERE.parents[2] / ".cache" / "stan"
# One wheel for every interpreter: nothing of it is imported.
WHEEL = "httpstan==4.13.0"


def build() -> Path:
    """The library; the first time this takes some minutes and needs a C++ compiler."""
    sources = [HERE / "stan" / "normal.stan", HERE / "stan" / "bridge.cpp", Path(__file__)]
    key = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:16]
    library = CACHE / f"normal-{key}.so"
    if not library.exists():
        _compile(_unpacked(), library)
    return library


def _unpacked() -> Path:
    folder = CACHE / "unpacked" / "httpstan"
    if not (folder / "stanc").exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        options = ["--no-deps", "--only-binary=:all:", "--python-version=3.11"]
        platform = "--platform=manylinux2014_x86_64"
        pip = [sys.executable, "-m", "pip", "download", "--quiet", *options, platform]
        subprocess.run([*pip, "--dest", str(CACHE), WHEEL], check=True)
        wheel = next(CACHE.glob("httpstan-*.whl"))
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(CACHE / "unpacked")
        wheel.unlink()
    return folder


def _compile(stan: Path, library: Path) -> None:
    stanc = stan / "stanc"
    stanc.chmod(0o755)
    model = CACHE / "normal.hpp"
    source = HERE / "stan" / "normal.stan"
    subprocess.run([str(stanc), f"--o={model}", str(source)], check=True)
    partial = library.with_suffix(".partial")
    command = ["g++", "-std=c++17", "-O1", "-w", "-fPIC", "-shared"]
    command += ["-D_REENTRANT", "-DSTAN_THREADS", "-DBOOST_DISABLE_ASSERTS"]
    command += ["-DBOOST_PHOENIX_NO_VARIADIC_EXPRESSION", "-D_GLIBCXX_USE_CXX11_ABI=0"]
    command += [f'-DMODEL="{model}"', f"-I{stan / 'include'}"]
    command += [str(HERE / "stan" / "bridge.cpp"), "-o", str(partial)]
    command += [f"-L{stan / 'lib'}", "-ltbb", f"-Wl,-rpath,{stan / 'lib'}"]
    subprocess.run(command, check=True)
    os.replace(partial, library)


if __name__ == "__main__":
    print(build())
