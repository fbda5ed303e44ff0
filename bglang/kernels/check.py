"""A program that came from outside is looked over before native code follows its indices."""

from bglang.kernels.codec import BadData
from bglang.kernels.interpret import cached_tape
from bglang.kernels.program import Kernel, Pattern, Program
from bglang.kernels.tables import block_size
from bglang.kernels.tape import columns


def check_program(program: Program, discrete: int) -> None:
    """Every index points into the array that it selects from, and every result has a place."""
    bases = {table.base for table in program.tables}
    if any(t.base < program.parameters or t.base + block_size(t.count) > program.p_size for t in program.tables):
        raise BadData("tables")
    if program.constants_base + len(program.constants) != program.p_size or program.parameters > program.p_size:
        raise BadData("constants")
    for name, kernel in program.kernels.items():
        _check_kernel(name, kernel, program, discrete, bases)
    for name, pattern in program.patterns.items():
        _check_pattern(name, pattern)
        if program.kernels[name].size != 2 * pattern.nnz:
            raise BadData(name)
    sizes = {"parameters": program.parameters, "starts": program.n, "nominals": program.n}
    for name, size in sizes.items():
        if len(program.defaults[name]) != size or program.kernels[name].size != size:
            raise BadData(name)


def _check_kernel(name: str, kernel: Kernel, program: Program, discrete: int, bases: set[int]) -> None:
    count = len(kernel.codes)
    if len(kernel.counts) != count or len(kernel.offsets) != count or kernel.size < 0:
        raise BadData(name)
    for part in range(count):
        tape = cached_tape(program.codes[kernel.codes[part]].text)
        y, p, z, tables = columns(tape)
        instances, begin = int(kernel.counts[part]), int(kernel.offsets[part])
        width = y + p + z + tables + len(tape.results)
        if instances < 1 or begin < 0 or begin + width * instances > len(kernel.index):
            raise BadData(name)
        index = kernel.index[begin : begin + width * instances].reshape(width, instances)
        at = 0
        for group, limit in ((y, program.n), (p, program.p_size), (z, discrete)):
            block = index[at : at + group]
            if block.size and (block.min() < 0 or block.max() >= limit):
                raise BadData(name)
            at += group
        if not bases.issuperset(index[at : at + tables].ravel().tolist()):
            raise BadData(name)
        out = index[at + tables :]
        if out.size and (out.min() < 0 or out.max() >= kernel.size):
            raise BadData(name)


def _check_pattern(name: str, pattern: Pattern) -> None:
    ends, rows = pattern.indptr, pattern.indices
    if len(ends) != pattern.columns + 1 or ends[0] != 0 or ends[-1] != len(rows) or (ends[1:] < ends[:-1]).any():
        raise BadData(name)
    if len(rows) and (rows.min() < 0 or rows.max() >= pattern.rows):
        raise BadData(name)
