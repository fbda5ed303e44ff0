"""Places for everything in a drawing.

Subsystems are laid out from the inside out: what stands in a frame gets its places first (`draw_place`), then the frame
is one large member of the next one.
"""

import math

from bglang.records import dataclass, field
from bglang.views.draw_place import Item, Outward, place_items
from bglang.views.draw_scene import Scene

ROUNDS = 3
MARGIN = 22.0
"""Room inside a frame's border; its title stands in the upper one."""


@dataclass(slots=True)
class Box:
    """Centre and half sizes."""

    x: float
    y: float
    width: float
    height: float


@dataclass(slots=True)
class Layout:
    """A box for every node and every frame, and the size of the whole."""

    nodes: list[Box]
    frames: dict[str, Box] = field(default_factory=dict[str, Box])
    width: float = 0.0
    height: float = 0.0


def text_width(text: str, size: float) -> float:
    """About how wide a text is in a usual sans-serif font."""
    narrow = sum(c in "iljft.,:;'|![]() " for c in text)
    wide = sum(c in "mwMW@λ" for c in text)
    return size * (0.58 * (len(text) - narrow - wide) + 0.32 * narrow + 0.88 * wide)


def place(scene: Scene) -> Layout:
    """Places for everything, the upper left corner at (0, 0).

    With frames everything is placed again: then each frame knows in which direction its outside bonds go.  As that
    changes its size, and so the places around it, a few rounds are needed."""
    layout = _Placing(scene, {}).layout
    for _ in range(ROUNDS if scene.frames else 0):
        layout = _Placing(scene, _outward(scene, layout)).layout
    return layout


def _outward(scene: Scene, layout: Layout) -> Outward:
    """Directions of bonds that leave the frame of their node."""
    found: Outward = {}
    for line in scene.lines:
        for here, there in ((line.tail, line.head), (line.head, line.tail)):
            frame, other = scene.nodes[here].frame, scene.nodes[there].frame
            if frame and other != frame and not other.startswith(frame + "."):
                a, b = layout.nodes[here], layout.nodes[there]
                length = math.hypot(b.x - a.x, b.y - a.y) or 1.0
                found.setdefault(here, []).append(((b.x - a.x) / length, (b.y - a.y) / length))
    return found


