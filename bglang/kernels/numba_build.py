"""Functions written in Python's numerical subset as object code, by way of numba.

Importing this module imports numba: only what really compiles does so.  The object code needs neither numba nor Python
afterwards, which these settings see to:

    error_model="numpy"   a division by zero gives inf; the default would raise, which needs Python's symbols
    _nrt=False            no reference counting: an allocation is a mistake found while compiling
    forceinline=True      into the C wrapper.  Only then does LLVM see that the error status is always 0, and drops the
                          wrapper's path for errors
"""

import os
from collections.abc import Callable, Mapping
from typing import Any

os.environ.setdefault("NUMBA_DISABLE_INTEL_SVML", "1")  # its vector functions live in a library that users may lack

import llvmlite.binding as llvm
import numba

from bglang.kernels.llvm import refuse_foreign
from bglang.kernels.native import Image

_numba: Any = numba  # its annotations do not cover what is used here


def build_with_numba(functions: Mapping[str, tuple[Callable[..., Any], Any]]) -> Image:
    """Object code of functions given with their numba signatures, under the names of the mapping."""
    objects, symbols = [], {}
    for name, (function, signature) in functions.items():
        compiled = _numba.cfunc(signature, error_model="numpy", _nrt=False, forceinline=True)(function)
        library = compiled._library
        refuse_foreign(llvm.parse_assembly(library.get_llvm_str()))
        symbols[name] = compiled.native_name  # numba's names count functions per process: kept beside the code
        objects.append(library._get_compiled_object())
    return Image(tuple(objects), symbols)
