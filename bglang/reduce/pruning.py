"""The branch of a merged storage goes as a whole.

A dependent storage that is merged gives nothing any more: what it gave (an effort, where it was an I) is zero.  That
zero is followed outwards.  At a junction whose sum it enters it is neutral and its bond goes; where it is the common
variable of a junction the whole junction goes and hands it on; a transformer hands it on, a gyrator as the other
variable; a source that drives nothing else goes too.  Where it meets an element, a source of zero stays in the
branch's place: a bond that merely dangles would mean something else."""

from typing import Literal

from bglang.expr import ZERO
from bglang.graph.ir import Bond, Element, End, Law, Port
from bglang.records import replace
from bglang.reduce.edit import Edit
from bglang.source import NOWHERE


def remove_storage(edit: Edit, element: int, letters: dict[int, str]) -> list[Bond]:
    """Takes an element away; `letters` says for every port what it gave.  The bonds that went, as they were."""
    gone = list[Bond]()
    work = list[tuple[Bond, End, str]]()
    for bond in edit.bonds_at(element):
        here = bond.tail if bond.tail.element == element else bond.head
        work.append((bond, edit.far_end(bond, element), letters[here.port]))
    name = edit.elements[element].name
    for bond, _, _ in work:
        edit.remove_bond(bond.id)
    edit.remove_element(element)
    while work:
        bond, far, letter = work.pop()
        gone.append(bond)
        work.extend(_meet(edit, bond, far, letter, name))
    return gone


def _meet(edit: Edit, bond: Bond, far: End, letter: str, name: str) -> list[tuple[Bond, End, str]]:
    """The bond carries a zero to its far end: what that makes of the node there."""
    node = edit.elements[far.element]
    if node.kind in ("J0", "J1"):
        if letter == ("f" if node.kind == "J1" else "e"):
            return _dissolve(edit, node.id, letter)
        left = edit.bonds_at(node.id)
        if len(left) == 1 and _vanishes(edit, left[0], node.id, letter):
            return _dissolve(edit, node.id, letter)
        return []
    if node.kind in ("TF", "GY"):
        other = letter if node.kind == "TF" else ("f" if letter == "e" else "e")
        return _dissolve(edit, node.id, other)
    if node.kind in ("Se", "Sf"):  # it drives nothing any more
        edit.remove_element(node.id)
        return []
    _put_zero(edit, bond, far, letter, name)
    return []


def _dissolve(edit: Edit, node: int, letter: str) -> list[tuple[Bond, End, str]]:
    work = [(bond, edit.far_end(bond, node), letter) for bond in edit.bonds_at(node)]
    for bond, _, _ in work:
        edit.remove_bond(bond.id)
    edit.remove_element(node)
    return work


def _vanishes(edit: Edit, first: Bond, node: int, letter: str) -> bool:
    """Would a zero on the only bond that is left end at junctions where it is neutral?  If it met an element instead,
    the dangling junction already says the same."""
    work, seen = [(first, node, letter)], {first.id}
    while work:
        bond, near, here = work.pop()
        far = edit.elements[edit.far_end(bond, near).element]
        if far.kind in ("Se", "Sf"):
            continue
        if far.kind not in ("J0", "J1", "TF", "GY"):
            return False
        if far.kind == "GY":
            here = "f" if here == "e" else "e"
        following = [b for b in edit.bonds_at(far.id) if b.id != bond.id]
        neutral = far.kind in ("J0", "J1") and here != ("f" if far.kind == "J1" else "e")
        if neutral and len(following) != 1:
            continue  # something else is left there
        if any(b.id in seen for b in following):
            return False
        seen.update(b.id for b in following)
        work.extend((b, far.id, here) for b in following)
    return True


def _put_zero(edit: Edit, bond: Bond, far: End, letter: str, name: str) -> None:
    """A source of zero at the near end of a bond that an element is left on."""
    port = Port("", "", bond.domain)
    title = edit.fresh(f"{name.replace(chr(39), '')}_zero".replace(".", "_").replace("[", "_").replace("]", ""))
    kind: Literal["Se", "Sf"] = "Se" if letter == "e" else "Sf"
    law = Law("e" if letter == "e" else "f", 0, ZERO, NOWHERE)
    number = edit.add_element(
        lambda k: Element(
            k, title, kind, (port,), (law,), None, None, False, False, kind,
            f"in place of what {name} was bonded to", NOWHERE,
        ),
        after=far.element,
    )  # fmt: skip
    # drawn toward the element, whose own variables then need no sign
    edit.put_bond(replace(bond, tail=End(number, 0), head=End(far.element, far.port), stroke=None, names=()))
