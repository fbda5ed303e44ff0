"""Which kind of class may hold what (models hold nodes and bonds, elements ports and laws, functions algorithms)."""

from bglang.diagnostics import Report, error
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
    if section in ("equation", "initial equation"):
        if node.kind not in WITH_EQUATIONS:
            return _wrong(
                report, item, f"{article(node.kind)} holds no equations", "put them into a model, block or element."
            )
        if isinstance(item, ast.Component | ast.BondChain):
            return _wrong(report, item, "only equations stand here", "declare it before the word `equation`.")
    return True


def article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def _wrong(report: Report, item: ast.Item, message: str, hint: str) -> bool:
    report.add(error("classes/section", message, item.span, hint=hint))
    return False
