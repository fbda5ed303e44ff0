"""Equations of higher order, and loops through the members of a vector."""

import numpy as np
import pytest
from language_runs import close, codes, integrate, simulate


def test_a_cart_with_a_pendulum_in_lagranges_equations() -> None:
    r = simulate(
        """model M parameter Real m = 1, M = 2, l = 0.5, g = 9.81; Real th(start = 0.5), x;
        equation
          (M + m)*der(der(x)) + m*l*der(der(th))*cos(th) - m*l*der(th)^2*sin(th) = 0;
          l*der(der(th)) + der(der(x))*cos(th) = -g*sin(th);
        initial equation der(x) = 0.3;
        end M;""",
        stop=2.0,
    )

    def rate(t: float, y: np.ndarray) -> list[float]:
        th, _, w, v = y
        a = np.linalg.solve([[3, 0.5 * np.cos(th)], [np.cos(th), 0.5]], [0.5 * w * w * np.sin(th), -9.81 * np.sin(th)])
        return [w, v, a[1], a[0]]

    th, x, w, v = integrate(rate, [0.5, 0, 0, 0.3], r.time)
    for name, expected in {"th": th, "x": x, "'der(th)'": w, "'der(x)'": v}.items():
        close(r[name], expected)


def test_a_third_order_inside_a_component() -> None:
    r = simulate(
        "block B Real x[2](start = {1, 2}); equation der(der(der(x))) = -x; end B; model M B b; end M;", stop=2.0
    )
    x, v, a = integrate(lambda t, y: [y[1], y[2], -y[0]], [1.0, 0.0, 0.0], r.time)
    close(r["b.x[1]"], x)
    close(r["b.'der(x[2])'"], 2 * v)
    close(r["b.'der(der(x[1]))'"], a)


@pytest.mark.parametrize(
    ("body", "rate"),
    [
        ("equation der(x) = -2*x;", lambda t: 4 * np.exp(-2 * t)),
        ("equation x = sin(3*time);", lambda t: -9 * np.sin(3 * t)),
        ("equation 0 = x + x - time^3;", lambda t: 3 * t),
    ],
)
def test_the_second_derivative_of_what_has_its_own_equation(body: str, rate: object) -> None:
    r = simulate(f"model M Real x(start = 1), a = der(der(x)); {body} end M;", stop=2.0)
    close(r["a"], rate(r.time))  # type: ignore[operator]


@pytest.mark.parametrize(
    ("element", "letter"),
    [("R r(e = der(f) + f)", "f"), ("R r(e = der(der(r.f)) + f)", "f"), ("R r(0 = e - f - 2*der(e))", "e")],
)
def test_a_law_with_a_rate_of_its_own_variable_is_an_error(element: str, letter: str) -> None:
    """These crashed."""
    text = f"model M J1 v; I m(I = 1); {element}; bonds v -> m, r; end M;"
    assert codes(text) == ["laws/variable"]


def test_rates_without_end_are_an_error() -> None:
    """They were sought for ever."""
    text = "model M J1 v; I m(I = 1); R r(R = 1); Se s(e = der(der(v.f))); bonds s -> v -> m, r; end M;"
    assert codes(text) == ["equations/derivative-loop"]


def test_loops_through_the_members_of_a_vector() -> None:
    body = "algorithm n := 0; for x in v loop n := n + x^2; end for;"
    norm = f"function norm input Real v[:]; output Real n; {body} end norm;"
    r = simulate(
        f"{norm} model M parameter Real p[2] = {{3, 4}}; Real v[3] = {{time, 1, 2}}; Real a = norm({{time, 2}}), "
        "b[3] = {x^2 for x in v}, c = norm(p), d = sum(x*time for x in p), e[2] = {v[i] for i in {3, 1}}; end M;",
        stop=2.0,
    )
    t = r.time
    for name, expected in {"a": t**2 + 4, "b[1]": t**2, "c": 25 + 0 * t, "d": 7 * t, "e[2]": t}.items():
        close(r[name], expected)


@pytest.mark.parametrize("starts", ["x(start = 1), y", "y, x(start = 1)", "x, y(start = 2)", "y(start = 2), x"])
def test_of_two_states_that_an_equation_ties_the_one_without_a_start_gives_way(starts: str) -> None:
    """The first by the alphabet did."""
    r = simulate(f"model M Real {starts}; equation der(x) + der(y) = -x; y = 2*x; end M;", stop=2.0)
    close(r["x"], np.exp(-r.time / 3))
    close(r["y"], 2 * np.exp(-r.time / 3))


@pytest.mark.parametrize(
    "declared",
    [
        "parameter Real a(fixed = false); Real x(start = 1), y = a; equation der(x) = -a*x;",
        "parameter Real a(fixed = false); Real x(start = a), y = a; equation der(x) = -x;",
        "parameter Real a(fixed = false, start = 1); Real x(start = 2*a), y = 2*a; equation der(x) = -x;",
    ],
)
def test_a_parameter_to_be_found_may_have_no_guess_and_be_read_by_a_start(declared: str) -> None:
    r = simulate(f"model M {declared} initial equation der(x) = -3; end M;")
    close(r["y"], 3 + 0 * r.time)
    found = -np.log(r["x"][-1] / r["x"][0])
    close([r["x"][0] * (3 if found > 2 else 1), found], [3, 3 if found > 2 else 1])
