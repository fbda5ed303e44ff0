"""Did you mean ...?"""

from collections.abc import Iterable


def suggest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate that `name` is most likely a misspelling of, if there is a likely one.

    Case, and characters that are swapped, missing, doubled or wrong, count; a third of the name may be wrong."""
    allowed = max(1, len(name) // 3) if len(name) > 1 else 0
    best: tuple[float, bool, str] | None = None
    for candidate in candidates:
        if candidate == name or abs(len(candidate) - len(name)) > allowed + 2:
            continue
        distance = _distance(name, candidate, allowed)
        if distance is not None:
            found = (distance, candidate[:1].casefold() != name[:1].casefold(), candidate)
            best = found if best is None else min(best, found)
    return best[2] if best else None


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """The hint that goes with an unknown name: empty without a likely candidate."""
    meant = suggest(name, candidates)
    return f"did you mean `{meant}`?" if meant else ""


def _distance(a: str, b: str, allowed: int) -> float | None:
    """Edits between two words with neighbours swapped as one edit (optimal string alignment); None above `allowed`."""
    if a.casefold() == b.casefold():
        return 0.5
    before: list[float] = []
    row: list[float] = [float(j) for j in range(len(b) + 1)]
    for i, x in enumerate(a, 1):
        above, row, oldest = row, [float(i)], before
        for j, y in enumerate(b, 1):
            cost = 0.0 if x == y else 0.5 if x.casefold() == y.casefold() else 1.0
            value = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + cost)
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                value = min(value, oldest[j - 2] + 1)
            row.append(value)
        if min(row) > allowed:
            return None
        before = above
    return row[-1] if row[-1] <= allowed else None
