"""The compiled modules that the package ships, and how they become code."""

import lzma
import subprocess
import sys
from pathlib import Path

import pytest

from bglang.kernels.llvm import compile_text
from bglang.kernels.machine import is_common
from bglang.solve.native import build, load

MODULES = tuple(build.SOURCES)


@pytest.mark.parametrize("name", MODULES)
def test_shipped_code_is_made_from_the_present_sources(name: str) -> None:
    """If this fails: python -m bglang.solve.native.build"""
    first, _, _ = load.shipped(name).partition("\n")
    assert first == f"; {build.digest(name)}"


@pytest.mark.parametrize("name", MODULES)
def test_shipped_code_belongs_to_no_machine_and_needs_nothing(name: str) -> None:
    text = load.shipped(name)
    build.refuse_foreign(name, text)
    for word in ("target triple", "target datalayout", "x86-", "x86_", "numba", "_ZN", "/home", "/root", "/work"):
        assert word not in text
    for export in load.EXPORTS[name]:
        assert f"@{export}(" in text


def test_shipped_files_are_small() -> None:
    assert sum((load.HERE / f"{name}.ll.xz").stat().st_size for name in MODULES) < 2**20


def test_sources_name_every_file_that_takes_part() -> None:
    """A file that is imported by a compiled module but missing in its list would change without being noticed."""
    for name, files in build.SOURCES.items():
        for file in files:
            text = (load.HERE / f"{file}.py").read_text()
            needed = {
                line.split()[1].rsplit(".", 1)[1]
                for line in text.splitlines()
                if line.startswith("from bglang.solve.native.")
            }
            assert needed <= set(files), (name, file)


def test_numba_is_not_imported_and_the_second_process_compiles_nothing(tmp_path: Path) -> None:
    program = """
import sys
from bglang.kernels import llvm
compiled = []
original = llvm.compile_text
llvm.compile_text = lambda text: compiled.append(1) or original(text)
from bglang.solve.native import load as loading
loading.prebuilt = lambda name: None  # as on a machine of another kind
load = loading.load
assert load("radau")["advance"] and load("linear")["factor"]
assert "numba" not in sys.modules and "scipy" not in sys.modules
print(len(compiled))
"""
    environment = {"BGLANG_CACHE": str(tmp_path), "PATH": "", "PYTHONPATH": ":".join(sys.path)}
    counts = []
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        counts.append(int(done.stdout))
    assert counts == [2, 0]


@pytest.mark.parametrize("name", MODULES)
def test_shipped_objects_were_made_from_the_shipped_code(name: str) -> None:
    """`python -m bglang.solve.native.build` makes both."""
    made_from, _, code = (load.HERE / f"{name}.o").read_bytes().partition(b"\n")
    assert made_from.decode() == load.content(name)
    assert code.startswith(b"\x7fELF") and len(code) < 2**17


def test_a_first_run_on_a_common_machine_waits_for_no_integrator(tmp_path: Path) -> None:
    if not is_common():
        assert load.prebuilt("rk") is None
        return
    program = """
from bglang.kernels import llvm
def never(text, cpu=None): raise AssertionError("compiled")
llvm.compile_text = never
from bglang.solve.native.load import EXPORTS, load
for name in EXPORTS: assert all(load(name)[export] for export in EXPORTS[name])
"""
    environment = {"BGLANG_CACHE": str(tmp_path), "PATH": "", "PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_objects_of_other_code_are_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rk.ll.xz").write_bytes((load.HERE / "rk.ll.xz").read_bytes())
    (tmp_path / "rk.o").write_bytes(b"0" * 64 + b"\n" + (load.HERE / "rk.o").read_bytes()[65:])
    monkeypatch.setattr(load, "HERE", tmp_path)
    assert load.prebuilt("rk") is None


def test_damaged_code_means_compiling_the_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rk.ll.xz").write_bytes(lzma.compress(b"define nonsense"))
    asked: list[str] = []

    def compile_here(name: str) -> object:
        asked.append(name)
        return original(name, text)

    text, original = load.shipped("rk"), load.image
    monkeypatch.setattr(load, "HERE", tmp_path)
    monkeypatch.setattr(load, "compile_here", compile_here)
    monkeypatch.setenv("BGLANG_CACHE", str(tmp_path))
    assert load.load.__wrapped__("rk")["advance"]
    assert asked == ["rk"]


def test_compiling_the_sources_gives_what_is_shipped() -> None:
    """The same text each time it is built, here for one module."""
    program = "import os; os.environ['NUMBA_OPT'] = '0'; from bglang.solve.native import build; print(build.make('rk'))"
    environment = {"PATH": "", "PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    shipped = load.shipped("rk").partition("\n")[2]
    if done.stdout.strip() != shipped.strip():  # another version of numba or LLVM writes it otherwise
        build.refuse_foreign("rk", done.stdout)
        assert compile_text(done.stdout)
