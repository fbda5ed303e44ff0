"""Our own linker beside LLVM's, and what it leaves to LLVM."""

import ctypes
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from kernel_cases import ladder, ladder_by_hand

from bglang.kernels import native
from bglang.kernels.elf import Code, Unknown
from bglang.kernels.llvm import Linked, compile_text
from bglang.kernels.load import compile_code, load
from bglang.kernels.lower import lower
from bglang.kernels.machine import is_common, machine_identity, plain_linux
from bglang.kernels.native import Image, Native, library_addresses
from bglang.kernels.parameters import parameter_vector
from bglang.solve.native.load import EXPORTS, prebuilt
from bglang.store import Store

pytestmark = pytest.mark.skipif(not plain_linux(), reason="object files are of another kind here")
FUNCTION = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)

WAVE = """
@weights = internal constant [2 x double] [double 0.25, double 4.0]
declare double @sin(double)
declare double @pow(double, double)
define internal double @part(double %x, ptr %at) noinline {
  %w = load double, ptr %at
  %s = call double @sin(double %x)
  %r = fmul double %w, %s
  ret double %r
}
define double @wave(double %x, i64 %k) {
  %at = getelementptr double, ptr @weights, i64 %k
  %a = call double @part(double %x, ptr %at)
  %b = call double @pow(double %x, double 2.5)
  %r = fadd double %a, %b
  ret double %r
}
"""


def test_functions_constants_and_calls() -> None:
    code = Code([compile_text(WAVE)], library_addresses())
    wave = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_int64)(code["wave"])
    for k, weight in enumerate((0.25, 4.0)):
        assert wave(1.7, k) == pytest.approx(weight * np.sin(1.7) + 1.7**2.5, rel=1e-15)


def test_one_object_calls_another() -> None:
    texts = (
        "declare double @half(double)\ndefine double @quarter(double %x) {\n %a = call double @half(double %x)\n"
        " %b = call double @half(double %a)\n ret double %b\n}\n",
        "define double @half(double %x) {\n %r = fmul double %x, 0.5\n ret double %r\n}\n",
    )
    code = Code([_unchecked(text) for text in texts], library_addresses())
    assert FUNCTION(code["quarter"])(6.0) == 1.5


def test_both_linkers_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All codes of a model, to the last bit."""
    program = lower(ladder(3))
    p, n = parameter_vector(program), program.n
    y, d = np.linspace(0.1, 0.9, n), np.linspace(-0.4, 0.3, n)
    found = []
    for here in (True, False):
        tmp_path.chmod(0o700)
        monkeypatch.setattr(native, "plain_linux", lambda here=here: here)
        kernels = load(program, "llvm", Store(None))
        kind = kernels.native("residual").native
        assert isinstance(kind._code, Code if here else Linked)
        found.append([kernels(name, 0.3, y, d, p, np.zeros(0)) for name in ("residual", "jacobian")])
        import bglang.kernels.load as module

        module._loaded.clear()
    for ours, theirs in zip(*found, strict=True):
        assert (ours == theirs).all()
    assert found[0][0] == pytest.approx(ladder_by_hand(0.3, y, d, p[: program.parameters]), rel=1e-14)


def test_integrators_need_no_llvm() -> None:
    for name in EXPORTS:
        image = prebuilt(name)
        assert (image is not None) == is_common()
        if image is not None:
            assert isinstance(Native([image])._code, Code)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("@count = global i64 0\ndefine ptr @f() {\n ret ptr @count\n}\n", "data that changes"),
        ("@t = thread_local global i64 0\ndefine i64 @f() {\n %r = load i64, ptr @t\n ret i64 %r\n}\n", "."),
        (
            "declare i32 @system(ptr)\ndefine i32 @f(ptr %c) {\n %r = call i32 @system(ptr %c)\n ret i32 %r\n}\n",
            "system",
        ),
    ],
)
def test_what_is_left_to_llvm(text: str, why: str) -> None:
    with pytest.raises(Unknown, match=why):
        Code([_unchecked(text)], library_addresses())


def test_the_same_name_twice() -> None:
    blob = compile_text("define double @f(double %x) {\n ret double %x\n}\n")
    with pytest.raises(Unknown, match="twice"):
        Code([blob, blob], library_addresses())


def test_what_is_not_there() -> None:
    code = Code([compile_text("define double @f(double %x) {\n ret double %x\n}\n")], library_addresses())
    with pytest.raises(Unknown, match="g"):
        code["g"]


def test_damaged_objects_are_refused_or_harmless() -> None:
    """Cut anywhere, and with any byte of its tables changed: an error, never a write outside our own memory."""
    blob = compile_text(WAVE)
    for size in range(len(blob)):
        with pytest.raises(Unknown):
            Code([blob[:size]], library_addresses())["wave"]
    refused = 0
    for at in range(len(blob)):
        changed = bytearray(blob)
        changed[at] ^= 0xFF
        try:
            Code([bytes(changed)], library_addresses())
        except Unknown:
            refused += 1
    assert refused > 100


def test_code_is_never_writable_and_executable_at_once() -> None:
    native = Native([Image((compile_text(WAVE),), {"wave": "wave"})])
    for line in Path("/proc/self/maps").read_text().splitlines():
        span, rights = line.split()[:2]
        begin, end = (int(word, 16) for word in span.split("-"))
        if begin <= native["wave"] < end:
            assert rights.startswith("r-x")
            return
    raise AssertionError("the code is nowhere")


def test_code_of_a_law_has_only_what_we_understand() -> None:
    """No relocation, section or symbol of our own codes needs LLVM's linker."""
    for code in lower(ladder(2)).codes:
        image = compile_code(code, "llvm")
        assert isinstance(Native([image])._code, Code)


def test_machines_are_told_apart_as_llvm_does() -> None:
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features()
    names = ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")
    assert is_common() == all(features.get(name) for name in names)


def test_a_machine_is_the_same_in_every_process() -> None:
    program = "import sys; from bglang.kernels.machine import machine_identity as m; print(m()); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    identity, modules = done.stdout.rstrip("\n").rsplit("\n", 1)
    assert identity == machine_identity()
    assert "llvmlite" not in modules


def _unchecked(text: str) -> bytes:
    """Object code of a text that may refer to anything."""
    import llvmlite.binding as llvm

    from bglang.kernels.llvm import _machine

    compile_text("")
    module = llvm.parse_assembly(text)
    machine = _machine(None)
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    blob: bytes = machine.emit_object(module)
    return blob
