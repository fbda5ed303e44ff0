"""What a class consists of once inheritance is worked out: members, bonds and equations in the order of the text.

A body is made once per class and shared by all its instances.  Inherited parts stand where the `extends` stands; each
member remembers the modifications that `extends` clauses on the way made to it.
"""

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

from bglang.diagnostics import Label, Report, error
from bglang.elaborate.definitions import BROKEN, Builtin, Definition, Target
from bglang.elaborate.hints import did_you_mean
from bglang.elaborate.kinds import check_base, check_item
from bglang.records import dataclass, field, replace
from bglang.syntax import ast
from bglang.syntax.text import quoted

Changes: TypeAlias = tuple[tuple[ast.Argument, ...], Definition]
"""Modifications written at one place, and the class in which they stand."""


@dataclass(slots=True)
class Member:
    """A declared name.  `inherited` are modifications of derived classes, outermost first; `dynamic` members stand
    in an `if` or `for`."""

    ident: str
    component: ast.Component
    declarator: ast.Declarator
    definition: Definition
    inherited: tuple[Changes, ...] = ()
    protected: bool = False
    dynamic: bool = False
    looped: bool = False
    target: Target | None = None
    plan: Any = None
    name: str = ""

    @property
    def shown(self) -> str:
        """The name as it stands in flat names: in quotes where it is no plain identifier."""
        self.name = self.name or quoted(self.ident)
        return self.name

    def resolve_type(self, report: Report) -> Target:
        """The class that the declaration names, found once."""
        if self.target is None:
            self.target = self.definition.find(self.component.type, report)
        return self.target


@dataclass(frozen=True, slots=True)
class BodyItem:
    """A bond, equation or block, the heading it stands under and the class it was written in."""

    node: ast.Item
    section: ast.SectionKind
    definition: Definition


@dataclass(frozen=True, slots=True)
class Level:
    """One place that may give a law to a basic element, or attributes to a type: arguments or an equation section."""

    definition: Definition
    args: tuple[ast.Argument, ...] = ()
    equations: tuple[BodyItem, ...] = ()


@dataclass(slots=True)
class Body:
    definition: Definition
    basic: Builtin | None = None
    levels: list[Level] = field(default_factory=list[Level])
    members: dict[str, Member] = field(default_factory=dict[str, Member])
    dynamic: dict[int, Member] = field(default_factory=dict[int, Member])
    items: list[Member | BodyItem] = field(default_factory=list["Member | BodyItem"])
    energy: BodyItem | None = None
    dimensions: list[tuple[tuple[ast.Expression, ...], Definition]] = field(
        default_factory=list[tuple[tuple[ast.Expression, ...], Definition]]
    )
    experiment: Changes | None = None
    domain: Definition | None = None
    broken: bool = False
    bond_names: dict[str, ast.Part] = field(default_factory=dict[str, ast.Part])

    def names(self) -> set[str]:
        return set(self.members) | set(self.bond_names)

    def ports(self) -> list[Member]:
        return [m for m in self.members.values() if "port" in m.component.prefixes]


def body_of(definition: Definition, report: Report) -> Body:
    """The body of a class, made once."""
    if definition.body is None:
        definition.body = Body(definition)  # seen by a class that extends itself
        definition.body.broken = True
        definition.body = _Builder(definition, report).build()
    return definition.body


