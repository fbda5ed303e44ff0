"""The parser: what each form of the language becomes, and that the grammar is what it says."""

import pytest
from lark import Lark
from programs import ALL, DRIVES, EVENTS, FIELDS, LAWS, MACRO, OSCILLATOR

from bglang.diagnostics import Report
from bglang.render import render_all
from bglang.source import Source
from bglang.syntax import ast
from bglang.syntax.parse import parse
from bglang.syntax.tables import grammar_path
from bglang.syntax.text import RESERVED, identifier, literal, quoted, string_value


def tree(text: str) -> ast.File:
    report = Report()
    file = parse(Source("test.bg", text), report)
    assert file is not None, render_all(report)
    return file


def expression(text: str) -> ast.Expression:
    (declaration,) = items(f"model M Real x = {text}; end M;")
    assert isinstance(declaration, ast.Component)
    value = declaration.declarators[0].value
    assert value is not None
    return value


def items(text: str, section: int = 0, cls: int = 0) -> tuple[ast.Item, ...]:
    return tree(text).classes[cls].sections[section].items


def show(e: object) -> str:
    """An expression with all its brackets."""
    match e:
        case ast.Binary():
            return f"({show(e.left)}{e.op}{show(e.right)})"
        case ast.Unary():
            return f"({e.op} {show(e.operand)})"
        case ast.Range():
            return ":".join(show(x) for x in (e.start, e.step, e.stop) if x is not None)
        case ast.Name() | ast.Number() | ast.String() | ast.Call() | ast.End():
            return e.span.text
    raise AssertionError(e)


@pytest.fixture(scope="module")
def reference() -> Lark:
    """The grammar as lark itself reads it: strictly LALR, without collisions between terminals."""
    grammar = grammar_path().read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", lexer="contextual", strict=True, maybe_placeholders=True)


@pytest.mark.parametrize("name", ALL)
def test_lark_reads_the_same_language(reference: Lark, name: str) -> None:
    reference.parse(ALL[name])
    tree(ALL[name])


@pytest.mark.parametrize(
    "wrong", ["model A x^y^z; end A;", "model A Real x = .5; end A;", "model A bonds a -> b, c -> d; end A;"]
)
def test_lark_refuses_the_same(reference: Lark, wrong: str) -> None:
    from lark.exceptions import UnexpectedInput

    with pytest.raises(UnexpectedInput):
        reference.parse(wrong)
    assert parse(Source("x", wrong), Report()) is None


def test_the_reserved_words_are_those_of_the_grammar(reference: Lark) -> None:
    words = {t.pattern.value for t in reference.terminals if t.pattern.type == "str" and t.pattern.value.isidentifier()}
    assert words == RESERVED


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("1 + 2*3", "(1+(2*3))"),
        ("-x^2", "(- (x^2))"),
        ("x^-2", "(x^(- 2))"),
        ("a*-b", "(a*(- b))"),
        ("a - b - c", "((a-b)-c)"),
        ("a/b*c", "((a/b)*c)"),
        ("-a*b", "((- a)*b)"),
        ("a - -b", "(a-(- b))"),
        ("2.*x", "(2.*x)"),
        ("2. + x", "(2.+x)"),
        ("a .^ b .* c", "((a.^b).*c)"),
        ("not a and b or c", "(((not a)andb)orc)"),
        ("not a == b", "(not (a==b))"),
        ("a + b < c*d", "((a+b)<(c*d))"),
        ("1:n+1", "1:(n+1)"),
        ("1:2:n", "1:2:n"),
        ("(1 + 2)*3", "((1+2)*3)"),
        ("f(x).*g(y)", "(f(x).*g(y))"),
        ('"a" + "b"', '("a"+"b")'),
    ],
)
def test_precedence(text: str, meaning: str) -> None:
    assert show(expression(text)) == meaning


def test_numbers_know_whether_they_are_whole() -> None:
    for text, value, whole in [
        ("3", 3, True),
        ("3.0", 3, False),
        ("1e3", 1000, False),
        ("2.", 2, False),
        ("1.5e-3", 0.0015, False),
    ]:
        number = expression(text)
        assert isinstance(number, ast.Number)
        assert (number.value, number.integer) == (value, whole)


