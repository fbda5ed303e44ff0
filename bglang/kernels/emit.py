"""Tapes as LLVM's intermediate language, without any compiler front end in between.

Every tape becomes one function that loops over the instances of its shape:

    void name(double t, double* y, double* d, double* p, double* z, int32_t* index, int64_t n, double* out)

Column k of the index begins at index + k*n; the columns of results come last.  All loads of an instance precede its
stores, so `out` may be `p` itself.  No operation may trap and nothing is reassociated: the arithmetic is exactly that
of the reference evaluator.  `if` is a selection, which discards what the other branch would have been; where a branch
is expensive it is a real branch.  The text depends on the tape alone.
"""

from collections.abc import Callable, Iterable

from bglang.kernels.fixed import FIND, HELPERS, exact
from bglang.kernels.tape import FUNCTIONS, INDEXED, LOGICAL, TABLES, Instruction, Tape, columns, operands

HEADER = "define void @{name}(double %t, ptr %y, ptr %d, ptr %p, ptr %z, ptr %index, i64 %n, ptr %out) nounwind {{"
EXPENSIVE = FUNCTIONS | TABLES
_BINARY = {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"}
_COMPARE = {"<": "olt", "<=": "ole", ">": "ogt", ">=": "oge", "==": "oeq", "!=": "une"}
_INTRINSIC = {"sqrt": "sqrt", "abs": "fabs", "floor": "floor", "ceil": "ceil", "trunc": "trunc"}


def emit_module(functions: Iterable[tuple[str, Tape, bool]]) -> str:
    """The text of a module with one function for each (name, tape, adds)."""
    emitters = [_Function(name, tape, adds) for name, tape, adds in functions]
    bodies = [emitter.text() for emitter in emitters]
    needed = set[str]().union(*(emitter.needed for emitter in emitters))
    tables = sorted(needed & TABLES)
    declared = [f"declare double @{_library(op)} nounwind memory(none)" for op in sorted(needed - TABLES)]
    helpers = [FIND, *(HELPERS[op] for op in tables)] if tables else []
    return "\n".join([*declared, *helpers, *bodies, ""])


def _library(op: str) -> str:
    if op in _INTRINSIC:
        return f"llvm.{_INTRINSIC[op]}.f64(double)"
    return "pow(double, double)" if op == "^" else "atan2(double, double)" if op == "atan2" else f"{op}(double)"


class _Function:
    """Emits one function; `needed` collects what it calls."""

    def __init__(self, name: str, tape: Tape, adds: bool) -> None:
        self.name, self.tape, self.adds = name, tape, adds
        self.needed: set[str] = set()
        self._lines: list[str] = []
        self._values: dict[int, str] = {}  # instruction -> its value
        self._others: dict[tuple[int, bool], str] = {}  # a condition as a number, a number as a condition
        self._made: list[tuple[dict[int, str] | dict[tuple[int, bool], str], int | tuple[int, bool]]] = []
        self._fresh = 0
        self._label = "loop"
        self._eager = _eager_ifs(tape)
        y, p, z, tables = columns(tape)
        self._offset = {"y": 0, "d": 0, "p": y, "z": y + p, "table": y + p + z}
        self._width = y + p + z + tables

    def text(self) -> str:
        total = self._width + len(self.tape.results)
        lines = [HEADER.format(name=self.name), "entry:", "  %none = icmp slt i64 %n, 1"]
        for k in range(total):
            lines.append(f"  %o{k} = mul nsw i64 %n, {k}")
            lines.append(f"  %c{k} = getelementptr inbounds i32, ptr %index, i64 %o{k}")
        lines += ["  br i1 %none, label %done, label %loop", "loop:"]
        self._block(self.tape.results)
        outs = [self._real(r) for r in self.tape.results]
        for k, value in enumerate(outs):
            where = self._add(f"getelementptr inbounds double, ptr %out, i64 {self._index(self._width + k)}")
            if self.adds:
                value = self._add(f"fadd double {self._add(f'load double, ptr {where}')}, {value}")
            self._lines.append(f"  store double {value}, ptr {where}")
        lines.append(f"  %m = phi i64 [ 0, %entry ], [ %next, %{self._label} ]")
        lines += self._lines
        lines += ["  %next = add nuw nsw i64 %m, 1", "  %last = icmp eq i64 %next, %n"]
        return "\n".join([*lines, "  br i1 %last, label %done, label %loop", "done:", "  ret void", "}"])

    # --- pieces ------------------------------------------------------------------------------------------------------

    def _add(self, instruction: str) -> str:
        self._fresh += 1
        self._lines.append(f"  %v{self._fresh} = {instruction}")
        return f"%v{self._fresh}"

    def _index(self, column: int) -> str:
        where = self._add(f"getelementptr inbounds i32, ptr %c{column}, i64 %m")
        return self._add(f"sext i32 {self._add(f'load i32, ptr {where}')} to i64")

    def _load(self, kind: str, slot: int) -> str:
        where = self._index(self._offset[kind] + slot)
        return self._add(f"load double, ptr {self._add(f'getelementptr inbounds double, ptr %{kind}, i64 {where}')}")

    def _block(self, roots: Iterable[int]) -> None:
        """Everything that the roots need whichever way the lazy branches go, in the tape's order."""
        wanted = set[int]()
        stack = [r for r in roots if r not in self._values]
        while stack:
            k = stack.pop()
            if k not in wanted:
                wanted.add(k)
                code = self.tape.code[k]
                parts = operands(code)[:1] if code[0] == "if" and k not in self._eager else operands(code)
                stack.extend(a for a in parts if a not in self._values and a not in wanted)
        for k in sorted(wanted):
            self._values[k] = self._instruction(k, self.tape.code[k])
            self._made.append((self._values, k))

    def _instruction(self, k: int, code: Instruction) -> str:
        op, *a = code
        if op == "c":
            return exact(float.fromhex(a[0]))
        if op == "t":
            return "%t"
        if op in INDEXED:
            return self._load(op, a[0])
        if op in TABLES:
            self.needed.add(op)
            base = self._index(self._offset["table"] + a[1])
            block = self._add(f"getelementptr inbounds double, ptr %p, i64 {base}")
            return self._add(f"call double @bg_{op}(ptr {block}, double {self._real(a[0])})")
        if op == "if":
            return self._select(a) if k in self._eager else self._branch(a)
        if op in LOGICAL:
            return self._logical(op, a)
        return self._arithmetic(op, [self._real(x) for x in a])

    def _logical(self, op: str, a: list[int]) -> str:
        if op in _COMPARE:
            return self._add(f"fcmp {_COMPARE[op]} double {self._real(a[0])}, {self._real(a[1])}")
        truths = [self._truth(x) for x in a]
        if op == "not":
            return self._add(f"xor i1 {truths[0]}, true")
        return self._chain(truths, lambda x, y: self._add(f"{op} i1 {x}, {y}"))

    def _arithmetic(self, op: str, a: list[str]) -> str:
        if op in _BINARY:
            return self._chain(a, lambda x, y: self._add(f"{_BINARY[op]} double {x}, {y}"))
        if op == "neg":
            return self._add(f"fneg double {a[0]}")
        if op in ("min", "max"):
            relation = "olt" if op == "min" else "ogt"
            return self._chain(a, lambda x, y: self._pick(self._add(f"fcmp {relation} double {y}, {x}"), y, x))
        if op == "sign":
            negative = self._pick(self._add(f"fcmp olt double {a[0]}, 0.0"), exact(-1.0), a[0])
            return self._pick(self._add(f"fcmp ogt double {a[0]}, 0.0"), exact(1.0), negative)
        self.needed.add(op)
        name = f"llvm.{_INTRINSIC[op]}.f64" if op in _INTRINSIC else "pow" if op == "^" else op
        return self._add(f"call double @{name}({', '.join(f'double {x}' for x in a)})")

    @staticmethod
    def _chain(a: list[str], join: Callable[[str, str], str]) -> str:
        result = a[0]
        for x in a[1:]:
            result = join(result, x)
        return result

    def _pick(self, condition: str, then: str, other: str) -> str:
        return self._add(f"select i1 {condition}, double {then}, double {other}")

    def _select(self, a: list[int]) -> str:
        return self._pick(self._truth(a[0]), self._real(a[1]), self._real(a[2]))

    def _branch(self, a: list[int]) -> str:
        """Real branches.  What is computed inside one is forgotten behind it: no other path has it."""
        self._fresh += 1
        tag = self._fresh
        self._lines.append(f"  br i1 {self._truth(a[0])}, label %then{tag}, label %else{tag}")
        ends = []
        for word, root in (("then", a[1]), ("else", a[2])):
            self._lines.append(f"{word}{tag}:")
            self._label = f"{word}{tag}"
            mark = len(self._made)
            self._block([root])
            value = self._real(root)
            ends.append(f"[ {value}, %{self._label} ]")
            self._lines.append(f"  br label %join{tag}")
            while len(self._made) > mark:
                table, key = self._made.pop()
                del table[key]  # type: ignore[arg-type]
        self._lines.append(f"join{tag}:")
        self._label = f"join{tag}"
        return self._add(f"phi double {', '.join(ends)}")

    # --- numbers and conditions --------------------------------------------------------------------------------

    def _real(self, k: int) -> str:
        if self.tape.code[k][0] not in LOGICAL:
            return self._values[k]
        return self._other(k, True, lambda value: self._pick(value, exact(1.0), exact(0.0)))

    def _truth(self, k: int) -> str:
        if self.tape.code[k][0] in LOGICAL:
            return self._values[k]
        return self._other(k, False, lambda value: self._add(f"fcmp une double {value}, {exact(0.0)}"))

    def _other(self, k: int, real: bool, convert: Callable[[str], str]) -> str:
        key = (k, real)
        if key not in self._others:
            self._others[key] = convert(self._values[k])
            self._made.append((self._others, key))
        return self._others[key]


def _eager_ifs(tape: Tape) -> frozenset[int]:
    """Those `if` whose branches are so cheap that both may be computed."""
    costly = list[bool]()
    for code in tape.code:
        costly.append(code[0] in EXPENSIVE or any(costly[a] for a in operands(code)))
    return frozenset(
        k for k, code in enumerate(tape.code) if code[0] == "if" and not costly[code[2]] and not costly[code[3]]
    )
