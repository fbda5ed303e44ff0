"""ENPORT files: tables, equations, errors of scanned prints, and the source that is written."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bglang
from bglang.diagnostics import Report
from bglang.interop.enport import EnportFile, read_enport
from bglang.interop.enport_source import enport_source
from bglang.source import Source

SMALL = """\
HEADING
FILE    MODEL      15:41:19  11/11/91  ENPORT/PC 4.01
SMALL.ENP          Model_name: small

TITLE
An oscillator on a transformer

SYSTEM GRAPH DESCRIPTION
NODE\tTYPE\tXLOC\tYLOC\tACT\tMACRO
SV1\tMEGV\t-400.\t200.\tT
1V1\tM1GV\t-400.\t100.\tT
I1\tM1GV\t-400.\t-100.\tT
TF1\tMTGV\t0.\t0.\tT
TF0\tMTGV\t0.\t50.\tT
O2\tMOGV\t0.\t600.\tT
CSPG\tMCGV\t400.\t500.\tT
RSPG\tMRGV\t400.\t700.\tT

CONNECTOR\tTYPE\tFROM\tTO\tVERTICES
SB1\tBG V\tSV1\t1V1
IB1\tBG V\t1V1\tI1
TB1\tBG V\t1V1\tTF1
TB2\tBG V\tTF1\t02
TB3\tBG V\t1V1\tTF0
TB4\tBG V\tTF0\t02
VC\tBG V\t02\tCSPG
VR\tBG V\t02\tRSPG

NODE EQUATIONS
Named_parameters: 0    Number of outputs: 6
Node: SV1      Connectors: SB1
Equation: Y = SIN ( X, P )  1 1 2
Y list  X list  Parameters  Index
ESB1    TIME    1.0000E+00  0
                4.2190E+01  0
