"""Compiled modules in this process: code that the package ships for the common kind of machine, or else its IR, turned
into code of this machine by llvmlite alone.

That code is kept in the store, so that this happens once; where the IR cannot be used (another version of LLVM, a file
that was not packaged) numba compiles the sources, which takes seconds.
"""

import lzma
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bglang.kernels.native import Image, Native

HERE = Path(__file__).parent
EXPORTS = {
    "linear": ("factor", "solve", "factor_complex", "solve_complex"),
    "radau": ("advance",),
    "bdf": ("advance",),
    "ida": ("ida_residual", "ida_jacobian", "ida_setup", "ida_solve", "ida_roots", "ida_weights"),
    "adams": ("advance",),
    "rk": ("advance",),
}


def shipped(name: str) -> str:
    return lzma.decompress((HERE / f"{name}.ll.xz").read_bytes()).decode()


def prebuilt(name: str) -> "Image | None":
    """Shipped object code, if it was made from the shipped IR and this machine is of the kind it was made for."""
    from bglang.kernels.machine import is_common
    from bglang.kernels.native import Image

    if not is_common():
        return None
    try:
        made_from, _, code = (HERE / f"{name}.o").read_bytes().partition(b"\n")
    except OSError:
        return None
    if made_from.decode("ascii", "replace") != content(name):
        return None
    return Image((code,), {export: export for export in EXPORTS[name]})


def image(name: str, text: str) -> "Image":
    from bglang.kernels.llvm import compile_text
    from bglang.kernels.native import Image

    return Image((compile_text(text),), {export: export for export in EXPORTS[name]})


def compile_here(name: str) -> "Image":
    """By numba, from the sources."""
    from bglang.solve.native.build import make

    return image(name, make(name))


@cache
def load(name: str) -> "Native":
    """A module's functions by name: `load("radau")["advance"]` is an address.  The code stays mapped."""
    from bglang.kernels.images import get_native
    from bglang.kernels.native import LinkError, Native

    ready = prebuilt(name)
    if ready is not None:
        try:
            return Native([ready])
        except LinkError:
            pass  # not for this process: made here

    def build() -> "Image":
        try:
            return image(name, shipped(name))
        except (OSError, RuntimeError, lzma.LZMAError):  # not there, or not for this version of LLVM
            return compile_here(name)

    return get_native(f"integrator {name} {content(name)}", build)


def content(name: str) -> str:
    """What identifies the code: the shipped file, or where there is none the sources."""
    import hashlib

    try:
        return hashlib.sha256((HERE / f"{name}.ll.xz").read_bytes()).hexdigest()
    except OSError:
        from bglang.solve.native.build import digest

        return digest(name)
