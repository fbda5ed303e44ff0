"""In which order to eliminate the unknowns of a sparse matrix whose diagonal carries pivots (`matching.py`).

Minimum degree on the quotient graph with approximate degrees, element absorption, supervariables and mass elimination
(Amestoy, Davis and Duff, SIAM J. Matrix Anal. Appl. 17, 1996).  Nearly full rows are left for the end.
"""

from bglang.solve.native.intrinsics import Ints, jit, shift

NOBODY = -1

# The quotient graph lives in thirteen vectors of length n (`g`, vector by vector) and in `lists`.  A node is a
# variable, an element (an eliminated variable), or has been absorbed by another one (START < 0 or WEIGHT 0; PARENT
# says by which).
START = 0  # of its list in `lists`: for a variable first its elements, then its variables; for an element its variables
LENGTH = 1
ELEMENTS = 2  # how many elements the list of a variable begins with; -1 for an element
WEIGHT = 3  # how many unknowns a variable stands for; negative while it is marked as member of the new element
DEGREE = 4
OUTSIDE = 5
PARENT = 6
HEAD = 7  # first variable of each degree, and its neighbours in that list
FOLLOWING = 8
PREVIOUS = 9
BUCKET = 10  # variables with the same hash
CHAIN = 11
TAIL = 12  # last variable of each degree
VECTORS = 13


@jit
def _part(g: Ints, n: int, which: int) -> Ints:
    vector: Ints = shift(g, which * n)
    return vector


@jit
def _build_graph(n: int, indptr: Ints, indices: Ints, column_of: Ints, g: Ints, lists: Ints) -> None:
    """Adjacency of B + B' without diagonal, B the matrix with its rows moved to the matched columns, doubles left
    in."""
    start, length = _part(g, n, START), _part(g, n, LENGTH)
    for j in range(n):
        length[j] = 0
    for j in range(n):
        for k in range(indptr[j], indptr[j + 1]):
            i = column_of[indices[k]]
            if i != j:
                length[i] += 1
                length[j] += 1
    used = 0
    for j in range(n):
        start[j] = used
        used += length[j]
        length[j] = 0
    for j in range(n):
        for k in range(indptr[j], indptr[j + 1]):
            i = column_of[indices[k]]
            if i != j:
                lists[start[j] + length[j]] = i
                length[j] += 1
                lists[start[i] + length[i]] = j
                length[i] += 1


@jit
def _remove_doubles(n: int, g: Ints, lists: Ints) -> int:
    """How many entries of `lists` are used afterwards."""
    start, length, mark = _part(g, n, START), _part(g, n, LENGTH), _part(g, n, OUTSIDE)
    for j in range(n):
        mark[j] = NOBODY
    used = 0
    for j in range(n):
        first, begin = start[j], used
        for k in range(first, first + length[j]):
            i = lists[k]
            if mark[i] != j:
                mark[i] = j
                lists[used] = i
                used += 1
        start[j], length[j] = begin, used - begin
    return used


@jit
def _unlink(n: int, g: Ints, i: int) -> None:
    """Take variable i out of the list of its degree."""
    following, previous, d = _part(g, n, FOLLOWING), _part(g, n, PREVIOUS), _part(g, n, DEGREE)[i]
    before, after = previous[i], following[i]
    if after != NOBODY:
        previous[after] = before
    else:
        _part(g, n, TAIL)[d] = before
    if before != NOBODY:
        following[before] = after
    else:
        _part(g, n, HEAD)[d] = after


@jit
def _link(n: int, g: Ints, i: int, d: int) -> None:
    """Put variable i behind the others of its degree.  Then neighbours of what was just eliminated have to wait, and

    columns that follow one another depend less on each other: the processor works on several at once."""
    tail, following, previous = _part(g, n, TAIL), _part(g, n, FOLLOWING), _part(g, n, PREVIOUS)
    _part(g, n, DEGREE)[i] = d
    before = tail[d]
    following[i] = NOBODY
    previous[i] = before
    if before != NOBODY:
        following[before] = i
    else:
        _part(g, n, HEAD)[d] = i
    tail[d] = i


@jit
def _compact(n: int, g: Ints, lists: Ints, used: int) -> int:
    """Close the gaps between the lists that are still alive; the new number of entries used."""
    start, length = _part(g, n, START), _part(g, n, LENGTH)
    for i in range(n):  # mark the head of each live list and keep the entry that stood there
        if start[i] >= 0 and length[i] > 0:
            position = start[i]
            start[i] = lists[position]
            lists[position] = -2 - i
    source, target = 0, 0
    while source < used:
        if lists[source] > -2:
            source += 1
            continue
        i = -2 - lists[source]
        lists[target] = start[i]
        start[i] = target
        for k in range(1, length[i]):
            lists[target + k] = lists[source + k]
        target += length[i]
        source += length[i]
    return target


@jit
def _gather(n: int, g: Ints, lists: Ints, first: int, count: int, used: int) -> int:
    """Append the unmarked variables among lists[first : first + count] to the new element and mark them."""
    weight = _part(g, n, WEIGHT)
    for k in range(first, first + count):
        i = lists[k]
        if weight[i] > 0:
            weight[i] = -weight[i]
            lists[used] = i
            used += 1
    return used