Node: I1       Connectors: IB1
Equation: Y = ATT ( X, P )  1 1 1
Y_list  X_list  Parameters  Index
FIB1    PIB1    1.0000E+01  0
Node: TF1      Connectors: TB1  TB2
FTB1 = MTF1 * FTB2
ETB2 = MTF1 * ETB1
Equation: Y = CON ( X, P )  1 0 1
Y list  X list  Parameters  Index
MTF1            4.0000E+00  0
Node: TF0      Connectors: TB3  TB4
Equation: Y = CON ( X, P )  1 0 1
Y list  X list  Parameters  Index
MTF0            0.0000E+00  0
Node: CSPG     Connectors: VC
Equation: Y = GAIN ( X, P )  1 1 1
Y list  X list  Parameters  Index
EVC     QVC     5.0000E+02  0
Node: RSPG     Connectors: VR
Equation: Y = GAIN ( X, P )  1 1 1
Y list  X list  Parameters  Index
EVR     FVR     1.0000E+01  0
END-FILE
"""


def read(text: str) -> tuple[EnportFile | None, Report]:
    report = Report()
    return read_enport(Source("small.enp", text), report), report


def test_the_source_that_is_written() -> None:
    model, report = read(SMALL)
    assert model is not None, report.errors
    text = enport_source(model, report)
    assert "Se SV1(e = 1.0*sin(42.19*time))" in text
    assert "I I1(f = p/10.0)" in text  # M1GV with an equation is an I
    assert "TF TF1(m = 1/(4.0))" in text
    assert "J0 '02'" in text  # O2 in the node table
    assert "bond TB1: '1V1' -> TF1.p1;" in text and "bond TB2: TF1.p2 -> '02';" in text
    assert "TB3" not in text and "modulus 0" in text
    assert [d.code for d in report] == ["enport/scan"] * 2


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("END-FILE", "", "enport/end"),
        ("HEADING\n", "READING\n", "enport/heading"),
        ("Number of outputs: 6", "Number of outputs: 7", "enport/outputs"),
        ("SB1\tBG V\tSV1\t1V1", "SB1\tBG V\tSV9\t1V1", "enport/connector"),
        ("M1GV\t-400.\t100.", "MXGV\t-400.\t100.", "enport/node"),
        ("EVC     QVC     5.0000E+02  0", "EVC     QVC     five  0", "enport/row"),
        ("Node: RSPG     Connectors: VR\n", "", "enport/twice"),
        ("TB2\tBG V\tTF1\t02", "TB2\tBG V\t02\tTF1", "enport/connector"),
        ("NODE EQUATIONS", "EQUATIONS", "enport/graph"),
    ],
)
def test_malformed_files(old: str, new: str, code: str) -> None:
    assert old in SMALL
    model, report = read(SMALL.replace(old, new, 1))
    assert model is None
    assert code in [d.code for d in report.errors]


def test_numbers_as_fortran_writes_them() -> None:
    model, report = read(SMALL.replace("M1GV\t-400.\t100.", "M1GV\t-4D2\t1d999", 1))
    assert model is not None and not report.errors
    assert any(node.x == -400.0 and 1e300 < node.y < float("inf") for node in model.nodes)


def with_spring(equation: str) -> str:
    old = "Y = GAIN ( X, P )  1 1 1\nY list  X list  Parameters  Index\nEVC     QVC     5.0000E+02  0\n"
    assert old in SMALL
    return SMALL.replace(old, equation)


def test_an_unknown_function_leaves_the_node_without_a_law() -> None:
    """It is no zero: the model can be drawn and its causality looked at, but not run."""
    equation = "Y = SPRING ( X, P )  1 1 1\nY list  X list  Parameters  Index\nEVC     QVC     5.0000E+02  0\n"
    model, report = read(with_spring(equation))
    assert model is not None
    text = enport_source(model, report)
    assert "C CSPG annotation(position = {400, 500});  // no law: EVC = SPRING(QVC, 500)" in text
    assert "// not kept: small.enp:51: function `SPRING`" in text
    with pytest.raises(bglang.SourceError, match="`CSPG` has no law"):
        bglang.loads(text).simulate()


@pytest.mark.parametrize(
    ("function", "x", "values", "law"),
    [
        ("POLY", 1, (0, 10, 0, 3), "e = poly(q, {0.0, 10.0, 0.0, 3.0})"),
        ("PWLIN", 1, (0, 0, 1, 5), "e = pwlin(q, [0.0, 0.0; 1.0, 5.0])"),
        ("INTPLO", 1, (0, 0, 1, 5), "e = interpolation(q, [0.0, 0.0; 1.0, 5.0])"),
        ("LINEAR", 1, (2, 3), "e = linear(q, 2.0, 3.0)"),
        ("ADJSAT", 1, (-1, -1, 1, 1, 0.5, 0.5), "e = adjustable_saturation(q, -1.0, -1.0, 1.0, 1.0, 0.5, 0.5)"),
        ("SUM", 1, (4,), "e = 4.0*q"),
        ("PWLIN", 1, (0, 0, 1), None),
        ("PWLIN", 1, (1, 0, 0, 5), None),
        ("INTPLO", 1, (1, 0, 1, 5), None),
        ("GAIN", 0, (), None),
        ("GAIN", 1, (1, 2), None),
        ("INVERS", 1, (1,), None),
        ("CON", 1, (1,), None),
    ],
)
def test_functions_with_what_they_take(function: str, x: int, values: tuple[float, ...], law: str | None) -> None:
    head = f"Y = {function} ( X, P )  1 {x} {len(values)}\nY list  X list  Parameters  Index\n"
    rows = [f"{v} 0" for v in values] or [""]
    model, report = read(with_spring(f"{head}EVC {'QVC' if x else ''} " + "\n        ".join(rows) + "\n"))
    if law is None:
        assert model is None and {d.code for d in report.errors} <= {"enport/counts", "enport/order"}
    else:
        assert model is not None and f"C CSPG({law})" in enport_source(model, report)


def test_the_equations_of_a_transformer_say_which_way_its_modulus_counts() -> None:
    model, report = read(
        SMALL.replace("FTB1 = MTF1 * FTB2\nETB2 = MTF1 * ETB1", "FTB2 = MTF1 * FTB1\nETB1 = MTF1 * ETB2")
    )
    assert model is not None
    assert "TF TF1(m = 4.0)" in enport_source(model, report)


def test_named_parameters_are_parameters() -> None:
    model, report = read(
        SMALL.replace("5.0000E+02  0", "5.0000E+02  1").replace(
            "EVR     FVR     1.0000E+01  0", "EVR     FVR     1.0000E+01  2"
        )
    )
    assert model is not None
    text = enport_source(model, report)
    assert "parameter Real P1 = 500.0;" in text and "C CSPG(e = P1*q)" in text and "R RSPG(e = P2*f)" in text
    assert bglang.loads(text).simulate(stop=1, P1=300).time[-1] == 1


@given(st.text(max_size=300))
def test_any_text_gives_diagnostics_only(text: str) -> None:
    model, report = read(text)
    assert model is not None or report.errors


@given(st.integers(0, len(SMALL) - 1), st.integers(0, 40), st.text(max_size=5))
def test_mutations_give_diagnostics_only(at: int, length: int, new: str) -> None:
    model, report = read(SMALL[:at] + new + SMALL[at + length :])
    assert model is not None or report.errors
    if model is not None:
        assert enport_source(model, report)


def test_a_node_that_nothing_leads_to() -> None:
    """A file whose CONNECTOR table lost its rows is refused, not half imported."""
    text = (Path(__file__).parents[2] / "examples" / "beam" / "femmul.enp").read_text(encoding="latin-1")
    report = Report()
    read_enport(Source("lost.enp", "\n".join(line for line in text.splitlines() if "BG V" not in line)), report)
    assert {d.code for d in report.errors} == {"enport/connector"}
    assert "no connector leads to node `SV101`" in [d.message for d in report.errors]
