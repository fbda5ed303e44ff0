"""Equations for people: state, DAE and field forms, as text, LaTeX and data."""

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(Path(__file__).parent), str(TESTS), str(TESTS / "causality")]

from lagrange_models import EXAMPLES, example  # noqa: E402
from random_graphs import random_build  # noqa: E402

import bglang  # noqa: E402
from bglang.causality.assign import assign_causality  # noqa: E402
from bglang.diagnostics import Report, SourceError, UsageError  # noqa: E402
from bglang.equations.derive import derive  # noqa: E402
from bglang.equations.forms_elimination import Elimination  # noqa: E402
from bglang.equations.forms_field import FieldForm  # noqa: E402
from bglang.equations.forms_state import WrittenForm  # noqa: E402
from bglang.equations.latex import formula, name_formula  # noqa: E402
from bglang.expr import Expr  # noqa: E402
from bglang.expr.evaluate import Values, evaluate  # noqa: E402
from bglang.expr.walk import rewrite  # noqa: E402

ROOT = EXAMPLES.parent
GOLDEN = Path(__file__).parent / "golden"

LADDER = """
model Ladder
  parameter Real k = 2;
  Se u(e = 3); Sf j(f = 0.5);
  J1 a, b; J0 n;
  I m1(I = 2, p(start = 1)), m2(I = 3);
  R r(f = k*e^3), d(R = 4);
  C c(e = 5*q + q^3, q(start = 0.2));
  TF t(m = 3);
bonds
  u -> a -> m1, r;
  a -> t -> b -> m2, d;
  a -> n -> c;
  j -> n;
end Ladder;
"""


def state(model: Any, **wish: Any) -> WrittenForm:
    made = model.equations(**wish)
    assert isinstance(made, WrittenForm)
    return made


# --- numbers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40))
def test_state_equations_satisfy_the_system(seed: int) -> None:
    """On random graphs with dependent storages and loops, at random states."""
    graph = random_build(seed).graph()
    causality = assign_causality(graph)
    if any(not c.solvable for c in causality.conflicts):
        return
    try:
        system = derive(graph, causality, Report())
    except SourceError:
        return
    solver = Elimination(system)
    rates = solver.rates()
    if rates is None:
        assert solver.left
        return
    rnd = np.random.default_rng(seed)
    p: list[float] = []
    for parameter in system.parameters:
        p.append(evaluate(parameter.value, Values(p=p)))
    n = len(system.unknowns)
    y, d = rnd.normal(size=n), np.zeros(n)
    known = Values(t=0.3, y=y, d=d, p=p)
    full = [("d", k) for k in rates] + [key for key in solver.values if key[0] == "y"]
    full += [key for key in solver.values if key[0] == "d" and key[1] not in rates]
    for key in full:
        value = evaluate(solver.put_in(solver.values[key]), known)
        (y if key[0] == "y" else d)[key[1]] = value
    for row in system.rows:
        assert evaluate(row.residual, known) == pytest.approx(0.0, abs=1e-9)


def columns(e: Expr, result: Any) -> Any:
    """An equation evaluated along a run; `der(mass.p)` is `mass.e`, `der(spring.q)` is `spring.f`."""
    rates = {"p": "e", "q": "f"}

    def operation(node: tuple[Any, ...], args: list[Expr]) -> Expr:
        if node[0] == "der":
            owner, _, letter = node[1][1].rpartition(".")
            return ("v", f"{owner}.{rates[letter]}")
        return (node[0], *args)

    made = rewrite(e, lambda leaf: leaf, operation)
    parameters = {q.name: q.value for q in result["_model"].parameters()}
    return evaluate(made, Values(t=result["_t"], variable=lambda n: result["_at"](n), parameter=parameters.__getitem__))


RUNS = ["quarter_car", "loudspeaker", "double_pendulum", "rlc", "ladder", "lagrange/pendulum"]


