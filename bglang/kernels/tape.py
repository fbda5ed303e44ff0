"""Tapes: expressions over slots as straight-line programs, in a canonical text.

A tape is a list of instructions; operands are numbers of earlier instructions.  Equal parts are computed once (value
numbering over all results together), so the text is a normal form: two equations of one shape have one text, and it
is the key under which their compiled code is kept.  Instructions:

    y S, d S, p S, z S, t            the value that index column S selects for this instance; time
    c HEX                            a number
    table A S, dtable A S, ...       a table or a slope of it at A; column S says where its block begins in p
    + * min max and or  A B ...      - / ^ neg sin ... < <= == ... not if     as in `bglang.expr`

Between events nothing changes, so `pre` is its argument and `edge`, `change`, `sample`, `initial`, `terminal` are 0.
"""

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from bglang.expr.core import WITH_KEY, Expr
from bglang.records import dataclass

Instruction: TypeAlias = tuple[Any, ...]
Leaf: TypeAlias = tuple[str, int]

INDEXED = ("y", "d", "p", "z")
TRANSPARENT = {"noEvent": 1, "smooth": 2, "pre": 1}
"""Operations that are worth one of their operands, and which."""
SILENT = frozenset({"edge", "change", "sample", "initial", "terminal"})
TABLES = frozenset({"table", "dtable", "ddtable", "dddtable"})
RELATIONS = frozenset({"<", "<=", ">", ">=", "==", "!="})
LOGICAL = RELATIONS | {"and", "or", "not"}
_SMOOTH = "sin cos tan asin acos atan atan2 sinh cosh tanh exp log log10 ^"
_OTHERS = "+ * - / neg sqrt abs sign min max floor ceil trunc if"
FUNCTIONS = frozenset(_SMOOTH.split())
"""Operations that call the mathematical library."""
LIBRARY = tuple(sorted((FUNCTIONS - {"^"}) | {"pow"}))
"""The functions of that library that native code may call."""
PLAIN = frozenset(_OTHERS.split())
_RENAMED = {"integer": "floor", "pwlin": "table"}
_LARGEST_POWER = 64


@dataclass(frozen=True, slots=True)
class Tape:
    code: tuple[Instruction, ...]
    results: tuple[int, ...]

    def text(self) -> str:
        lines = [" ".join(map(str, instruction)) for instruction in self.code]
        return "\n".join([*lines, "out " + " ".join(map(str, self.results))])


def read_tape(text: str) -> Tape:
    """The tape of a text; refuses what `Tape.text` would not have written."""
    code = list[Instruction]()
    *lines, last = text.split("\n")
    for line in lines:
        op, *words = line.split(" ")
        if op == "c":
            code.append((op, float.fromhex(words[0]).hex()))
            continue
        numbers = [int(word) for word in words]
        operands = numbers[:-1] if op in TABLES else () if op in INDEXED else numbers
        known = op == "t" or op in INDEXED or op in TABLES or op in LOGICAL or op in FUNCTIONS or op in PLAIN
        if not known or any(not 0 <= a < len(code) for a in operands) or min(numbers, default=0) < 0:
            raise ValueError(f"not a tape: {line!r}")
        code.append((op, *numbers))
    head, *outs = last.split(" ")
    results = tuple(int(word) for word in outs)
    if head != "out" or any(not 0 <= r < len(code) for r in results):
        raise ValueError(f"not a tape: {last!r}")
    return Tape(tuple(code), results)


def operands(instruction: Instruction) -> Sequence[int]:
    """Which earlier instructions this one reads."""
    op = instruction[0]
    if op in INDEXED or op == "c":
        return ()
    return instruction[1:2] if op in TABLES else instruction[1:]


def columns(tape: Tape) -> tuple[int, int, int, int]:
    """How many index columns the tape uses: for variables (y and d alike), parameters, discrete ones, tables."""
    count = {"y": 0, "p": 0, "z": 0, "table": 0}
    for op, *rest in tape.code:
        group = "y" if op == "d" else "table" if op in TABLES else op
        if group in count:
            count[group] = max(count[group], rest[-1] + 1)
    return count["y"], count["p"], count["z"], count["table"]


