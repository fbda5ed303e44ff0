"""The generated pages and pictures are those that their scripts make now."""

import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from pages import DOCS

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


def test_pictures_can_be_made_and_are_there() -> None:
    made = runpy.run_path(str(DOCS / "make_pictures.py"))["pictures"]()
    for name, svg in made.items():
        assert ElementTree.fromstring(svg).tag.endswith("svg")
        assert (DOCS / "pictures" / f"{name}.svg").read_text(encoding="utf-8").startswith("<svg")
