"""What a program says about its equations, read off its codes without looking at the equations themselves."""

import numpy as np

from bglang.kernels.interpret import cached_tape
from bglang.kernels.program import Program
from bglang.kernels.tape import columns


def is_explicit(program: Program) -> bool:
    """Whether every row i is dy_i/dt - f_i(t, y): an explicit method could run it."""
    kernel, pattern = program.kernels["jacobian"], program.patterns["jacobian"]
    column = np.repeat(np.arange(pattern.columns), np.diff(pattern.indptr))
    rates = np.zeros(pattern.rows, np.int64)
    for part, code in enumerate(kernel.codes):
        tape = cached_tape(program.codes[code].text)
        width, count = sum(columns(tape)) + len(tape.results), int(kernel.counts[part])
        begin = int(kernel.offsets[part])
        index = kernel.index[begin : begin + width * count].reshape(width, count)
        for result, places in zip(tape.results, index[width - len(tape.results) :], strict=True):
            if places[0] < pattern.nnz:
                continue
            at = places - pattern.nnz
            if tape.code[result] != ("c", (1.0).hex()) or (pattern.indices[at] != column[at]).any():
                return False
            np.add.at(rates, pattern.indices[at], 1)
        if any(op == "d" for op, *_ in tape.code):
            return False  # the slopes themselves depend on rates: dF/d(dy/dt) of other entries may vanish by chance
    return bool((rates == 1).all())
