"""Every command on the pages of the guide gives the output that the page shows.  `--update-golden` writes it there."""

import re
from pathlib import Path

import pytest
from pages import DOCS, agrees, quiet_terminal, try_page

PAGES = ["tutorial", "causality", "howto", "from-modelica", "exchange"]
LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#[^)]*)?\)")
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", PAGES)
def test_page(name: str, tmp_path: Path, update_golden: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    quiet_terminal(monkeypatch)
    wrong = try_page(DOCS / f"{name}.md", tmp_path, update_golden)
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.parametrize(
    ("shown", "found", "good"),
    [
        ("a … c", "a b c", True),
        ("a\n…\nd", "a\nb\nc\nd", True),
        ("a\n…", "a\nb\nc", True),
        ("a.c", "abc", False),
        ("a\n…\nd", "a\nb\nc", False),
        ("", "", True),
        ("x = 0.1234567 m", "x = 0.12345 m", True),
        ("x = 0.1234567 m", "x = 0.13 m", False),
        ("2 events at 1.5", "3 events at 1.5", False),
        ("", "a", False),
    ],
)
def test_ellipsis(shown: str, found: str, good: bool) -> None:
    assert agrees(shown, found) is good


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda path: path.stem)
def test_links_lead_somewhere(page: Path) -> None:
    targets = [target for target in LINK.findall(FENCED.sub("", page.read_text(encoding="utf-8"))) if target]
    missing = [target for target in targets if not (page.parent / target).exists()]
    assert not missing
