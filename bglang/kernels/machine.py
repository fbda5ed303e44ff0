"""What machine this is, as far as object code depends on it.

An x86-64 processor is asked itself, so that a process that only runs known code need not load LLVM, whose import costs
more than a small run; of other machines LLVM knows.
"""

import ctypes
import os
import sys
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path

from bglang.kernels.executable import Executable

COMMON = "x86-64-v3"
"""The kind of processor that code can be made for in advance."""
_NEEDED = ((1, 2, 12), (1, 2, 22), (1, 2, 28), (1, 2, 29), (7, 1, 3), (7, 1, 5), (7, 1, 8), (0x80000001, 2, 5))
"""What it must be able to do, as leaf, register and bit: fma movbe avx f16c, bmi avx2 bmi2, lzcnt."""
_VECTORS = 6
"""The registers that the system keeps for us: those of SSE and AVX."""

_ASK = bytes.fromhex("53 89f8 89f1 4989d0 0fa2 418900 41895804 41894808 4189500c 5b c3")
"""void ask(uint32_t leaf, uint32_t part, uint32_t out[4]): the instruction CPUID."""
_KEPT = bytes.fromhex("31c9 0f01d0 c3")
"""uint32_t kept(void): the instruction XGETBV, which says what registers the system keeps."""
_LEAVES = ((0, 0, 15), (1, 0, 13), (7, 0, 15), (7, 1, 15), (13, 1, 1), (0x80000001, 0, 12), (0x80000008, 0, 2))
"""What is asked: leaf, part, and a bit for each register that tells of the processor and not of the moment."""
_OSXSAVE = 27
_SAVED = 13, 0
"""Where the answer of XGETBV is kept."""


@cache
def plain_linux() -> bool:
    """Whether object code here is ELF for an x86-64 processor, whose object files `elf` can link."""
    return sys.platform == "linux" and sys.maxsize > 1 << 32 and os.uname().machine == "x86_64"


@cache
def machine_identity() -> str:
    """All that object code depends on besides its own text.  Virtual machines mask features of a CPU, so the CPU's name
    alone is not enough."""
    answers = _answers()
    return repr((_compiler(), sorted(answers.items()) if answers else _asked()))


@cache
def is_common() -> bool:
    """Whether this is the kind of machine that shipped code was made for."""
    answers = _answers()
    if not answers:
        return False
    able = all(answers[leaf, 0][register] >> bit & 1 for leaf, register, bit in _NEEDED)
    return able and answers[_SAVED][0] & _VECTORS == _VECTORS


@cache
def _answers() -> dict[tuple[int, int], tuple[int, ...]]:
    """What the processor says of itself; nothing where it cannot be asked."""
    if not plain_linux():
        return {}
    try:
        code = Executable(_ASK), Executable(_KEPT)
    except OSError:
        return {}
    out = (ctypes.c_uint32 * 4)()
    ask = ctypes.CFUNCTYPE(None, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p)(code[0].address)
    found = dict[tuple[int, int], tuple[int, ...]]()
    for leaf, part, telling in _LEAVES:
        ask(leaf, part, ctypes.addressof(out))
        found[leaf, part] = tuple(value if telling >> k & 1 else 0 for k, value in enumerate(out))
    if found[1, 0][2] >> _OSXSAVE & 1:
        found[_SAVED] = (ctypes.CFUNCTYPE(ctypes.c_uint32)(code[1].address)(),)
    else:
        found[_SAVED] = (0,)
    return found


def _asked() -> tuple[str, ...]:
    import llvmlite.binding as llvm

    return llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def _compiler() -> str:
    """The version of llvmlite, read where it is written."""
    spec = PathFinder.find_spec("llvmlite")
    try:
        return Path(spec.origin or "").with_name("_version.py").read_text(encoding="utf-8") if spec else ""
    except OSError:
        import llvmlite

        return str(llvmlite.__version__)
