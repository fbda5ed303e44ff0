"""Tables in Modelica: arrays of abscissas and cubic pieces, and the functions that read them."""

from collections.abc import Iterable, Mapping, Set

from bglang.interop.exported import Ready

_VALUES = {
    "table": "c[i,1] + s*(c[i,2] + s*(c[i,3] + s*c[i,4]))",
    "dtable": "c[i,2] + s*(2*c[i,3] + s*3*c[i,4])",
    "ddtable": "2*c[i,3] + s*6*c[i,4]",
    "dddtable": "6*c[i,4]",
}
_ABOUT = {
    "table": "value of a table: c[i] is the cubic piece before knots[i], the last one lies behind all",
    "dtable": "slope of a table",
    "ddtable": "second derivative of a table",
    "dddtable": "third derivative of a table",
}


def functions(used: Iterable[str]) -> list[str]:
    """The declarations of the functions that a model calls."""
    lines = list[str]()
    for name in used:
        lines += [
            f'  function {name} "{_ABOUT[name]}"',
            "    input Real x;",
            "    input Real knots[:];",
            "    input Real c[:,4];",
            "    output Real y;",
            "  protected",
            "    Integer i;",
            "    Real s;",
            "  algorithm",
            "    i := 1;",
            "    for k in 1:size(knots, 1) loop",
            "      if knots[k] <= x and (k < size(knots, 1) or knots[k] < x or k == 1) then",
            "        i := k + 1;",
            "      end if;",
            "    end for;",
            "    s := x - knots[max(i - 1, 1)];",
            f"    y := {_VALUES[name]};",
            f"  end {name};",
        ]
    return lines


def table_arrays(ready: Ready, names: Mapping[str, str], used: Set[str]) -> list[str]:
    """The numbers of the tables that are used.  They are those of the exported parameters."""
    lines = list[str]()
    for table in ready.program.tables:
        if table.key not in used:
            continue
        n, base, name = table.count, table.base, names[table.key]
        knots = ready.p[base + 1 : base + 1 + n]
        pieces = ready.p[base + 1 + n : base + 1 + n + 4 * (n + 1)].reshape(n + 1, 4)
        rows = "; ".join(", ".join(repr(float(c)) for c in piece) for piece in pieces)
        lines.append(f"  constant Real {name}_x[{n}] = {{{', '.join(repr(float(x)) for x in knots)}}};")
        lines.append(f"  constant Real {name}_c[{n + 1},4] = [{rows}];")
    return lines
