"""The language server as an editor meets it: a process that speaks over standard input and output."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lsp_client import Client

MODEL = """\
model Drive "A mass on a spring"
  parameter Real k(unit = "N/m") = 100 "spring rate";
  J1 v "velocity of the mass";
  Translational.Mass mass(m = 2);
  C spring(C = 1/k, q(start = 0.1)) "the spring";
  Parts.Damper damper(c = 3);
bonds
  v -> mass, spring, damper;
end Drive;
"""
PART = """\
within Parts;

model Damper "A damper of our own"
  port Translational tip;
  parameter Real c(unit = "N.s/m") = 1 "damping";
  J1 w;
  R loss(R = c);
bonds
  tip -> w -> loss;
end Damper;
"""


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    folder = tmp_path_factory.mktemp("work").resolve()
    (folder / "Parts").mkdir()
    (folder / "Parts" / "package.bg").write_text('package Parts "our own"\nend Parts;\n')
    (folder / "Parts" / "Damper.bg").write_text(PART)
    client = Client(folder)
    yield client
    client.close()


@pytest.fixture(scope="module")
def drive(client: Client) -> Path:
    path = client.folder / "drive.bg"
    path.write_text(MODEL)
    assert client.open(path, MODEL) == []
    return path


def test_mistakes_are_shown_while_typing(client: Client) -> None:
    path = client.folder / "typing.bg"
    assert client.open(path, MODEL) == []
    client.change(path, MODEL.replace("v -> mass", "v -> mas"))
    (found,) = client.diagnostics(path)
    assert found["code"] == "names/unknown" and found["severity"] == 1 and found["source"] == "bglang"
    assert found["range"] == {"start": {"line": 7, "character": 7}, "end": {"line": 7, "character": 10}}
    assert "did you mean `mass`?" in found["message"]
    client.change(path, MODEL.replace("= 100", "= *"), 3)
    (found,) = client.diagnostics(path)
    assert found["code"].startswith("syntax/") and found["range"]["start"]["line"] == 1
    client.change(path, MODEL, 4)
    assert client.diagnostics(path) == []


def test_quick_typing_is_checked_once(client: Client) -> None:
    path = client.folder / "quick.bg"
    client.open(path, MODEL)
    for version, text in enumerate(("v -> m", "v -> ma", "v -> mas", "v -> mass, mass"), 2):
        client.change(path, MODEL.replace("v -> mass", text), version)
    (found,) = client.diagnostics(path)  # only the last text: the others were gone before they were looked at
    assert "mass" in found["message"] and "mas`" not in found["message"]


def test_texts_that_are_not_saved_count_for_others(client: Client, drive: Path) -> None:
    part = client.folder / "Parts" / "Damper.bg"
    assert client.open(part, PART) == []
    client.change(part, PART.replace("Real c(", "Real d(").replace("R = c", "R = d"))
    (found,) = client.some(drive)
    assert "`c`" in found["message"] and found["range"]["start"]["line"] == 5
    client.change(part, PART, 3)
    assert client.diagnostics(drive) == []


def hover(client: Client, path: Path, mark: str, text: str = MODEL) -> str:
    found = client.at("hover", path, text, mark)
    assert found is not None, mark
    value: str = found["contents"]["value"]
    return value


def test_hover_tells_what_a_name_is(client: Client, drive: Path) -> None:
    parameter = hover(client, drive, "1/|k")
    assert 'parameter Real k(unit = "N/m") = 100' in parameter and "spring rate" in parameter
    assert "`k` = 100 N/m" in parameter
    element = hover(client, drive, "mass, s|pring")
    assert "C spring(C = 1/k" in element and "the spring" in element
    assert "`spring`: C in Translational" in element and "spring.q is a state" in element
    assert "model Parts.Damper" in hover(client, drive, "Parts.Da|mper")
    assert "A damper of our own" in hover(client, drive, "Parts.Da|mper")
    assert "damping" in hover(client, drive, "damper(|c")
    assert "1-junction" in hover(client, drive, "J|1 v")
    assert client.at("hover", drive, MODEL, "= 10|0") is None


def test_definitions_are_found_in_other_files(client: Client, drive: Path) -> None:
    found = client.at("definition", drive, MODEL, "v -> ma|ss")
    assert found["uri"] == drive.as_uri() and found["range"]["start"] == {"line": 3, "character": 21}
    found = client.at("definition", drive, MODEL, "Parts.Da|mper")
    assert found["uri"].endswith("Parts/Damper.bg") and found["range"]["start"] == {"line": 2, "character": 6}
    found = client.at("definition", drive, MODEL, "damper(|c = 3")
    assert found["uri"].endswith("Parts/Damper.bg") and found["range"]["start"]["line"] == 4
    found = client.at("definition", drive, MODEL, "Translational.M|ass")
    assert "Translational" in found["uri"]


def labels(found: list[dict[str, Any]]) -> set[str]:
    return {item["label"] for item in found}


def test_completion(client: Client) -> None:
    path = client.folder / "complete.bg"
    client.open(path, MODEL)
    head, tail = MODEL.split("  v -> mass")
    for typed, wanted, unwanted in (
        ("  v -> m", {"mass", "spring", "damper", "model"}, {"tip"}),
        ("  v -> damper.", {"tip", "w", "loss", "c"}, {"mass", "model"}),
        ("  v -> damper.loss.", {"e", "f", "power"}, {"q"}),
        ("  Real x = spring.", {"e", "f", "q"}, {"p"}),
        ("  Electrical.", {"Resistor", "Capacitor"}, {"mass"}),
        ("  Parts.Damper other(", {"c", "k"}, set()),
        ("  Real y(", {"start", "unit", "nominal"}, set()),
        ("  R r(", {"R", "e", "f"}, set()),
    ):
        text = f"{head}{typed}"
        client.change(path, f"{text}\n  v -> mass{tail}")
        found = labels(client.at("completion", path, f"{text}\n", f"{typed}|"))
        assert wanted <= found, (typed, wanted - found)
        assert not unwanted & found, typed
    client.change(path, f"{head}  // Electrical.\n  v -> mass{tail}")
    assert client.at("completion", path, f"{head}  // Electrical.", "// Electrical.|") == []
    found = labels(client.at("completion", path, MODEL, "|model Drive"))
    assert {"model", "package"} <= found


def test_outline(client: Client, drive: Path) -> None:
    (model,) = client.ask("textDocument/documentSymbol", {"textDocument": {"uri": drive.as_uri()}})
    assert model["name"] == "Drive" and model["detail"] == "A mass on a spring"
    assert [child["name"] for child in model["children"]] == ["k", "v", "mass", "spring", "damper"]
    assert model["children"][2]["detail"] == "Translational.Mass"


def test_formatting(client: Client) -> None:
    path = client.folder / "format.bg"
    client.open(path, MODEL.replace("  J1 v", "      J1    v"))
    options = {"textDocument": {"uri": path.as_uri()}, "options": {"tabSize": 2, "insertSpaces": True}}
    (edit,) = client.ask("textDocument/formatting", options)
    assert edit["newText"] == MODEL
    client.change(path, MODEL.replace("J1 v", "J1 v ("))
    assert client.ask("textDocument/formatting", options) == []


def applied(text: str, edits: list[dict[str, Any]]) -> str:
    lines = text.splitlines(keepends=True)
    for edit in sorted(
        edits, key=lambda e: (e["range"]["start"]["line"], e["range"]["start"]["character"]), reverse=True
    ):
        begin, end = edit["range"]["start"], edit["range"]["end"]
        assert begin["line"] == end["line"]
        line = lines[begin["line"]]
        lines[begin["line"]] = line[: begin["character"]] + edit["newText"] + line[end["character"] :]
    return "".join(lines)


def test_rename_follows_a_name_through_files(client: Client, drive: Path) -> None:
    part = client.folder / "Parts" / "Damper.bg"
    found = client.at("rename", drive, MODEL, "damper(|c = 3", {"newName": "friction"})
    changes = found["changes"]
    assert applied(MODEL, changes[drive.as_uri()]) == MODEL.replace("damper(c = 3)", "damper(friction = 3)")
    renamed = PART.replace("Real c(", "Real friction(").replace("R = c", "R = friction")
    assert applied(PART, changes[part.as_uri()]) == renamed
    found = client.at("rename", part, PART, "model Dam|per", {"newName": "Shock"})
    assert applied(PART, found["changes"][part.as_uri()]) == PART.replace("Damper", "Shock")
    assert "Parts.Shock damper" in applied(MODEL, found["changes"][drive.as_uri()])
    found = client.at("rename", drive, MODEL, "J1 |v", {"newName": "my v"})
    assert "'my v' -> mass" in applied(MODEL, found["changes"][drive.as_uri()])
    assert client.at("rename", drive, MODEL, "J1 |v", {"newName": "model"}) is None
    assert client.at("rename", drive, MODEL, "Translational.Ma|ss", {"newName": "X"}) is None  # not ours
    assert client.at("prepareRename", drive, MODEL, "J|1 v") is None


def test_references(client: Client, drive: Path) -> None:
    found = client.at("references", drive, MODEL, "real k(".replace("r", "R", 1).replace("k", "|k"),
                      {"context": {"includeDeclaration": True}})  # fmt: skip
    assert [place["range"]["start"]["line"] for place in found] == [1, 4]


def test_what_was_meant_is_put_in(client: Client) -> None:
    path = client.folder / "fix.bg"
    wrong = MODEL.replace("v -> mass", "v -> mas")
    (found,) = client.open(path, wrong)
    about = {"textDocument": {"uri": path.as_uri()}, "range": found["range"], "context": {"diagnostics": [found]}}
    (action,) = client.ask("textDocument/codeAction", about)
    assert action["title"] == "Change to `mass`"
    assert applied(wrong, action["edit"]["changes"][path.as_uri()]) == MODEL
    wrong = MODEL.replace('(unit = "N/m") = 100 "spring rate";', "= 100")
    client.change(path, wrong)
    found = client.diagnostics(path)[0]
    about = {"textDocument": {"uri": path.as_uri()}, "range": found["range"], "context": {"diagnostics": [found]}}
    (action,) = client.ask("textDocument/codeAction", about)
    assert "parameter Real k= 100;" in applied(wrong, action["edit"]["changes"][path.as_uri()])


def test_places_are_counted_in_utf_16(client: Client) -> None:
    path = client.folder / "wide.bg"
    text = MODEL.replace('J1 v "velocity of the mass";', 'J1 v "𝛑"; I m𝑥(I = k);')
    client.open(path, text)
    found = client.at("definition", path, text, "(I = |k)")
    assert found["range"]["start"] == {"line": 1, "character": 17}


def test_files_of_a_library_are_checked_model_by_model(client: Client) -> None:
    path = client.folder / "Parts" / "Loose.bg"
    text = PART.replace("Damper", "Loose")
    path.write_text(text)
    assert client.open(path, text) == []  # an open port is no mistake of a component
    client.change(path, text.replace("w -> loss", "w -> los"))
    (found,) = client.diagnostics(path)
    assert "did you mean `loss`" in found["message"]
    client.tell("textDocument/didClose", {"textDocument": {"uri": path.as_uri()}})
    assert client.diagnostics(path) == []
    path.unlink()


def test_nonsense_does_not_kill_it(client: Client) -> None:
    path = client.folder / "nonsense.bg"
    for version, text in enumerate(("", "\0", "model", "model M " + "(" * 5000, "end end;", "é" * 1000), 2):
        if version == 2:
            client.open(path, text)
        client.change(path, text, version)
        assert client.at("completion", path, text, "") is not None
        client.at("hover", path, text, "")
        assert client.ask("textDocument/documentSymbol", {"textDocument": {"uri": path.as_uri()}}) is not None