@jit
def _make_element(n: int, g: Ints, lists: Ints, p: int, used: int) -> int:
    """Variable p becomes an element: its neighbours and those of the elements it absorbs, written behind `used`."""
    start, length, elements = _part(g, n, START), _part(g, n, LENGTH), _part(g, n, ELEMENTS)
    begin, first, count = used, start[p], elements[p]
    used = _gather(n, g, lists, first + count, length[p] - count, used)
    for k in range(first, first + count):
        e = lists[k]
        used = _gather(n, g, lists, start[e], length[e], used)
        start[e] = -1
        _part(g, n, PARENT)[e] = p
    start[p], length[p], elements[p] = begin, used - begin, -1
    return used


@jit
def _count_outside(n: int, g: Ints, lists: Ints, p: int, tag: int) -> None:
    """OUTSIDE[e] - tag = weight of the variables of e that are not in p, for all elements that meet p."""
    start, elements, weight = _part(g, n, START), _part(g, n, ELEMENTS), _part(g, n, WEIGHT)
    degree, outside = _part(g, n, DEGREE), _part(g, n, OUTSIDE)
    for k in range(start[p], start[p] + _part(g, n, LENGTH)[p]):
        i = lists[k]
        for m in range(start[i], start[i] + elements[i]):
            e = lists[m]
            if start[e] < 0:
                continue
            if outside[e] < tag:
                outside[e] = degree[e] + tag
            outside[e] += weight[i]  # which is negative


@jit
def _shorten(n: int, g: Ints, lists: Ints, i: int, p: int, tag: int) -> tuple[int, int]:
    """The lists of variable i after element p was made: (degree outside of p, hash of the lists)."""
    start, length, elements = _part(g, n, START), _part(g, n, LENGTH), _part(g, n, ELEMENTS)
    weight, outside = _part(g, n, WEIGHT), _part(g, n, OUTSIDE)
    first = start[i]
    end, write, d, key = first + length[i], first, 0, p
    for m in range(first, first + elements[i]):
        e = lists[m]
        if start[e] < 0:
            continue
        rest = outside[e] - tag
        if rest > 0:
            d += rest
            key += e
            lists[write] = e
            write += 1
        else:  # all of e lies in p
            start[e] = -1
            _part(g, n, PARENT)[e] = p
    variables = write
    for m in range(first + elements[i], end):
        v = lists[m]
        if weight[v] > 0:
            d += weight[v]
            key += v
            lists[write] = v
            write += 1
    # p goes to the front.  There is room: p itself, or an element that p absorbed, has left the lists.
    if write > variables:
        lists[write] = lists[variables]
    if variables > first:
        lists[variables] = lists[first]
    lists[first] = p
    elements[i] = variables - first + 1
    length[i] = write - first + 1
    return d, key


@jit
def _merge_likes(n: int, g: Ints, lists: Ints, i: int, tag: int) -> int:
    """Absorb the variables behind i in its hash chain that have the same lists; the tag to use next."""
    start, length, elements = _part(g, n, START), _part(g, n, LENGTH), _part(g, n, ELEMENTS)
    weight, mark, chain = _part(g, n, WEIGHT), _part(g, n, OUTSIDE), _part(g, n, CHAIN)
    for m in range(start[i] + 1, start[i] + length[i]):
        mark[lists[m]] = tag
    before, j = i, chain[i]
    while j != NOBODY:
        same = length[i] == length[j] and elements[i] == elements[j]
        if same:
            for m in range(start[j] + 1, start[j] + length[j]):
                if mark[lists[m]] != tag:
                    same = False
                    break
        if same:
            weight[i] += weight[j]  # both negative
            weight[j] = 0
            start[j] = -1
            _part(g, n, PARENT)[j] = i
            chain[before] = chain[j]
        else:
            before = j
        j = chain[j]
    return tag + 1


@jit
def _update_variables(n: int, g: Ints, lists: Ints, p: int, tag: int) -> int:
    """Degrees (without p) and hash chains of the members of p; those without other neighbours are eliminated with p.

    Returns the weight eliminated."""
    start, weight, degree = _part(g, n, START), _part(g, n, WEIGHT), _part(g, n, DEGREE)
    bucket, chain = _part(g, n, BUCKET), _part(g, n, CHAIN)
    eliminated = 0
    for k in range(start[p], start[p] + _part(g, n, LENGTH)[p]):
        i = lists[k]
        d, key = _shorten(n, g, lists, i, p, tag)
        if d == 0:
            eliminated -= weight[i]
            weight[i] = 0
            start[i] = -1
            _part(g, n, PARENT)[i] = p
        else:
            degree[i] = min(degree[i], d)
            key = key % n
            chain[i] = bucket[key]
            bucket[key] = i
            _part(g, n, PREVIOUS)[i] = key
    return eliminated