def test_a_model() -> None:
    (model,) = tree(OSCILLATOR).classes
    assert (model.kind, model.ident, model.description) == ("model", "Oscillator", "Mass and spring with dry friction")
    declarations, bonds = model.sections
    assert (declarations.kind, bonds.kind) == ("declarations", "bonds")
    first, second, *_ = declarations.items
    assert isinstance(first, ast.Component) and isinstance(second, ast.Component)
    assert first.prefixes == {"parameter"} and first.type.parts[0].ident == "Real"
    (m,) = first.declarators
    assert m.ident == "m" and m.description == "moving mass" and m.args is not None
    assert [d.ident for d in second.declarators] == ["k", "Fc"]
    (experiment,) = model.annotation
    assert experiment.name is not None and experiment.name.parts[0].ident == "experiment"
    assert experiment.args is not None and len(experiment.args) == 2
    (chain,) = bonds.items
    assert isinstance(chain, ast.BondChain)
    assert [n.span.text for n in chain.nodes] == ["v"] and [n.span.text for n in chain.last] == [
        "mass",
        "spring",
        "friction",
    ]


def test_modifications_and_calls_among_arguments() -> None:
    (declaration,) = items(
        "model M C spring(C = 1/k, q(start = 16.5), sqrt(2), mech(q(start = 1)) = 4, 0 = e, each k = 1); end M;"
    )
    assert isinstance(declaration, ast.Component)
    args = declaration.declarators[0].args
    assert args is not None
    c, q, root, mech, law, each = args
    assert c.name is not None and c.value is not None and c.args is None
    assert q.name is not None and q.value is None and q.args is not None and q.args[0].name is not None
    assert root.name is None and isinstance(root.value, ast.Call)
    assert mech.value is not None and mech.args is not None
    (inner,) = mech.args
    assert inner.name is not None and inner.name.span.text == "q" and inner.args is not None
    assert law.name is not None and law.name.parts[0].ident == "0"
    assert each.each and not each.final


def test_redeclarations() -> None:
    (derived,) = [c for c in _classes(tree(DRIVES).classes[0]) if c.ident == "Derived"]
    extends = derived.sections[0].items[0]
    assert isinstance(extends, ast.Extends)
    load, motor, hidden, port = extends.args
    assert isinstance(load.redeclare, ast.Class) and load.redeclare.redeclared and load.redeclare.short is not None
    assert isinstance(motor.redeclare, ast.Component) and motor.redeclare.declarators[0].ident == "m"
    assert hidden.final and port.args is not None and port.value is not None
    assert [s.kind for s in derived.sections] == ["declarations", "initial equation", "initial algorithm"]
    vector = derived.sections[0].items[1]
    assert isinstance(vector, ast.Component) and vector.subscripts is not None and vector.declarators[0].annotation


def _classes(cls: ast.Class) -> list[ast.Class]:
    inner = [item for s in cls.sections for item in s.items if isinstance(item, ast.Class)]
    return inner + [c for i in inner for c in _classes(i)]


def test_files_packages_and_imports() -> None:
    file = tree(DRIVES)
    assert file.within is not None and [p.ident for p in file.within.parts] == ["Machines", "Electric"]
    plain, alias, everything, several = file.imports
    assert plain.alias is None and alias.alias == "C" and everything.all and several.names == ("x", "y")
    package = file.classes[0]
    assert package.encapsulated and package.kind == "package"
    classes = {c.ident: c for c in _classes(package)}
    assert [a.name.span.text for a in classes["Electrical"].attributes if a.name] == ["effort", "flow", "q_unit"]
    assert classes["Gear"].literals == (("low", "slow"), ("high", ""))
    assert classes["Voltage"].short is not None and classes["Voltage"].description == "voltage"
    assert classes["Base"].partial and classes["Load"].constrainedby is not None and classes["Load"].replaceable
    hidden, block = classes["Base"].sections[1].items
    assert isinstance(hidden, ast.Component) and hidden.protected
    assert isinstance(block, ast.IfBlock)
    inside = block.branches[0][1][0]
    assert isinstance(inside, ast.Component) and inside.protected
    top = tree("within; model A end A;").within
    assert top is not None and top.parts == ()


def test_bonds() -> None:
    base = next(c for c in _classes(tree(DRIVES).classes[0]) if c.ident == "Base")
    bonds = base.sections[-1]
    chain, stroke, mixed, named, loop, uses, slices = bonds.items
    assert isinstance(chain, ast.BondChain) and len(chain.nodes) == 4 and chain.arrows == ("->",) * 4
    assert isinstance(stroke, ast.BondChain) and stroke.arrows == ("->|",) and len(stroke.last) == 2
    assert isinstance(mixed, ast.BondChain) and mixed.arrows == ("|->", "->|") and mixed.description == "with words"
    assert isinstance(named, ast.BondChain) and named.name is not None and named.name.ident == "b3"
    assert isinstance(loop, ast.ForBlock) and isinstance(loop.body[0], ast.BondChain)
    assert loop.body[0].name is not None and loop.body[0].name.subscripts is not None
    assert isinstance(uses, ast.ForBlock) and len(uses.iterators) == 2 and isinstance(uses.body[0], ast.Component)
    assert isinstance(slices, ast.BondChain) and isinstance(slices.nodes[0].parts[0].subscripts, tuple)


