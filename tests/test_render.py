"""The layout of diagnostics, in text and in JSON."""

import json

from hypothesis import given
from hypothesis import strategies as st

from bglang.diagnostics import Diagnostic, Label, error, warning
from bglang.excerpt import TAB, WIDTH
from bglang.render import render, render_all, to_json
from bglang.source import NOWHERE, Source, Span
from bglang.suggest import did_you_mean, suggest

CAR = Source("car.bg", "model Car\n\n\n\nbonds\n  battery -> bus;\n  charger -> bus;\nend Car;\n")


def place(source: Source, text: str, after: int = 0) -> Span:
    start = source.text.index(text, after)
    return Span(source, start, start + len(text))


def conflict() -> Diagnostic:
    return error(
        "causality/conflict",
        "two elements both set the effort of `bus`",
        place(CAR, "charger -> bus"),
        label="would set it a second time",
        related=[Label(place(CAR, "battery -> bus"), "already sets the effort of `bus`")],
        reason="Both are effort sources, and `bus` is a 0-junction, which takes its effort from exactly one bond.",
        hint="put a resistance in series with one of them.",
    )


def test_the_layout() -> None:
    assert (
        render(conflict())
        == """\
error[causality/conflict]: two elements both set the effort of `bus`
  ┌─ car.bg:7:3
  │
6 │   battery -> bus;
  │   -------------- already sets the effort of `bus`
7 │   charger -> bus;
  │   ^^^^^^^^^^^^^^ would set it a second time
Both are effort sources, and `bus` is a 0-junction, which takes its effort from exactly one bond.
Hint: put a resistance in series with one of them."""
    )


def test_far_places_get_excerpts_of_their_own() -> None:
    source = Source("a.bg", "first;\n" + "\n" * 98 + "last;\n")
    d = error("a/b", "m", place(source, "last"), related=[Label(place(source, "first"), "here")])
    assert render(d).splitlines() == [
        "error[a/b]: m",
        "    ┌─ a.bg:100:1",
        "    │",
        "100 │ last;",
        "    │ ^^^^",
        "    ┌─ a.bg:1:1",
        "    │",
        "  1 │ first;",
        "    │ ----- here",
    ]


def test_places_in_other_files_get_excerpts_of_their_own() -> None:
    other = Source("lib.bg", "model L end L;")
    d = error("a/b", "m", place(CAR, "bus"), related=[Label(place(other, "L"), "there")])
    assert "┌─ lib.bg:1:7" in render(d)


def test_gaps_are_elided_and_single_lines_are_not() -> None:
    source = Source("a.bg", "one\ntwo\nthree\nfour\nfive\nsix\n")
    d = error("a/b", "m", place(source, "one"), related=[Label(place(source, "three")), Label(place(source, "six"))])
    assert render(d).splitlines()[3:] == [
        "1 │ one",
        "  │ ^^^",
        "2 │ two",
        "3 │ three",
        "  │ -----",
        "  ·",
        "6 │ six",
        "  │ ---",
    ]


def test_two_marks_on_one_line() -> None:
    source = Source("a.bg", "aa -> bb;")
    d = error("a/b", "m", place(source, "bb"), label="head", related=[Label(place(source, "aa"), "tail")])
    assert render(d).splitlines()[3:] == ["1 │ aa -> bb;", "  │ -- tail", "  │       ^^ head"]


def test_a_span_over_several_lines() -> None:
    source = Source("a.bg", "  if c then\n    x;\n    y;\n  end if;\n")
    d = error("a/b", "m", Span(source, 2, source.text.index(";\n", 20) + 8), label="all this")
    assert render(d).splitlines()[3:] == [
        "1 │   if c then",
        "  │   ^^^^^^^^^",
        "  ·",
        "4 │   end if;",
        "  │   ^^^^ all this",
    ]


def test_tabs_and_wide_characters_keep_the_carets_in_place() -> None:
    source = Source("a.bg", "\tx 漢字 e\u0301 bad")
    lines = render(error("a/b", "m", place(source, "bad"))).splitlines()
    # 4 for the tab, "x ", two characters of two columns, " ", one with an accent of no width, " "
    assert lines[3] == "1 │ " + " " * TAB + "x 漢字 e\u0301 bad"
    assert lines[4] == "  │ " + " " * (TAB + 2 + 4 + 1 + 1 + 1) + "^^^"


def test_empty_spans_and_the_end_of_the_file() -> None:
    source = Source("a.bg", "abc\n")
    assert render(error("a/b", "m", Span(source, 4, 4))).splitlines()[3:] == ["2 │", "  │ ^"]
    empty = Source("a.bg", "")
    assert render(error("a/b", "m", Span(empty, 0, 0))).splitlines()[3:] == ["1 │", "  │ ^"]


def test_endless_lines_are_cropped() -> None:
    source = Source("a.bg", "x" * 5000 + " bad " + "y" * 5000)
    lines = render(error("a/b", "m", place(source, "bad"), label="here")).splitlines()
    assert len(lines[3]) < WIDTH + 10
    column = lines[3].index("bad")
    assert lines[4][column : column + 8] == "^^^ here"


def test_what_no_user_wrote_has_no_excerpt() -> None:
    assert render(error("a/b", "m", NOWHERE, reason="Why.")) == "error[a/b]: m\nWhy."


def test_the_component_is_named() -> None:
    d = error("a/b", "m", place(CAR, "bus"), component="car.motor[2]")
    assert "┌─ car.bg:6:14, in car.motor[2]" in render(d)


def test_colour_only_adds_escapes() -> None:
    import re

    assert re.sub(r"\x1b\[[0-9;]*m", "", render(conflict(), color=True)) == render(conflict())


def test_counts_and_the_limit() -> None:
    many = [error("a/b", f"number {i}", place(CAR, "bus")) for i in range(25)]
    text = render_all([warning("a/w", "careful", place(CAR, "bus")), *many])
    assert "careful" not in text, "errors go first"
    assert text.count("error[a/b]") == 20
    assert text.endswith("... and 6 more\n\n25 errors, 1 warning")
    assert render_all([]) == ""
    assert render_all(many[:1]).endswith("\n\n1 error")


def test_json() -> None:
    (found,) = json.loads(to_json([conflict()]))
    assert (found["file"], found["line"], found["column"]) == ("car.bg", 7, 3)
    assert (found["end_line"], found["end_column"]) == (7, 17)
    assert found["severity"] == "error" and found["code"] == "causality/conflict"
    assert found["related"][0]["line"] == 6
    assert json.loads(to_json([error("a/b", "m", NOWHERE)]))[0]["file"] is None


@given(st.text(max_size=60), st.integers(0, 60), st.integers(0, 60), st.booleans())
def test_any_text_can_be_shown(text: str, a: int, b: int, color: bool) -> None:
    source = Source("any.bg", text)
    start, end = sorted((min(a, len(text)), min(b, len(text))))
    d = error("a/b", "m", Span(source, start, end), related=[Label(Span(source, 0, start), "x")])
    assert "^" in render_all([d], color)


def test_suggestions() -> None:
    names = ["mass", "spring", "damper", "velocity", "v", "R1"]
    assert suggest("sprign", names) == "spring"
    assert suggest("Mass", names) == "mass"
    assert suggest("velosity", names) == "velocity"
    assert suggest("r1", names) == "R1"
    assert suggest("friction", names) is None
    assert suggest("w", names) is None, "single letters are not guessed"
    assert did_you_mean("dampr", names) == "did you mean `damper`?"
    assert did_you_mean("zzz", names) == ""
