"""Expressions become values: types, shapes, folding, functions; each mistake has its code."""

import math
from pathlib import Path

import numpy as np
import pytest
from expression_scope import TestScope, constant_of, errors_of, parameter, value_of, variable

from bglang.diagnostics import Report
from bglang.elaborate.values import CONSTANT, CONTINUOUS, DISCRETE, PARAMETER, Value
from bglang.expr.numbers import evaluate
from bglang.limits import Limits

X, V = ("v", "x"), [("v", f"v[{i}]") for i in (1, 2, 3)]


def scope() -> TestScope:
    values = {
        "x": variable("x"),
        "y": variable("y"),
        "v": variable("v", 3),
        "b": variable("b", type="Boolean", variability=DISCRETE),
        "K": parameter("K", 2, 2),
        "k": parameter("k"),
        "n": parameter("n", type="Integer"),
        "Color.red": Value("enumeration", (), (1.0,), CONSTANT, "Color"),
        "Color.blue": Value("enumeration", (), (3.0,), CONSTANT, "Color"),
        "c": Value("enumeration", (), (("p", "c"),), PARAMETER, "Color"),
    }
    return TestScope(values, {"n": 3.0, "k": 2.0})


def number(text: str) -> float:
    value = value_of(text, scope())
    assert value.known and not value.shape
    return float(value.item)


# --- types and folding ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "type", "expected"),
    [
        ("7/2", "Real", 3.5),
        ("6/2", "Real", 3.0),
        ("2*3 + 1", "Integer", 7.0),
        ("2^3", "Real", 8.0),
        ("2 + 0.5", "Real", 2.5),
        ("div(-7, 2)", "Integer", -3.0),
        ("mod(-7, 3)", "Integer", 2.0),
        ("rem(-7, 3)", "Integer", -1.0),
        ("mod(7.5, 2)", "Real", 1.5),
        ("integer(-2.5)", "Integer", -3.0),
        ("floor(-2.5)", "Real", -3.0),
        ("ceil(2.1)", "Real", 3.0),
        ("abs(-3)", "Integer", 3.0),
        ("sign(-2.5)", "Integer", -1.0),
        ("max(2, 3.5)", "Real", 3.5),
        ("min({4, 2, 9})", "Integer", 2.0),
        ("atan2(1, -1)", "Real", 3 * math.pi / 4),
        ("log10(1000)", "Real", 3.0),
        ("1 < 2 and not 3 < 2", "Boolean", 1.0),
        ("1 > 2 or false", "Boolean", 0.0),
        ("true <> false", "Boolean", 1.0),
        ('"a" < "b"', "Boolean", 1.0),
        ("Color.red < Color.blue", "Boolean", 1.0),
        ("Integer(Color.blue)", "Integer", 3.0),
        ("if 1 > 2 then 1/0 else 5", "Integer", 5.0),
        ("2 > 3 and 1/0 > 1", "Boolean", 0.0),
        ("semiLinear(-2, 3, 4)", "Real", -8.0),
        ("-2^2", "Real", -4.0),
        ("2^-2", "Real", 0.25),
        ("3*-2", "Integer", -6.0),
    ],
)
def test_known_values(text: str, type: str, expected: float) -> None:
    value = value_of(text, scope())
    assert value.type == type and value.shape == () and value.variability == CONSTANT
    assert value.item == pytest.approx(expected, rel=1e-15)


def test_texts() -> None:
    assert value_of('"spring " + String(3) + "/" + String(2.5) + String(true)').item == "spring 3/2.5true"
    assert value_of("String(3.14159, significantDigits = 3, minimumLength = 6, leftJustified = false)").item == "  3.14"


def test_variability() -> None:
    s = scope()
    assert value_of("2*k", s).variability == PARAMETER
    assert value_of("x + k", s).variability == CONTINUOUS
    assert value_of("x > k", s).variability == DISCRETE
    assert value_of("0*x", s).variability == CONSTANT
    assert value_of("pre(x)", s).variability == DISCRETE