def test_macros() -> None:
    macro, nothing = tree(MACRO).classes
    a, b, k, c = macro.head
    assert a.type is None and b.type is None and b.subscripts is not None
    assert k.type is not None and k.args and c.default is not None and c.description == "damping"
    assert nothing.head == () and nothing.sections == ()
    condition = macro.sections[1].items[1]
    assert isinstance(condition, ast.IfBlock) and len(condition.branches) == 2 and len(condition.otherwise) == 1


def test_equations_and_statements() -> None:
    block, function = tree(EVENTS).classes
    equations = block.sections[1].items
    kinds = [type(item).__name__ for item in equations]
    assert kinds == ["Equation"] * 4 + ["IfBlock", "ForBlock", "WhenBlock", "CallEquation"]
    assert isinstance(equations[2], ast.Equation) and equations[2].description == "words"
    pair = equations[3]
    assert isinstance(pair, ast.Equation) and isinstance(pair.left, ast.Tuple) and pair.left.items[1] is None
    when = equations[6]
    assert isinstance(when, ast.WhenBlock) and len(when.branches) == 2
    statements = function.sections[1].items
    assert [type(s).__name__ for s in statements] == ["Assignment", "WhileBlock", "ForBlock", "Assignment", "Return"]


def test_energy_among_declarations_and_equations() -> None:
    gap, beam = tree(FIELDS).classes
    assert isinstance(gap.sections[0].items[-1], ast.Equation)
    assert isinstance(beam.sections[1].items[-1], ast.Equation)


def test_names() -> None:
    model = tree(LAWS).classes[0]
    quoted_type, rooted, umlaut = model.sections[0].items[-3:]
    assert (
        isinstance(quoted_type, ast.Component)
        and isinstance(rooted, ast.Component)
        and isinstance(umlaut, ast.Component)
    )
    assert [p.ident for p in quoted_type.type.parts] == ["quoted name", "m/2"]
    assert rooted.type.rooted and len(rooted.type.parts) == 2
    assert umlaut.declarators[0].ident == "längst"
    decomposed = items("model M Real e\u0301; end M;")[0]
    assert isinstance(decomposed, ast.Component) and decomposed.declarators[0].ident == "\u00e9"


def test_strings_keep_their_text() -> None:
    value = expression(r'"a\"b\\c\n\t"')
    assert isinstance(value, ast.String) and value.value == 'a"b\\c\n\t'
    for text in ("plain", 'a"b', "back\\slash", "two\nlines", "ta\tb"):
        assert string_value(literal(text)) == text
    for name in ("x", "größe", "m/2", "it's", "if", "a\\b", "1V101", "x²"):
        assert identifier(quoted(name)) == name
    assert quoted("plain") == "plain" and quoted("if") == "'if'"


def test_initial_is_a_name_elsewhere() -> None:
    when = "when initial() then y = 1; end when;"
    text = f'model M Real initial = 1; equation x = initial; {when} annotation(a(initial = "s")); end M;'
    assert [s.kind for s in tree(text).classes[0].sections] == ["declarations", "equation"]


def test_spans_are_exact() -> None:
    text = 'model M\n  R r(R = 1 + 2) "text";\nend M;\n'
    component = items(text)[0]
    assert isinstance(component, ast.Component)
    assert (
        component.span.text == 'R r(R = 1 + 2) "text"' and component.declarators[0].span.text == 'r(R = 1 + 2) "text"'
    )
    args = component.declarators[0].args
    assert args is not None and args[0].span.text == "R = 1 + 2" and args[0].value is not None
    assert args[0].value.span.text == "1 + 2"
    assert tree(text).classes[0].name_span.text == "M" and tree(text).classes[0].span.text == text[:-2]


def test_line_ends_tabs_and_a_byte_order_mark() -> None:
    text = "\ufeffmodel M\r\n\tReal x;\t// words\r\nend M;\r\n"
    component = items(text)[0]
    assert component.span.line == 2 and component.span.column == 2
