"""What happens at events, in the language's own words: equations hold between them only."""

from bglang.expr.text import text
from bglang.graph.ir import Action, Assign, BondGraph, Reinit, Terminate


def event_lines(graph: BondGraph) -> tuple[str, ...]:
    """One line for each branch of each `when` that sets something or ends the run."""
    lines = list[str]()
    for when in graph.whens:
        word = "when"
        for branch in when.branches:
            actions = [shown for action in branch.actions if (shown := _action(action))]
            conditions = [text(c) for c in branch.conditions]
            condition = conditions[0] if len(conditions) == 1 else f"{{{', '.join(conditions)}}}"
            if actions:
                lines.append(f"{word} {condition} then {'; '.join(actions)}")
                word = "elsewhen"
    return tuple(lines)


def _action(action: Action) -> str:
    if isinstance(action, Reinit):
        return f"reinit({action.target}, {text(action.value)})"
    if isinstance(action, Assign):
        return f"{action.target} = {text(action.value)}"
    return f'terminate("{action.message}")' if isinstance(action, Terminate) else ""