def test_neutral_operands_vanish() -> None:
    s = scope()
    for text in ("x + 0", "x^1", "-(-x)", "x - 0", "if true then x else y"):
        assert value_of(text, s).item == X, text
    assert value_of("x + y + x", s).item == ("+", X, ("v", "y"), X)
    assert value_of("-(2*x)", s).item == ("*", -2.0, X)
    assert value_of("1*x", s).item == ("*", 1.0, X), "a plain number makes the unit unknown"
    assert value_of("x*y*1", s).item == ("*", 1.0, X, ("v", "y")) and value_of("x/1", s).item == ("/", X, 1.0)


# --- arrays ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{1, 2, 3}", [1, 2, 3]),
        ("[1, 2; 3, 4]", [[1, 2], [3, 4]]),
        ("[{1, 2}, {3, 4}]", [[1, 3], [2, 4]]),
        ("{{1, 2}, {3, 4}}", [[1, 2], [3, 4]]),
        ("1:4", [1, 2, 3, 4]),
        ("5:-2:1", [5, 3, 1]),
        ("3:1", []),
        ("0:0.25:1", [0, 0.25, 0.5, 0.75, 1]),
        ("{1, 2} + {3, 4}", [4, 6]),
        ("2*{1, 2}", [2, 4]),
        ("{1, 2}*{3, 4}", 11),
        ("[1, 2; 3, 4]*{5, 6}", [17, 39]),
        ("{5, 6}*[1, 2; 3, 4]", [23, 34]),
        ("[1, 2; 3, 4]*[0, 1; 1, 0]", [[2, 1], [4, 3]]),
        ("[1, 2; 3, 4]^3", np.linalg.matrix_power([[1, 2], [3, 4]], 3)),
        ("[1, 2; 3, 4]^0", np.eye(2)),
        ("{1, 2} .* {3, 4}", [3, 8]),
        ("{1, 2} .+ 1", [2, 3]),
        ("2 .^ {1, 2, 3}", [2, 4, 8]),
        ("{2, 4}/2", [1, 2]),
        ("sum({1, 2, 3})", 6),
        ("product({2, 3, 4})", 24),
        ("sum(i^2 for i in 1:4)", 30),
        ("max(i*(5 - i) for i in 1:4)", 6),
        ("{i for i in {3, 1, 2}}", [3, 1, 2]),
        ("{10*i + j for i in 1:2, j in 1:3}", [[11, 21], [12, 22], [13, 23]]),
        ("{{10*i + j for j in 1:i} for i in 2:2}", [[21, 22]]),
        ("size([1, 2, 3; 4, 5, 6])", [2, 3]),
        ("size([1, 2, 3; 4, 5, 6], 2)", 3),
        ("ndims([1, 2])", 2),
        ("zeros(2, 3)", np.zeros((2, 3))),
        ("ones(2)", [1, 1]),
        ("fill(7, 2, 2)", [[7, 7], [7, 7]]),
        ("fill({1, 2}, 2)", [[1, 2], [1, 2]]),
        ("identity(3)", np.eye(3)),
        ("diagonal({1, 2})", [[1, 0], [0, 2]]),
        ("linspace(0, 1, 5)", [0, 0.25, 0.5, 0.75, 1]),
        ("transpose([1, 2, 3])", [[1], [2], [3]]),
        ("cross({1, 2, 3}, {4, 5, 6})", np.cross([1, 2, 3], [4, 5, 6])),
        ("skew({1, 2, 3})*{4, 5, 6}", np.cross([1, 2, 3], [4, 5, 6])),
        ("outerProduct({1, 2}, {3, 4})", [[3, 4], [6, 8]]),
        ("symmetric([1, 2; 3, 4])", [[1, 2], [2, 4]]),
        ("cat(1, {1, 2}, {3})", [1, 2, 3]),
        ("cat(2, [1; 2], [3, 4; 5, 6])", [[1, 3, 4], [2, 5, 6]]),
        ("scalar([7])", 7),
        ("vector([1; 2])", [1, 2]),
        ("matrix({1, 2})", [[1], [2]]),
        ("inv([2, 1; 1, 1])", [[1, -1], [-1, 2]]),
        ("det([2, 1, 0; 1, 3, 1; 0, 1, 4])", 18),
        ("solve([2, 0; 0, 4], {1, 2})", [0.5, 0.5]),
        ("sqrt({4, 9})", [2, 3]),
        ("max({1, 5}, {3, 2})", [3, 5]),
    ],
)
def test_arrays_as_numpy_has_them(text: str, expected: object) -> None:
    value = value_of(text, scope())
    assert value.known
    wanted = np.array(expected, dtype=float)
    assert value.shape == wanted.shape
    np.testing.assert_allclose(np.array(value.items).reshape(value.shape), wanted, rtol=1e-12, atol=1e-12)


