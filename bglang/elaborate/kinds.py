"""Which kind of class may hold what (models hold nodes and bonds, elements ports and laws, functions algorithms)."""

from bglang.diagnostics import Report, error
from bglang.source import Span
from bglang.syntax import ast

WITH_BONDS = frozenset({"model", "macro", "class"})
WITH_EQUATIONS = frozenset({"model", "block", "element", "macro", "class"})


def check_item(node: ast.Class, item: ast.Item, section: ast.SectionKind, report: Report) -> bool:
    """Report what does not belong into a class of this kind; False when it is to be left out."""
    if section == "bonds" and node.kind not in WITH_BONDS:
        return _wrong(
            report,
            item,
            f"{article(node.kind)} holds no bonds",
            f"`{node.ident}` is {article(node.kind)}; only models and macros hold nodes and bonds.",
        )
    if isinstance(item, ast.BondChain) and section != "bonds":
        return _wrong(report, item, "a bond belongs into a `bonds` section", "write `bonds` before it.")
    if section in ("algorithm", "initial algorithm") and node.kind != "function":
        return _wrong(
            report,
            item,
            f"{article(node.kind)} holds no algorithm",
            "write equations, or a `function` that the equations call.",
        )
    if node.kind in ("package", "domain") and isinstance(item, ast.Component) and "constant" not in item.prefixes:
        what = article(node.kind)
        hint = "declare it in a model; a value that is always the same is a `constant`."
        return _wrong(report, item, f"{what} holds classes and constants only", hint)
    if section in ("equation", "initial equation"):
        if node.kind not in WITH_EQUATIONS:
            return _wrong(
                report, item, f"{article(node.kind)} holds no equations", "put them into a model, block or element."
            )
        if isinstance(item, ast.Component | ast.BondChain):
            return _wrong(report, item, "only equations stand here", "declare it before the word `equation`.")
    return True


BASES = {
    "model": frozenset({"model", "block", "class"}),
    "block": frozenset({"block", "model", "class"}),
    "element": frozenset({"element", "class", "basic element"}),
    "macro": frozenset({"macro"}),
    "function": frozenset({"function"}),
    "package": frozenset({"package", "domain"}),
    "domain": frozenset({"domain", "package"}),
    "type": frozenset({"type", "basic type"}),
}
"""What a class may extend, by its own kind; a `class` may extend anything."""


def check_base(node: ast.Class, name: str, kind: str, span: Span, report: Report) -> bool:
    """A class extends its like; False, reported at the `extends`, when it does not."""
    if node.kind not in BASES or kind in BASES[node.kind]:
        return True
    if kind == "basic element":
        hint = f"only an `element` may extend a basic element; a model declares one: `{name} x;`."
    elif node.kind in ("model", "block") and kind in ("element", "macro"):
        hint = f"declare a component of it instead: `{name} x;`."
    elif node.kind in ("model", "block") and kind in ("package", "domain"):
        hint = f"`import {name}.*;` before the {node.kind} makes its classes known by their short names."
    else:
        hint = (
            f"{article(node.kind)} may extend {' or '.join(article(k) for k in sorted(BASES[node.kind] - {'class'}))}."
        )
    text = f"`{node.ident}` is {article(node.kind)} and cannot extend the {kind} `{name}`"
    report.add(error("classes/kind", text, span, hint=hint))
    return False


def article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiouI" else f"a {kind}"


def _wrong(report: Report, item: ast.Item, message: str, hint: str) -> bool:
    report.add(error("classes/section", message, item.span, hint=hint))
    return False
