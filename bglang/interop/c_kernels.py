"""Kernels as C functions: a loop over index columns for each shape, a plain statement for a shape that occurs once."""

from collections.abc import Mapping, Sequence

import numpy as np

from bglang.interop.c_text import Formulas, array, comment
from bglang.kernels.interpret import cached_tape
from bglang.kernels.program import Index, Kernel, Program
from bglang.kernels.tape import Tape, columns
from bglang.records import dataclass

SIGNATURE = "POINT"
UNUSED = "    UNUSED_POINT;"


@dataclass(frozen=True, slots=True)
class Names:
    """How places of the vectors are written: `y[y_mass_p]`, or a plain number where there are too many."""

    y: Mapping[int, str]
    p: Mapping[int, str]
    z: Mapping[int, str]

    def place(self, kind: str, number: int) -> str:
        known = {"y": self.y, "d": self.y, "p": self.p, "z": self.z}[kind]
        return f"{kind}[{known.get(number, number)}]"


@dataclass(frozen=True, slots=True)
class Part:
    """One code applied to its instances: `table` holds an index column a row."""

    tape: Tape
    adds: bool
    table: Index


def parts_of(program: Program, kernel: Kernel) -> list[Part]:
    found = list[Part]()
    for k, number in enumerate(kernel.codes):
        code = program.codes[number]
        tape = cached_tape(code.text)
        width, count = sum(columns(tape)) + len(tape.results), int(kernel.counts[k])
        begin = int(kernel.offsets[k])
        found.append(Part(tape, code.adds, kernel.index[begin : begin + width * count].reshape(width, count)))
    return found