@pytest.mark.parametrize("name", RUNS)
def test_field_and_state_forms_hold_along_a_run(name: str) -> None:
    model = bglang.loads(LADDER) if name == "ladder" else bglang.load(EXAMPLES / f"{name}.bg")
    run = model.simulate(points=7, stop=0.05)
    field, explicit = model.equations("field"), state(model)
    assert isinstance(field, FieldForm)
    for k in range(1, 7):
        at = {"_model": model, "_t": run.time[k], "_at": lambda n, k=k: run[n][k]}
        pairs = [(left, right) for left, right, _ in field.equations]
        pairs += [
            (("der", ("v", e.name)), e.value)
            for e in explicit.equations
            if e.rate and f"{e.name[:-2]}.e" in run.names and e.name[-2:] in (".p", ".q")
        ]
        for left, right in pairs:
            one, two = columns(left, at), columns(right, at)
            assert one == pytest.approx(two, rel=2e-4, abs=2e-4 * max(1.0, abs(one)))


def test_junction_structure_of_dependent_storages() -> None:
    made = bglang.load(EXAMPLES / "lagrange" / "pendulum.bg").equations("field", matrices=True)
    data = made.to_dict()
    blocks = data["matrices"]
    assert data["vectors"]["dXd"] == ["der(my.p)"] and data["vectors"]["Zd"] == ["my.f"]
    assert blocks["JS12"]["entries"] == [["x/y"]] and blocks["JS21"]["entries"] == [["-x/y"]]


def test_the_field_form_holds_signals_and_displacements_too() -> None:
    """What modulates or controls is part of the page, in terms of what the fields give; checked along a run."""
    model = bglang.load(EXAMPLES / "double_pendulum.bg")
    made = model.equations("field")
    assert isinstance(made, FieldForm)
    run = model.simulate(points=9, stop=0.4)
    parameters = {q.name: q.value for q in model.parameters()}
    assert [line.left for line in made.signals] == [("der", ("v", "w1.q")), ("der", ("v", "w2.q"))]
    for line, flow in zip(made.signals, ("w1.f", "w2.f"), strict=True):
        for k in range(9):
            at = Values(variable=lambda n, k=k: run[n][k], parameter=parameters.__getitem__)
            assert evaluate(line.right, at) == pytest.approx(run[flow][k], rel=1e-6, abs=1e-9)


def test_coenergy_states() -> None:
    text = "model M\n J1 v; I m(I = 2); C s(C = 1/8); R d(R = 3); Se f(e = 5);\nbonds\n f -> v -> m, s, d;\nend M;"
    made = state(bglang.loads(text), states="coenergy")
    assert [e.name for e in made.equations] == ["m.f", "s.e"]
    values = Values(variable={"m.f": 2.0, "s.e": 3.0}.__getitem__, parameter=lambda n: 0.0)
    rates = {e.name: evaluate(e.value, values) for e in made.equations}
    assert rates == {"m.f": pytest.approx((5 - 3 - 3 * 2.0) / 2), "s.e": pytest.approx(8 * 2.0)}


CRANE = """
model Crane
  parameter Real M = 100, m = 50, l = 4;
  J1 x; J1 w(q(start = 0.4)); J1 vx; J1 vy; J0 sx;
  I trolley(I = M), mx(I = m), my(I = m);
  Se weight(e = -m*9.81);
  TF tx(m = l*cos(w.q)), ty(m = l*sin(w.q));
  R fr(e = coulomb(f, 20));
bonds
  x -> trolley, fr;
  x -> sx -> vx -> mx;
  w -> tx -> sx;
  w -> ty -> vy -> my;
  weight -> vy;
end Crane;
"""


def test_friction_beside_a_dependent_storage_has_state_equations() -> None:
    """The force of a friction that sticks follows only with the rates; each case is solved by itself."""
    model = bglang.loads(CRANE)
    made = state(model)
    assert made.form == "state" and set(made.states) == {"trolley.p", "mx.p", "w.q"}
    run = model.simulate(points=41, stop=4.0, tol=1e-9)
    parameters = {q.name: q.value for q in model.parameters()}
    kinds = set[float]()
    for k in range(1, 41):
        slip = float(np.sign(run["fr.f"][k])) if abs(run["fr.f"][k]) > 1e-9 else 0.0
        kinds.add(slip)
        names = {n: run[n][k] for n in made.states} | dict.fromkeys(("'fr:slip0'",), slip)
        at = Values(variable=names.__getitem__, parameter=parameters.__getitem__)
        rates = {e.name: evaluate(e.value, at) for e in made.equations}
        assert rates["trolley.p"] == pytest.approx(run["trolley.e"][k], abs=2e-3)
        assert rates["mx.p"] == pytest.approx(run["mx.e"][k], abs=2e-3)
        assert rates["w.q"] == pytest.approx(run["w.f"][k], abs=1e-5)
    assert {-1.0, 1.0} <= kinds


