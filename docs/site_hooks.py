"""What `mkdocs build` needs to know: titles of files stand above their blocks, and the examples are pages of the site.

The pages are written so that they read well as they are; plain Markdown knows no title="…" behind a fence."""

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
FENCE = re.compile(r'^```(?P<kind>\w+) title="(?P<title>[^"]+)"$', re.MULTILINE)
WORDS = re.compile(r"^```(?P<kind>\w+) .*$", re.MULTILINE)
"""What else stands behind a fence is for the tests."""
OUTSIDE = re.compile(r"\]\(\.\./(?=examples/|CONTRIBUTING\.md)")
"""Links from the guide to pages beside it, which in the site lie inside."""
INSIDE = re.compile(r"\]\((?P<up>(?:\.\./)+)docs/")
"""Links from those pages back to the guide."""


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """The text of a page as the site needs it."""
    text = WORDS.sub(r"```\g<kind>", FENCE.sub(r"**`\g<title>`**\n\n```\g<kind>", markdown))
    return INSIDE.sub(r"](\g<up>", OUTSIDE.sub("](", text))


def on_files(files: Any, config: Any) -> Any:
    """Adds the pages beside the guide, with their pictures."""
    from mkdocs.structure.files import File

    for path in beside():
        name = path.relative_to(ROOT).as_posix()
        files.append(File(name, str(ROOT), config["site_dir"], use_directory_urls=False))
    return files


def beside() -> list[Path]:
    """Pages and pictures that belong to the site but not to `docs/`."""
    examples = ROOT / "examples"
    return [ROOT / "CONTRIBUTING.md", *sorted(examples.rglob("*.md")), *sorted(examples.rglob("*.svg"))]
