"""The junction structure: what junctions, transformers and gyrators set, by the causal strokes.

Where a bond has no stroke, or the strokes do not fit the element, its equations are left open: matching decides later
what they determine.
"""

from bglang.equations.draft import Attachment, Draft, Equation, Quotient
from bglang.equations.maker import Maker
from bglang.expr import Expr, call, neg, product, total
from bglang.graph.ir import Element


def add_structure(draft: Draft, maker: Maker) -> None:
    for element in draft.graph.elements:
        places = draft.attachments[element.id]
        if element.kind in ("J0", "J1"):
            _add_junction(draft, element, places)
        elif element.kind == "TF":
            _add_transformer(draft, maker, element, places)
        elif element.kind == "GY":
            _add_gyrator(draft, maker, element, places)


def leave_open(draft: Draft, element: Element, places: list[Attachment], equations: list[tuple[Expr, Expr]]) -> None:
    """Equations of an element that do not know what they determine, and the variables that it should determine."""
    for left, right in equations:
        draft.open_equations.append(Equation(left, right, element.name, element.span))
    for place in places:
        if place.sets_effort is not False:
            draft.open_variables[2 * place.bond] = None
        if place.sets_effort is not True:
            draft.open_variables[2 * place.bond + 1] = None


def _add_junction(draft: Draft, element: Element, places: list[Attachment]) -> None:
    common, summed = ("f", "e") if element.kind == "J1" else ("e", "f")
    if not places:
        return
    strong = [place for place in places if place.sets_effort is (element.kind == "J1")]
    if len(strong) != 1 or any(place.sets_effort is None for place in places):
        equations: list[tuple[Expr, Expr]] = [(place.leaf(common), places[0].leaf(common)) for place in places[1:]]
        terms = (place.leaf(summed) if not place.at_tail else neg(place.leaf(summed)) for place in places)
        leave_open(draft, element, places, [*equations, (total(terms), 0.0)])
        return
    chosen = strong[0]
    leaf = chosen.leaf(common)
    values = draft.values
    terms_of_sum: list[Expr] = []
    for place in places:
        if place is not chosen:
            values[place.leaf(common)[1]] = leaf
            term = place.leaf(summed)
            terms_of_sum.append(term if place.at_tail != chosen.at_tail else ("neg", term))
    values[chosen.leaf(summed)[1]] = total(terms_of_sum)


def _add_transformer(draft: Draft, maker: Maker, element: Element, places: list[Attachment]) -> None:
    assert element.modulus is not None
    p1, p2 = places
    m = maker.make(element.modulus, element.name, element.span)
    if p1.sets_effort is True and p2.sets_effort is False:
        _set(draft, p1, "e", product([m, p2.own("e")]))
        _set(draft, p2, "f", product([m, p1.own("f")]))
    elif p1.sets_effort is False and p2.sets_effort is True:
        _divide(draft, maker, element, (p2, "e"), (p1.own("e"), m))
        _divide(draft, maker, element, (p1, "f"), (p2.own("f"), m))
    else:
        laws = [(p1.own("e"), product([m, p2.own("e")])), (p2.own("f"), product([m, p1.own("f")]))]
        leave_open(draft, element, places, laws)


def _add_gyrator(draft: Draft, maker: Maker, element: Element, places: list[Attachment]) -> None:
    assert element.modulus is not None
    p1, p2 = places
    r = maker.make(element.modulus, element.name, element.span)
    if p1.sets_effort is True and p2.sets_effort is True:
        _set(draft, p1, "e", product([r, p2.own("f")]))
        _set(draft, p2, "e", product([r, p1.own("f")]))
    elif p1.sets_effort is False and p2.sets_effort is False:
        _divide(draft, maker, element, (p2, "f"), (p1.own("e"), r))
        _divide(draft, maker, element, (p1, "f"), (p2.own("e"), r))
    else:
        laws = [(p1.own("e"), product([r, p2.own("f")])), (p2.own("e"), product([r, p1.own("f")]))]
        leave_open(draft, element, places, laws)


def _set(draft: Draft, place: Attachment, letter: str, value: Expr) -> None:
    draft.values[place.leaf(letter)[1]] = value if place.sign(letter) > 0 else neg(value)


def _divide(
    draft: Draft, maker: Maker, element: Element, target: tuple[Attachment, str], ratio: tuple[Expr, Expr]
) -> None:
    """A variable given by a quotient; where the divisor may become zero, `divisions` looks at it again."""
    place, letter = target
    numerator, divisor = ratio
    _set(draft, place, letter, call("/", numerator, divisor))
    if maker.parameters.can_vanish(divisor):
        multiplied = call("-", numerator, product([divisor, place.own(letter)]))
        draft.quotients.append(Quotient(2 * place.bond + (letter == "f"), multiplied, element.id))
