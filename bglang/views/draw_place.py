"""Places for the members of one frame: nodes, and inner frames as large nodes.

Members with several bonds come first.  Few of them, or a net, are placed by networkx so that distances on paper are
distances along bonds (Kamada and Kawai); a long chain is laid in rows, to and fro.  Elements with a single bond are
then set around their junction, where there is most room, and boxes that overlap are pushed apart.
"""

import math
from itertools import pairwise

import numpy as np

from bglang.records import dataclass
from bglang.views.draw_net import BOND, net_places

Outward = dict[int, list[tuple[float, float]]]
"""For a node the directions in which it is bonded to something outside its frame."""

GAP = 16.0
"""Least distance between boxes."""
CHAIN = 1700.0
"""Chains that would be longer than this are laid in rows."""
NET = 220
"""Larger nets are laid in rows, too: distances between all pairs would take too long."""
STEP = math.pi / 8
CROWD = 900
"""With more boxes than this in one part, none are pushed apart."""


@dataclass(slots=True)
class Item:
    """A node (number >= 0) or a frame with everything in it: centre and half sizes."""

    number: int
    frame: str
    width: float
    height: float
    x: float = 0.0
    y: float = 0.0


def place_items(items: list[Item], edges: list[tuple[int, int]], outward: Outward, pulls: dict[int, float]) -> None:
    """Places all items of a frame around each other.

    `pulls`: for an item with a single bond into a frame, the direction from the frame's middle to the node it is
    bonded to."""
    near: list[list[int]] = [[] for _ in items]
    for a, b in edges:
        near[a].append(b)
        near[b].append(a)
    shelf: list[tuple[float, float, list[int]]] = []
    for part in _parts(near):
        _place_part(items, near, part, outward, pulls)
        if len(part) <= CROWD:
            _push_apart(items, part)
        shelf.append((*_extent(items, part), part))
    _shelve(items, shelf, _sideways(items, outward))


def _sideways(items: list[Item], outward: Outward) -> bool:
    """Whether bonds leave the frame to its left and right: then parts that no bond joins inside (the capacitor of a
    macro's cell, hung on a node outside) would stand in their way if they stood side by side."""
    found = [direction for item in items for direction in outward.get(item.number, ())]
    return sum(abs(dx) for dx, _ in found) > sum(abs(dy) for _, dy in found)


def _parts(near: list[list[int]]) -> list[list[int]]:
    """Connected parts."""
    seen, parts = set[int](), list[list[int]]()
    for root in range(len(near)):
        if root not in seen:
            seen.add(root)
            part = [root]
            for k in part:
                for j in near[k]:
                    if j not in seen:
                        seen.add(j)
                        part.append(j)
            parts.append(sorted(part))
    return parts


def _place_part(
    items: list[Item], near: list[list[int]], part: list[int], outward: Outward, pulls: dict[int, float]
) -> None:
    ends = {k for k in part if len(near[k]) == 1 and items[k].number >= 0 and items[k].number not in outward}
    core = [k for k in part if k not in ends]
    if not core:  # one bond between two elements, or a single node
        for n, k in enumerate(part):
            items[k].x = n * (BOND + 2 * max(items[j].width for j in part))
        return
    radius = {k: _radius(items[k], sum(j in ends for j in near[k])) for k in core}
    inner = {k: [j for j in near[k] if j in radius] for k in core}
    layers = _layers(inner, core)
    length = sum(BOND + 2 * max(min(radius[k], items[k].width + BOND) for k in layer) for layer in layers)
    if len(core) > NET or (length > CHAIN and len(core) <= 2 * len(layers)):
        _place_rows(items, layers, inner, radius)
    elif len(core) > 1:
        for k, (x, y) in zip(core, net_places(core, inner, radius), strict=True):
            items[k].x, items[k].y = float(x), float(y)
    _turn(items, core, inner, outward)
    _mirror(items, core, outward)
    for k in core:
        taken = [math.atan2(items[j].y - items[k].y, items[j].x - items[k].x) for j in inner[k]]
        # rounded, so that a slightly slanting bond does not decide between up and down
        taken += [round(math.atan2(dy, dx) / STEP) * STEP for dx, dy in outward.get(items[k].number, ())]
        _place_ends(items, k, [j for j in near[k] if j in ends], taken, pulls)


