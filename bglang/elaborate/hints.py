"""Suggestions for misspelt names, as hints of diagnostics."""

from collections.abc import Iterable

from bglang.suggest import did_you_mean

__all__ = ["did_you_mean", "listed"]


def listed(names: Iterable[str]) -> str:
    """What there is, where that is short enough to be read."""
    found = sorted(name for name in names if name != "0")
    return f"it has {', '.join(f'`{name}`' for name in found)}." if 0 < len(found) <= 6 else ""