def test_slices() -> None:
    s = scope()
    assert value_of("v[end]", s).item == V[2]
    assert value_of("v[end - 1]", s).item == V[1]
    assert value_of("v[2:end]", s).items == tuple(V[1:])
    assert value_of("v[{3, 1}]", s).items == (V[2], V[0])
    assert value_of("v[n]", s).item == V[2]
    assert s.structural == {"n"}
    assert value_of("K[:, 2]", s).items == (("p", "K[1,2]"), ("p", "K[2,2]"))
    assert value_of("K[2]", s).items == (("p", "K[2,1]"), ("p", "K[2,2]"))
    assert value_of("{v[i]*i for i in 1:2}", s).items == (("*", 1.0, V[0]), ("*", 2.0, V[1]))
    assert value_of("sum(v[i + 1] for i in 0:2)", s).item == ("+", *V)


def test_matrices_with_formulas_solve_as_numbers_do() -> None:
    for n in (1, 2, 3, 4):
        rng = np.random.default_rng(n)
        matrix, right = rng.normal(size=(n, n)) + n * np.eye(n), rng.normal(size=n)
        s = TestScope({"A": variable("A", n, n), "r": variable("r", n)})
        known = {f"A[{i + 1},{j + 1}]": matrix[i, j] for i in range(n) for j in range(n)}
        known |= {f"r[{i + 1}]": right[i] for i in range(n)}

        def numbers(text: str, s: TestScope = s, known: dict[str, float] = known) -> list[float]:
            return [evaluate(e, lambda leaf: known[leaf[1]]) for e in value_of(text, s).items]

        found = numbers("solve(A, r)")
        np.testing.assert_allclose(found, np.linalg.solve(matrix, right), rtol=1e-9)
        inverse = numbers("inv(A)")
        np.testing.assert_allclose(np.reshape(inverse, (n, n)), np.linalg.inv(matrix), rtol=1e-9)
        (determinant,) = numbers("det(A)")
        assert determinant == pytest.approx(np.linalg.det(matrix), rel=1e-9)


def test_a_large_matrix_of_parameters_is_inverted_at_compile_time() -> None:
    n = 6
    matrix = np.random.default_rng(0).normal(size=(n, n))
    numbers = {f"M[{i + 1},{j + 1}]": matrix[i, j] for i in range(n) for j in range(n)}
    s = TestScope({"M": parameter("M", n, n), "x": variable("x", n, n)}, numbers)
    value = value_of("inv(M)", s)
    np.testing.assert_allclose(np.reshape(value.items, (n, n)), np.linalg.inv(matrix), rtol=1e-9)
    assert len(s.structural) == n * n
    assert errors_of("inv(x)", s)[0][0] == "limits/matrix"


