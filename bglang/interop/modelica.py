"""`bglang export modelica`: the equations of a model as one flat Modelica class.

Relations stand where the source has them; a dry friction becomes a small state machine with the modes -1, 0 (sticks)
and 1.  Names that are no plain identifiers are quoted, as Modelica's own flattening writes them."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from bglang.equations.readable import named
from bglang.equations.system import Assertion, Assign, Mode, Reinit, Terminate, WhenBranch
from bglang.expr import Expr, call
from bglang.expr.tidy import tidy
from bglang.expr.walk import leaf_set, postorder, rebuild, rewrite
from bglang.graph.ir import BondGraph, Variable
from bglang.graph.spelling import Spelling, attributes
from bglang.interop.exported import Ready, prepare
from bglang.interop.modelica_tables import functions, table_arrays
from bglang.syntax.text import literal

if TYPE_CHECKING:
    from bglang.api import Model

KEYWORDS = frozenset(
    """algorithm and annotation assert block break class connect connector constant constrainedby der discrete each
    else elseif elsewhen encapsulated end enumeration equation expandable extends external false final flow for
    function if import impure in initial inner input loop model not operator or outer output package parameter partial
    protected public pure record redeclare replaceable return stream then true type when while within time Real Integer
    Boolean String table dtable ddtable dddtable""".split()  # noqa: SIM905
)
TYPES = {"Real": "Real", "Integer": "Integer", "Boolean": "Boolean", "enumeration": "Integer", "String": "String"}
FUNCTIONS = ("table", "dtable", "ddtable", "dddtable")


def quoted(name: str) -> str:
    """A Modelica identifier; `'a.b'` where the name is no plain one."""
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) and name not in KEYWORDS:
        return name
    inner = name.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
    return f"'{inner}'"


class _Spelling(Spelling):
    """Writes names and expressions of one model as Modelica does."""

    def __init__(self, graph: BondGraph, tables: dict[str, str]) -> None:
        super().__init__(graph)
        self.table_names = tables
        self.used: set[str] = set()

    def name(self, flat: str) -> str:
        return flat[1:] if flat.startswith("\0") else quoted(flat)

    def _table(self, key: str) -> str:
        self.used.add(key)
        return f"{self.table_names[key]}_x, {self.table_names[key]}_c"


def export_modelica(model: "Model", energy: bool = False) -> str:
    """The text of the class; with `energy` also powers and stored energies."""
    return ModelicaWriter(prepare(model), energy).text()


class ModelicaWriter:
    def __init__(self, ready: Ready, energy: bool) -> None:
        self.ready, self.system, self.graph, self.energy = ready, ready.system, ready.graph, energy
        keys = [t.key for t in ready.system.tables]
        self.spelling = _Spelling(ready.graph, {key: f"table{k}" for k, key in enumerate(keys, 1)})
        self.variables = {v.name: v for v in ready.graph.variables}
        self.booleans = {v.name for v in ready.graph.variables if v.type == "Boolean"}
        self.operations: set[str] = set()
        self.helpers: dict[Expr, str] = {}

    def text(self) -> str:
        name = quoted(self.system.name)
        about = f" {literal(self.graph.description)}" if self.graph.description else ""
        parameters, unknowns = self._parameters(), self._unknowns()
        discrete, outputs, defined = self._discrete(), *self._outputs()
        equations = [*self._rows(), *defined, *self._frictions(), *self._whens(), *self._assertions()]
        initial = [self._equation(row.residual) for row in self.system.initial]
        experiment = self.system.experiment
        settings = [("StartTime", repr(experiment.start)), ("StopTime", repr(experiment.stop)),
                    ("Tolerance", repr(experiment.tolerance))]  # fmt: skip
        if experiment.interval:
            settings.append(("Interval", repr(experiment.interval)))
        tables = table_arrays(self.ready, self.spelling.table_names, self.spelling.used)
        lines = [
            f"model {name}{about}",
            *functions([op for op in FUNCTIONS if op in self.operations]), *parameters, *tables, *unknowns, *discrete,
            *outputs, *self._helpers(),
            *(["initial equation", *initial] if initial else []),
            "equation", *equations,
            f"  annotation(experiment{attributes(settings)});", f"end {name};", "",
        ]  # fmt: skip
        return "\n".join(lines)

    # --- expressions -------------------------------------------------------------------------------------------------

    def _plain(self, e: Expr) -> Expr:
        """In the model's own names, with relations in the place of modes."""
        if not isinstance(e, tuple):
            return e
        self.operations |= {node[0] for node in postorder(e)}
        return self._simple_pre(tidy(named(rewrite(e, self._leaf), self.system)))

    def _simple_pre(self, e: Expr) -> Expr:
        """`pre`, `edge` and `change` take variables: what else they are applied to gets a name."""
        if not isinstance(e, tuple) or not any(node[0] in ("pre", "edge", "change") for node in postorder(e)):
            return e

        def operation(node: tuple[Any, ...], args: list[Expr]) -> Expr:
            if node[0] in ("pre", "edge", "change") and isinstance(args[0], tuple) and args[0][0] != "v":
                if args[0] not in self.helpers:
                    self.helpers[args[0]] = f"helper {len(self.helpers) + 1}"
                    if self.spelling.is_boolean(args[0]):
                        self.spelling.booleans.add(self.helpers[args[0]])
                args = [("v", self.helpers[args[0]])]
            return rebuild(node, args)

        return rewrite(e, lambda leaf: leaf, operation)

    def _helpers(self) -> list[str]:
        """Declarations of what `pre` needed names for."""
        return [
            self._declaration("Boolean" if name in self.spelling.booleans else "Real", name, (),
                              self.spelling.expression(e), "")
            for e, name in self.helpers.items()
        ]  # fmt: skip

    def _leaf(self, node: tuple[Any, ...]) -> Expr:
        if node[0] != "z":
            return node
        mode = self.system.modes[node[1]]
        if mode.kind == "floor":
            return ("floor", rewrite_modes(mode.arguments[0], self._leaf))
        if mode.kind == "sample":
            return ("sample", *(rewrite_modes(a, self._leaf) for a in mode.arguments))
        if mode.kind == "relation":
            root = rewrite_modes(mode.roots[0], self._leaf)
            a, b = (root[1], root[2]) if isinstance(root, tuple) and root[0] == "-" else (root, 0.0)
            if all(part[0] == "p" for part in leaf_set(a)):  # what varies comes first, as people write it
                return ("<" if mode.strict else "<=", b, a)
            return (">" if mode.strict else ">=", a, b)
        return node

    def _show(self, e: Expr, boolean: bool = False) -> str:
        return self.spelling.expression(self._plain(e), boolean=boolean)

    def _equation(self, residual: Expr) -> str:
        left, right = _sides(residual)
        boolean = isinstance(left, tuple) and left[0] == "y" and self.system.unknowns[left[1]].name in self.booleans
        if boolean and isinstance(right, tuple):  # what reads itself has a memory
            right = rewrite(right, lambda leaf: ("pre", leaf) if leaf == left else leaf)
        return f"  {self._show(left)} = {self._show(right, boolean)};"

    # --- declarations ------------------------------------------------------------------------------------------------

    def _declaration(self, head: str, name: str, pairs: Iterable[tuple[str, str]], value: str, about: str) -> str:
        shown = f" {literal(about)}" if about else ""
        return f"  {head} {quoted(name)}{attributes(pairs)}{f' = {value}' if value else ''}{shown};"

    def _parameters(self) -> list[str]:
        lines = list[str]()
        for q in self.graph.parameters:
            if q.type == "String":
                continue
            boolean = q.type == "Boolean"
            value = "" if q.value is None else self.spelling.expression(q.value, boolean=boolean)
            pairs = [("unit", literal(q.unit) if q.unit and q.type == "Real" else "")]
            if not q.fixed:
                pairs.append(("fixed", "false"))
            head = f"{'final ' * q.final}{'constant' if q.constant else 'parameter'} {TYPES[q.type]}"
            lines.append(self._declaration(head, q.name, pairs, value, q.description))
        return lines

    def _unknowns(self) -> list[str]:
        lines = list[str]()
        for i, u in enumerate(self.system.unknowns):
            kind = TYPES[self.variables[u.name].type] if u.name in self.variables else "Real"
            held = i in self.ready.held
            given = held and not self.graph.experiment.steady  # a steady start is written as it was found
            start = self._show(u.start, kind == "Boolean") if given else repr(float(self.ready.at.y[i]))
            if kind == "Boolean" and not given:
                start = "true" if self.ready.at.y[i] else "false"
            pairs = [("start", start), ("fixed", "true" if held else ""), ("unit", literal(u.unit) if u.unit else "")]
            if u.nominal is not None:
                pairs.append(("nominal", self._show(u.nominal)))
            about = self.variables[u.name].description if u.name in self.variables else ""
            prefix = "output " if u.name in self.graph.outputs else ""
            lines.append(self._declaration(f"{prefix}{kind}", u.name, pairs, "", about))
        return lines

    def _discrete(self) -> list[str]:
        """Discrete variables, inputs, and the modes of frictions."""
        lines = list[str]()
        for k, mode in enumerate(self.system.modes):
            start = float(self.ready.at.z[k])
            if mode.kind == "coulomb":
                pairs = [("start", str(int(start))), ("fixed", "true")]
                about = f"{mode.text}: slips backward, sticks, slips forward"
                lines.append(self._declaration("Integer", mode.name, pairs, "", about))
            elif mode.kind == "discrete":
                lines.append(self._variable(self.variables[mode.name], start))
        return lines

    def _variable(self, v: Variable, start: float) -> str:
        kind = TYPES[v.type]
        shown = {"Boolean": "true" if start else "false", "Integer": str(int(start))}.get(kind, repr(start))
        unit = ("unit", literal(v.unit) if v.unit and kind == "Real" else "")
        if v.name in self.graph.inputs:
            return self._declaration(f"input {kind}", v.name, [("start", shown), unit], "", v.description)
        prefix = "output " if v.name in self.graph.outputs else ""
        return self._declaration(
            f"{prefix}discrete {kind}", v.name, [("start", shown), ("fixed", "true"), unit], "", v.description
        )

    def _outputs(self) -> tuple[list[str], list[str]]:
        """Further variables and their definitions."""
        taken = {u.name for u in self.system.unknowns} | {m.name for m in self.system.modes}
        declared, defined = list[str](), list[str]()
        found = [(o.name, o.value, o.unit, o.description) for o in self.system.outputs
                 if self.energy or not o.name.endswith(".power")]  # fmt: skip
        if self.energy:
            found += [(f"{a.element}.energy", a.energy, "J", "stored energy") for a in self.system.audit
                      if a.kind == "stored" and a.energy is not None]  # fmt: skip
        for name, value, unit, about in found:
            if name in taken:
                continue
            taken.add(name)
            kind = TYPES[self.variables[name].type] if name in self.variables else "Real"
            prefix = "output " if name in self.graph.outputs else ""
            pairs = [("unit", literal(unit) if unit and kind == "Real" else "")]
            declared.append(self._declaration(f"{prefix}{kind}", name, pairs, "", about))
            defined.append(f"  {quoted(name)} = {self._show(value, kind == 'Boolean')};")
        return declared, defined

    # --- equations ---------------------------------------------------------------------------------------------------

    def _rows(self) -> list[str]:
        return [self._equation(row.residual) for row in self.system.rows]

    def _frictions(self) -> list[str]:
        """Slip ends where the velocity changes its sign; stick ends where the reaction is beyond its limit."""
        lines = list[str]()
        for mode in self.system.modes:
            if mode.kind == "coulomb":
                lines += self._friction(mode)
        return lines

    def _friction(self, mode: Mode) -> list[str]:
        x, s, level = (self._wrapped(a) for a in mode.arguments)
        z = quoted(mode.name)
        return [
            f"  when pre({z}) <> 0 and {x}*pre({z}) < 0 then", f"    {z} = 0;",
            f"  elsewhen pre({z}) == 0 and {s} > {level} then", f"    {z} = 1;",
            f"  elsewhen pre({z}) == 0 and {s} < -{level} then", f"    {z} = -1;", "  end when;",
        ]  # fmt: skip

    def _wrapped(self, e: Expr) -> str:
        shown = self._show(e)
        return shown if re.fullmatch(r"\w+|'(?:[^'\\]|\\.)+'|\d[\d.e+-]*", shown) else f"({shown})"

    def _whens(self) -> list[str]:
        lines = list[str]()
        for when in self.system.whens:
            latches = [a for branch in when.branches for a in branch.actions if isinstance(a, Assign) and a.latch]
            if latches:
                lines += [self._latch(a) for a in latches]
                continue
            word = "when"
            assigned = {a.mode for branch in when.branches for a in branch.actions if isinstance(a, Assign)}
            for branch in when.branches:
                lines += self._branch(word, branch)
                own = {a.mode for a in branch.actions if isinstance(a, Assign)}
                names = [quoted(self.system.modes[k].name) for k in sorted(assigned - own)]
                lines += [f"    {name} = pre({name});" for name in names]  # all branches set the same variables
                word = "elsewhen"
            lines.append("  end when;")
        return lines

    def _latch(self, action: Assign) -> str:
        """The equation of a discrete variable that reads its own past."""
        name, own = self.system.modes[action.mode].name, ("z", action.mode)
        value = rewrite(action.value, lambda leaf: ("pre", leaf) if leaf == own else leaf)
        return f"  {quoted(name)} = {self._show(value, name in self.booleans)};"

    def _branch(self, word: str, branch: WhenBranch) -> list[str]:
        conditions = [self._show(c, True) for c in branch.conditions]
        shown = conditions[0] if len(conditions) == 1 else f"{{{', '.join(conditions)}}}"
        lines = [f"  {word} {shown} then"]
        for action in branch.actions:
            if isinstance(action, Assign):
                name = self.system.modes[action.mode].name
                lines.append(f"    {quoted(name)} = {self._show(action.value, name in self.booleans)};")
            elif isinstance(action, Reinit):
                name = self.system.unknowns[action.unknown].name
                lines.append(f"    reinit({quoted(name)}, {self._show(action.value)});")
            elif isinstance(action, Terminate):
                lines.append(f"    terminate({literal(action.message)});")
            else:
                lines.append("  " + self._assertion(action))
        return lines

    def _assertion(self, a: Assertion) -> str:
        level = ", AssertionLevel.warning" if a.level == "warning" else ""
        return f"  assert({self._show(a.condition, True)}, {literal(a.message)}{level});"

    def _assertions(self) -> list[str]:
        return [self._assertion(a) for a in self.system.assertions]


def rewrite_modes(e: Expr, leaf: Any) -> Expr:
    return rewrite(e, leaf) if isinstance(e, tuple) else e


def _sides(residual: Expr) -> tuple[Expr, Expr]:
    """An equation for the eye: what stands alone goes to the left."""
    if isinstance(residual, tuple) and residual[0] == "-":
        return residual[1], residual[2]
    return 0.0, call("neg", residual) if isinstance(residual, tuple) and residual[0] == "neg" else residual
