"""The commands `import` and `export`: what they tell, write and refuse."""

from pathlib import Path

import numpy as np
import pytest
from scipy.io import mmwrite
from scipy.linalg import eigh
from scipy.sparse import coo_matrix

import bglang
from bglang.cli import main
from bglang.diagnostics import Report
from bglang.interop.mck import MckFile, read_mck, write_mck
from bglang.source import Source

BEAM = Path(__file__).parents[2] / "examples" / "beam"
VIBS2, FEM10 = str(BEAM / "vibs2.mck"), str(BEAM / "fem10.mck")
FORMS = ("multiport", "modal", "state")
M = np.diag([1.0, 2.0, 3.0])
K = np.array([[2.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 1.0]])


def test_what_an_import_tells(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "vibs2.bg"
    assert main(["import", "mck", VIBS2, "--dry-run", "-o", str(out)]) == 0
    told = capsys.readouterr().out
    for words in (
        "dimension   2", "4 mass elements, first 1, last 1", "4 stiffness elements, first 2, last 1",
        "0 damping elements", "6 nodes, 6 connectors", "0.618034, 1.61803 rad/s",
    ):  # fmt: skip
        assert words in told
    assert not out.exists()
    assert main(["import", "mck", FEM10, "--dry-run"]) == 0
    assert "0.281092, 1.76718, 4.99341, 11.245, 21.1631, 42.191 rad/s" in capsys.readouterr().out


@pytest.mark.parametrize("form", FORMS)
def test_an_import_swings_around_its_static_answer(form: str, tmp_path: Path) -> None:
    """Undamped from rest, the mean over both periods' beats is static: z = [2, 3] for two unit forces."""
    out = tmp_path / "vibs2.bg"
    assert main(["import", "mck", VIBS2, "--form", form, "-o", str(out)]) == 0
    model = bglang.load(out)
    assert not model.warnings
    result = model.simulate(stop=5, tol=1e-10, points=21)
    names = ["stiffness.dof[1].q", "stiffness.dof[2].q"] if form == "multiport" else ["z[1]", "z[2]"]
    k = np.array([[2.0, -1.0], [-1.0, 1.0]])
    squared, shapes = np.linalg.eigh(k)
    static = np.linalg.solve(k, np.ones(2))
    assert np.allclose(static, [2, 3])
    for row, t in enumerate(result.time):
        exact = static - shapes @ (np.cos(np.sqrt(squared) * t) * (shapes.T @ static))
        assert np.allclose([result[name][row] for name in names], exact, atol=1e-8)


@pytest.mark.parametrize("form", FORMS)
def test_an_import_with_a_dof_without_mass(form: str, tmp_path: Path) -> None:
    """Dof 2 has none: condensed by hand, z2 = (z1 + z3 + 1)/2 is left of the equations of the others."""
    path, out = tmp_path / "slack.mck", tmp_path / "slack.bg"
    file = MckFile("SLACK", "", (), np.diag([1.0, 0.0, 2.0]), None, K, (None, 1.0, None))
    path.write_text(write_mck(file))
    assert main(["import", "mck", str(path), "--form", form, "-o", str(out)]) == 0
    model = bglang.load(out)
    assert not model.warnings
    result = model.simulate(stop=5, tol=1e-10, points=21)
    one, two, three = (result[f"stiffness.dof[{i}].q" if form == "multiport" else f"z[{i}]"] for i in (1, 2, 3))
    squared, shapes = eigh(np.array([[1.5, -0.5], [-0.5, 0.5]]), np.diag([1.0, 2.0]))
    push = shapes.T @ np.array([0.5, 0.5])
    exact = shapes @ (push / squared * (1 - np.cos(np.outer(result.time, np.sqrt(squared))))).T
    assert np.abs(one - exact[0]).max() < 1e-8 and np.abs(three - exact[1]).max() < 1e-8
    assert np.abs(two - (one + three + 1) / 2).max() < 1e-8


def test_only_forced_dofs_of_a_modal_import_have_junctions(tmp_path: Path) -> None:
    out = tmp_path / "beam.bg"
    assert main(["import", "mck", FEM10, "--form", "modal", "-o", str(out)]) == 0
    kinds = [e.kind for e in bglang.load(out).graph.elements]
    assert (kinds.count("Se"), kinds.count("J0"), kinds.count("TF"), kinds.count("J1")) == (2, 2, 12, 6)


def test_matrices_of_finite_element_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mass, stiffness, archive = tmp_path / "m.mtx", tmp_path / "k.mtx", tmp_path / "both.npz"
    mmwrite(mass, coo_matrix(M))
    mmwrite(stiffness, K)
    np.savez(archive, M=M, K=K, C=0.1 * K)
    wanted = np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(M, K)).real))
    for arguments in (["--mass", str(mass), "--stiffness", str(stiffness)], [str(archive), "--form", "modal"]):
        assert main(["import", "mck", *arguments, "--dry-run"]) == 0
        assert ", ".join(f"{w:.6g}" for w in wanted) in capsys.readouterr().out
    model = tmp_path / "m.bg"
    model.write_text('model B MCK b(file = "both.npz", form = "modal", dof[1].q(start = 1)); end B;')
    assert bglang.load(model).simulate()["b.dof[1].q"][0] == pytest.approx(1)


