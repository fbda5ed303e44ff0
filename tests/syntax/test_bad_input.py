"""Bad input gets a diagnostic, quickly, and never an exception."""

import time
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import ALL

from bglang.diagnostics import LIMIT, Report
from bglang.limits import Limits, with_settings
from bglang.render import render_all
from bglang.source import Source
from bglang.syntax.parse import parse
from bglang.syntax.read import decode, read_source


def codes(text: str, limits: Limits | None = None) -> list[str]:
    report = Report()
    tree = parse(Source("bad.bg", text), report, limits or Limits())
    assert (tree is None) == bool(report.diagnostics)
    render_all(report)
    return [d.code for d in report]


@pytest.mark.parametrize("bracket", ["(", "[", "{", "f(", "-", "not ", "if a then b else ", "1 + (", "x["])
def test_a_hundred_thousand_levels(bracket: str) -> None:
    began = time.perf_counter()
    (code,) = codes(f"model A Real x = {bracket * 100_000}1; end A;")
    assert code == ("limits/operators" if bracket == "-" else "limits/nesting")
    assert time.perf_counter() - began < 5


@pytest.mark.parametrize("block", ["if a then ", "for i in 1:2 loop ", "when a then ", "model A ", "package P "])
def test_a_hundred_thousand_blocks(block: str) -> None:
    assert codes(f"model A {block * 100_000}") == ["limits/nesting"]


def test_long_sums_and_names() -> None:
    assert codes("model A Real x = " + "+".join(["1"] * 10_002) + "; end A;") == ["limits/operators"]
    assert codes("model A Real x = " + "+".join(["f(1, 2)"] * 10_002) + "; end A;") == ["limits/operators"]
    assert codes("model A Real x = {" + ", ".join(["-1"] * 50_000) + "}; end A;") == []
    assert codes(f"model A Real {'x' * 2000}; end A;") == ["limits/identifier"]
    assert codes(f"model A Real x = {'9' * 500}; end A;") == ["limits/number"]
    assert codes("model A end A;", Limits(file_bytes=5)) == ["limits/file"]


def test_errors_are_not_more_than_can_be_shown() -> None:
    assert LIMIT <= len(codes("model A\n" + "  Real x = ;\n" * 1000 + "end A;\n")) <= LIMIT + 1


def test_one_mistake_is_one_message() -> None:
    for name, text in ALL.items():
        for line in range(1, text.count("\n")):
            lines = text.split("\n")
            if lines[line].strip().endswith(";"):
                broken = "\n".join([*lines[:line], lines[line].replace(";", " ", 1), *lines[line + 1 :]])
                assert len(codes(broken)) <= 1, (name, lines[line], codes(broken))


def test_files(tmp_path: Path) -> None:
    report = Report()
    good = tmp_path / "good.bg"
    good.write_bytes(b"\xef\xbb\xbfmodel A end A;\r\n")
    source = read_source(good, report)
    assert source is not None and source.text.startswith("model") and parse(source, report) is not None
    assert read_source(good, report, Limits(file_bytes=3)) is None
    assert decode("x", b"\xff\xfem\0", report) is None and decode("x", b"\x00\xff", report) is None
    assert decode("x", "model Größe".encode("latin-1"), report) is None
    assert [d.code for d in report] == ["limits/file", "syntax/encoding", "syntax/binary", "syntax/encoding"]


def test_limits_from_settings() -> None:
    assert with_settings(Limits(), ["nesting=7", "array = 1_000"]) == Limits(nesting=7, array=1000)
    assert all(getattr(Limits(), f.name) > 0 for f in fields(Limits))
    for wrong in ("nesting", "nesting=x", "nesting=0", "unknown=3"):
        with pytest.raises(ValueError, match=r"limit|whole number"):
            with_settings(Limits(), [wrong])


words = st.sampled_from(
    [
        "model",
        "end",
        "A",
        "x",
        "v",
        "->",
        "->|",
        "|->",
        ",",
        ";",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "=",
        ":=",
        "==",
        "<>",
        "<",
        "+",
        "-",
        "*",
        "/",
        "^",
        ".",
        ".*",
        "3",
        "2.5",
        '"text"',
        "'q'",
        "if",
        "then",
        "else",
        "elseif",
        "for\n",
        "",
        "",
        "",
        "in",
        "loop",
        "when",
        "bonds",
        "equation",
        "algorithm",
        "initial",
        "parameter",
        "Real",
        "port",
        "macro",
        "domain",
        "node",
        "type",
        "enumeration",
        "annotation\n",
        "",
        "",
        "",
        "within",
        "import",
        "each",
        "redeclare",
        "protected",
        "not",
        "and",
        "or",
        "true",
        ":",
        "while",
        "function",
        "R",
        "connect",
        "/*",
        "//",
        "#",
        "→",
        '"',
        "'",
        "\n",
        "break",
        "end",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(words, max_size=40))
def test_any_words_are_survived(parts: list[str]) -> None:
    codes(" ".join(parts))
    codes("model A " + " ".join(parts) + " end A;")


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(sorted(ALL)), st.data())
def test_any_damage_is_survived(name: str, data: st.DataObject) -> None:
    text = ALL[name]
    at = data.draw(st.integers(0, len(text)))
    gone = data.draw(st.integers(0, 30))
    codes(text[:at] + data.draw(st.text(max_size=3)) + text[at + gone :])
