"""The discrete part of a model as C: arguments of modes, conditions and actions of `when`, assertions.

Instants are two here: the present one, and `left` just before the event, which `pre` reads.  In the tapes the second
one's entries come behind those of the first."""

from collections.abc import Callable, Sequence
from typing import Any

from bglang.equations.system import Assertion, Assign, Reinit, Terminate, WhenBranch
from bglang.expr import Expr, map_leaves
from bglang.expr.core import WITH_KEY
from bglang.expr.walk import rebuild, rewrite
from bglang.interop.c_kernels import SIGNATURE, UNUSED, Names
from bglang.interop.c_text import Formulas, comment, text
from bglang.interop.exported import Ready
from bglang.kernels.tape import make_tape

EVENT = "EVENT"
_UNUSED = "    UNUSED_EVENT;"


class EventWriter:
    """Writes what happens at events."""

    def __init__(self, ready: Ready, names: Names) -> None:
        self.ready, self.names, self.system = ready, names, ready.system
        self._n, self._nz = len(self.system.unknowns), len(self.system.modes)
        self._bases = {table.key: table.base for table in ready.program.tables}
        self.branches: list[WhenBranch] = [b for when in self.system.whens for b in when.branches]

    # --- expressions -------------------------------------------------------------------------------------------------

    def expression(self, e: Expr, leaf: Callable[[str, int], str], indent: str) -> tuple[list[str], str]:
        """Statements and the final expression of one value."""
        formulas = Formulas(make_tape([self._plain(e)]), leaf, indent)
        results = formulas.results()
        return formulas.lines, results[0]

    def _plain(self, e: Expr) -> Expr:
        """`pre`, `edge`, `initial` ... as leaves; tables by where their blocks begin."""
        if not isinstance(e, tuple):
            return e

        def operation(node: tuple[Any, ...], args: list[Expr]) -> Expr:
            op = node[0]
            if op == "pre":
                return self._left(args[0])
            if op == "edge":
                return ("and", args[0], ("not", self._left(args[0])))
            if op == "change":
                return ("!=", args[0], self._left(args[0]))
            if op == "initial":
                return ("z", 2 * self._nz)
            if op == "terminal":
                return ("z", 2 * self._nz + 1)
            if op in WITH_KEY:
                return (op, args[0], self._bases[node[-1]])
            return rebuild(node, args)

        return rewrite(e, lambda leaf: leaf, operation)

    def _left(self, e: Expr) -> Expr:
        shift = {"y": self._n, "d": self._n, "z": self._nz}

        def move(leaf: tuple[Any, ...]) -> Expr:
            size = shift.get(leaf[0])
            return leaf if size is None or leaf[1] >= size else (leaf[0], leaf[1] + size)

        return map_leaves(e, move)

    def _leaf(self, kind: str, number: int) -> str:
        if kind == "t":
            return "at->t"
        if kind == "table":
            return f"p + {number}"
        if kind == "p":
            return self.names.place("p", number)
        size = self._nz if kind == "z" else self._n
        if kind == "z" and number >= 2 * self._nz:
            return "initial" if number == 2 * self._nz else "terminal"
        whose = "at" if number < size else "left"
        return f"{whose}->{self.names.place(kind, number % size)}"

    def _point(self, kind: str, number: int) -> str:
        return "t" if kind == "t" else f"p + {number}" if kind == "table" else self.names.place(kind, number)

    # --- functions ---------------------------------------------------------------------------------------------------

    def arguments(self) -> tuple[list[str], list[int]]:
        """`model_arguments`, and how many values each mode has there."""
        body, counts, at = list[str](), list[int](), 0
        for mode in self.system.modes:
            before = at
            for e in mode.arguments:
                lines, value = self.expression(e, self._point, "        ")
                line = f"out[{at}] = {value};"
                body += ["    {", *lines, f"        {line}", "    }"] if lines else [f"    {line}"]
                at += 1
            if mode.kind == "segment":
                body.append(f"    out[{at}] = bg_piece(p + {self._bases[mode.table]}, out[{at - 1}]);")
                at += 1
            counts.append(at - before)
        return [f"void model_arguments({SIGNATURE}) {{", UNUSED, *body, "}", ""], counts

    def whens(self) -> list[str]:
        conditions = [c for branch in self.branches for c in branch.conditions]
        body = list[str]()
        for k, c in enumerate(conditions):
            body += self._statement(c, lambda value, k=k: f"out[{k}] = ({value}) != 0;", "    ")  # type: ignore[misc]
        made = [f"void model_conditions({EVENT}, int *out) {{", _UNUSED, "    (void)out;", *body, "}", ""]
        made += self._actions("void model_latch", "double *z", "z", _latches, lambda a, v: f"z[{a.mode}] = {v};")
        made += self._actions("void model_assign", "double *z", "z", _assigns, lambda a, v: f"z[{a.mode}] = {v};")
        made += self._actions(
            "void model_reinit", "int *held, double *value", "held, (void)value", _reinits,
            lambda a, v: f"held[{a.unknown}] = 1, value[{a.unknown}] = {v};",
        )  # fmt: skip
        return [*made, *self._reports()]

    def _statement(self, e: Expr, write: Callable[[str], str], indent: str) -> list[str]:
        lines, value = self.expression(e, self._leaf, indent + "    ")
        if not lines:
            return [indent + write(value)]
        return [f"{indent}{{", *lines, f"{indent}    {write(value)}", f"{indent}}}"]

    def _actions(
        self, head: str, parameters: str, unused: str, wanted: Callable[[WhenBranch], list[Any]],
        write: Callable[[Any, str], str],
    ) -> list[str]:  # fmt: skip
        cases = list[str]()
        for number, branch in enumerate(self.branches):
            chosen = wanted(branch)
            if chosen:
                cases.append(f"    case {number}:")
                for action in chosen:
                    value: Expr = action.value
                    cases += self._statement(value, lambda v, a=action: write(a, v), "        ")  # type: ignore[misc]
                cases.append("        break;")
        return [f"{head}(int branch, {EVENT}, {parameters}) {{", _UNUSED, f"    (void)branch, (void){unused};",
                "    switch (branch) {", *cases, "    default:", "        break;", "    }", "}", ""]  # fmt: skip

    def _reports(self) -> list[str]:
        """Messages of branches, and behind them those of the model's own assertions."""
        groups: list[Sequence[Any]] = [branch.actions for branch in self.branches]
        groups.append(self.system.assertions)
        kinds, texts = list[str](), list[str]()
        for number, group in enumerate(groups):
            told = [a for a in group if isinstance(a, Terminate | Assertion)]
            if not told:
                continue
            for k, action in enumerate(told):
                kinds.append(f"    if (branch == {number} && number == {k}) {{")
                texts.append(f"    if (branch == {number} && number == {k}) return {text(action.message)};")
                if isinstance(action, Terminate):
                    kinds.append("        return REPORT_TERMINATE;")
                else:
                    bad = "REPORT_ERROR" if action.level == "error" else "REPORT_WARNING"
                    kinds += self._statement(
                        action.condition, lambda v, bad=bad: f"return ({v}) != 0 ? REPORT_NOTHING : {bad};", "        "  # type: ignore[misc]
                    )  # fmt: skip
                kinds.append("    }")
        return [
            f"int model_report(int branch, int number, {EVENT}) {{", _UNUSED, "    (void)branch, (void)number;", *kinds,
            "    return REPORT_END;", "}", "",
            "const char *model_report_text(int branch, int number) {", "    (void)branch, (void)number;", *texts,
            '    return "";', "}", "",
        ]  # fmt: skip

    def remarks(self) -> list[str]:
        """What each root function is about, for comments."""
        return [comment(m.text or m.name) for m in self.system.modes for _ in m.roots]


def _latches(branch: WhenBranch) -> list[Assign]:
    return [a for a in branch.actions if isinstance(a, Assign) and a.latch]


def _assigns(branch: WhenBranch) -> list[Assign]:
    return [a for a in branch.actions if isinstance(a, Assign) and not a.latch]


def _reinits(branch: WhenBranch) -> list[Reinit]:
    return [a for a in branch.actions if isinstance(a, Reinit)]
