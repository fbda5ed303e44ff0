"""Tapes as C: formulas that can be read, each part that is used twice under a name of its own."""

import math
import re
from collections.abc import Callable, Iterable

from bglang.kernels.tape import INDEXED, LOGICAL, RELATIONS, TABLES, Tape, operands
from bglang.records import dataclass

WIDTH = 100
"""A formula longer than this is taken apart."""
Leaf = Callable[[str, int], str]
"""The C text of a leaf: ("y", slot) and so on; ("table", slot) is where a table's block begins."""

_CALLS = {"abs": "fabs", "sign": "bg_sign", "min": "bg_min", "max": "bg_max", "^": "pow"}
_SUM, _PRODUCT, _UNARY, _ATOM = 4, 5, 6, 9
_COMPARE, _AND, _OR, _CHOICE = 3, 2, 1, 0

HELPERS = """\
static inline double bg_min(double a, double b) { return b < a ? b : a; }
static inline double bg_max(double a, double b) { return b > a ? b : a; }
static inline double bg_sign(double x) { return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x; }
"""

TABLE_HELPERS = """\
/* A table is n, its n abscissas, and n + 1 cubic pieces a + s (b + s (c + s d)), s counted from the point before. */
static inline int bg_piece(const double *block, double x) {
    int n = (int)block[0], low = 0, high = n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (block[middle + 1] <= x) low = middle + 1; else high = middle;
    }
    return low == n && n > 1 && x <= block[n] ? n - 1 : low;
}
static inline const double *bg_cubic(const double *block, double x, double *s) {
    int n = (int)block[0], piece = bg_piece(block, x);
    *s = x - block[piece < 1 ? 1 : piece];
    return block + n + 1 + 4 * piece;
}
static inline double bg_table(const double *block, double x) {
    double s;
    const double *c = bg_cubic(block, x, &s);
    return c[0] + s * (c[1] + s * (c[2] + s * c[3]));
}
static inline double bg_dtable(const double *block, double x) {
    double s;
    const double *c = bg_cubic(block, x, &s);
    return c[1] + s * (2.0 * c[2] + s * (3.0 * c[3]));
}
static inline double bg_ddtable(const double *block, double x) {
    double s;
    const double *c = bg_cubic(block, x, &s);
    return 2.0 * c[2] + s * (6.0 * c[3]);
}
static inline double bg_dddtable(const double *block, double x) {
    double s;
    return 6.0 * bg_cubic(block, x, &s)[3];
}
"""


def number(value: float) -> str:
    """A double, exactly."""
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return repr(float(value))


def text(value: str) -> str:
    """A string literal; a description may hold anything."""
    made = "".join(_character(c) for c in value)
    return f'"{made}"'


def _character(c: str) -> str:
    if c in '"\\':
        return "\\" + c
    if " " <= c <= "~":
        return "\\?" if c == "?" else c
    if ord(c) < 32 or ord(c) == 127:
        return " "
    return "".join(f"\\{byte:03o}" for byte in c.encode())


def comment(value: str) -> str:
    """Text that may stand in a comment."""
    return re.sub(r"\*/|/\*", "* /", "".join(c if c >= " " else " " for c in value))


@dataclass(frozen=True, slots=True)
class _Term:
    text: str
    level: int
    boolean: bool = False


