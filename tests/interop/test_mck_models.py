"""MCK models in source: the three forms against the matrix exponential, starts, free dofs, arrows, refusals."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.linalg import eigh, expm

import bglang
from bglang.diagnostics import Report
from bglang.interop.enport import read_enport
from bglang.interop.enport_source import enport_source
from bglang.interop.mck import Matrix, MckFile, read_mck
from bglang.source import Source

BEAM = Path(__file__).parents[2] / "examples" / "beam"
FORMS = ("multiport", "modal", "state")
OMEGA = 42.19


def beam_file() -> MckFile:
    found = read_mck(Source("fem10.mck", (BEAM / "fem10.mck").read_text()), Report())
    assert found is not None
    return found


def trajectory(m: Matrix, c: Matrix, k: Matrix, times: Matrix, start: Matrix, push: Matrix, omega: float) -> Matrix:
    """Displacements under push*sin(omega t), or a constant push if omega is 0, by the matrix exponential.

    The sine is the output of two more states, so that the exponential is exact."""
    n = len(m)
    a = np.zeros((2 * n + 2, 2 * n + 2))
    a[:n, n : 2 * n] = np.eye(n)
    a[n : 2 * n, :n] = -np.linalg.solve(m, k)
    a[n : 2 * n, n : 2 * n] = -np.linalg.solve(m, c)
    a[n : 2 * n, 2 * n] = np.linalg.solve(m, push)
    a[2 * n, 2 * n + 1], a[2 * n + 1, 2 * n] = omega, -omega
    x = np.concatenate([start, np.zeros(n), [0.0, 1.0] if omega else [1.0, 0.0]])
    return np.array([(expm(a * t) @ x)[:n] for t in times])


def with_sprung_mass(model: MckFile) -> tuple[Matrix, Matrix, Matrix]:
    """The beam with a mass of 10 at its tip (dof 5) on a spring of 500 and a damper of 10."""
    m, k, c = np.zeros((7, 7)), np.zeros((7, 7)), np.zeros((7, 7))
    m[:6, :6], k[:6, :6], m[6, 6] = model.mass, model.stiffness, 10
    link = np.zeros(7)
    link[4], link[6] = 1, -1
    k += 500 * np.outer(link, link)
    c += 10 * np.outer(link, link)
    return m, c, k


def test_frequencies_of_the_beam() -> None:
    model = beam_file()
    omega = np.sqrt(eigh(model.stiffness, model.mass, eigvals_only=True))
    assert omega[0] == pytest.approx(0.281, abs=5e-4) and omega[-1] == pytest.approx(42.1910, abs=5e-5)


@pytest.mark.parametrize("form", FORMS)
def test_the_beam_with_a_sprung_mass(form: str) -> None:
    result = bglang.load(BEAM / "beam.bg", set={"form": form}).simulate(stop=10, tol=1e-10, points=41)
    m, c, k = with_sprung_mass(beam_file())
    exact = trajectory(m, c, k, np.array(result.time), np.zeros(7), np.eye(7)[0], OMEGA)
    for i in range(6):
        scale = np.abs(exact[:, i]).max()
        assert np.abs(result[f"beam.dof[{i + 1}].q"] - exact[:, i]).max() < 1e-6 * scale
    assert np.abs(result["spring.q"] - (exact[:, 4] - exact[:, 6])).max() < 1e-6 * np.abs(exact[:, 4]).max()
    assert result.audit is not None and result.audit.relative_error < 1e-6


def imported(name: str) -> "bglang.Model":
    report = Report()
    model = read_enport(Source(name, (BEAM / name).read_text()), report)
    assert model is not None and not list(report)
    return bglang.loads(enport_source(model, report))


def test_the_multiport_file_of_enport_gives_the_same_motion() -> None:
    result = imported("femmul.enp").simulate(stop=10, tol=1e-10, points=41)
    model = beam_file()
    m, c, k = with_sprung_mass(model)
    inverse = np.array([[float(v) for v in row] for row in printed_inverse()])
    assert np.abs(inverse @ model.mass - np.eye(6)).max() < 2e-3  # five printed digits
    m[:6, :6] = np.linalg.inv(inverse)
    a = trajectory(m, c, k, np.array(result.time), np.zeros(7), np.eye(7)[0], OMEGA)
    for i in range(6):
        assert np.abs(result[f"C1.dof[{i + 1}].q"] - a[:, i]).max() < 1e-6 * np.abs(a[:, i]).max()


def printed_inverse() -> tuple[tuple[float, ...], ...]:
    model = read_enport(Source("femmul.enp", (BEAM / "femmul.enp").read_text()), Report())
    assert model is not None
    return model.equations["I1"].matrix


def test_the_modal_file_of_enport_gives_the_same_motion() -> None:
    """Its five digits miss resonance by 3e-6 of the frequency, and single precision shows: 1% of the motion."""
    result = imported("femmod.enp").simulate(stop=10, tol=1e-10, points=41)
    m, c, k = with_sprung_mass(beam_file())
    exact = trajectory(m, c, k, np.array(result.time), np.zeros(7), np.eye(7)[0], OMEGA)
    first = sum(result[f"CM10{j}.q"] for j in range(1, 7))
    assert np.abs(first - exact[:, 0]).max() < 0.01 * np.abs(exact[:, 0]).max()
    assert np.abs(result["CSPG.q"] - (exact[:, 4] - exact[:, 6])).max() < 0.01 * np.abs(exact[:, 4]).max()


@pytest.mark.parametrize("form", FORMS)
def test_the_smallest_model_swings_about_its_static_answer(form: str) -> None:
    """z = [2, 3] under unit forces; frequencies (sqrt(5) -+ 1)/2."""
    result = bglang.load(BEAM / "vibs2.bg", set={"form": form}).simulate(tol=1e-10, points=101)
    stiffness = np.array([[2.0, -1.0], [-1.0, 1.0]])
    squared, shapes = np.linalg.eigh(stiffness)
    assert np.sqrt(squared) == pytest.approx([(5**0.5 - 1) / 2, (5**0.5 + 1) / 2])
    swing = np.cos(np.outer(result.time, np.sqrt(squared))) * (shapes.T @ [2.0, 3.0])
    exact = np.array([2.0, 3.0]) - swing @ shapes.T
    for i in (1, 2):
        assert np.abs(result[f"body.dof[{i}].q"] - exact[:, i - 1]).max() < 1e-7


def test_matrices_assembled_in_the_language_are_those_of_the_file() -> None:
    model = bglang.load(BEAM / "assembled.bg")
    values = {row.name: row.value for row in model.parameters()}
    file = beam_file()
    for letter, matrix in (("M", file.mass), ("K", file.stiffness)):
        found = np.array([[values[f"{letter}[{i},{j}]"] for j in range(1, 7)] for i in range(1, 7)])
        assert np.abs(found - matrix).max() == 0


# --- small models ----------------------------------------------------------------------------------------------------

M = np.array([[2.0, 0.5], [0.5, 1.0]])
K = np.array([[3.0, -1.0], [-1.0, 1.0]])


def text_of(matrix: Matrix) -> str:
    return "[" + "; ".join(", ".join(repr(float(v)) for v in row) for row in matrix) + "]"


def small(form: str, more: str = "", nodes: str = "Se s(e = 0.7);", bonds: str = "s -> beam.dof[2];") -> str:
    matrices = f"M = {text_of(M)}, C = {text_of(0.1 * K)}, K = {text_of(K)}"
    return f'model B MCK beam({matrices}, form = "{form}"{more}); {nodes} bonds {bonds} end B;'


def displacements(result: "bglang.Result") -> Matrix:
    return np.array([result["beam.dof[1].q"], result["beam.dof[2].q"]]).T


def reference(times: object, start: tuple[float, float] = (0.0, 0.0), push: float = 0.7) -> Matrix:
    return trajectory(M, 0.1 * K, K, np.array(times), np.array(start), np.array([0.0, push]), 0.0)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "starts",
    [
        "dof[1].q(start = 0.1), dof[2].q(start = 0.2)",
        "dof.q(start = {0.1, 0.2})",
        "dof(q(start = {0.1, 0.2}))",
        "dof(each q(start = 0.2)), dof[1].q(start = 0.1)",
    ],
)
def test_starts_in_every_form(form: str, starts: str) -> None:
    model = bglang.loads(small(form, f", {starts}"))
    assert not model.warnings  # dof 1 is free
    result = model.simulate(stop=3, tol=1e-10, points=11)
    assert np.abs(displacements(result) - reference(result.time, (0.1, 0.2))).max() < 1e-8


@pytest.mark.parametrize("form", FORMS)
def test_starts_that_the_caller_sets(form: str) -> None:
    result = bglang.loads(small(form)).simulate(stop=3, tol=1e-10, points=11, set={"beam.dof[1].q.start": 0.3})
    assert np.abs(displacements(result) - reference(result.time, (0.3, 0.0))).max() < 1e-8


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("nodes", "bonds", "signs"),
    [
        ("J1 j; R r(R = 0);", "s -> j -> r; bond b: j -> beam.dof[2];", (1, 1)),
        ("J1 j; R r(R = 0);", "s -> j -> r; bond b: beam.dof[2] -> j;", (-1, 1)),
        ("J0 j; R r(R = 1);", "s -> j -> r; bond b: j -> beam.dof[2];", (1, 1)),
        ("J0 j; R r(R = 1);", "s -> j -> r; bond b: beam.dof[2] -> j;", (1, -1)),
    ],
)
def test_arrows_against_a_dof_turn_one_sign(form: str, nodes: str, bonds: str, signs: tuple[int, int]) -> None:
    result = bglang.loads(small(form, "", "Se s(e = 0.7);" + nodes, bonds)).simulate(stop=3, tol=1e-10, points=11)
    assert np.abs(displacements(result) - reference(result.time)).max() < 1e-8
    for letter, sign in zip("ef", signs, strict=True):
        assert np.allclose(result[f"b.{letter}"], sign * result[f"beam.dof[2].{letter}"])
    assert np.allclose(result["beam.dof[2].power"], result["beam.dof[2].e"] * result["beam.dof[2].f"])


@pytest.mark.parametrize("form", ["multiport", "modal"])
def test_a_flow_source_may_drive_a_dof(form: str) -> None:
    result = bglang.loads(small(form, "", "Sf s(f = 0.7*time);")).simulate(stop=2, tol=1e-10, points=11)
    assert np.abs(result["beam.dof[2].q"] - 0.35 * np.array(result.time) ** 2).max() < 1e-8
    # one equation is left: 2 z'' + 0.3 z' + 3 z = -0.35 + 0.07 t + 0.35 t^2; its states are z, z', 1, t, t^2
    rate = np.zeros((5, 5))
    rate[0, 1], rate[1], rate[3, 2], rate[4, 3] = 1, [-1.5, -0.15, -0.175, 0.035, 0.175], 1, 2
    exact = [(expm(rate * t) @ np.array([0, 0, 1, 0, 0]))[0] for t in result.time]
    assert np.abs(result["beam.dof[1].q"] - exact).max() < 1e-7


def test_the_state_form_takes_efforts_only() -> None:
    with pytest.raises(bglang.SourceError) as failure:
        bglang.loads(small("state", "", "Sf s(f = 0.7);")).simulate()
    assert any(d.code.startswith("causality/") for d in failure.value.diagnostics)


@pytest.mark.parametrize("form", ["modal", "state"])
def test_modes_are_shown(form: str) -> None:
    model = bglang.loads(small(form, ", dof[1].q(start = 0.1)"))
    values = {row.name: row.value for row in model.parameters()}
    squared, shapes = eigh(K, M)
    for j in (1, 2):
        omega = np.sqrt(squared[j - 1])
        assert values[f"beam.mode[{j}].frequency"] == pytest.approx(omega)
        assert values[f"beam.mode[{j}].damping"] == pytest.approx(0.1 * omega / 2)
    result = model.simulate(stop=3, tol=1e-10, points=11)
    modal = displacements(result) @ M @ shapes
    for j in (1, 2):
        assert np.allclose(np.abs(result[f"beam.mode[{j}].q"]), np.abs(modal[:, j - 1]), atol=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_rigid_bodies_move_freely(form: str) -> None:
    declared = f'MCK b(M = [1, 0; 0, 2], K = [1, -1; -1, 1], form = "{form}");'
    source = f"model B {declared} Se s(e = 3); bonds s -> b.dof[1]; end B;"
    result = bglang.loads(source).simulate(stop=4, tol=1e-10, points=9)
    centre = (result["b.dof[1].q"] + 2 * result["b.dof[2].q"]) / 3
    assert np.abs(centre - np.array(result.time) ** 2 / 2).max() < 1e-8


def test_coordinates_without_mass_follow_the_others() -> None:
    source = "model B MCK b(M = [1, 0; 0, 0], K = [2, -1; -1, 1], dof[1].q(start = 1)); end B;"
    result = bglang.loads(source).simulate(stop=3, tol=1e-10, points=11)
    for i in (1, 2):
        assert np.abs(result[f"b.dof[{i}].q"] - np.cos(result.time)).max() < 1e-7


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dof", [1, 2, 3])
@pytest.mark.parametrize("damping", [0.0, 0.1])
def test_singular_mass_in_every_form(form: str, dof: int, damping: float) -> None:
    """Dof 2 has no mass: by hand z2 = (z1 + z3 + e2)/2, or with damping its rate."""
    mass, stiffness = np.diag([1.0, 0.0, 2.0]), np.array([[2.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 1.0]])
    loss = damping * (mass + stiffness)
    source = f"""model B MCK b(M = {text_of(mass)}, K = {text_of(stiffness)}, C = {text_of(loss)}, form = "{form}");
        Se s(e = sin(2*time)); bonds s -> b.dof[{dof}]; end B;"""
    result = bglang.loads(source).simulate(stop=5, tol=1e-10, points=21)
    push = np.eye(3)[dof - 1]

    def rate(t: float, y: Matrix) -> Matrix:
        z, v = np.array([y[0], y[1], y[2]]), np.array([y[3], 0.0, y[4]])
        if damping == 0:
            z[1] = (z[0] + z[2] + push[1] * np.sin(2 * t)) / 2
        rest = push * np.sin(2 * t) - stiffness @ z - loss @ v
        if damping:
            v[1] = rest[1] / loss[1, 1]
            rest -= loss[:, 1] * v[1]
        return np.array([v[0], v[1], v[2], rest[0], rest[2] / 2])

    run = solve_ivp(rate, (0, 5), np.zeros(5), "DOP853", result.time, rtol=1e-12, atol=1e-12)
    for i in (1, 2, 3):
        expected = run.y[i - 1]
        if i == 2 and damping == 0:
            expected = (run.y[0] + run.y[2] + push[1] * np.sin(2 * run.t)) / 2
        assert np.abs(result[f"b.dof[{i}].q"] - expected).max() < 1e-8
    assert result.audit is not None and result.audit.relative_error < 1e-6


def test_a_singular_mass_matrix_without_zero_rows() -> None:
    """M = b bᵀ with b = (2, 3): the motion (3, -2) has no mass, so that the force on it is zero: 8 z1 - 5 z2 = 0."""
    source = "model B MCK b(M = [4, 6; 6, 9], K = [2, -1; -1, 1]); Se s(e = 1); bonds s -> b.dof[2]; end B;"
    result = bglang.loads(source).simulate(stop=3, tol=1e-10, points=11)
    # the massless motion: 3*(2 z1 - z2) - 2*(-z1 + z2 - 1) = 0; w = 2 z1 + 3 z2
    one, two = result["b.dof[1].q"], result["b.dof[2].q"]
    assert np.abs(8 * one - 5 * two + 2).max() < 1e-8


@settings(max_examples=12, deadline=None)
@given(st.integers(1, 4), st.integers(0, 10_000))
def test_forms_agree_for_any_matrices(n: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    root, other = random.normal(size=(n, n)), random.normal(size=(n, n))
    mass, stiffness = root @ root.T + np.eye(n), other @ other.T
    damping = 0.05 * mass + 0.1 * stiffness
    start = random.normal(size=n)
    matrices = f"M = {text_of(mass)}, C = {text_of(damping)}, K = {text_of(stiffness)}"
    starts = "{" + ", ".join(repr(float(x)) for x in start) + "}"
    for form in FORMS:
        source = f'model B MCK b({matrices}, form = "{form}", dof.q(start = {starts})); end B;'
        result = bglang.loads(source).simulate(stop=2, tol=1e-9, points=5)
        exact = trajectory(mass, damping, stiffness, np.array(result.time), start, np.zeros(n), 0.0)
        found = np.array([result[f"b.dof[{i + 1}].q"] for i in range(n)]).T
        assert np.abs(found - exact).max() < 1e-6 * max(1.0, np.abs(exact).max())


@pytest.mark.parametrize(
    ("settings", "code", "words"),
    [
        ('M = [1, 0; 0, 2], K = [1, -1; -1, 1], C = [1, 0; 0, 0], form = "modal"', "mck/form", "couples modes 1 and 2"),
        ('M = [1, 0; 0, 0], K = [1, 0; 0, 0], form = "modal"', "mck/form", "neither mass nor stiffness"),
        ('M = [1, 0; 0, 0], K = [1, 0; 0, 0], form = "state"', "mck/form", "neither mass nor stiffness"),
        ('M = [1, 0; 0, 1], K = [1, 0; 0, 1], form = "other"', "mck/form", "multiport"),
        ("M = [1, 0; 0, -1], K = [1, 0; 0, 1]", "mck/matrix", "indefinite"),
        ("M = [1, 2; 0, 5], K = [1, 0; 0, 1]", "mck/matrix", "not symmetric"),
        ("M = [1, 0; 0, 1], K = [1]", "mck/matrix", "2 by 2"),
        ("M = [1, 0; 0, 1]", "mck/settings", "needs `K`"),
        ("", "mck/settings", "file or matrices"),
        ('file = "none.mck"', "files/missing", "none.mck"),
    ],
)
def test_refusals(settings: str, code: str, words: str) -> None:
    with pytest.raises(bglang.SourceError) as failure:
        bglang.loads(f"model B MCK b({settings}); end B;")
    found = [d for d in failure.value.diagnostics if d.code == code]
    assert found and words in found[0].message + found[0].reason and found[0].hint


@pytest.mark.parametrize("form", FORMS)
def test_dofs_take_the_domains_of_what_is_bonded_to_them(form: str) -> None:
    """A displacement and a slope: newtons and newton metres, also where an entry of a matrix is exactly 1."""
    result = bglang.loads(f"""
        model B
          MCK b(M = [1, 0; 0, 1], C = [1, 0; 0, 1], K = [2, -1; -1, 1], form = "{form}");
          Translational.Spring k(k = 3); Rotational.Spring c(k = 2); J1 v, w;
          Se s(e = 1);
        bonds
          s -> v -> b.dof[1]; v -> k; w -> b.dof[2]; w -> c;
        end B;""").simulate(stop=2, tol=1e-10, points=11)
    stiffness = np.array([[5.0, -1.0], [-1.0, 3.0]])
    exact = trajectory(np.eye(2), np.eye(2), stiffness, np.array(result.time), np.zeros(2), np.array([1.0, 0.0]), 0.0)
    assert np.abs(np.array([result["k.q"], result["b.dof[2].q"]]).T - exact).max() < 1e-8


def test_dofs_are_bonded_through_ports_and_in_arrays() -> None:
    inner = f"MCK b(M = {text_of(M)}, C = {text_of(0.1 * K)}, K = {text_of(K)});"
    for drawn, outside in (("p -> b.dof[2];", "j -> a.p;"), ("b.dof[2] -> p;", "a.p -> j;")):
        source = f"""
            model S port Any p; {inner} bonds {drawn} end S;
            model B S a; J0 j; R r(R = 2); Se s(e = 0.7); bonds s -> j -> r; {outside} end B;"""
        result = bglang.loads(source).simulate(stop=3, tol=1e-10, points=5)
        found = np.array([result["a.b.dof[1].q"], result["a.b.dof[2].q"]]).T
        assert np.abs(found - reference(result.time)).max() < 1e-8
    matrices = f"each M = {text_of(M)}, each C = {text_of(0.1 * K)}, each K = {text_of(K)}"
    source = f"model B MCK b[2]({matrices}); Se s[2](e = {{0.7, 0}}); bonds s -> b.dof[2]; end B;"
    source = source.replace("s -> b.dof[2];", "for i in 1:2 loop s[i] -> b[i].dof[2]; end for;")
    result = bglang.loads(source).simulate(stop=3, tol=1e-10, points=5)
    assert np.abs(result["b[1].dof[2].q"] - reference(result.time)[:, 1]).max() < 1e-8
    assert np.abs(result["b[2].dof[2].q"]).max() == 0
