"""The crank-slider of Marquis-Favre and Scavarda (1999), as in their figure 2."""

from build import Build

from bglang.expr import Expr, var
from bglang.graph.ir import BondGraph


def crank_slider() -> BondGraph:
    """Angles 1 and 2; rod mass m2 at G in x and y; friction at the slider in x; the guide holds B in y."""
    g = Build("CrankSlider")
    g.se("torque", 1.0)
    g.j1("w1", "w2")
    g.i("crank", 1.0)
    g.i("rod", 1.0)
    angle = {"1": g.displacement("w1"), "2": g.displacement("w2")}
    l1, l2 = g.parameter("l1", 1.0), g.parameter("l2", 2.0)

    def modulus(length: Expr, function: str, which: str, factor: float) -> Expr:
        return ("*", factor, length, (function, angle[which]))

    g.j0("xG", "yG", "xB", "yB")
    g.j1("vxG", "vyG", "vxB")
    g.i("mx", 1.0)
    g.i("my", 1.0)
    g.r("friction", 0.1)
    g.tf("x1", modulus(l1, "sin", "1", -1.0))
    g.tf("x2", modulus(l2, "sin", "2", -0.5))
    g.tf("y1", modulus(l1, "cos", "1", 1.0))
    g.tf("y2", modulus(l2, "cos", "2", 0.5))
    g.tf("b1", modulus(l1, "sin", "1", -1.0))
    g.tf("b2", modulus(l2, "sin", "2", -1.0))
    g.tf("c1", modulus(l1, "cos", "1", 1.0))
    g.tf("c2", modulus(l2, "cos", "2", 1.0))
    g.bond("torque", "w1")
    g.bond("w1", "crank", "x1", "y1", "b1", "c1")
    g.bond("w2", "rod", "x2", "y2", "b2", "c2")
    for tail, head in (("x1", "xG"), ("x2", "xG"), ("y1", "yG"), ("y2", "yG"), ("b1", "xB"), ("b2", "xB")):
        g.bond(tail, head)
    g.bond("c1", "yB")
    g.bond("c2", "yB")
    g.chain("xG", "vxG", "mx")
    g.chain("yG", "vyG", "my")
    g.chain("xB", "vxB", "friction")
    assert var("w1.q") == angle["1"]
    return g.graph()
