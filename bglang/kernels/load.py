"""Loading: a program becomes functions.

Code is kept by *law*: every code of a program has an entry of its own in the store, so a new model made of known laws
compiles nothing.  All codes of a program together are kept once more as one bundle, so that a process that runs a
known model reads one file.  A kernel is then one function for all models, `bg_drive`, with the model's own index and
counts: (address, index, counts) is all that an integrator needs to call it.
"""

import ctypes
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, TypeAlias
from weakref import WeakValueDictionary

import numpy as np

from bglang.kernels.fixed import DRIVER
from bglang.kernels.images import pack_image, unpack_image
from bglang.kernels.interpret import Points, cached_tape, one_point, run_kernel
from bglang.kernels.machine import machine_identity
from bglang.kernels.native import Image, LinkError, Native
from bglang.kernels.program import Code, Floats, Index, Kernel, Long, Pattern, Program
from bglang.kernels.tape import columns
from bglang.records import dataclass, field, replace
from bglang.store import Store, content_key, default_store

Emitter: TypeAlias = Literal["llvm", "numba"]
NATIVE = ("residual", "jacobian", "roots")
"""The kernels that integrators call; the others are interpreted unless someone asks for their address."""
FEW, CUTS = 64, 64
"""Kernels for so few results are kept, and so many of them."""

_SIGNATURE = ctypes.CFUNCTYPE(None, ctypes.c_double, *[ctypes.c_void_p] * 7)
_loaded: WeakValueDictionary[str, Native] = WeakValueDictionary()
"""Bundles of this process that are still in use."""


@dataclass(frozen=True, slots=True)
class NativeKernel:
    """A compiled kernel.  The arrays must stay where they are while the addresses are in use.

    `reach` is how many entries of y, d, p and z it may read."""

    size: int
    reach: tuple[int, int, int, int]
    address: int
    index: Index
    counts: Long
    native: Native = field(repr=False)
    triple: tuple[int, int, int]
    """Addresses of the function, of its index and of its counts."""
    _call: Callable[..., None] = field(repr=False)

    def __call__(self, t: float, y: Floats, d: Floats, p: Floats, z: Floats, out: Floats | None = None) -> Floats:
        """out = kernel(t, y, d, p, z); other threads may run meanwhile."""
        if out is None:
            out = np.empty(self.size)
        arrays = [_contiguous(a) for a in (y, d, p, z)]
        ny, nd, np_, nz = self.reach
        enough = y.size >= ny and d.size >= nd and p.size >= np_ and z.size >= nz
        assert enough, "too few numbers for this kernel"
        assert out.flags.c_contiguous and out.dtype == np.float64 and out.size >= self.size
        self._call(t, *[a.ctypes.data for a in arrays], *self.triple[1:], out.ctypes.data)
        return out

    def rows(self, t: Floats, y: Floats, d: Floats, p: Floats, z: Floats) -> Floats:
        """The kernel at many instants, one row each."""
        out = np.empty((len(t), self.size))
        arrays = [_contiguous(a) for a in (y, d, z)]
        wide = [a.shape[1] for a in arrays]
        ny, nd, np_, nz = self.reach
        assert wide[0] >= ny and wide[1] >= nd and wide[2] >= nz and p.size >= np_, "too few numbers for this kernel"
        (y0, d0, z0, out0), p0 = (a.ctypes.data for a in (*arrays, out)), _contiguous(p).ctypes.data
        call, more = self._call, self.triple[1:]
        wy, wd, wz, wout = (8 * width for width in (*wide, self.size))
        for k, time in enumerate(t.tolist()):
            call(time, y0 + k * wy, d0 + k * wd, p0, z0 + k * wz, *more, out0 + k * wout)
        return out


def _contiguous(a: Floats) -> Floats:
    return np.ascontiguousarray(a, dtype=np.float64)