@jit
def _finish_element(n: int, g: Ints, lists: Ints, p: int, left: int) -> int:
    """Unmark the members, put them into the lists of their degrees; the smallest degree."""
    start, weight, length, degree = _part(g, n, START), _part(g, n, WEIGHT), _part(g, n, LENGTH), _part(g, n, DEGREE)
    write, smallest = start[p], n
    for k in range(start[p], start[p] + length[p]):
        i = lists[k]
        size = -weight[i]
        if size <= 0:
            continue
        weight[i] = size
        d = max(min(degree[i] + degree[p] - size, left - size), 0)
        _link(n, g, i, d)
        smallest = min(smallest, d)
        lists[write] = i
        write += 1
    length[p] = write - start[p]
    return smallest


@jit
def _eliminate(n: int, g: Ints, lists: Ints, p: int, used: int, state: Ints) -> int:
    """Eliminate variable p; entries of `lists` used afterwards.  state: tag, weight left, smallest and largest
    degree."""
    start, length, weight = _part(g, n, START), _part(g, n, LENGTH), _part(g, n, WEIGHT)
    degree, bucket, tag = _part(g, n, DEGREE), _part(g, n, BUCKET), state[0]
    own = weight[p]
    weight[p] = -own
    used = _make_element(n, g, lists, p, used)
    total = 0
    for k in range(start[p], start[p] + length[p]):
        total -= weight[lists[k]]
        _unlink(n, g, lists[k])
    degree[p] = total
    _count_outside(n, g, lists, p, tag)
    gone = _update_variables(n, g, lists, p, tag)
    degree[p] = total - gone
    state[3] = max(state[3], total)
    tag += state[3] + 1  # beyond every value that OUTSIDE can hold now
    for k in range(start[p], start[p] + length[p]):
        i = lists[k]
        if weight[i] == 0:
            continue
        key = _part(g, n, PREVIOUS)[i]
        j = bucket[key]
        bucket[key] = NOBODY
        while j != NOBODY and _part(g, n, CHAIN)[j] != NOBODY:
            tag = _merge_likes(n, g, lists, j, tag)
            j = _part(g, n, CHAIN)[j]
    state[0] = tag
    state[1] -= own + gone
    weight[p] = own + gone
    state[2] = min(state[2], _finish_element(n, g, lists, p, state[1]))
    if length[p] == 0:
        start[p] = -1
    return used


@jit
def _place(n: int, g: Ints, count: int, pivots: Ints, order: Ints) -> None:
    """From the pivots in their order and the links of absorbed nodes to the order of all unknowns."""
    parent, rank, head, following = _part(g, n, PARENT), _part(g, n, DEGREE), _part(g, n, HEAD), _part(g, n, FOLLOWING)
    for i in range(n):
        rank[i] = NOBODY
        head[i] = NOBODY
    for k in range(count):
        rank[pivots[k]] = k
    for i in range(n - 1, -1, -1):
        root = i
        while rank[root] == NOBODY:
            root = parent[root]
        parent[i] = root
        if root != i:
            following[i] = head[rank[root]]
            head[rank[root]] = i
    at = 0
    for k in range(count):
        order[at] = pivots[k]
        at += 1
        i = head[k]
        while i != NOBODY:
            order[at] = i
            at += 1
            i = following[i]


@jit
def minimum_degree(
    n: int, indptr: Ints, indices: Ints, column_of: Ints, g: Ints, lists: Ints, room: int, order: Ints
) -> None:
    """order[k] is the unknown to eliminate k-th.

    `g` has room for 14 n + 4 entries, `lists` for `room`: twice the entries of the matrix and 2 n more at least."""
    pivots, state = shift(g, VECTORS * n), shift(g, (VECTORS + 1) * n)
    start, length, weight, degree = _part(g, n, START), _part(g, n, LENGTH), _part(g, n, WEIGHT), _part(g, n, DEGREE)
    head, outside, elements = _part(g, n, HEAD), _part(g, n, OUTSIDE), _part(g, n, ELEMENTS)
    _build_graph(n, indptr, indices, column_of, g, lists)
    used = _remove_doubles(n, g, lists)
    full = max(16.0, 10.0 * float(n) ** 0.5)
    for i in range(n):
        head[i] = NOBODY
        _part(g, n, TAIL)[i] = NOBODY
    left = 0
    for i in range(n):
        elements[i], outside[i] = 0, 0
        _part(g, n, BUCKET)[i] = NOBODY
        weight[i] = 0 if length[i] > full else 1
        if weight[i] != 0:
            left += 1
            _link(n, g, i, length[i])
    state[0], state[1], state[2], state[3] = 1, left, 0, 0
    count = 0
    while state[1] > 0:
        while head[state[2]] == NOBODY:
            state[2] += 1
        p = head[state[2]]
        _unlink(n, g, p)
        if used + degree[p] > room:
            used = _compact(n, g, lists, used)
        if state[0] > 1 << 29:
            state[0] = 1
            for i in range(n):
                outside[i] = 0
        used = _eliminate(n, g, lists, p, used, state)
        pivots[count] = p
        count += 1
    for i in range(n):  # nearly full rows come last
        if start[i] >= 0 and weight[i] == 0 and elements[i] == 0:
            pivots[count] = i
            count += 1
    _place(n, g, count, pivots, order)
