"""A library shipped as a Python package is found as the how-to page says."""

import re
import sys
from pathlib import Path

import pytest
from pages import BLOCK, DOCS

import bglang


def test_installed_package_brings_its_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (DOCS / "howto.md").read_text(encoding="utf-8")
    site = tmp_path / "site"
    for block in BLOCK.finditer(page):
        if block["title"] and block["title"].startswith("Pumps/"):
            path = site / "pumps_for_bglang" / block["title"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block["text"], encoding="utf-8")
    (site / "pumps_for_bglang" / "__init__.py").touch()
    advertised = re.search(r"^pumps = \"(\w+)\"$", page, re.MULTILINE)
    assert advertised
    info = site / "pumps_for_bglang-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: pumps-for-bglang\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[bglang.libraries]\npumps = {advertised[1]}\n", encoding="utf-8")
    (model,) = (block["text"] for block in BLOCK.finditer(page) if block["title"] == "station.bg")

    with pytest.raises(bglang.SourceError, match="Pumps"):
        bglang.loads(model)
    monkeypatch.syspath_prepend(str(site))
    assert bglang.loads(model).name == "Station"
    monkeypatch.delitem(sys.modules, "pumps_for_bglang")