class Formulas:
    """Writes the instructions of one tape as statements and final expressions."""

    def __init__(self, tape: Tape, leaf: Leaf, indent: str) -> None:
        self.tape, self.leaf, self.indent = tape, leaf, indent
        self.lines: list[str] = []
        self._terms: dict[int, _Term] = {}
        self._uses = [0] * len(tape.code)
        for instruction in tape.code:
            for k in operands(instruction):
                self._uses[k] += 1
        for k in tape.results:
            self._uses[k] += 1

    def results(self) -> list[str]:
        """The expressions of the results; the statements before them are in `lines`."""
        wanted = self._wanted()
        for k in sorted(wanted):
            term = self._term(k)
            op = self.tape.code[k][0]
            simple = op in INDEXED or op in ("t", "c")
            if not simple and (self._uses[k] > 1 or (len(term.text) > WIDTH and k not in self.tape.results)):
                kind = "int" if term.boolean else "double"
                self.lines.append(f"{self.indent}const {kind} v{k} = {term.text};")
                term = _Term(f"v{k}", _ATOM, term.boolean)
            self._terms[k] = term
        return [self._terms[k].text for k in self.tape.results]

    def _wanted(self) -> set[int]:
        wanted, stack = set[int](), list(self.tape.results)
        while stack:
            k = stack.pop()
            if k not in wanted:
                wanted.add(k)
                stack.extend(operands(self.tape.code[k]))
        return wanted

    def _term(self, k: int) -> _Term:
        op, *a = self.tape.code[k]
        if op == "c":
            value = float.fromhex(a[0])
            return _Term(number(value), _UNARY if math.copysign(1.0, value) < 0 else _ATOM)
        if op == "t":
            return _Term(self.leaf("t", 0), _ATOM)
        if op in INDEXED:
            return _Term(self.leaf(op, a[0]), _ATOM)
        if op in TABLES:
            return _Term(f"bg_{op}({self.leaf('table', a[1])}, {self._terms[a[0]].text})", _ATOM)
        terms = [self._terms[x] for x in a]
        if op in LOGICAL:
            return self._logical(op, terms)
        if op == "if":
            then, other = (self._at(t, _CHOICE + 1) for t in terms[1:])
            return _Term(f"{_truth(terms[0], _CHOICE + 1)} ? {then} : {other}", _CHOICE)
        return self._arithmetic(op, terms)

    def _logical(self, op: str, terms: list[_Term]) -> _Term:
        if op in RELATIONS:
            return _Term(f" {op} ".join(self._at(t, _COMPARE + 1) for t in terms), _COMPARE, True)
        if op == "not":
            return _Term(f"!{_truth(terms[0], _UNARY + 1)}", _UNARY, True)
        level, sign = (_AND, "&&") if op == "and" else (_OR, "||")
        return _Term(f" {sign} ".join(_truth(t, _COMPARE) for t in terms), level, True)

    def _arithmetic(self, op: str, terms: list[_Term]) -> _Term:
        if op in ("+", "-"):
            first, *rest = (self._at(t, _SUM + (k > 0)) for k, t in enumerate(terms))
            return _Term(first + "".join(f" {op} {t}" for t in rest), _SUM)
        if op in ("*", "/"):
            first, *rest = (self._at(t, _PRODUCT + (k > 0)) for k, t in enumerate(terms))
            return _Term(first + "".join(f" {op} {t}" for t in rest), _PRODUCT)
        if op == "neg":
            return _Term(f"-{self._at(terms[0], _UNARY + 1)}", _UNARY)
        name = _CALLS.get(op, op)
        if op in ("min", "max"):  # two at a time, from the left as the evaluator does
            made = terms[0].text
            for term in terms[1:]:
                made = f"{name}({made}, {term.text})"
            return _Term(made, _ATOM)
        return _Term(f"{name}({', '.join(t.text for t in terms)})", _ATOM)

    @staticmethod
    def _at(term: _Term, level: int) -> str:
        return term.text if term.level >= level else f"({term.text})"


def _truth(term: _Term, level: int) -> str:
    made = term if term.boolean else _Term(f"{Formulas._at(term, _COMPARE + 1)} != 0.0", _COMPARE)
    return Formulas._at(made, level)


def array(kind: str, name: str, values: Iterable[str]) -> list[str]:
    """A constant array, wrapped; C has none without members."""
    members = list(values) or ["0"]
    lines, row = [f"{kind} {name} = {{"], "   "
    for member in members:
        if len(row) + len(member) > 118 and row.strip():
            lines.append(row)
            row = "   "
        row += f" {member},"
    return [*lines, row, "};"]