class _Builder:
    def __init__(self, definition: Definition, report: Report):
        self.definition = definition
        self.report = report
        self.body = Body(definition)
        self.equations = list[BodyItem]()
        self.taken = set[int]()

    def build(self) -> Body:
        body, node = self.body, self.definition.node
        cycle = find_cycle(self.definition)
        if cycle:
            report_cycle(self.definition, cycle, self.report)
            body.broken = True
            return body
        bases = {id(base.span): base for base in self.definition.bases()}
        base_levels = list[Level]()
        if node.short is not None:
            base_levels += self.extend(next(iter(bases.values())))
        for section in node.sections:
            for item in section.items:
                if isinstance(item, ast.Extends):
                    base_levels += self.extend(bases[id(item.span)])
                else:
                    self.add_item(item, section)
        if self.equations:
            body.levels.append(Level(self.definition, equations=tuple(self.equations)))
        body.levels += {id(level): level for level in base_levels}.values()  # each way to a base once
        for argument in node.annotation:
            if argument.name is not None and argument.name.parts[0].ident == "experiment":
                body.experiment = (argument.args or (), self.definition)
        body.domain = enclosing_domain(self.definition) or body.domain
        return body

    # --- the class's own items ---------------------------------------------------------------------------------------

    def add_item(self, item: ast.Item, section: ast.Section) -> None:
        if isinstance(item, ast.Class | ast.Import):
            return
        if not check_item(self.definition.node, item, section.kind, self.report):
            self.body.broken = True  # what it would have said is missing: no more about that
            return
        if isinstance(item, ast.Component):
            for declarator in item.declarators:
                self.declare(item, declarator, section.protected or item.protected)
            return
        entry = BodyItem(item, section.kind, self.definition)
        if isinstance(item, ast.Equation) and self.definition.node.kind == "element" and is_energy(item.left):
            self.add_energy(entry)
            return
        if isinstance(item, ast.BondChain) and item.name is not None:
            self.name_bond(item.name)
        for component, looped in components_in(item):
            for declarator in component.declarators:
                self.declare_dynamic(component, declarator, looped)
        for part in bond_names_in(item):
            self.body.bond_names.setdefault(part.ident, part)
        self.body.items.append(entry)
        if section.kind == "equation":
            self.equations.append(entry)

    def add_energy(self, entry: BodyItem) -> None:
        """The energy of an element; that of a base class may already be there, and is replaced."""
        before = self.body.energy
        if before is not None and before.definition is self.definition:
            self.report.add(
                error(
                    "laws/two",
                    f"`{self.definition.node.ident}` has two energies",
                    entry.node.span,
                    related=[Label(before.node.span, "the other one")],
                    reason="The efforts are the gradient of one energy.",
                    hint="add them up in one equation.",
                )
            )
        self.body.energy = entry

    def declare(self, component: ast.Component, declarator: ast.Declarator, protected: bool) -> None:
        member = Member(declarator.ident, component, declarator, self.definition, protected=protected)
        if "redeclare" in component.prefixes:
            self.redeclare(member)
        else:
            self.add_member(member)

    def declare_dynamic(self, component: ast.Component, declarator: ast.Declarator, looped: bool) -> None:
        member = Member(declarator.ident, component, declarator, self.definition, dynamic=True, looped=looped)
        self.body.dynamic[id(declarator)] = member
        before = self.body.members.get(member.ident)
        if before is None:
            self.body.members[member.ident] = member
        elif not before.dynamic:
            self.report_duplicate(member, before)

    def name_bond(self, part: ast.Part) -> None:
        before = self.body.bond_names.get(part.ident)
        if before is not None:
            self.report.add(duplicate(part.ident, part, before))
        elif part.ident in self.body.members:
            self.report.add(duplicate(part.ident, part, self.body.members[part.ident].declarator))
        self.body.bond_names[part.ident] = part

    def add_member(self, member: Member) -> None:
        before = self.body.members.get(member.ident)
        if before is not None:
            if before.declarator is not member.declarator:
                self.report_duplicate(member, before)
            return
        if member.ident in self.body.bond_names:
            self.report.add(duplicate(member.ident, member.declarator, self.body.bond_names[member.ident]))
            return
        if member.ident == "time":
            text = "`time` cannot be declared: it is the time of the run"
            self.report.add(error("names/reserved", text, member.declarator.span, hint="choose another name."))
            return
        self.body.members[member.ident] = member
        self.body.items.append(member)

    def report_duplicate(self, member: Member, before: Member) -> None:
        self.report.add(duplicate(member.ident, member.declarator, before.declarator))

    # --- inheritance -------------------------------------------------------------------------------------------------

    def extend(self, base: "Base") -> list[Level]:
        """Take over everything of a base class; what it may give as laws comes after this class's own."""
        here = Level(self.definition, base.args)
        body = self.body
        if base.subscripts:
            body.dimensions.append((base.subscripts, self.definition))
        if isinstance(base.target, Builtin):
            if base.target is BROKEN or not self.may_extend(base, _BASIC.get(base.target.kind, base.target.kind)):
                body.broken = True
            body.basic = base.target
            return [here]
        if not self.may_extend(base, base.target.node.kind):
            body.broken = True
            return [here]
        inherited = body_of(base.target, self.report)
        body.broken = body.broken or inherited.broken
        changes = changes_by_name(base.args)
        self.check_changes(changes, inherited, base)
        body.basic = body.basic or inherited.basic
        known = {id(sizes) for sizes in body.dimensions}
        body.dimensions += [sizes for sizes in inherited.dimensions if id(sizes) not in known]
        body.energy = body.energy or inherited.energy
        body.experiment = body.experiment or inherited.experiment
        body.domain = body.domain or inherited.domain
        for item in inherited.items:
            if isinstance(item, Member):
                self.add_member(self.modified(item, changes, base.protected))
            elif id(item.node) not in self.taken:  # a class inherited twice gives its bonds and equations once
                self.taken.add(id(item.node))
                body.items.append(item)
        for key, member in inherited.dynamic.items():
            body.dynamic[key] = self.modified(member, changes, base.protected)
        for ident, member in inherited.members.items():
            if member.dynamic:
                body.members.setdefault(ident, body.dynamic[id(member.declarator)])
        for ident, part in inherited.bond_names.items():
            body.bond_names.setdefault(ident, part)
        for argument in base.args:
            if isinstance(argument.redeclare, ast.Component):
                self.redeclare_component(argument.redeclare)
        return [here, *inherited.levels]

    def may_extend(self, base: "Base", kind: str) -> bool:
        return check_base(self.definition.node, base.target.name, kind, base.span, self.report)

    def modified(self, member: Member, changes: dict[str, tuple[ast.Argument, ...]], protected: bool) -> Member:
        """A member with the modifications that this class's `extends` makes to it."""
        args = changes.get(member.ident)
        if args is None and not (protected and not member.protected):
            return member
        inherited = ((args, self.definition), *member.inherited) if args else member.inherited
        return replace(member, inherited=inherited, protected=member.protected or protected)

    def check_changes(self, changes: dict[str, tuple[ast.Argument, ...]], inherited: Body, base: "Base") -> None:
        """Every modified name must exist in the base."""
        if inherited.broken:
            return
        basic = basic_names(inherited.basic)
        for ident, args in changes.items():
            if ident not in inherited.members and ident not in basic and ident not in inherited.bond_names:
                name = inherited.definition.name
                self.report.add(
                    error(
                        "names/unknown",
                        f"`{name}` has no `{ident}` that could be modified",
                        args[0].span,
                        hint=did_you_mean(ident, inherited.names() | basic),
                    )
                )

    def redeclare_component(self, component: ast.Component) -> None:
        for declarator in component.declarators:
            self.redeclare(Member(declarator.ident, component, declarator, self.definition))

    def redeclare(self, member: Member) -> None:
        """Put a declaration in the place of an inherited one."""
        before = self.body.members.get(member.ident)
        if before is None or before.dynamic:
            self.report.add(
                error(
                    "names/unknown",
                    f"there is no inherited `{member.ident}` to redeclare",
                    member.declarator.span,
                    hint=did_you_mean(member.ident, self.body.members),
                )
            )
            return
        from bglang.elaborate.constraints import check_replaceable, redeclared

        if check_replaceable(before, member, self.report):
            new = redeclared(before, member)
            self.body.members[member.ident] = new
            self.body.items = [new if item is before else item for item in self.body.items]