def broken(tmp_path: Path) -> dict[str, list[str]]:
    """Files that are wrong, by what is wrong with them."""
    text = (BEAM / "vibs2.mck").read_text()
    files = {
        "number": text.replace("2.0000E+00   -1", "2.0q00E+00   -1"),
        "bracket": text.replace("  ]\n STIFF", " STIFF"),
        "row": text.replace("1.0000E+00    0.0000E+00;", "1.0000E+00;"),
        "symmetric": text.replace("-1.0000E+00    1.0000E+00;", "-7.0000E+00    1.0000E+00;"),
        "indefinite": text.replace("0.0000E+00    1.0000E+00;", "0.0000E+00   -1.0000E+00;"),
        "end": text.replace(" END-FILE", ""),
    }
    calls = dict[str, list[str]]()
    for name, content in files.items():
        path = tmp_path / f"{name}.mck"
        path.write_text(content)
        calls[name] = ["mck", str(path)]
    np.savez(tmp_path / "objects.npz", M=np.array([{}], dtype=object), K=K)
    np.savez(tmp_path / "missing.npz", M=M)
    np.savez(tmp_path / "shape.npz", M=M, K=K[:2])
    (tmp_path / "text.npz").write_text("no archive")
    (tmp_path / "zero.mck").write_bytes(b"\0\1\2")
    mmwrite(tmp_path / "m.mtx", M)
    lines = (tmp_path / "m.mtx").read_text().splitlines()
    (tmp_path / "bad.mtx").write_text("\n".join([*lines[:4], "abc", *lines[5:]]))
    enport = (BEAM / "femmul.enp").read_text()
    (tmp_path / "cut.enp").write_text(enport[:3000])
    (tmp_path / "count.enp").write_text(enport.replace("outputs: 16", "outputs: 17"))
    calls |= {name: ["mck", str(tmp_path / name)] for name in ("objects.npz", "missing.npz", "shape.npz", "text.npz")}
    calls["zero"] = ["mck", str(tmp_path / "zero.mck")]
    calls["mtx"] = ["mck", "--mass", str(tmp_path / "bad.mtx"), "--stiffness", str(tmp_path / "m.mtx")]
    (tmp_path / "skew.mtx").write_text("%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1\n1 2 5\n2 2 1\n")
    calls["skew"] = ["mck", "--mass", str(tmp_path / "m.mtx"), "--stiffness", str(tmp_path / "skew.mtx")]
    calls |= {name: ["enport", str(tmp_path / name)] for name in ("cut.enp", "count.enp")}
    return calls


def test_nothing_is_written_for_a_file_that_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.bg"
    for name, arguments in broken(tmp_path).items():
        assert main(["import", *arguments, "-o", str(out)]) == 1, name
        told = capsys.readouterr().err
        assert "Hint:" in told and ":" in told and "Traceback" not in told, name
        assert not out.exists(), name


def test_the_line_of_a_mistake_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    calls = broken(tmp_path)
    main(["import", *calls["number"]])
    assert "number.mck:25:" in capsys.readouterr().err
    main(["import", *calls["mtx"]])
    assert "bad.mtx:5:" in capsys.readouterr().err
    main(["import", *calls["symmetric"]])
    assert "symmetric.mck:26:" in capsys.readouterr().err
    main(["import", *calls["indefinite"]])
    assert "indefinite.mck:21:" in capsys.readouterr().err
    main(["import", *calls["skew"]])
    assert "skew.mtx:4:" in capsys.readouterr().err