def _radius(item: Item, ends: int) -> float:
    """How much room a member wants around itself: more when elements hang on it."""
    if item.number < 0:
        return math.hypot(item.width, item.height)
    reach = max(item.height, min(item.width, item.height * 1.6))
    return reach + (14.0 + 4.0 * min(ends, 8) if ends else 0.0)


def _layers(inner: dict[int, list[int]], core: list[int]) -> list[list[int]]:
    """Members by their distance from one end of the part (the farthest from the first one)."""

    def spread(start: int) -> list[list[int]]:
        seen, layers = {start}, [[start]]
        while True:
            following = [j for k in layers[-1] for j in inner[k] if j not in seen]
            following = list(dict.fromkeys(following))
            if not following:
                return layers
            seen.update(following)
            layers.append(following)

    far = spread(core[0])[-1]
    return spread(min(far))


# chains ---------------------------------------------------------------------------------------------------------------


def _place_rows(
    items: list[Item], layers: list[list[int]], inner: dict[int, list[int]], radius: dict[int, float]
) -> None:
    """Layers side by side, turning back at the end of each row; about one and a half times as wide as high."""
    if layers[-1] and min(layers[-1]) < min(layers[0]):
        layers = layers[::-1]
    slot = 2 * max(items[k].height + 34.0 if items[k].number < 0 else radius[k] + 46.0 for k in radius)
    half = [max(items[k].width if items[k].number < 0 else radius[k] for k in layer) for layer in layers]
    step = BOND + 2 * sum(half) / len(half)
    height = slot * max(len(layer) for layer in layers)
    per_row = max(4, math.ceil(math.sqrt(1.5 * len(layers) * height / step)))
    cells = [divmod(n, per_row) for n in range(len(layers))]
    cells = [(row, per_row - 1 - column if row % 2 else column) for row, column in cells]
    middle = _columns(half, [column for _, column in cells])
    level: dict[int, float] = {}
    for layer, (row, column) in zip(layers, cells, strict=True):
        behind = {k: [level[j] for j in inner[k] if j in level] for k in layer}
        order = sorted(layer, key=lambda k: (sum(behind[k]) / len(behind[k]) if behind[k] else 0.0, k))
        for m, k in enumerate(order):
            level[k] = (m - (len(order) - 1) / 2) * slot
            items[k].x, items[k].y = middle[column], row * (height + 20.0) + level[k]


def _columns(half: list[float], columns: list[int]) -> list[float]:
    """The middle of each column, from the half widths of the layers that stand in it."""
    widest = [0.0] * (max(columns) + 1)
    for width, column in zip(half, columns, strict=True):
        widest[column] = max(widest[column], width)
    middle = [0.0]
    for left, right in pairwise(widest):
        middle.append(middle[-1] + left + BOND + right)
    return middle


def _turn(items: list[Item], core: list[int], inner: dict[int, list[int]], outward: Outward) -> None:
    """A quarter turn where bonds that leave the frame would otherwise run through its own members: what hangs on a
    node between two neighbours outside hangs below it."""

    def hidden(turned: bool) -> float:
        found = 0.0
        for k in core:
            for dx, dy in outward.get(items[k].number, ()):
                for j in inner[k]:
                    x, y = items[j].x - items[k].x, items[j].y - items[k].y
                    x, y = (-y, x) if turned else (x, y)
                    size = math.hypot(x, y) * math.hypot(dx, dy)
                    found += max(0.0, (x * dx + y * dy) / size - 0.8) if size else 0.0
        return found

    if len(core) > 1 and len(core) <= NET and hidden(True) < hidden(False) - 0.05:
        for k in core:
            items[k].x, items[k].y = -items[k].y, items[k].x


def _mirror(items: list[Item], core: list[int], outward: Outward) -> None:
    """Turns a part over, left to right or top to bottom, so that nodes stand on the side of their outside bonds."""
    x = sum(items[k].x for k in core) / len(core)
    y = sum(items[k].y for k in core) / len(core)
    pull_x = sum((items[k].x - x) * dx for k in core for dx, _ in outward.get(items[k].number, ()))
    pull_y = sum((items[k].y - y) * dy for k in core for _, dy in outward.get(items[k].number, ()))
    for k in core:
        if pull_x < -1.0:
            items[k].x = 2 * x - items[k].x
        if pull_y < -1.0:
            items[k].y = 2 * y - items[k].y