_BASIC = {"element": "basic element", "value": "basic type", "outside": "outside model"}


def changes_by_name(args: Iterable[ast.Argument]) -> dict[str, tuple[ast.Argument, ...]]:
    """Modifications grouped by the member that they change."""
    groups = dict[str, tuple[ast.Argument, ...]]()
    for argument in args:
        if argument.redeclare is None and argument.name is not None:
            ident = argument.name.parts[0].ident
            groups[ident] = (*groups.get(ident, ()), argument)
    return groups


def components_in(item: ast.Item, looped: bool = False) -> Iterator[tuple[ast.Component, bool]]:
    """Declarations inside `if` and `for`, and whether a `for` is around them."""
    if isinstance(item, ast.IfBlock):
        for _, items in (*item.branches, (None, item.otherwise)):
            for inner in items:
                yield from components_in(inner, looped)
    elif isinstance(item, ast.ForBlock):
        for inner in item.body:
            yield from components_in(inner, True)
    elif isinstance(item, ast.Component):
        yield item, looped


def bond_names_in(item: ast.Item) -> Iterator[ast.Part]:
    """Names of bonds inside `if` and `for`."""
    if isinstance(item, ast.IfBlock):
        for _, items in (*item.branches, (None, item.otherwise)):
            for inner in items:
                yield from bond_names_in(inner)
    elif isinstance(item, ast.ForBlock):
        for inner in item.body:
            yield from bond_names_in(inner)
    elif isinstance(item, ast.BondChain) and item.name is not None:
        yield item.name


