"""Memory that holds code: written first and executable afterwards, never both."""

import ctypes
import mmap
from functools import cache
from typing import Any


class Executable:
    """Room for code.  It stays mapped as long as this object lives."""

    def __init__(self, content: bytes = b"", size: int = 0) -> None:
        self._memory = mmap.mmap(-1, max(size, len(content), 1))
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        if content:
            self.fill(content)

    def fill(self, content: bytes) -> None:
        """Write the code, once and for all; OSError where the system allows no new code."""
        self._memory[: len(content)] = content
        if _protect()(self.address, len(self._memory), mmap.PROT_READ | mmap.PROT_EXEC):
            raise OSError(ctypes.get_errno(), "memory cannot be made executable")


@cache
def _protect() -> Any:
    function = ctypes.CDLL(None, use_errno=True).mprotect
    function.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return function
