"""Section 10 of the language: names, settings, types, inheritance, signals, and what is not in the language."""

import numpy as np
import pytest
from language_runs import close, codes, integrate, simulate

import bglang

ONE = "J1 v; I m(I = 1, p(start = 1));"


def test_quoted_names_and_words_that_are_names_elsewhere() -> None:
    r = simulate(
        """model 'My Model' J1 'a.b c', flow; I 'm/2'(I = 1, p(start = 1)), node(I = 1, p(start = 1)); R 'für'(R = 1);
          R stream(R = 2); Real energy = node.p^2/2, inner = 1, der = 2, initial = 3; parameter Real connect = 'm/2'.I;
        bonds 'a.b c' -> 'm/2', 'für'; flow -> node, stream; end 'My Model';"""
    )
    close(r["'m/2'.p"], np.exp(-r.time))
    close(r["'a.b c'.f"], np.exp(-r.time))
    close(r["flow.f"], np.exp(-2 * r.time))
    close(r["energy"], np.exp(-4 * r.time) / 2)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("model M Real time = 2; end M;", "names/reserved"),
        ("model M Real port = 2; end M;", "syntax/reserved-word"),
        (f"model M {ONE} R v(R = 1); bonds v -> m; end M;", "names/duplicate"),
        (f"model A {ONE} end A; model M extends A; R m(R = 1); bonds v -> m; end M;", "names/duplicate"),
        ("model M Real x = 2^3^2; end M;", "syntax/power"),
        ("model M Real x = .5; end M;", "syntax/number"),
        (f"model M {ONE} equation connect(v, m); end M;", "syntax/not-in-language"),
        ("connector P Real v; end P; model M Real x = 1; end M;", "syntax/not-in-language"),
        ("record P Real v; end P; model M Real x = 1; end M;", "syntax/not-in-language"),
        ("model M inner Real x = 1; end M;", "syntax/not-in-language"),
        ("model M outer Real x = 1; end M;", "syntax/not-in-language"),
        ("model M stream Real x = 1; end M;", "syntax/not-in-language"),
        ("model M Real x = delay(time, 1); end M;", "functions/unknown"),
        ("model M Real x = hold(time); end M;", "functions/unknown"),
        ('function f input Real x; output Real y; external "C"; end f; model M Real x = f(1); '
         'end M;', "syntax/not-in-language"),
        (f"model M {ONE} R lost(R = 1); R d(R = 1); bonds v -> m, d; end M;", "graph/lone-node"),
        (f"model M {ONE} TF t(m = 1); R d(R = 1); bonds v -> m, d, t; end M;", "graph/lone-node"),
        (f"model M {ONE} J0 lost; R d(R = 1); bonds v -> m, d; end M;", "graph/lone-node"),
        (f"model M {ONE} bonds v -> m; end M;", "graph/dangling-junction"),
        (f"model M {ONE} R d(R = 1); Real x; bonds v -> m, d; end M;", "equations/too-few"),
        (f"model M {ONE} R d(R = 1); Real x = 1; bonds v -> m, d; equation x = 2; end M;", "equations/too-many"),
        (f"model M {ONE} R d(R = 1); v -> m, d; end M;", "syntax/misplaced"),
        (f"model M {ONE} R d(R = 1); Real x; bonds v -> m, d; x = 3; end M;", "syntax/misplaced"),
        (f"model M {ONE} R d(R = 1); J1 w; bonds v -> m, w -> d; end M;", "syntax/bond-list"),
        (f"model M {ONE} R d(R = 1); Real y; bonds v -> m, d; algorithm y := 3; end M;", "classes/section"),
        ("block B J1 v; R r(R = 1); bonds v -> r; end B; model M B b; end M;", "classes/section"),
        ("model A extends R(R = 1); end A; model M A a; end M;", "classes/kind"),
        ("model M M m; end M;", "classes/recursion"),
        ("model A extends B; end A; model B extends A; end B; model M A a; end M;", "classes/cyclic-inheritance"),
        ("model M parameter Real a = b, b = a; end M;", "parameters/cyclic"),
        ("model M parameter Real k(min = 0) = -1; Real x = k; end M;", "parameters/range"),
        ("model M parameter Real k; Real x = k; end M;", "parameters/no-value"),
        ("model S parameter Real k = 1; end S; model M S s(k = time); end M;", "parameters/variability"),
        ("model M import Nowhere.X; Real x = 1; end M;", "names/unknown"),
        ("model M Resistor r(R = 1); end M;", "names/unknown"),
        ("type K = enumeration(a, b); model M parameter K k = K.c; end M;", "names/unknown"),
        ("model M Real x = if 3 then 1 else 2; end M;", "types/condition"),
        ("model M Real x = true + 1; end M;", "types/operands"),
        ("function f input Real x; output Real y; algorithm y := f(x); end f; model M Real x = f(1); "
         "end M;", "functions/recursion"),
        ("model M parameter Real k = 1; function f input Real x; output Real y; algorithm y := k*x; "
         "end f; Real x = f(1); end M;",
         "names/unknown"),
        (f"model M {ONE} R d(R = 1); bonds v -> m, d; annotation(experiment(Foo = 3)); end M;", "experiment/unknown"),
    ],
)  # fmt: skip
def test_one_mistake_one_message(text: str, code: str) -> None:
    found = [c for c in codes(text, model="M") if c != "parameters/unused"]
    assert found == [code]