def test_damping_that_is_not_proportional_has_no_modal_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "damped.mck"
    path.write_text(write_mck(MckFile("DAMPED", "", (), M, np.diag([1.0, 0.0, 0.0]), K, None)))
    assert main(["import", "mck", str(path), "--form", "modal", "-o", str(tmp_path / "o.bg")]) == 1
    assert "not proportional" in capsys.readouterr().err and not (tmp_path / "o.bg").exists()
    for form in ("multiport", "state"):
        assert main(["import", "mck", str(path), "--form", form, "-o", str(tmp_path / "o.bg")]) == 0
        assert not bglang.load(tmp_path / "o.bg").warnings


def test_calls_that_are_wrong(tmp_path: Path) -> None:
    for arguments in (
        ["import"], ["import", "other"], ["import", "mck"], ["import", "mck", "none.mck"], ["export", "mck", "none.bg"],
        ["import", "mck", VIBS2, "--mass", VIBS2], ["import", "mck", "--mass", VIBS2],
    ):  # fmt: skip
        assert main(arguments) == 2


# --- export ----------------------------------------------------------------------------------------------------------


def exported(source: str, folder: Path) -> MckFile:
    model, out = folder / "model.bg", folder / "model.mck"
    model.write_text(source)
    assert main(["export", "mck", str(model), "-o", str(out)]) == 0
    found = read_mck(Source("model.mck", out.read_text()), Report())
    assert found is not None
    return found


def test_an_import_is_exported_as_it_was(tmp_path: Path) -> None:
    source = tmp_path / "beam.bg"
    assert main(["import", "mck", FEM10, "-o", str(source)]) == 0
    again = exported(source.read_text(), tmp_path)
    before = read_mck(Source("fem10", Path(FEM10).read_text()), Report())
    assert before is not None
    assert np.allclose(again.mass, before.mass, rtol=1e-12, atol=1e-9)
    assert np.allclose(again.stiffness, before.stiffness, rtol=1e-12, atol=1e-6)
    assert again.damping is None
    for force, wanted in zip(again.forces or (), before.forces or (), strict=True):
        assert (force is None and wanted is None) or force == pytest.approx(wanted)


def test_dependent_masses_are_part_of_the_matrices(tmp_path: Path) -> None:
    found = exported(
        """model Lever
          J1 v, w; I m(I = 2), m2(I = 3); TF t(m = 2); C c(C = 0.5); R r(R = 3); Se f(e = 4);
        bonds f -> v -> m; v -> c; v -> t -> w -> m2; w -> r; end Lever;""",
        tmp_path,
    )
    assert found.damping is not None and found.forces == (4.0,)
    assert (found.mass[0, 0], found.damping[0, 0], found.stiffness[0, 0]) == pytest.approx((14, 12, 2))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("J1 v; I m(I = 1); C c(e = q^3); bonds v -> m, c;", "`c` is not linear"),
        ("J1 v; I m(I = 1); R r(e = coulomb(f, 1)); bonds v -> m, r;", "`r` is not linear"),
        ("J1 v; J0 s; I m(I = 1); C c(C = 1); R r(R = 1); bonds v -> m; v -> s -> c; s -> r;", "in series"),
        ("J1 v; R r(R = 1); C c(C = 1); bonds v -> r, c;", "no mass"),
        ("J1 v, w; I m(I = 1), n(I = 1); GY g(r = 2); bonds v -> m; v -> g -> w -> n;", "not symmetric"),
        ("J1 v; I m(I = 1); Real x(start = 0); bonds v -> m; equation der(x) = v.f - x;", "`x` is neither"),
    ],
)
def test_models_without_matrices(body: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.bg").write_text(f"model B {body} end B;")
    assert main(["export", "mck", str(tmp_path / "m.bg"), "-o", str(tmp_path / "m.mck")]) == 1
    assert words in capsys.readouterr().err and not (tmp_path / "m.mck").exists()


# --- enport ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "nodes"), [("femmul", 16), ("femmod", 40)])
def test_enport_files_are_written_as_source(
    name: str, nodes: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "model.bg"
    assert main(["import", "enport", str(BEAM / f"{name}.enp"), "-o", str(out)]) == 0
    assert f"{nodes} nodes" in capsys.readouterr().out
    model = bglang.load(out)
    assert not model.warnings and len(model.graph.elements) == nodes
