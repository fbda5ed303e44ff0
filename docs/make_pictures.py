"""Draws the pictures of the guide from the models on its pages.

Run it as `python docs/make_pictures.py`."""

import re
from pathlib import Path
from tempfile import TemporaryDirectory

import bglang

DOCS = Path(__file__).parent
FILE = re.compile(r"^```bg title=\"(?P<title>[^\"]+)\"\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


def models() -> dict[str, str]:
    """The models on the page about causality, by the name of their file."""
    page = (DOCS / "causality.md").read_text(encoding="utf-8")
    return {match["title"].removesuffix(".bg"): match["text"] for match in FILE.finditer(page)}


def pictures() -> dict[str, str]:
    """Each picture as svg text."""
    text = models()
    two = bglang.loads(text["two_masses"])
    return {
        "load": bglang.loads(text["load"]).draw().svg(),
        "two_masses": two.draw().svg(),
        "two_masses_reduced": _rewritten("reduce", text["two_masses"]),
        "two_masses_augmented": _rewritten("augment", text["two_masses"]),
        "pendulum": bglang.loads(text["pendulum"]).draw(procedure="lambda").svg(),
    }


def _rewritten(command: str, text: str) -> str:
    """The picture of a model that `bglang reduce` or `bglang augment` has written."""
    from bglang.cli import main

    with TemporaryDirectory() as folder:
        before, after = Path(folder, "before.bg"), Path(folder, "after.bg")
        before.write_text(text, encoding="utf-8")
        assert main([command, str(before), "-o", str(after)]) == 0
        return bglang.load(after).draw().svg()


if __name__ == "__main__":
    (DOCS / "pictures").mkdir(exist_ok=True)
    for name, svg in pictures().items():
        (DOCS / "pictures" / f"{name}.svg").write_text(svg, encoding="utf-8")
        print(f"wrote docs/pictures/{name}.svg")