def is_energy(left: ast.Expression) -> bool:
    return isinstance(left, ast.Name) and [p.ident for p in left.parts] == ["energy"]


def enclosing_domain(definition: Definition) -> Definition | None:
    """The domain in which a class is defined."""
    place = definition.parent
    while isinstance(place, Definition):
        if place.node.kind == "domain":
            return place
        place = place.parent
    return None


BASIC_NAMES = {
    "Se": "e f",
    "Sf": "e f",
    "R": "R e f 0",
    "C": "C e f q 0 energy prefer",
    "I": "I e f p 0 energy prefer",
    "TF": "m p1 p2",
    "GY": "r p1 p2",
    "J0": "p e",
    "J1": "q f",
    "Real": "unit min max start nominal displayUnit fixed quantity prefer stateSelect",
    "Integer": "unit min max start nominal displayUnit fixed quantity",
    "Boolean": "start fixed quantity",
    "String": "start quantity",
}
"""What may be modified in built-in types."""


def basic_names(basic: Builtin | None) -> set[str]:
    return set(BASIC_NAMES.get(basic.name, "").split()) if basic is not None else set()


def duplicate(ident: str, new: "ast.Part | ast.Declarator", old: "ast.Part | ast.Declarator") -> "Diagnostic":
    return error(
        "names/duplicate",
        f"`{ident}` is declared twice",
        new.span,
        label="declared again here",
        related=[Label(old.span, "first declared here")],
        hint="rename one of them, or use `redeclare` to replace an inherited one.",
    )


def find_cycle(definition: Definition) -> list[Definition]:
    """The classes of a circle of inheritance through this class, empty when there is none."""
    path = list[Definition]()
    seen = set[int]()  # a class that is inherited on many ways is looked at once

    def visit(place: Definition) -> bool:
        path.append(place)
        seen.add(id(place.node))
        for base in place.bases():
            if isinstance(base.target, Definition):
                if base.target.node is definition.node:
                    return True
                if id(base.target.node) not in seen and visit(base.target):
                    return True
        path.pop()
        return False

    return path if visit(definition) else []


def report_cycle(definition: Definition, cycle: list[Definition], report: Report) -> None:
    names = " extends ".join(f"`{d.name}`" for d in [*cycle, definition])
    report.add(
        error(
            "classes/cyclic-inheritance",
            f"`{definition.name}` extends itself",
            definition.node.name_span,
            reason=f"{names}.",
            hint="remove one of the `extends`.",
        )
    )


from bglang.diagnostics import Diagnostic  # noqa: E402
from bglang.elaborate.definitions import Base  # noqa: E402