# --- functions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sine(x)", ("sine", X, 1.0, 1.0, 0.0, 0.0)),
        ("sine(x, c2 = 3, c4 = 5)", ("sine", X, 1.0, 3.0, 0.0, 5.0)),
        ("linear(x, 1, 2)", ("linear", X, 1.0, 2.0)),
        ("linear(x, c1 = 2)", ("linear", X, 0.0, 2.0)),
        ("abs2(x, c1 = 4)", ("abs2", X, 4.0)),
        ("coulomb(x, k)", ("coulomb", X, ("p", "k"))),
        ("breakpoint(x)", ("breakpoint", X, 0.0, 0.0, 1.0, 1.0)),
        ("saturation(x, -2, -3, 2, 3)", ("saturation", X, -2.0, -3.0, 2.0, 3.0)),
        ("poly(x, {1, 2, 3})", ("poly", X, 1.0, 2.0, 3.0)),
        ("poly(x, 1, 2, 3)", ("poly", X, 1.0, 2.0, 3.0)),
        ("poly(x)", ("poly", X, 1.0, 1.0)),
        ("poly(x, c2 = 3)", ("poly", X, 1.0, 1.0, 3.0)),
        ("const(x, 4)", 4.0),
        ("const(x)", 1.0),
        ("const(4)", 4.0),
        ("inverse(x)", ("inverse", X)),
        ("noEvent(abs(x))", ("noEvent", ("abs", X))),
        ("smooth(1, x)", ("smooth", 1.0, X)),
        ("pre(x)", ("pre", X)),
        ("edge(b)", ("edge", ("v", "b"))),
        ("change(x)", ("change", X)),
        ("sample(0, k)", ("sample", 0.0, ("p", "k"))),
        ("initial()", ("initial",)),
        ("der(x)", ("der", X)),
        ("der(2*x)", ("*", 2.0, ("der", X))),
        ("der(k)", 0.0),
        ("der(3*time)", 3.0),
        ("homotopy(x, 1)", X),
        ("if b then x else x", X),
    ],
)
def test_functions(text: str, expected: object) -> None:
    assert value_of(text, scope()).item == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sine(0.3, 2, 3, 4, 5)", 2 * math.sin(4.9) + 5),
        ("reciprocal_cosine(0.3, 2, 3, 4, 5)", 2 / math.cos(4.9) + 5),
        ("arcsine(0.1, 2, 3, 0.4, 5)", 2 * math.asin(0.7) + 5),
        ("exponential(0.1, 2, 3, 4, 5)", 2 * math.exp(4.3) + 5),
        ("logarithm(0.1, 2, 3, 4, 5)", 2 * math.log(4.3) + 5),
        ("abs2(-3, 2)", -18.0),
        ("absqrt(-4, 3)", -6.0),
        ("coulomb(-0.1, 5)", -5.0),
        ("breakpoint(3, 1, 2, 5, 7)", 16.0),
        ("breakpoint(0, 1, 2, 5, 7)", -3.0),
        ("saturation(0.5)", 0.5),
        ("saturation(7)", 1.0),
        ("adjustable_saturation(3, -1, -1, 1, 1, 4, 5)", 11.0),
        ("adjustable_saturation(-3, -1, -1, 1, 1, 4, 5)", -9.0),
        ("reciprocal_square(4, 1, 2, 3)", 1 + 2 / (1 + 16 / 9)),
        ("poly(2, {1, 2, 3})", 17.0),
        ("inverse(-4)", -0.25),
    ],
)
def test_enport_functions_have_their_formulas(text: str, expected: float) -> None:
    assert number(text) == pytest.approx(expected, rel=1e-14)