FIELDS = """
element Beam
  port Any a, b;
  parameter Real K[2,2] = {{5, 2}, {2, 3}};
equation
  a.e = K[1,1]*a.q + K[1,2]*b.q;
  b.e = K[2,1]*a.q + K[2,2]*b.q;
end Beam;
model M
  J1 v, w;
  I m(f = exp(p) - 1), n(I = 3);
  Beam beam(a.q(start = 0.3));
  C soft(e = q/(0.1 + w.q^2));
  R d(R = 0.2);
  Se push(e = sin(time));
bonds
  push -> v -> m; v -> beam.a; w -> beam.b; w -> n, soft; v -> d;
end M;
"""


def test_coenergy_states_of_fields_nonlinear_and_modulated_storages() -> None:
    """The rates are those of the run; starts are what the laws give where the states start."""
    model = bglang.loads(FIELDS)
    made = state(model, states="coenergy")
    assert made.form == "state" and not made.remarks
    assert list(made.states) == ["m.f", "n.f", "beam.a.e", "beam.b.e", "soft.e", "w.q"]
    starts = {s.name: s.to_dict()["value"] for s in made.symbols if s.kind == "state"}
    assert starts["beam.a.e"] in ("1.5", "0.3*beam.K[1,1]")
    run = model.simulate(points=4001, stop=2.0, tol=1e-11)
    parameters = {q.name: q.value for q in model.parameters()}
    h = run.time[1]
    for k in range(500, 4000, 700):
        at = Values(t=run.time[k], variable=lambda n, k=k: run[n][k], parameter=parameters.__getitem__)
        for e in made.equations:
            z = run[e.name]
            slope = (z[k - 2] - 8 * z[k - 1] + 8 * z[k + 1] - z[k + 2]) / (12 * h)
            assert evaluate(e.value, at) == pytest.approx(slope, rel=1e-5, abs=1e-6)


def test_coenergy_in_the_differential_algebraic_form() -> None:
    text = "model M\n J1 s; R d(f = exp(e) - 1), r(R = 2); J0 o; C c(C = 0.5, q(start = 1)); Se u(e = 3);\n"
    made = state(bglang.loads(text + "bonds\n u -> s -> d, r; s -> o -> c;\nend M;"), states="coenergy")
    assert made.form == "dae" and made.states == ("c.e",)
    rate = next(e for e in made.equations if e.rate)
    assert rate.name == "c.e"
    at = Values(variable={"c.e": 2.0, "s.f": 0.7}.__getitem__)
    assert evaluate(rate.value, at) == pytest.approx(0.7 / 0.5)


def test_laws_say_how_they_were_turned() -> None:
    made = {law.gives: law for law in state(bglang.loads(LADDER)).laws}
    assert made["r.e"].how == "inverted"
    assert made["c.e"].how == "given"
    assert sum(law.how == "derivative" for law in made.values()) == 1


def test_a_loop_without_formula_is_shown_as_dae() -> None:
    text = "model L\n J1 v; R a(e = f + f^5), b(e = exp(f) - 1); Se u(e = 3);\nbonds\n u -> v -> a, b;\nend L;"
    made = state(bglang.loads(text))
    assert made.form == "dae"
    assert "no explicit state equations" in made.remarks[0]
    assert [e.rate for e in made.equations] == [False]


# --- texts ------------------------------------------------------------------------------------------------------------