def make_tape(results: Iterable[Expr]) -> Tape:
    """The tape of several expressions over slots, with equal parts shared among all of them."""
    builder = _Builder()
    numbers = tuple(builder.number(e) for e in results)
    return Tape(tuple(builder.code), numbers)


class _Builder:
    def __init__(self) -> None:
        self.code: list[Instruction] = []
        self._numbers: dict[Instruction, int] = {}
        self._visited: dict[int, int] = {}
        self._alive: list[Expr] = []  # ids are only unique as long as their objects live

    def add(self, *instruction: Any) -> int:
        number = self._numbers.get(instruction)
        if number is None:
            number = self._numbers[instruction] = len(self.code)
            self.code.append(instruction)
        return number

    def number(self, root: Expr) -> int:
        self._alive.append(root)
        visited = self._visited
        stack = [root]
        while stack:
            e = stack[-1]
            if id(e) in visited:
                stack.pop()
            elif not isinstance(e, tuple) or e[0] in INDEXED or e[0] == "t" or e[0] in SILENT:
                visited[id(stack.pop())] = self._leaf(e)
            else:
                parts = self._parts(e)
                missing = [a for a in parts if id(a) not in visited]
                if missing:
                    stack.extend(reversed(missing))
                else:
                    visited[id(stack.pop())] = self._operation(e, [visited[id(a)] for a in parts])
        return visited[id(root)]

    @staticmethod
    def _parts(e: tuple[Any, ...]) -> tuple[Expr, ...]:
        op = e[0]
        if op in TRANSPARENT:
            return (e[TRANSPARENT[op]],)
        if op == "^" and not isinstance(e[2], tuple):
            return (e[1],)
        return e[1:-1] if op in WITH_KEY else e[1:]

    def _leaf(self, e: Expr) -> int:
        if not isinstance(e, tuple):
            return self.add("c", float(e).hex())
        return self.add("c", (0.0).hex()) if e[0] in SILENT else self.add(*e)

    def _operation(self, e: tuple[Any, ...], a: list[int]) -> int:
        op = _RENAMED.get(e[0], e[0])
        if op in TRANSPARENT:
            return a[0]
        if op == "^" and len(a) == 1:
            return self._power(a[0], float(e[2]))
        if op in TABLES:
            return self.add(op, a[0], e[-1])
        if op == "mod":
            return self._remainder("floor", *a)
        if op == "rem":
            return self._remainder("trunc", *a)
        if op == "div":
            return self.add("trunc", self.add("/", *a))
        assert op in LOGICAL or op in FUNCTIONS or op in PLAIN, f"{op} has no place in a kernel"
        return a[0] if len(a) == 1 and op in ("+", "*", "min", "max") else self.add(op, *a)

    def _remainder(self, rounding: str, a: int, b: int) -> int:
        return self.add("-", a, self.add("*", self.add(rounding, self.add("/", a, b)), b))

    def _power(self, base: int, exponent: float) -> int:
        """Small whole and half powers by multiplication and square root: exact where `pow` is, and much cheaper."""
        if abs(exponent) > _LARGEST_POWER or (2.0 * exponent) % 1.0 != 0.0 or (exponent % 1.0 and abs(exponent) > 1.5):
            return self.add("^", base, self.add("c", exponent.hex()))
        positive = self._whole_power(base, int(abs(exponent)))
        if exponent % 1.0:
            root = self.add("sqrt", base)
            positive = root if positive is None else self.add("*", positive, root)
        one = self.add("c", (1.0).hex())
        if positive is None:
            return one
        return positive if exponent > 0.0 else self.add("/", one, positive)

    def _whole_power(self, base: int, exponent: int) -> int | None:
        result: int | None = None
        while exponent:
            if exponent & 1:
                result = base if result is None else self.add("*", result, base)
            exponent >>= 1
            if exponent:
                base = self.add("*", base, base)
        return result
