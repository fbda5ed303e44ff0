"""Object code in this process: linked by ourselves where the machine is a usual one, else by LLVM."""

import ctypes
import sys
from collections.abc import Iterable, Mapping
from functools import cache

from bglang.kernels.elf import Code, Unknown
from bglang.kernels.machine import plain_linux
from bglang.kernels.tape import LIBRARY
from bglang.records import dataclass

_MADE = ("exp2", "sincos", "memset", "memcpy", "memmove")
"""What compilers make of other calls."""
SYMBOLS = (*LIBRARY, "floor", "ceil", "trunc", "fmod", "sqrt", "fabs", *_MADE)
"""All that native code may call."""


@dataclass(frozen=True, slots=True)
class Image:
    """Object files, and under which symbol of theirs each public name is found."""

    objects: tuple[bytes, ...]
    symbols: Mapping[str, str]


class LinkError(Exception):
    """Object code that cannot be linked here."""


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

    def __init__(self, images: Iterable[Image]) -> None:
        images = tuple(images)
        blobs = [blob for image in images for blob in image.objects]
        symbols = {name: symbol for image in images for name, symbol in image.symbols.items()}
        self.addresses = self._linked_here(blobs, symbols) or self._linked_by_llvm(blobs, symbols)

    def __getitem__(self, name: str) -> int:
        return self.addresses[name]

    def _linked_here(self, blobs: list[bytes], symbols: Mapping[str, str]) -> dict[str, int]:
        if not plain_linux():
            return {}
        try:
            code = Code(blobs, library_addresses())
            found = {name: code[symbol] for name, symbol in symbols.items()}
        except Unknown:
            return {}
        self._code: object = code
        return found

    def _linked_by_llvm(self, blobs: list[bytes], symbols: Mapping[str, str]) -> dict[str, int]:
        from bglang.kernels.llvm import Linked

        code = Linked(blobs, symbols.values(), library_addresses())
        self._code = code
        return {name: code[symbol] for name, symbol in symbols.items()}
