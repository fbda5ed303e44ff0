"""The generated pages and pictures are those that their scripts make now."""

import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from pages import DOCS

import bglang

reference = runpy.run_path(str(DOCS / "make_reference.py"))
PAGES: dict[str, Callable[[], str]] = reference["PAGES"]


@pytest.mark.parametrize("name", sorted(PAGES))
def test_reference_is_up_to_date(name: str, update_golden: bool) -> None:
    made, page = PAGES[name](), DOCS / name
    if update_golden:
        page.write_text(made, encoding="utf-8")
    assert page.read_text(encoding="utf-8") == made, f"run `{Path(sys.executable).name} docs/make_reference.py`"


def test_every_class_of_the_library_is_on_its_page() -> None:
    page = (DOCS / "library.md").read_text(encoding="utf-8")
    for name in ("Electrical.Inductor", "Electrical.Machines.DCMotor", "Signal.PI", "Planar.Body", "Chemical.Reaction"):
        assert f"#### {name}\n" in page


def test_every_class_of_the_library_has_a_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each class there is one, and one of each kind is made anew."""
    monkeypatch.syspath_prepend(str(DOCS))
    made = runpy.run_path(str(DOCS / "library_pictures.py"))
    library = reference["Library"]()
    names = library.pictured()
    page = (DOCS / "library.md").read_text(encoding="utf-8")
    for name in names:
        assert f"![{name}](pictures/library/{name}.svg)" in page
        assert (DOCS / "pictures" / "library" / f"{name}.svg").read_text(encoding="utf-8").startswith("<svg")
    assert len(names) > 140 and len(names) == len(list((DOCS / "pictures" / "library").glob("*.svg")))
    for name in (
        "Electrical.Machines.DCMotor",
        "Rotational.Drives.Gear",
        "Signal.StateSpace",
        "Magnetic.Components.AirGap",
    ):
        assert ElementTree.fromstring(made["picture"](name, library).svg()).tag.endswith("svg")


def test_ports_are_shown_with_the_arrow_to_draw() -> None:
    """The compiler takes the arrows that the page shows."""
    library = reference["Library"]()
    for name in library.pictured():
        node, ports = library.classes[name], library.ports(library.classes[name])
        if node.kind != "model" or not ports:
            continue
        values = {"Boolean": "false", "Real": "0.5"}
        inputs = ", ".join(f"{n} = {values[library.type_of(node, n)]}" for n in library.named(node, "input"))
        bonds = " ".join(f"o_{p.name} -> x.{p.name};" if p.inward else f"x.{p.name} -> o_{p.name};" for p in ports)
        nodes = ", ".join(f"o_{p.name}" for p in ports)
        bglang.loads(f"model M {name} x({inputs}); R {nodes}; bonds {bonds} end M;")


def test_pictures_can_be_made_and_are_there() -> None:
    made = runpy.run_path(str(DOCS / "make_pictures.py"))["pictures"]()
    for name, svg in made.items():
        assert ElementTree.fromstring(svg).tag.endswith("svg")
        assert (DOCS / "pictures" / f"{name}.svg").read_text(encoding="utf-8").startswith("<svg")