def test_tables() -> None:
    s = scope()
    assert value_of("table(x, [0, 0; 1, k; 1, 3; 2, 4])", s).item == ("table", X, "t0")
    (table,) = s.tables
    assert table.x == (0.0, 1.0, 1.0, 2.0) and table.y == (0.0, ("p", "k"), 3.0, 4.0)
    assert (table.method, table.outside, table.ends) == ("linear", "hold", "not-a-knot")
    value_of('table(x, [0, 0; 1, 1], method = "spline", outside = "error", ends = "natural")', s)
    assert (s.tables[1].method, s.tables[1].outside, s.tables[1].ends) == ("spline", "error", "natural")
    assert value_of("pwlin(v, [0, 0; 1, 1])", s).items == tuple(("pwlin", e, "t2") for e in V)
    assert value_of("interpolation(x, [0, 0; 1, 1; 2, 4])", s).item == ("interpolation", X, "t3")


def test_tables_from_files(tmp_path: Path) -> None:
    (tmp_path / "bh.csv").write_text('"H","B"\n0, 0\n1; 2.5\n\n# measured\n2 3\n', encoding="utf-8")
    s = scope()
    s.folder = tmp_path
    value_of('table(x, "bh.csv")', s)
    assert s.tables[0].x == (0.0, 1.0, 2.0) and s.tables[0].y == (0.0, 2.5, 3.0)
    for name, text, problem in [
        ("three.csv", "1,2,3\n", "has 3 columns in line 1"),
        ("word.csv", "1,2\nfoo,3\n", "has no number in line 2"),
        ("nan.csv", "1,2\n2,nan\n", "has a value that is not finite in line 2"),
    ]:
        (tmp_path / name).write_text(text, encoding="utf-8")
        s.report = Report()
        code, message = errors_of(f'table(x, "{name}")', s)[0]
        assert code == "tables/file" and problem in message
    s.report = Report()
    assert errors_of('table(x, "absent.csv")', s)[0][0] == "tables/file"
    (tmp_path / "down.csv").write_text("1,2\n0,3\n", encoding="utf-8")
    s.report = Report()
    assert errors_of('table(x, "down.csv")', s)[0][0] == "tables/order"


def test_a_condition_on_parameters_chooses_shapes() -> None:
    s = scope()
    assert value_of("if n > 2 then {x, x} else {x}", s).items == (X, X)
    assert s.structural == {"n"}
    assert value_of("if k > 1 then x else y", s).item[0] == "if"
    assert value_of('if k > 1 then "a" else "b"', s).item == "a"


def test_constants() -> None:
    s = scope()
    assert constant_of("2*n + 1", s).item == 7.0
    assert s.structural == {"n"}