class _Placing:
    """One pass over all frames."""

    def __init__(self, scene: Scene, outward: Outward) -> None:
        self.scene, self.outward = scene, outward
        self.layout = Layout([Box(0.0, 0.0, *_size(scene, k)) for k in range(len(scene.nodes))])
        self.children: dict[str, list[str]] = {"": [], **{f: [] for f in scene.frames}}
        self.direct: dict[str, list[int]] = {"": [], **{f: [] for f in scene.frames}}
        self.parent: dict[str, str] = {}
        for f in scene.frames:
            self.parent[f] = self._around(f)
            self.children[self.parent[f]].append(f)
        for k, node in enumerate(scene.nodes):
            self.direct[node.frame].append(k)
        self.pairs = self._pairs_by_frame()
        for item in self._place_frame(""):
            self._shift(item, item.x, item.y)
        _to_origin(self.layout)

    def _around(self, frame: str) -> str:
        head = frame
        while "." in head:
            head = head.rpartition(".")[0]
            if head in self.scene.frames:
                return head
        return ""

    def _chain(self, frame: str) -> list[str]:
        """The frames around a place, innermost first, the whole drawing last."""
        chain = [frame]
        while chain[-1]:
            chain.append(self.parent[chain[-1]])
        return chain

    def _pairs_by_frame(self) -> dict[str, list[tuple[int, int, bool]]]:
        """Bonds and signals, each at the innermost frame that holds both ends."""
        found: dict[str, list[tuple[int, int, bool]]] = {}
        for is_bond, pairs in (
            (True, [(x.tail, x.head) for x in self.scene.lines]),
            (False, [(x.source, x.target) for x in self.scene.signals]),
        ):
            for a, b in pairs:
                other = set(self._chain(self.scene.nodes[b].frame))
                common = next(f for f in self._chain(self.scene.nodes[a].frame) if f in other)
                found.setdefault(common, []).append((a, b, is_bond))
        return found

    def _place_frame(self, frame: str) -> list[Item]:
        """The nodes and frames directly in a frame, placed."""
        items = [Item(k, "", self.layout.nodes[k].width, self.layout.nodes[k].height) for k in self.direct[frame]]
        owner = {k: n for n, k in enumerate(self.direct[frame])}
        for child in self.children[frame]:
            inner = self._place_frame(child)
            for k in self._members(child):
                owner[k] = len(items)
            items.append(self._enclose(child, inner))
        edges, pulls = self._edges(frame, owner, items)
        place_items(items, edges, self.outward, pulls)
        return items

    def _members(self, frame: str) -> list[int]:
        found, stack = list[int](), [frame]
        while stack:
            f = stack.pop()
            found += self.direct[f]
            stack += self.children[f]
        return found

    def _edges(
        self, frame: str, owner: dict[int, int], items: list[Item]
    ) -> tuple[list[tuple[int, int]], dict[int, float]]:
        """Pairs of items that bonds (or, where no bond does, signals) join; and where in a frame single ones end."""
        found: dict[tuple[int, int], None] = {}
        pulls: dict[int, float] = {}
        for bonds in (True, False):
            bonded = {k for pair in found for k in pair}
            for a, b, is_bond in self.pairs.get(frame, ()):
                one, two = owner[a], owner[b]
                wanted = is_bond == bonds and (bonds or one not in bonded or two not in bonded)
                if not wanted or one == two or (two, one) in found:
                    continue
                found[one, two] = None
                for node, item, far in ((a, one, two), (b, two, one)):
                    if items[item].number < 0 and items[far].number >= 0:
                        box = self.layout.nodes[node]
                        if abs(box.x) + abs(box.y) > 1.0:
                            pulls[far] = math.atan2(box.y, box.x)
        return list(found), pulls

    def _enclose(self, frame: str, inner: list[Item]) -> Item:
        """A frame around placed items; everything inside moves so that the frame's middle is (0, 0)."""
        left = min(i.x - i.width for i in inner) - MARGIN
        right = max(i.x + i.width for i in inner) + MARGIN
        upper = min(i.y - i.height for i in inner) - MARGIN - 8.0
        lower = max(i.y + i.height for i in inner) + MARGIN
        title = f"{frame.rpartition('.')[2]} : {self.scene.frames[frame].rpartition('.')[2]}"
        right = max(right, left + text_width(title, 10.0) + 16.0)
        x, y = (left + right) / 2, (upper + lower) / 2
        for item in inner:
            self._shift(item, item.x - x, item.y - y)
        self.layout.frames[frame] = Box(0.0, 0.0, (right - left) / 2, (lower - upper) / 2)
        return Item(-1, frame, (right - left) / 2, (lower - upper) / 2)

    def _shift(self, item: Item, dx: float, dy: float) -> None:
        """Moves a node, or a frame with all that is in it."""
        boxes = [self.layout.nodes[item.number]] if item.number >= 0 else []
        stack = [item.frame] if item.number < 0 else []
        while stack:
            f = stack.pop()
            boxes.append(self.layout.frames[f])
            boxes += [self.layout.nodes[k] for k in self.direct[f]]
            stack += self.children[f]
        for box in boxes:
            box.x += dx
            box.y += dy


def _size(scene: Scene, number: int) -> tuple[float, float]:
    node = scene.nodes[number]
    width = max(text_width(node.symbol, 15.0), text_width(node.name, 9.5))
    return width / 2 + (6.0 if node.box else 2.0), 19.0 if node.box else 14.5


def _to_origin(layout: Layout) -> None:
    boxes = [*layout.nodes, *layout.frames.values()]
    if not boxes:
        return
    left, upper = min(b.x - b.width for b in boxes), min(b.y - b.height for b in boxes)
    for b in boxes:
        b.x -= left
        b.y -= upper
    layout.width, layout.height = max(b.x + b.width for b in boxes), max(b.y + b.height for b in boxes)
