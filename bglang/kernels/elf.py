"""Linking object files in this process without LLVM, whose import costs more than a small run.

What is compiled here is code for x86-64 that refers to itself, to constants and to a few mathematical functions, by
absolute addresses or by distances.  Whatever else an object file holds (data that changes, other relocations, unknown
symbols) is refused with `Unknown`, and LLVM links it.
"""

import struct
from collections.abc import Iterator, Mapping, Sequence

from bglang.kernels.executable import Executable
from bglang.records import dataclass

_HEAD = b"\x7fELF\x02\x01\x01"
_RELOCATABLE, _X86_64 = 1, 62
_PROGBITS, _SYMTAB, _RELA, _NOBITS = 1, 2, 4, 8
_WRITE, _ALLOC, _THREAD_LOCAL = 1, 2, 0x400
_UNWIND = 0x70000001
_LOCAL = 0
_PAGE = 4096
_UNDEFINED, _RESERVED = 0, 0xFF00
_ABSOLUTE, _NEAR, _CALL, _FAR = 1, 2, 4, 24
"""The relocations R_X86_64_64, _PC32, _PLT32 and _PC64."""


class Unknown(Exception):
    """An object file that needs more than is understood here."""


@dataclass(frozen=True, slots=True)
class _Section:
    name: int
    kind: int
    flags: int
    begin: int
    size: int
    link: int
    info: int
    align: int


@dataclass(frozen=True, slots=True)
class _Symbol:
    name: bytes
    local: bool
    section: int
    value: int


class _Object:
    """The parts of one object file, and where in memory those are put that take part."""

    def __init__(self, blob: bytes) -> None:
        if not blob.startswith(_HEAD) or struct.unpack_from("<HH", blob, 16) != (_RELOCATABLE, _X86_64):
            raise Unknown("not an object file for x86-64")
        self.blob = blob
        (table,) = struct.unpack_from("<Q", blob, 40)
        width, count = struct.unpack_from("<HH", blob, 58)
        if width != 64 or table + width * count > len(blob):
            raise Unknown("sections")
        fields = struct.iter_unpack("<IIQQQQIIQQ", blob[table : table + width * count])
        self.sections = [_Section(f[0], f[1], f[2], f[4], f[5], f[6], f[7], f[8]) for f in fields]
        self.places: dict[int, int] = {}
        self.symbols: list[_Symbol] = []
        for section in self.sections:
            if section.kind == _SYMTAB:
                self.symbols = list(self._symbols(section))

    def lay_out(self, at: int) -> int:
        """Give every section that is needed at run time its place; where the next object begins."""
        for k, section in enumerate(self.sections):
            if not section.flags & _ALLOC or section.kind == _UNWIND:
                continue
            if section.size == 0 and section.kind == _PROGBITS:
                self.places[k] = at
                continue
            if section.kind != _PROGBITS or section.flags & (_WRITE | _THREAD_LOCAL):
                raise Unknown("data that changes")
            if section.align > _PAGE or section.begin + section.size > len(self.blob):
                raise Unknown("a section outside the file")
            at += -at % max(section.align, 1)
            self.places[k] = at
            at += section.size
        return at

    def copy(self, into: bytearray) -> None:
        for k, at in self.places.items():
            section = self.sections[k]
            content = self._content(section)
            into[at : at + section.size] = content

    def relocations(self) -> Iterator[tuple[int, int, int, int, _Symbol, int]]:
        """Place in memory, where its section begins and ends there, kind, symbol and addend."""
        for section in self.sections:
            if section.kind != _RELA or section.info not in self.places:
                continue
            begin = self.places[section.info]
            end = begin + self.sections[section.info].size
            for offset, info, addend in struct.iter_unpack("<QQq", self._content(section)):
                yield begin + offset, begin, end, info & 0xFFFFFFFF, self.symbols[info >> 32], addend

    def _symbols(self, table: _Section) -> Iterator[_Symbol]:
        names = self._content(self.sections[table.link])
        for name, info, _, section, value, _ in struct.iter_unpack("<IBBHQQ", self._content(table)):
            end = names.index(b"\0", name)
            yield _Symbol(names[name:end], info >> 4 == _LOCAL, section, value)

    def _content(self, section: _Section) -> bytes:
        if section.begin + section.size > len(self.blob):
            raise Unknown("truncated")
        return self.blob[section.begin : section.begin + section.size]


class Code:
    """Linked code.  It stays mapped as long as this object lives."""

    def __init__(self, blobs: Sequence[bytes], library: Mapping[str, int]) -> None:
        try:
            objects, size = [_Object(blob) for blob in blobs], 0
            for each in objects:
                size = each.lay_out(size + -size % 64)
            self._memory = Executable(size=size)
            self._base = self._memory.address
            self._defined = dict(self._definitions(objects))
            self._library = library
            content = bytearray(size)
            for each in objects:
                each.copy(content)
                self._relocate(each, content)
            self._memory.fill(bytes(content))
        except (struct.error, ValueError, IndexError, OSError) as error:
            raise Unknown(str(error)) from None

    def __getitem__(self, name: str) -> int:
        try:
            return self._defined[name.encode()]
        except KeyError:
            raise Unknown(name) from None

    def _definitions(self, objects: Sequence[_Object]) -> Iterator[tuple[bytes, int]]:
        seen = set[bytes]()
        for each in objects:
            for symbol in each.symbols:
                if symbol.local or symbol.section == _UNDEFINED:
                    continue
                if symbol.name in seen:
                    raise Unknown(f"{symbol.name!r} twice")
                seen.add(symbol.name)
                yield symbol.name, self._place(each, symbol)

    def _place(self, each: _Object, symbol: _Symbol) -> int:
        if symbol.section >= _RESERVED or symbol.section not in each.places:
            raise Unknown(f"{symbol.name!r} is nowhere")
        if symbol.value > each.sections[symbol.section].size:
            raise Unknown(f"{symbol.name!r} is outside")
        return self._base + each.places[symbol.section] + symbol.value

    def _address(self, each: _Object, symbol: _Symbol) -> int:
        if symbol.section != _UNDEFINED:
            return self._place(each, symbol)
        found = self._defined.get(symbol.name) or self._library.get(symbol.name.decode("ascii", "replace"))
        if not found:
            raise Unknown(f"{symbol.name!r} is not known")
        return found

    def _relocate(self, each: _Object, content: bytearray) -> None:
        for at, begin, end, kind, symbol, addend in each.relocations():
            target = self._address(each, symbol) + addend
            if kind not in (_ABSOLUTE, _NEAR, _CALL, _FAR):
                raise Unknown(f"relocation {kind}")
            form = "<Q" if kind == _ABSOLUTE else "<q" if kind == _FAR else "<i"
            if at < begin or at + struct.calcsize(form) > end:
                raise Unknown("a relocation outside its section")
            struct.pack_into(form, content, at, target if kind == _ABSOLUTE else target - self._base - at)