@pytest.mark.parametrize(
    ("settings", "rates"),
    [
        ({}, [1, 2]),
        ({"k": "{4, 5}"}, [4, 5]),
        ({"k[2]": 7}, [1, 7]),
        ({"scale": 3}, [3, 6]),
        ({"scale": "2*pi - pi"}, [np.pi, 2 * np.pi]),
        ({"mode": "fast"}, [10, 20]),
        ({"mode": '"fast"'}, [10, 20]),
        ({"extra": True}, [2, 3]),
        ({"extra": "true", "k[1]": 2}, [3, 3]),
        ({"kind": "Kind.hard"}, [101, 102]),
        ({"s[2].r.R": 9}, [1, 9]),
        ({"n": 3, "k": "{1, 2, 3}"}, [1, 2, 3]),
    ],
)
def test_settings_of_every_kind(settings: dict[str, object], rates: list[float]) -> None:
    text = """type Kind = enumeration(soft, hard);
      model S parameter Real k = 1; port Any a; R r(R = k); bonds a -> r; end S;
      model M parameter Integer n = 2; parameter Real k[n] = {1, 2}; parameter Real scale = 1;
        parameter String mode = "slow";
        parameter Boolean extra = false; parameter Kind kind = Kind.soft;
        parameter Real factor = scale*(if mode == "fast" then 10 else 1);
        J1 v[n]; I m[n](each I = 1, each p(start = 1)); S s[n](k = factor*k); R x[n](each R = 1) if extra;
        R h[n](each R = if kind == Kind.hard then 100 else 0);
      bonds v -> m; v -> s.a; v -> x; v -> h; end M;"""
    r = simulate(text, set=settings)
    for i, rate in enumerate(rates, 1):
        close(r[f"v[{i}].f"], np.exp(-rate * r.time), 1e-5)


def test_one_loaded_model_takes_other_values_and_starts() -> None:
    model = bglang.loads(
        f"model M parameter Real k = 1; {ONE} R r(R = k); final parameter Real z = k; bonds v -> m, r; end M;"
    )
    for k, start in ((1, 1), (2, 3), (0.5, -1)):
        r = model.simulate(stop=1, tol=1e-9, points=11, k=k, set={"m.p.start": start})
        close(r["v.f"], start * np.exp(-k * r.time))
    for wrong in ({"z": 3}, {"kk": 3}, {"v": 3}, {"m.p": 3}):
        with pytest.raises(bglang.UsageError):
            model.simulate(stop=1, set=wrong)


def test_inheritance_adds_in_order_and_once() -> None:
    r = simulate(
        f"""model A {ONE} bonds v -> m; equation x = v.f; public Real x; annotation(experiment(StopTime = 5)); end A;
        model B extends A; end B; model C2 extends A; R r(R = 1); bonds v -> r; end C2;
        model M extends B; R s(R = 2); extends C2; bonds v -> s; annotation(experiment(StopTime = 2)); end M;"""
    )
    close(r["x"], np.exp(-3 * r.time))
    model = bglang.loads(
        f"model A {ONE} bonds v -> m; annotation(experiment(StopTime = 5)); end A; model M extends A; end M;", model="M"
    )
    assert model.simulate().time[-1] == 5


