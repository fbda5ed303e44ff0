"""Results: names, files, interpolation, comparison."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bglang.diagnostics import UsageError
from bglang.results import Audit, Column, EnergyEntry, Event, Result, Stats, compare
from bglang.results.names import select, split_patterns
from bglang.results.values import Stored
from bglang.results.write import CsvWriter, journal_of, open_writer

COLUMNS = (
    Column("mass.p", "N.s", "momentum"),
    Column("o[2,3]", "V"),
    Column("'m/2'.p"),
    Column("cell[1].q", "C", "charge, of the first"),
    Column("cell[12].q", "C"),
)


def sample_result(rows: int = 21) -> Result:
    time = np.linspace(0.0, 2.0, rows)
    values = np.stack([np.sin(time), np.cos(time), time**2, 1 / 3 * time, -time], axis=1)
    return Result(
        "M",
        Stored(time, COLUMNS, values),
        events=[Event(0.5, "relation", "x > 0", "c", 3, "m.bg", "false", "true", "up")],
        stats=Stats(method="radau", steps=7, residuals=40, seconds={"integration": 0.1}),
        audit=Audit((EnergyEntry("r", "E", "dissipated", 1.0),), 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0),
        states=["mass.p"],
    )


@pytest.mark.parametrize("suffix", ["csv", "json", "mat", "h5", "parquet"])
def test_files_read_back_exactly(tmp_path: Path, suffix: str) -> None:
    if suffix == "h5":
        pytest.importorskip("h5py")
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    result = sample_result()
    path = tmp_path / f"out.{suffix}"
    result.save(path)
    back = Result.load(path)
    assert back.names == result.names
    assert np.array_equal(back.time, result.time)
    for name in result.names:
        assert np.array_equal(back[name], result[name]), name
    if suffix != "csv":
        assert back.units == result.units
        assert back.descriptions == result.descriptions
        assert back.events == result.events
        assert back.stats.steps == 7 and back.model == "M"
        assert back.audit == result.audit
        assert back.states == ("mass.p",)
    assert sorted(os.listdir(tmp_path)) == [f"out.{suffix}"]


def test_csv_has_a_plain_header(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    sample_result(2).save(path)
    head, first, *_ = path.read_text().splitlines()
    assert head == "time,mass.p,\"o[2,3]\",'m/2'.p,cell[1].q,cell[12].q"
    assert first.split(",")[0] == "0.0"


def test_some_variables_only(tmp_path: Path) -> None:
    path = tmp_path / "some.csv"
    sample_result().save(path, "cell[*].q, o[2, 3]")
    assert Result.load(path).names == ("cell[1].q", "cell[12].q", "o[2,3]")


def test_nan_survives_json(tmp_path: Path) -> None:
    time = np.array([0.0, 1.0])
    result = Result("M", Stored(time, [Column("x")], np.array([[np.nan], [1.0]])))
    result.save(tmp_path / "x.json")
    json.loads((tmp_path / "x.json").read_text())
    back = Result.load(tmp_path / "x.json")
    assert np.isnan(back["x"][0]) and back["x"][1] == 1.0


def test_a_growing_csv_is_readable_at_any_time(tmp_path: Path) -> None:
    path = tmp_path / "grow.csv"
    writer = open_writer(path, COLUMNS[:1])
    writer.write(np.array([0.0, 1.0]), np.array([[1.0], [2.0]]))
    assert Result.load(path)["mass.p"].tolist() == [1.0, 2.0]
    writer.write(np.array([2.0]), np.array([[3.0]]))
    with open(path, "a") as file:
        file.write("3.0")  # killed in the middle of a line
    assert Result.load(path)["mass.p"].tolist() == [1.0, 2.0, 3.0]
    writer.close()


def test_formats_that_cannot_grow_keep_a_journal(tmp_path: Path) -> None:
    path = tmp_path / "out.mat"
    writer = open_writer(path, COLUMNS[:1])
    writer.write(np.array([0.0]), np.array([[1.0]]))
    assert writer.path == journal_of(path) and writer.path.exists()
    assert Result.load(writer.path)["mass.p"].tolist() == [1.0]
    writer.close()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a disk that is always full")
def test_full_disk_is_an_os_error_that_names_the_file() -> None:
    with pytest.raises(OSError) as caught:
        CsvWriter(Path("/dev/full"), COLUMNS)
    assert caught.value.filename == "/dev/full"


def test_full_disk_leaves_complete_rows(tmp_path: Path) -> None:
    """A limit on the size of files fails like a full disk: in the middle of a row."""
    program = """
import resource, signal, sys
from pathlib import Path
import numpy as np
from bglang.results import Column
from bglang.results.write import CsvWriter
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
writer = CsvWriter(Path(sys.argv[1]), [Column("x")])
try:
    for k in range(100):
        writer.write(np.array([k / 7]), np.array([[k / 3]]))