class Kernels:
    """All kernels of a program.  p is the whole vector that `bglang.kernels.parameters` makes."""

    def __init__(self, program: Program, emitter: Emitter, store: Store) -> None:
        self.program, self.emitter, self._store = program, emitter, store
        self._native: dict[str, NativeKernel] = {}
        self._cuts: dict[tuple[str, tuple[int, ...]], Kernel] = {}
        self.compiled = 0
        """How many codes had to be compiled because the store did not have them."""
        self._add(NATIVE)

    def native(self, name: str) -> NativeKernel:
        """A kernel as native code, made now if nobody wanted it before."""
        if name not in self._native:
            self._add([name])
        return self._native[name]

    def __call__(self, name: str, t: float, y: Floats, d: Floats, p: Floats, z: Floats) -> Floats:
        """Any kernel in one point."""
        if name in self._native:
            return self._native[name](t, y, d, p, z)
        found: Floats = run_kernel(self.program, self.program.kernels[name], one_point(t, y, d, p, z))[0]
        return found

    def many(self, name: str, points: Points, chosen: Sequence[int] | Index | None = None) -> Floats:
        """A kernel in many points, one row each; `chosen` are the results wanted, in this order."""
        kernel = self.program.kernels[name]
        return run_kernel(self.program, kernel if chosen is None else self._cut(name, chosen), points)

    def _cut(self, name: str, chosen: Sequence[int] | Index) -> Kernel:
        """A kernel for some of its results; who looks at the same few again finds it made."""
        if len(chosen) > FEW:
            return restrict(self.program, self.program.kernels[name], chosen)
        key = name, tuple(map(int, chosen))
        found = self._cuts.get(key)
        if found is None:
            if len(self._cuts) >= CUTS:
                self._cuts.clear()
            found = self._cuts[key] = restrict(self.program, self.program.kernels[name], chosen)
        return found

    @property
    def pattern(self) -> Pattern:
        return self.program.patterns["jacobian"]

    def residual(self, t: float, y: Floats, d: Floats, p: Floats, z: Floats, out: Floats | None = None) -> Floats:
        return self.native("residual")(t, y, d, p, z, out)

    def jacobian(self, t: float, y: Floats, d: Floats, p: Floats, z: Floats, out: Floats | None = None) -> Floats:
        """dF/dy in out[0:nnz] and dF/d(dy/dt) in out[nnz:2*nnz], on `pattern`."""
        return self.native("jacobian")(t, y, d, p, z, out)

    def roots(self, t: float, y: Floats, d: Floats, p: Floats, z: Floats, out: Floats | None = None) -> Floats:
        return self.native("roots")(t, y, d, p, z, out)

    def _add(self, names: Iterable[str]) -> None:
        names = list(names)
        wanted = sorted({int(code) for name in names for code in self.program.kernels[name].codes})
        codes = [self.program.codes[k] for k in wanted]
        native, compiled = load_codes(codes, self.emitter, self._store)
        self.compiled += compiled
        for name in names:
            self._native[name] = _bind(self.program, self.program.kernels[name], native)


def load(program: Program, emitter: Emitter = "llvm", store: Store | None = None) -> Kernels:
    """The kernels of a program as native code, from the store or made now."""
    return Kernels(program, emitter, store if store is not None else default_store())


def restrict(program: Program, kernel: Kernel, chosen: Sequence[int] | Index) -> Kernel:
    """The kernel for some of its results only, which take the places 0, 1, ... in the order given."""
    chosen = np.asarray(chosen, np.int64)
    order = np.argsort(chosen, kind="stable")
    codes, counts, offsets, blocks, at = [], [], [], [], 0
    for part, code in enumerate(kernel.codes):
        tape = cached_tape(program.codes[code].text)
        width, count = sum(columns(tape)) + 1, int(kernel.counts[part])
        assert len(tape.results) == 1, "only kernels with one result an instance can be cut"
        begin = int(kernel.offsets[part])
        table = kernel.index[begin : begin + width * count].reshape(width, count)
        first = np.searchsorted(chosen, table[-1], "left", sorter=order)
        repeat = np.searchsorted(chosen, table[-1], "right", sorter=order) - first
        total = int(repeat.sum())  # a result may be wanted more than once
        if total == 0:
            continue
        instance = np.repeat(np.arange(count), repeat)
        copy = np.arange(total) - np.repeat(np.cumsum(repeat) - repeat, repeat)
        cut = table[:, instance]
        cut[-1] = order[first[instance] + copy]
        blocks.append(cut.ravel())
        codes.append(int(code))
        counts.append(total)
        offsets.append(at)
        at += width * total
    return replace(
        kernel,
        size=len(chosen),
        codes=np.array(codes, np.int32),
        counts=np.array(counts, np.int64),
        offsets=np.array(offsets, np.int64),
        index=np.concatenate(blocks).astype(np.int32) if blocks else np.empty(0, np.int32),
    )