class KernelWriter:
    """Writes the kernels of one program."""

    def __init__(self, program: Program, names: Names) -> None:
        self.program, self.names = program, names

    def function(self, name: str, kernel: str, remarks: Sequence[str] = ()) -> list[str]:
        """`void name(t, y, d, p, z, out)`; `remarks` say what each result belongs to."""
        parts = parts_of(self.program, self.program.kernels[kernel])
        size = self.program.kernels[kernel].size
        tables, body = list[str](), list[str]()
        written = np.zeros(size, bool)
        for part in parts:
            if not part.adds:
                written[part.table[-len(part.tape.results) :]] = True
        if not written.all():
            body.append(f"    for (int i = 0; i < {size}; i++) out[i] = 0.0;")
        for k, part in enumerate(parts):
            self._part(f"{name}_{k}", part, "out", remarks, tables, body)
        return [*tables, f"void {name}({SIGNATURE}) {{", UNUSED, *body, "}", ""]

    def levels(self, name: str) -> list[str]:
        """`void name(level, p)`: the parameters that are computed from others, level by level."""
        kernel = self.program.kernels["parameters"]
        parts = parts_of(self.program, kernel)
        bounds = [*kernel.levels.tolist(), len(parts)]
        tables, body = list[str](), list[str]()
        for level in range(len(bounds) - 1):
            body.append(f"    if (level == {level}) {{")
            chosen = range(bounds[level], bounds[level + 1])
            for k in chosen:
                if parts[k].adds:
                    places = np.unique(parts[k].table[-1])
                    body += [f"        p[{place}] = 0.0;" for place in places]
            for k in chosen:
                self._part(f"{name}_{k}", parts[k], "p", (), tables, body, "        ")
            body.append("    }")
        head = [f"void {name}(int level, double *p) {{", "    const double t = 0.0, *y = 0, *d = 0, *z = 0;"]
        return [*tables, *head, "    (void)level, (void)t, (void)y, (void)d, (void)z, (void)p;", *body, "}", ""]

    def starts(self) -> list[str]:
        """`void model_starts(p, out)`: start values as the source gives them."""
        defaults = self.program.defaults["starts"]
        tables, body = list[str](), list[str]()
        for k, part in enumerate(parts_of(self.program, self.program.kernels["starts"])):
            self._part(f"model_starts_{k}", part, "out", (), tables, body)
        plain = [k for k in range(len(defaults)) if k not in set(self.program.computed["starts"].tolist())]
        pairs = [f"{{{k}, {float(defaults[k])!r}}}" for k in plain if defaults[k] != 0.0]
        if pairs:
            tables += ["static const struct { int place; double value; } given_starts[] = {"]
            tables += [f"    {', '.join(pairs[k : k + 6])}," for k in range(0, len(pairs), 6)] + ["};"]
            body.append(
                f"    for (int i = 0; i < {len(pairs)}; i++) out[given_starts[i].place] = given_starts[i].value;"
            )
        size = len(defaults)
        head = [
            "void model_starts(const double *p, double *out) {",
            "    const double t = 0.0, *y = 0, *d = 0, *z = 0;",
            "    (void)t, (void)y, (void)d, (void)z, (void)p;",
            f"    for (int i = 0; i < {size}; i++) out[i] = 0.0;" if size else "    (void)out;",
        ]
        return [*tables, *head, *body, "}", ""]

    # --- parts -------------------------------------------------------------------------------------------------------

    def _part(
        self, name: str, part: Part, out: str, remarks: Sequence[str], tables: list[str], body: list[str],
        indent: str = "    ",
    ) -> None:  # fmt: skip
        if part.table.shape[1] == 1:
            self._single(part, out, remarks, body, indent)
        else:
            self._loop(name, part, out, remarks, tables, body, indent)

    def _single(self, part: Part, out: str, remarks: Sequence[str], body: list[str], indent: str) -> None:
        column = part.table[:, 0].tolist()
        ny, np_, nz, _ = columns(part.tape)
        offset = {"y": 0, "d": 0, "p": ny, "z": ny + np_, "table": ny + np_ + nz}

        def leaf(kind: str, slot: int) -> str:
            if kind == "t":
                return "t"
            where = column[offset[kind] + slot]
            return f"p + {where}" if kind == "table" else self.names.place(kind, where)

        outs = column[len(column) - len(part.tape.results) :]
        remark = remarks[outs[0]] if remarks and part.tape.results else ""
        if remark:
            body.append(f"{indent}/* {comment(remark)} */")
        formulas = Formulas(part.tape, leaf, indent + "    ")
        results = formulas.results()
        braces = bool(formulas.lines)
        body += [f"{indent}{{", *formulas.lines] if braces else []
        inner = indent + ("    " if braces else "")
        sign = "+=" if part.adds else "="
        for place, value in zip(outs, results, strict=True):
            where = self.names.place("p", place) if out == "p" else f"{out}[{place}]"
            body.append(f"{inner}{where} {sign} {value};")
        if braces:
            body.append(f"{indent}}}")

    def _loop(
        self, name: str, part: Part, out: str, remarks: Sequence[str], tables: list[str], body: list[str], indent: str
    ) -> None:
        width, count = part.table.shape
        ny, np_, nz, _ = columns(part.tape)
        offset = {"y": 0, "d": 0, "p": ny, "z": ny + np_, "table": ny + np_ + nz}
        uniform = [bool((row == row[0]).all()) for row in part.table]
        shown = [k for k in range(width) if not uniform[k]]
        position = {k: i for i, k in enumerate(shown)}
        flat = [str(int(x)) for k in shown for x in part.table[k]]
        if shown:
            tables += array("static const int", f"{name}[]", flat)

        def place(k: int) -> str:
            if uniform[k]:
                return str(int(part.table[k, 0]))
            return f"{name}[{position[k] * count} + i]" if position[k] else f"{name}[i]"

        def leaf(kind: str, slot: int) -> str:
            if kind == "t":
                return "t"
            where = place(offset[kind] + slot)
            return f"p + {where}" if kind == "table" else f"{kind}[{where}]"

        formulas = Formulas(part.tape, leaf, indent + "    ")
        results = formulas.results()
        first = width - len(part.tape.results)
        if remarks:
            members = list(dict.fromkeys(remarks[int(k)] for k in part.table[first]))
            body.append(f"{indent}/* {comment(_some(members))} */")
        body.append(f"{indent}for (int i = 0; i < {count}; i++) {{")
        body += formulas.lines
        sign = "+=" if part.adds else "="
        body += [f"{indent}    {out}[{place(first + k)}] {sign} {value};" for k, value in enumerate(results)]
        body.append(f"{indent}}}")


def _some(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= 4 else f"{', '.join(names[:3])}, ... {names[-1]}"