except OSError as failure:
    print(writer.rows, failure.filename)
"""
    path = tmp_path / "cut.csv"
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True)
    rows, name = done.stdout.split()
    assert name == str(path)
    assert path.read_text().endswith("\n")
    assert len(Result.load(path)) == int(rows) > 10


def test_measurements_of_other_programs(tmp_path: Path) -> None:
    path = tmp_path / "measured.csv"
    path.write_text("# logger 3\nu;t;i\n1,5;0,0;2\n2,5;1,0;\n")
    measured = Result.load(path)
    assert measured.time.tolist() == [0.0, 1.0]
    assert measured["u"].tolist() == [1.5, 2.5]
    assert np.isnan(measured["i"][1])
    bare = tmp_path / "bare.csv"
    bare.write_text("0,1\n1,2\n")
    assert Result.load(bare)["column[1]"].tolist() == [1.0, 2.0]


def test_wrong_files_are_told_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no file"):
        Result.load(tmp_path / "none.csv")
    with pytest.raises(UsageError, match="extension"):
        sample_result().save(tmp_path / "out.xyz")
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    with pytest.raises(UsageError, match="no json result"):
        Result.load(broken)
    ragged = tmp_path / "ragged.csv"
    ragged.write_text("time,x\n0,1,2\n1,2\n")
    with pytest.raises(UsageError, match="line 2"):
        Result.load(ragged)


def test_names_and_globs() -> None:
    names = [c.name for c in COLUMNS]
    assert split_patterns("a, o[2,3],'x, y'.p") == ["a", "o[2,3]", "'x, y'.p"]
    assert select(names, "cell[1].q") == [3]
    assert select(names, "cell[?].q") == [3]
    assert select(names, ["cell[*", "mass.*"]) == [3, 4, 0]
    assert select(names, "*,mass.p") == [0, 1, 2, 3, 4]
    with pytest.raises(UsageError, match=r"did you mean `mass\.p`"):
        select(names, "mas.p")
    result = sample_result()
    assert "o[2, 3]" in result and result["o[2, 3]"] is not None
    with pytest.raises(UsageError):
        result["nothing"]


@given(st.text("ab[]?*.", min_size=1, max_size=8))
def test_globs_are_stars_and_question_marks_only(pattern: str) -> None:
    import re

    names = ["a", "ab", "a[1]", "b.a", "[", "a*"]
    try:
        found = [names[i] for i in select(names, pattern)]
    except UsageError:
        found = []
    expression = re.compile("".join({"*": ".*", "?": "."}.get(c, re.escape(c)) for c in pattern))
    expected = [pattern] if pattern in names else [n for n in names if expression.fullmatch(n)]
    if "," not in pattern and pattern.count("[") <= pattern.count("]") + 1:
        assert found == expected


def test_interpolation_between_rows_and_at_a_jump() -> None:
    time = np.array([0.0, 1.0, 1.0, 2.0])
    result = Result("M", Stored(time, [Column("x")], np.array([[0.0], [1.0], [5.0], [7.0]])))
    assert result.at(0.5, "x") == pytest.approx(0.5)
    assert result.at(1.0, "x") == 5.0
    assert result.at([1.5, 2.0], "x") == pytest.approx([6.0, 7.0])
    with pytest.raises(UsageError, match="covers 0 to 2"):
        result.at(3.0, "x")


def test_comparison_on_different_grids() -> None:
    a, b = sample_result(21), sample_result(401)
    same = compare(a, b)
    assert same.within(1e-2) and not same.only_a
    time = np.linspace(0.5, 3.0, 60)
    other = Result("N", Stored(time, [Column("mass.p"), Column("extra")], np.stack([np.sin(time) + 0.1, time], axis=1)))
    found = compare(b, other)
    assert found.worst is not None
    assert found.worst.name == "mass.p"
    assert found.worst.largest == pytest.approx(0.1, abs=1e-4)
    assert found.worst.rms == pytest.approx(0.1, abs=1e-4)
    assert (found.start, found.stop) == (0.5, 2.0)
    assert found.only_b == ("extra",)
    assert "mass.p" in str(found) and "extra" in str(found)
    with pytest.raises(UsageError, match="in common"):
        compare(a, Result("N", Stored(time, [Column("q")], time[:, None])))


def test_frames() -> None:
    pytest.importorskip("pandas")
    frame = sample_result().to_dataframe("mass.p")
    assert list(frame.columns) == ["mass.p"] and frame.index.name == "time"
    assert frame.attrs["units"] == {"mass.p": "N.s"}


def test_xarray() -> None:
    pytest.importorskip("xarray")
    data = sample_result().to_xarray()
    assert data["mass.p"].attrs["units"] == "N.s"
    assert float(data["mass.p"].sel(time=2.0)) == pytest.approx(np.sin(2.0))
