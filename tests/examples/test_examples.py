"""Every example compiles without warnings, runs as its experiment says, and balances its energy."""

from pathlib import Path

import pytest

import bglang

ROOT = Path(__file__).parents[2] / "examples"
EXAMPLES = sorted(path for path in ROOT.rglob("*.bg") if not path.with_name("package.bg").exists())


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: str(p.relative_to(ROOT)))
def test_example_runs(path: Path) -> None:
    model = bglang.load(path)
    assert not model.warnings, "\n".join(d.message for d in model.warnings)
    result = model.simulate()
    assert result.time[-1] == pytest.approx(model.graph.experiment.stop)
    if result.audit is not None and result.audit.entries:
        assert result.audit.relative_error < 1e-4
