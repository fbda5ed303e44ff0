"""Random programs: every one of them is good syntax, written with careless blanks, line breaks and comments."""

from collections.abc import Callable

from hypothesis import strategies as st

NAMES = ["x", "y2", "mass", "größe", "'a b'", "initial", "node", "energy", "flow", "'if'"]
LEAVES = [
    "0",
    "1",
    "2.",
    "2.5",
    "1e3",
    "1.5e-3",
    '"text"',
    '"a \\" b"',
    '"two\nlines"',
    '"// none"',
    "true",
    "a.b",
    ".a.b",
]
BLANKS = ["", " ", "\n", "\n\n", " // note\n", " /* in */ ", "\n  // own line\n", "\n\n\n/* a\n b */\n", "\t"]
OPERATORS = ["+", "-", "*", "/", "^", ".*", "./", ".^", "<", ">=", "==", "<>", "and", "or"]


class Author:
    """Writes programs by making choices with hypothesis' `draw`."""

    def __init__(self, draw: st.DrawFn):
        self.draw = draw

    def number(self, least: int, most: int) -> int:
        return self.draw(st.integers(least, most))

    def choose(self, options: list[str]) -> str:
        return options[self.number(0, len(options) - 1)]

    def any_of(self, *makers: Callable[[], str]) -> str:
        return makers[self.number(0, len(makers) - 1)]()

    def many(self, make: Callable[[], str], most: int = 3, by: str = ", ") -> str:
        return by.join(make() for _ in range(self.number(0, most)))

    def name(self) -> str:
        return self.choose(NAMES)

    def text(self) -> str:
        return self.choose(["", '"text"', '"a" + "b"', '"two\nlines"'])

    def value(self, depth: int = 2) -> str:
        if depth == 0 or self.number(0, 2) == 0:
            return self.choose(NAMES + LEAVES)
        n = self.name()
        blank = self.choose([" ", " ", " ", " /* c */ ", " // c\n"])

        def inner() -> str:
            return self.value(depth - 1)

        return blank + self.any_of(
            lambda: f"({inner()}{self.choose([' ', ''])} {self.choose(OPERATORS)} {inner()})",
            lambda: f"(-{inner()})",
            lambda: f"(not {inner()})",
            lambda: f"({inner()} * - {inner()})",
            lambda: f"(if {inner()} then {inner()} elseif {inner()} then {inner()} else {inner()})",
            lambda: "{" + self.many(inner) + "}",
            lambda: f"[{inner()},{inner()};\n {inner()},{inner()}]",
            lambda: f"{{{inner()} for {n} in {inner()}:{inner()}}}",
            lambda: f"{n}({self.many(inner)})",
            lambda: f"{n}({inner()}, {n} = {inner()})",
            lambda: f"{n}[{inner()}, : , end - 1].{self.name()}",
        )

    def argument(self) -> str:
        n, v = self.name(), self.value()
        forms = [f"{n}={v}", f"each {n} = {v}", f"{n}(start = {v})", f"0={v}"]
        return self.choose([*forms, f"redeclare {n} {self.name()}({n} = {v})", f"redeclare model {n} = B"])

    def arguments(self) -> str:
        return f"({self.many(self.argument)})"

    def declaration(self) -> str:
        a, b = self.name(), self.name()
        return self.any_of(
            lambda: f"{self.choose(['', 'parameter', 'port', 'final constant'])} {a} {b};",
            lambda: f"{a} {b}[{self.value()}]{self.arguments()} = {self.value()} {self.text()};",
            lambda: f"{a} {b} if {self.value()}, {a} annotation{self.arguments()};",
            lambda: f"extends {a}{self.arguments()};",
            lambda: f"model A = B{self.arguments()} {self.text()};",
            lambda: f"type T = enumeration({a}, {b} {self.text()});",
            lambda: f"import A.{a}.*;",
        )

    def bond(self) -> str:
        a, b = self.name(), self.name()
        return self.any_of(
            lambda: f"{a}->{b} |-> {a} , {b} {self.text()};",
            lambda: f"bond {a}[{self.value(1)}] : {a} ->| {b};",
        )

    def equation(self) -> str:
        a = self.name()
        return self.any_of(
            lambda: f"{a} = {self.value()};",
            lambda: f"der({a})-1={self.value()} {self.text()};",
            lambda: f'assert({self.value()}, "words");',
        )

    def item(self, make: Callable[[], str], depth: int = 2) -> str:
        if depth == 0 or self.number(0, 3):
            return self.choose(BLANKS) + make()

        def body() -> str:
            return self.many(lambda: self.item(make, depth - 1), 2, "\n") + self.choose(BLANKS)

        return self.any_of(
            lambda: (
                f"if {self.value()} then{self.choose(BLANKS)} {body()}\nelseif {self.value()} then {body()} end if;"
            ),
            lambda: f"if a then {body()} else {self.choose(BLANKS)} {body()} end if;",
            lambda: f"for {self.name()} in 1:n-1, j in {self.value()} loop {body()} end for;",
        )

    def model(self) -> str:
        parts = [self.choose(BLANKS), f"partial model M {self.text()}", self.choose(BLANKS)]
        for heading, make in (("", self.declaration), ("bonds", self.bond), ("equation", self.equation)):
            parts += [heading, self.many(lambda make=make: self.item(make), 3, " "), self.choose(BLANKS)]  # type: ignore[misc]
        return "\n".join([*parts, "end M;", self.choose(BLANKS)])


@st.composite
def programs(draw: st.DrawFn) -> str:
    author = Author(draw)
    return author.model() + (author.model() if author.number(0, 1) else "")
