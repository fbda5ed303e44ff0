"""What the site is made of: plain fences, and links that lead to pages of the site."""

import re
import runpy
from pathlib import Path

import pytest
from pages import DOCS

ROOT = DOCS.parent
hooks = runpy.run_path(str(DOCS / "site_hooks.py"))
BESIDE: list[Path] = hooks["beside"]()
PAGES = [*sorted(DOCS.glob("*.md")), *(path for path in BESIDE if path.suffix == ".md")]
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)")


def in_site(path: Path) -> Path:
    """Where a page stands in the site."""
    return path.relative_to(DOCS if path.is_relative_to(DOCS) else ROOT)


@pytest.mark.parametrize("path", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_pages_are_plain_and_lead_into_the_site(path: Path) -> None:
    text = hooks["on_page_markdown"](path.read_text(encoding="utf-8"), None, None, None)
    assert not re.findall(r"^```\S+ .*$", text, re.MULTILINE), "plain Markdown knows no words behind a fence"
    assert len(FENCED.findall(text)) == len(FENCED.findall(path.read_text(encoding="utf-8")))
    known = {in_site(p) for p in [*DOCS.rglob("*.md"), *DOCS.rglob("*.svg"), *BESIDE]}
    for target in LINK.findall(FENCED.sub("", text)):
        place = (Path("/site") / in_site(path).parent / target).resolve().relative_to("/site")
        assert place in known, f"{target} leads out of the site"


def test_every_page_is_in_the_navigation() -> None:
    listed = set(re.findall(r"^  - (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE))
    assert listed == {in_site(path).as_posix() for path in PAGES}
