"""The factor with which one bond variable enters another one across a single node."""

from bglang.causality.modular import PRIME, Residues, inverse
from bglang.causality.structure import GY, J0, J1, TF, Structure
from bglang.expr import Expr
from bglang.records import dataclass


@dataclass(frozen=True, slots=True)
class Gain:
    """sign * modulus ** power"""

    sign: int
    modulus: Expr | None = None
    power: int = 0

    def residue(self, values: Residues) -> int:
        if self.modulus is None:
            return self.sign % PRIME
        m = values.modulus(self.modulus)
        return self.sign * (m if self.power > 0 else inverse(m)) % PRIME


def arrow(half: int) -> int:
    """+1 where the half arrow points into the node of this end."""
    return 1 if half & 1 else -1


def cross_junction(s: Structure, into: int, out: int, letter: int) -> Gain:
    """From the bond end `into` to the bond end `out` of the same junction; letter 0 is the effort, 1 the flow."""
    common = letter == (s.kind[s.node[into]] == J1)
    return Gain(1) if common else Gain(-arrow(into) * arrow(out))


def cross_two_port(s: Structure, into: int, out: int, letter: int) -> Gain:
    """From a bond variable that enters a TF or GY at `into` (letter 0: the effort) to the one that leaves at `out`.

    A TF gives the same letter, a GY the other one."""
    n = s.node[into]
    e = s.graph.elements[n]
    out_letter = letter if s.kind[n] == TF else 1 - letter
    sign = _sign(s, into, letter) * _sign(s, out, out_letter)
    first = s.halves[n][0] == into
    if s.kind[n] == GY:
        # e1 = r*f2, e2 = r*f1
        return Gain(sign, e.modulus, -1 if letter == 0 else 1)
    # e1 = m*e2, f2 = m*f1
    forward = first if letter == 1 else not first
    return Gain(sign, e.modulus, 1 if forward else -1)


def _sign(s: Structure, half: int, letter: int) -> int:
    bond = s.graph.bonds[half >> 1]
    end = bond.head if half & 1 else bond.tail
    return end.f_sign if letter else end.e_sign


def cross(s: Structure, into: int, out: int, letter: int) -> Gain:
    if s.kind[s.node[into]] in (J0, J1):
        return cross_junction(s, into, out, letter)
    return cross_two_port(s, into, out, letter)


def element_sign(s: Structure, half: int, letter: int) -> int:
    """Own variable of an element over its bond's variable."""
    return _sign(s, half, letter)
