"""LLVM as a library: from text to object code, and from object code to addresses.

Linking is ORC's, not MCJIT's: on a missing symbol or a damaged object MCJIT ends the process, ORC raises.  Code that
refers to anything outside itself but the mathematical functions listed here is not compiled.
"""

import ctypes
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from bglang.kernels.emit import LIBRARY
from bglang.records import dataclass

SYMBOLS = (*LIBRARY, "floor", "ceil", "trunc", "fmod", "sqrt", "fabs", "memset", "memcpy", "memmove")
"""All that native code may call."""

OPTIMISATION = 2
"""Of the code generator.  Passes over the intermediate language are left out: tapes are already free of common parts,
and measured on rolled loops they cost more than the code generator and gain nothing."""


@dataclass(frozen=True, slots=True)
class Image:
    """Object files, and under which symbol of theirs each public name is found."""

    objects: tuple[bytes, ...]
    symbols: Mapping[str, str]


class ForeignSymbol(Exception):
    """Code that needs more than the mathematical functions."""


class LinkError(Exception):
    """Object code that cannot be linked here."""


@cache
def machine_identity() -> str:
    """All that object code depends on besides its own text.  Virtual machines mask features of a CPU, so the CPU's name
    alone is not enough."""
    parts = (
        llvmlite.__version__,
        llvm.llvm_version_info,
        llvm.get_process_triple(),
        llvm.get_host_cpu_name(),
        llvm.get_host_cpu_features().flatten(),
    )
    return repr(parts)


@cache
def _initialise() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


@cache
def _machine(cpu: str | None) -> Any:
    _initialise()
    # The large code model reaches the mathematical library wherever the linker puts the code.
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=cpu or llvm.get_host_cpu_name(),
        features="" if cpu else llvm.get_host_cpu_features().flatten(),
        opt=OPTIMISATION,
        codemodel="large",
        reloc="static",
    )


@cache
def _linker() -> Any:
    _initialise()
    return llvm.create_lljit_compiler(suppress_errors=True)


COMMON = "x86-64-v3"
"""The kind of processor that code can be made for in advance, and what it must be able to do."""
_COMMON_FEATURES = ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")


def is_common() -> bool:
    """Whether this is the kind of machine that shipped code was made for."""
    if sys.platform != "linux" or not llvm.get_process_triple().startswith("x86_64"):
        return False
    features = llvm.get_host_cpu_features()
    return all(features.get(name) for name in _COMMON_FEATURES)


def compile_text(text: str, cpu: str | None = None) -> bytes:
    """Object code of a module in LLVM's intermediate language, for this processor or for a kind of processors."""
    _initialise()
    module = llvm.parse_assembly(text)
    module.verify()
    refuse_foreign(module)
    machine = _machine(cpu)
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    code: bytes = machine.emit_object(module)
    return code


def refuse_foreign(module: Any) -> None:
    """Code that needs Python or numba would fail in a process without them; what needs the system must never run."""
    declared = [function.name for function in module.functions if function.is_declaration]
    declared += [variable.name for variable in module.global_variables if variable.is_declaration]
    foreign = sorted(name for name in declared if name not in SYMBOLS and not name.startswith("llvm."))
    if foreign:
        raise ForeignSymbol(f"compiled code needs {', '.join(foreign)}: it allocates, raises or calls Python")


@cache
def library_addresses() -> Mapping[str, int]:
    """Addresses of the functions that code may call.  Python itself is linked with them, so the process has them."""
    library = ctypes.CDLL("ucrtbase") if sys.platform == "win32" else ctypes.CDLL(None)
    found = {}
    for name in SYMBOLS:
        try:
            found[name] = ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0
        except AttributeError:
            continue  # a name that this platform spells otherwise; code that needs it will not link
    return found


class Native:
    """Linked code.  It stays mapped as long as this object lives: keep it while any address is in use."""

    _count = 0

    def __init__(self, images: Iterable[Image]) -> None:
        builder = llvm.JITLibraryBuilder()
        symbols: dict[str, str] = {}
        for image in images:
            for blob in image.objects:
                builder.add_object_img(blob)
            symbols.update(image.symbols)
        for name, address in library_addresses().items():
            builder.import_symbol(name, address)
        for symbol in symbols.values():
            builder.export_symbol(symbol)
        Native._count += 1  # a process may use the name of a library once
        try:
            self._tracker = builder.link(_linker(), f"bglang{Native._count}")
            self.addresses: dict[str, int] = {name: self._tracker[symbol] for name, symbol in symbols.items()}
        except RuntimeError as error:
            raise LinkError(str(error)) from None

    def __getitem__(self, name: str) -> int:
        return self.addresses[name]
