"""LLVM as a library: from text to object code, and from object code to addresses where `elf` does not know how.

Importing this module imports llvmlite: only what really compiles does so.

Linking is ORC's, not MCJIT's: on a missing symbol or a damaged object MCJIT ends the process, ORC raises.  Code that
refers to anything outside itself but the mathematical functions listed here is not compiled.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import llvmlite.binding as llvm

from bglang.kernels.native import SYMBOLS, LinkError

OPTIMISATION = 2
"""Of the code generator.  Passes over the intermediate language are left out: tapes are already free of common parts,
and measured on rolled loops they cost more than the code generator and gain nothing."""


class ForeignSymbol(Exception):
    """Code that needs more than the mathematical functions."""


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


class Linked:
    """Code that LLVM linked.  It stays mapped as long as this object lives."""

    _count = 0

    def __init__(self, blobs: Iterable[bytes], symbols: Iterable[str], library: Mapping[str, int]) -> None:
        builder = llvm.JITLibraryBuilder()
        for blob in blobs:
            builder.add_object_img(blob)
        for name, address in library.items():
            builder.import_symbol(name, address)
        for symbol in symbols:
            builder.export_symbol(symbol)
        Linked._count += 1  # a process may use the name of a library once
        try:
            self._tracker = builder.link(_linker(), f"bglang{Linked._count}")
        except RuntimeError as error:
            raise LinkError(str(error)) from None

    def __getitem__(self, symbol: str) -> int:
        address: int = self._tracker[symbol]
        return address