# ends -----------------------------------------------------------------------------------------------------------------


def _place_ends(items: list[Item], at: int, ends: list[int], taken: list[float], pulls: dict[int, float]) -> None:
    """Elements with one bond, each in the direction with most room; up and down are liked best."""
    here = items[at]
    count = len(ends) + len(taken)
    liked = [math.pi / 2, -math.pi / 2, math.pi, 0.0, math.pi / 4, -math.pi / 4, 3 * math.pi / 4, -3 * math.pi / 4]
    if count > 8:
        liked = [2 * math.pi * k / (count + 1) for k in range(count + 1)]
    grow = 1.0 if count <= 6 else count / 6
    for j in ends:
        fresh = liked + [t + math.pi for t in taken]
        if j in pulls:  # bonded to a node inside a frame: on that node's side
            angle = pulls[j]
        else:
            angle = max(fresh, key=lambda a: min((_between(a, t) for t in taken), default=math.pi) - 0.02 * _slant(a))
        taken.append(angle)
        c, s = math.cos(angle), math.sin(angle)
        border = min(
            here.width / abs(c) if abs(c) > 1e-9 else math.inf, here.height / abs(s) if abs(s) > 1e-9 else math.inf
        )
        own = abs(c) * items[j].width + abs(s) * items[j].height
        reach = border + BOND * grow + own
        items[j].x, items[j].y = here.x + reach * c, here.y + reach * s


def _between(a: float, b: float) -> float:
    return abs((a - b + math.pi) % (2 * math.pi) - math.pi)


def _slant(a: float) -> float:
    return abs(math.sin(2 * a)) + 0.5 * abs(math.cos(a))


# room -----------------------------------------------------------------------------------------------------------------


def _push_apart(items: list[Item], part: list[int], rounds: int = 200) -> None:
    """Moves overlapping boxes away from each other, a little every round."""
    x, y = np.array([items[k].x for k in part]), np.array([items[k].y for k in part])
    w, h = np.array([items[k].width for k in part]), np.array([items[k].height for k in part])
    need_x, need_y = w[:, None] + w[None, :] + GAP, h[:, None] + h[None, :] + GAP
    order = np.sign(np.arange(len(x))[:, None] - np.arange(len(x))[None, :])
    for _ in range(rounds):
        dx, dy = x[:, None] - x[None, :], y[:, None] - y[None, :]
        over_x, over_y = need_x - np.abs(dx), need_y - np.abs(dy)
        hit = (over_x > 0) & (over_y > 0)
        np.fill_diagonal(hit, False)
        if not hit.any():
            break
        side = hit & (over_x < over_y)
        x += 0.3 * np.where(side, over_x * np.where(dx == 0, order, np.sign(dx)), 0.0).sum(axis=1)
        y += 0.3 * np.where(hit & ~side, over_y * np.where(dy == 0, order, np.sign(dy)), 0.0).sum(axis=1)
    for n, k in enumerate(part):
        items[k].x, items[k].y = float(x[n]), float(y[n])


def _extent(items: list[Item], part: list[int]) -> tuple[float, float]:
    """Moves a part so that its upper left corner is (0, 0); its width and height."""
    left = min(items[k].x - items[k].width for k in part)
    upper = min(items[k].y - items[k].height for k in part)
    for k in part:
        items[k].x -= left
        items[k].y -= upper
    return max(items[k].x + items[k].width for k in part), max(items[k].y + items[k].height for k in part)


def _shelve(items: list[Item], shelf: list[tuple[float, float, list[int]]], stacked: bool) -> None:
    """Parts that no bond joins stand side by side, in rows; or each in a row of its own (`stacked`)."""
    if not shelf:
        return
    area = sum((w + 40) * (h + 40) for w, h, _ in shelf)
    limit = 0.0 if stacked else max(max(w for w, _, _ in shelf), 1.4 * math.sqrt(area))
    x = y = row = 0.0
    for width, height, part in shelf:
        if x > 0 and x + width > limit:
            x, y, row = 0.0, y + row + 40.0, 0.0
        for k in part:
            items[k].x += x
            items[k].y += y
        x, row = x + width + 40.0, max(row, height)
