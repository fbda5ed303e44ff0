"""MCK files: what is read, what is refused, and that writing and reading agree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bglang.diagnostics import Report
from bglang.interop.mck import MckFile, read_mck, write_mck
from bglang.interop.modal import NotModal, modes
from bglang.source import Source

VIBS2 = """
 HEADING
   FILE          (Not used internally)
      VIBS2.MCK
   NAME          (Eight chars max)
      VIBS2
   TITLE
      MCK test file.
   DESCRIPTION
      Two degrees of freedom. The words
      MASS = 1 and END-FILE may stand here.

 DIMENSION     (10 is max for now)
      0002
 FORCE INFORMATION (0 = ignore, 1 = include)
  [
      1          1.0000E+00
      1          1.0000E+00
  ]
 MASS MATRIX   (Required)
 * bbsx.xxxxE+xx
  [
      1.0000E+00    0.0000E+00;
      0.0000E+00    1.0000E+00;
  ]
 STIFFNESS MATRIX
  [
      2.0000E+00
      -1.0000E+00;   -1.0000E+00    1.0000E+00;
  ]
 DAMPING MATRIX
  [
  ]
 END-FILE
"""


def read(text: str) -> tuple[MckFile | None, Report]:
    report = Report()
    return read_mck(Source("vibs2.mck", text), report), report


def test_the_two_mass_sample() -> None:
    model, report = read(VIBS2)
    assert model is not None and not report.errors
    assert model.name == "VIBS2" and model.dimension == 2 and model.damping is None and model.forces == (1.0, 1.0)
    found = modes(model.mass, None, model.stiffness)
    golden = (5**0.5 - 1) / 2
    assert np.allclose(found.frequency, [golden, 1 / golden])
    assert np.allclose(np.linalg.solve(model.stiffness, [1, 1]), [2, 3])


@pytest.mark.parametrize(
    ("old", "new", "code", "shown"),
    [
        ("  ]\n END-FILE", " END-FILE", "mck/delimiter", "["),
        ("      2.0000E+00\n", "      two\n", "mck/number", "two"),
        ("0002", "2.5", "mck/dimension", "2.5"),
        ("-1.0000E+00;   -1.0000E+00    1.0000E+00;", "-1.0;", "mck/dimension", "["),
        ("-1.0000E+00;   -1.0000E+00    1.0000E+00;", "-1.0; -5.0 1.0;", "mck/matrix", "-5.0"),
        ("    1.0000E+00;\n  ]\n STIFF", "    -1.0000E+00;\n  ]\n STIFF", "mck/matrix", "-1.0000E+00"),
        ("      2.0000E+00\n", "      2.0E+999\n", "mck/matrix", "2.0E+999"),
        ("      1          1.0000E+00\n", "      1          1.0000E+999\n", "mck/number", "1.0000E+999"),
        (" END-FILE\n", "", "mck/end", "]"),
        (" STIFFNESS MATRIX", " STUFFNESS MATRIX", "mck/keyword", "STUFFNESS MATRIX"),
        (" HEADING", " HEAD OF IT", None, ""),
        (" HEADING", " TITLE", "mck/heading", "TITLE"),
        ("      1          1.0000E+00\n      1", "      2          1.0000E+00\n      1", "mck/force", "2"),
    ],
)
def test_malformed_files_name_the_line(old: str, new: str, code: str | None, shown: str) -> None:
    index = VIBS2.rfind(old)
    assert index >= 0
    model, report = read(VIBS2[:index] + new + VIBS2[index + len(old) :])
    if code is None:
        assert model is not None
        return
    assert model is None
    assert [d.code for d in report.errors] == [code]
    assert report.errors[0].span.text == shown


def test_non_proportional_damping_is_refused_and_names_the_worst_pair() -> None:
    with pytest.raises(NotModal, match="modes 1 and 2"):
        modes(np.eye(2), np.diag([1.0, 0.0]), np.array([[2.0, -1.0], [-1.0, 1.0]]))


def test_motions_without_mass_come_last_and_do_not_couple() -> None:
    """M = b bᵀ + c cᵀ in four dofs: two modes with mass, two motions without."""
    random = np.random.default_rng(7)
    half, root = random.normal(size=(4, 2)), random.normal(size=(4, 4))
    mass, stiffness = half @ half.T, root @ root.T + np.eye(4)
    found = modes(mass, 0.2 * stiffness, stiffness)
    assert found.slack == 2 and len(found.frequency) == 2
    shapes = found.shapes
    assert np.allclose(shapes.T @ mass @ shapes, np.diag([1, 1, 0, 0]), atol=1e-12)
    assert np.allclose(shapes.T @ stiffness @ shapes, np.diag([*found.frequency**2, 1, 1]), atol=1e-10)
    assert np.allclose(found.damping, [*(0.2 * found.frequency**2), 0.2, 0.2])


def test_a_motion_without_mass_and_stiffness_is_refused() -> None:
    with pytest.raises(NotModal, match="neither mass nor stiffness"):
        modes(np.diag([1.0, 0.0]), None, np.diag([1.0, 0.0]))


def test_equal_frequencies_are_turned_before_damping_is_refused() -> None:
    damping = np.array([[2.0, 1.0], [1.0, 2.0]])
    found = modes(np.eye(2), damping, 4 * np.eye(2))
    assert np.allclose(sorted(found.damping), [1, 3])


@given(st.integers(1, 7), st.integers(0, 2**32 - 1))
def test_writing_and_reading_agree(n: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    a, b = random.normal(size=(n, n)), random.normal(size=(n, n))
    forces = tuple(None if random.random() < 0.5 else float(random.normal()) for _ in range(n))
    model = MckFile("BEAM", "a beam", ("one", "two"), a @ a.T, b @ b.T if n % 2 else None, b @ b.T, forces)
    again, report = read(write_mck(model))
    assert again is not None, report.errors
    assert np.array_equal(again.mass, model.mass) and np.array_equal(again.stiffness, model.stiffness)
    assert (again.damping is None) == (model.damping is None) and again.forces == model.forces