def _bind(program: Program, kernel: Kernel, native: Native) -> NativeKernel:
    counts = np.zeros(2 + 3 * len(kernel.codes), np.int64)
    counts[:2] = kernel.size, len(kernel.codes)
    counts[2::3] = [native[_symbol(program.codes[code])] for code in kernel.codes]
    counts[3::3] = kernel.counts
    counts[4::3] = kernel.offsets
    address, index = native["bg_drive"], np.ascontiguousarray(kernel.index)
    triple = address, index.ctypes.data, counts.ctypes.data
    reach = _reach(program, kernel)
    return NativeKernel(kernel.size, reach, address, index, counts, native, triple, _SIGNATURE(address))


def _reach(program: Program, kernel: Kernel) -> tuple[int, int, int, int]:
    reach = {"y": 0, "d": 0, "p": 0, "z": 0}
    for part, code in enumerate(kernel.codes):
        tape = cached_tape(program.codes[code].text)
        y, p, _, tables = columns(tape)
        offset = {"y": 0, "d": 0, "p": y, "z": y + p}
        count, begin = int(kernel.counts[part]), int(kernel.offsets[part])
        for op, *a in tape.code:
            if op in offset:
                at = begin + (offset[op] + a[0]) * count
                reach[op] = max(reach[op], int(kernel.index[at : at + count].max()) + 1)
        if tables:
            reach["p"] = program.p_size
    return reach["y"], reach["d"], reach["p"], reach["z"]


# --- code ------------------------------------------------------------------------------------------------------------


def _symbol(code: Code) -> str:
    return f"k{content_key(code.text, str(code.adds))[:24]}"


def load_codes(codes: Sequence[Code], emitter: Emitter, store: Store) -> tuple[Native, int]:
    """The functions of these codes and the driver, linked; and how many had to be compiled."""
    keys = [content_key(emitter, code.text, str(code.adds), machine_identity()) for code in codes]
    bundle = content_key("bundle", emitter, DRIVER, machine_identity(), *keys)
    native = _loaded.get(bundle)
    if native is not None:
        return native, 0
    payload = store.read(bundle)
    if payload is not None:
        try:
            native = _loaded[bundle] = Native([unpack_image(payload)])
            return native, 0
        except LinkError:
            pass  # intact, but not for this process
    images, compiled = _collect(codes, keys, emitter, store)
    native = _loaded[bundle] = Native(images)
    merged = Image(
        tuple(blob for image in images for blob in image.objects),
        {name: symbol for image in images for name, symbol in image.symbols.items()},
    )
    store.write(bundle, pack_image(merged))
    return native, compiled


def _collect(codes: Sequence[Code], keys: Sequence[str], emitter: Emitter, store: Store) -> tuple[list[Image], int]:
    """Each code from the store, or compiled and kept there."""
    driver_key = content_key("driver", DRIVER, machine_identity())
    images = list[Image]()
    payload = store.read(driver_key)
    if payload is None:
        from bglang.kernels.llvm import compile_text

        payload = pack_image(Image((compile_text(DRIVER),), {"bg_drive": "bg_drive"}))
        store.write(driver_key, payload)
    images.append(unpack_image(payload))
    compiled = 0
    for code, key in zip(codes, keys, strict=True):
        payload = store.read(key)
        if payload is None:
            compiled += 1
            payload = pack_image(compile_code(code, emitter))
            store.write(key, payload)
        images.append(unpack_image(payload))
    return images, compiled


def compile_code(code: Code, emitter: Emitter) -> Image:
    symbol = _symbol(code)
    if emitter == "numba":
        from bglang.kernels.emit_numba import compile_with_numba

        return compile_with_numba(symbol, code)
    from bglang.kernels.emit import emit_module
    from bglang.kernels.llvm import compile_text

    return Image((compile_text(emit_module([(symbol, cached_tape(code.text), code.adds)])),), {symbol: symbol})
