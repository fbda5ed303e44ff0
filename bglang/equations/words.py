"""An expression in the words of the model, short enough for a message or an event log."""

from bglang.expr import Expr
from bglang.expr.text import text
from bglang.expr.walk import tree_size

LONGEST = 160
MOST_LEAVES = 200


def in_words(e: Expr) -> str:
    """The expression as source; the end of a long one is left out."""
    if tree_size(e) > MOST_LEAVES:
        return "a long expression"
    written = text(e)
    return written if len(written) <= LONGEST else f"{written[: LONGEST - 4]} ..."


def listed(names: list[str], limit: int = 8) -> str:
    """Names in backquotes, the first few of many."""
    shown = ", ".join(f"`{name}`" for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"