# --- mistakes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("foo(x)", "functions/unknown"),
        ("delay(x, 1)", "functions/unknown"),
        ("reinit(x, 1)", "functions/no-value"),
        ("sin(x, y)", "functions/arguments"),
        ("sin()", "functions/arguments"),
        ("sin(x = 1)", "functions/arguments"),
        ("linear(x, c7 = 1)", "functions/arguments"),
        ("linear(x, 1, c0 = 2)", "functions/arguments"),
        ("linear(c0 = 2)", "functions/arguments"),
        ("min(1, 2, 3)", "functions/arguments"),
        ("coulomb(x, -1)", "functions/arguments"),
        ("saturation(x, 1, 0, -1, 2)", "functions/arguments"),
        ("sample(0, 0)", "functions/arguments"),
        ("pre(2*x)", "functions/arguments"),
        ("linspace(0, 1, 1)", "functions/arguments"),
        ("sample(x, 1)", "expressions/not-constant"),
        ("v[integer(x)]", "expressions/not-constant"),
        ("zeros(x)", "expressions/not-constant"),
        ("1:x", "expressions/not-constant"),
        ('if x > 0 then "a" else "b"', "expressions/not-constant"),
        ('sin("a")', "types/argument"),
        ("sin(b)", "types/argument"),
        ("edge(x)", "types/argument"),
        ("der(b)", "types/argument"),
        ("Integer(2.5)", "types/argument"),
        ("zeros(2.5)", "types/argument"),
        ("x + b", "types/operands"),
        ('"a" + 1', "types/operands"),
        ("not x", "types/operands"),
        ("x and b", "types/operands"),
        ('x == "a"', "types/operands"),
        ("Color.red == 1", "types/operands"),
        ("{1, true}", "types/operands"),
        ("if b then 1 else true", "types/operands"),
        ("-b", "types/operands"),
        ("if x then 1 else 2", "types/condition"),
        ("1:true", "types/range"),
        ("1:0:5", "types/range"),
        ("{1, 2} + {1, 2, 3}", "arrays/shape"),
        ("x + v", "arrays/shape"),
        ("v*{1, 2}", "arrays/shape"),
        ("1/v", "arrays/shape"),
        ("v^2", "arrays/shape"),
        ("v > 1", "arrays/shape"),
        ("{{1, 2}, {3}}", "arrays/shape"),
        ("[1, 2; 3]", "arrays/shape"),
        ("if b then v else {1, 2}", "arrays/shape"),
        ("cross(v, {1, 2})", "arrays/shape"),
        ("inv(v)", "arrays/shape"),
        ("transpose(v)", "arrays/shape"),
        ("scalar(v)", "arrays/shape"),
        ("zeros(-1)", "arrays/shape"),
        ("min({i for i in 1:0})", "arrays/shape"),
        ("v[4]", "arrays/index"),
        ("v[0]", "arrays/index"),
        ("v[1, 1]", "arrays/index"),
        ("x[1]", "arrays/index"),
        ("v[1.5]", "arrays/index"),
        ("size(v, 2)", "arrays/index"),
        ("1/0", "expressions/division-by-zero"),
        ("x/(2 - 2)", "expressions/division-by-zero"),
        ("mod(x, 0)", "expressions/division-by-zero"),
        ("sqrt(-1)", "expressions/not-a-number"),
        ("log(0)", "expressions/not-a-number"),
        ("exp(1000)", "expressions/not-a-number"),
        ("(-8)^(1/3)", "expressions/not-a-number"),
        ("inv([1, 2; 2, 4])", "expressions/singular"),
        ("table(x, [0, 0; -1, 2])", "tables/order"),
        ('table(x, [0, 0; 0, 1; 1, 2], method = "spline")', "tables/order"),
        ("table(x, [0, 0; 1, 1; 1, 2; 1, 3; 2, 2])", "tables/order"),
        ("table(x, [0, 0])", "tables/data"),
        ("table(x, {1, 2})", "tables/data"),
        ("table(x, [0, y; 1, 2])", "tables/data"),
        ('table(x, [0, 0; 1, 1], method = "cubic")', "tables/option"),
        ("table(x, [0, 0; 1, 1], kind = 1)", "functions/arguments"),
        ("table(x)", "functions/arguments"),
        ("zeros(100000, 100000)", "limits/array"),
        ("1:1000000000", "limits/array"),
        ("[1, 2; 3, 4]^1000000", "types/operands"),
        ("foo", "names/unknown"),
    ],
)
def test_mistakes(text: str, code: str) -> None:
    found = errors_of(text, scope())
    assert [c for c, _ in found] == [code]


def test_several_mistakes_are_all_reported() -> None:
    found = errors_of("foo(x) + sinn(y)*{1, 2, bar}", scope())
    assert [c for c, _ in found] == ["functions/unknown", "functions/unknown", "names/unknown"]


def test_a_table_has_a_limit() -> None:
    s = scope()
    s.limits = Limits(table=5)
    assert errors_of("table(x, [0, 0; 1, 1; 2, 2])", s)[0][0] == "limits/table"


@pytest.mark.parametrize("op", ["+", "-", "*", "/", "and"])
def test_long_chains_need_no_recursion(op: str) -> None:
    operand = "b" if op == "and" else "x"
    item = value_of(f" {op} ".join([operand] * 5000), scope()).item
    found = evaluate(item, lambda leaf: 1.0)
    assert found == {"+": 5000.0, "-": -4998.0}.get(op, 1.0)