def test_blocks_and_signals() -> None:
    r = simulate(
        """block PI input Real u; output Real y; parameter Real Kp = 1, Ti = 1; Real x(start = 0);
        equation der(x) = u/Ti; y = Kp*(u + x); end PI;
        block Gain input Real u; output Real y; equation y = 2*u; end Gain;
        model M J1 w; I rotor(I = 1); R friction(R = 0.1); Se torque(e = gain.y);
          PI ctrl(u = 10 - w.f, Kp = 2, Ti = 0.5); Gain gain;
        bonds torque -> w -> rotor, friction; equation gain.u = ctrl.y; end M;"""
    )
    w, x = integrate(lambda t, y: [4 * (10 - y[0] + y[1]) - 0.1 * y[0], (10 - y[0]) / 0.5], [0.0, 0.0], r.time)
    close(r["w.f"], w)
    close(r["ctrl.x"], x)
    close(r["torque.e"], 4 * (10 - w + x))


def test_parameters_that_vary_and_inputs() -> None:
    r = simulate(
        f"""element Z extends R(R = 2*k); parameter Real k = 1; end Z;
        model S input Real k; port Any a; R r(R = k); bonds a -> r; end S;
        model M {ONE} Z z(k = time); S s(k = 1 + 2*time); bonds v -> m, z, s.a; end M;"""
    )
    close(r["v.f"], np.exp(-r.time - 2 * r.time**2))


def test_types_and_enumerations() -> None:
    r = simulate(
        """type Force = Real(unit = "N", min = -10); type Strong = Force(max = 100);
        type Kind = enumeration(soft, hard);
        package P constant Real a[2] = {3, 4}; package Q constant Real b = a[2]*2; end Q; end P;
        model M import P.Q; import twice = P.a; parameter Strong F = 7; discrete Kind k(start = Kind.soft);
          Boolean late = time > 0.5;
          Integer count = div(7, 2) + mod(-7, 3) + rem(-7, 3) + integer(2.7);
            Real half = 1/2, x = Q.b + twice[1] + P.a[2], z = Integer(k),
            y = if late then 1 else 2;
        equation when time > 0.5 then k = Kind.hard; end when; end M;"""
    )
    late = r.time >= 0.5  # a row at an event holds the value after it
    close(r["late"][late], 1)
    close(r["k"][late], 2)
    close(r["z"][~late], 1)
    close(r["y"][~late], 2)
    for name, value in {"count": 3 + 2 - 1 + 2, "half": 0.5, "x": 8 + 3 + 4}.items():
        close(r[name], np.full(len(r.time), value))


ARRAYS = {
    "det(A)": 5, "sum(inv(A))": 0.6, "sum(solve(A, {1, 2}))": 0.8, "{1, 2}*{3, 4}": 11, "max(sin({1, 2}))": np.sin(2),
    "product(linspace(1, 3, 3))": 6, "sum(cross({1, 0, 0}, {0, 1, 0}))": 1, "size(A, 1) + ndims(A)": 4,
    "sum(outerProduct({1, 2}, {3, 4}))": 21, "skew({1, 2, 3})[1, 2]": -3, "sum(symmetric([1, 2; 9, 4]))": 9,
    "sum(cat(1, {1}, {2, 3}))": 6, "scalar([3])": 3, "sum(vector([1; 2]))": 3, "sum(matrix({1, 2}))": 3,
    "min({3, 1, 2})": 1,
    "sum(diagonal({1, 2}))": 3, "sum(fill(2, 3))": 6, "transpose([1, 2; 3, 4])[1, 2]": 3, "sum(A*{1, 2})": 11,
    "sum(zeros(3))": 0,
    "sum(A .* A)": 15, "sum(2 ./ {1, 2})": 3, "sum({i*j for i in 1:2, j in 1:3})": 18, "sum(i for i in 1:4)": 10,
    "2^-2": 0.25,
    "3*-2": -6, "sum([1, 2; 3, 4][:, 1])": 4,
}  # fmt: skip


def test_array_functions() -> None:
    subscripted = {call: value for call, value in ARRAYS.items() if ")[" not in call and "][" not in call}
    names = " ".join(f"Real x{k} = {call};" for k, call in enumerate(subscripted))
    r = simulate(f"model M parameter Real A[2, 2] = [2, 1; 1, 3]; {names} end M;")
    for k, value in enumerate(subscripted.values()):
        close(r[f"x{k}"][-1], value)


def test_preferred_storage_is_independent() -> None:
    text = "model M J1 v; I a(I = 1); I b(I = 2{0}); R r(R = 1); bonds v -> a, b, r; end M;"
    assert bglang.loads(text.format("")).causality().independent == ["a"]
    preferred = text.format(', prefer = "independent", p(start = 4)')
    assert bglang.loads(preferred).causality().independent == ["b"]
    r = simulate(preferred)
    close(r["a.p"], 2 * np.exp(-r.time / 3))
    assert codes(text.format(', prefer = "yes"')) == ["types/choice"]