CASES = {
    "oscillator-state": ("examples/oscillator.bg", {"form": "state"}),
    "double_pendulum-field": ("examples/double_pendulum.bg", {"form": "field"}),
    "quarter_car-coenergy": ("examples/quarter_car.bg", {"form": "state", "states": "coenergy"}),
    "rlc-field": ("examples/rlc.bg", {"form": "field", "matrices": True}),
    "crank_slider-lagrange": ("examples/lagrange/crank_slider.bg", {"form": "lagrange", "coordinates": "w1,w2"}),
    "cam_follower-lagrange": ("examples/lagrange/cam_follower.bg", {"form": "lagrange", "constraints": "position"}),
    "pendulum-dae": ("examples/lagrange/pendulum.bg", {"form": "dae"}),
}


@pytest.mark.parametrize("name", CASES)
def test_golden(name: str, update_golden: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    path, wish = CASES[name]
    shown = str(bglang.load(path).equations(**wish)) + "\n"
    expected = GOLDEN / f"{name}.txt"
    if update_golden:
        GOLDEN.mkdir(exist_ok=True)
        expected.write_text(shown, encoding="utf-8")
    assert shown == expected.read_text(encoding="utf-8")


def without_cases(shown: str) -> str:
    """Lists of cases, which matplotlib does not know, as terms in parentheses."""
    if "cases" not in shown:
        return shown
    for old, new in ((r"\left", ""), (r"\right", ""), (r"\begin{cases}", "("), (r"\end{cases}", ")"),
                     (r"\text{if }", ""), (r"\text{otherwise}", ""), (" & ", ", "), (r" \\ ", "; ")):  # fmt: skip
        shown = shown.replace(old, new)
    return shown


@pytest.mark.parametrize("name", CASES)
def test_latex_formulas_can_be_set(name: str) -> None:
    from matplotlib.mathtext import MathTextParser

    path, wish = CASES[name]
    made = bglang.load(ROOT / path).equations(**wish)
    parser = MathTextParser("path")
    for shown in made.page().formulas():  # type: ignore[attr-defined]
        parser.parse(f"${without_cases(shown)}$")
    page = made.latex()
    assert page.startswith("\\documentclass") and page.rstrip().endswith("\\end{document}")
    assert page.count("{") == page.count("}")
    assert page.count("\\begin{") == page.count("\\end{")


def test_long_fractions_are_broken_and_places_are_short() -> None:
    page = bglang.load(ROOT / "examples/reduction/robot_arm.bg").equations("state").latex()
    body = page[page.index("\\begin{align*}") :]
    assert "\\bigl( " in body and body.count("\\bigl(") == body.count("\\bigr)")
    assert "footnotesize gravity1, line 12, as given}" in body and "robot\\_arm.bg" not in body
    known = set(re.findall(r"\\[A-Za-z]+", body))
    assert known <= {
        "\\begin", "\\end", "\\dot", "\\mathrm", "\\frac", "\\sin", "\\cos", "\\left", "\\right", "\\bigl", "\\bigr",
        "\\quad", "\\big", "\\text", "\\footnotesize", "\\subsection", "\\fitted",
        "\\tag", "\\linewidth",
    }  # fmt: skip


def test_names_in_formulas() -> None:
    assert name_formula("theta1") == "\\theta_{1}"
    assert name_formula("mass.p") == "p_{\\mathrm{mass}}"
    assert formula(("der", ("der", ("v", "theta1")))) == "\\ddot{\\theta}_{1}"
    assert formula(("/", ("p", "k"), ("+", ("p", "m"), 1.0))) == "\\frac{k}{m + 1}"
    assert formula(("^", ("sin", ("v", "x")), 2.0)) == "\\sin^{2}\\left(x\\right)"


def test_every_example_has_its_forms() -> None:
    for path in sorted(EXAMPLES.glob("*.bg")):
        if path.stem == "transmission_line":
            continue
        model = bglang.load(path)
        for form in ("state", "dae", "field"):
            made = model.equations(form, matrices=True)
            assert made.to_dict()["form"] in (form, "dae") and str(made) and made.latex()


def test_wrong_wishes() -> None:
    model = example("pendulum")
    with pytest.raises(UsageError, match="states: `energie` is none of energy, coenergy; did you mean `energy`"):
        model.equations(states="energie")
