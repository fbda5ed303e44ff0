"""The formatter: the same tree, the same comments, and nothing to do the second time."""

import re

import pytest
from generate import programs
from hypothesis import given, settings
from programs import ALL

from bglang.diagnostics import Report, SourceError
from bglang.render import render_all
from bglang.source import Source
from bglang.syntax.dump import dump
from bglang.syntax.format import format_source
from bglang.syntax.format_lines import WIDTH
from bglang.syntax.lexer import lex
from bglang.syntax.parse import parse


def tree(text: str) -> str:
    report = Report()
    file = parse(Source("t.bg", text), report)
    assert file is not None, text + "\n" + render_all(report)
    return dump(file)


def comments(text: str) -> list[str]:
    """All comments, found between the tokens, with the blanks in them made equal."""
    tokens = lex(Source("t.bg", text))
    between = [text[tokens.end(i - 1) : tokens.starts[i]] for i in range(len(tokens))]
    found = [c for part in between for c in re.findall(r"//[^\n]*|/\*[\s\S]*?\*/", part)]
    return [" ".join(c.split()) for c in found]


def check(text: str) -> str:
    formatted = format_source(text)
    assert tree(formatted) == tree(text)
    assert comments(formatted) == comments(text)
    assert format_source(formatted) == formatted
    return formatted


@pytest.mark.parametrize("name", ALL)
def test_programs(name: str) -> None:
    check(ALL[name])


@settings(max_examples=100, deadline=None)
@given(programs())
def test_any_program(text: str) -> None:
    check(text)


def test_layout() -> None:
    text = """// about the file

model  M "words"   // about M
 // about v
 J1 v;I m( I=1 ) ;  // mass


 R r(R=a+b *c , e = -f^ 2);
bonds   // all of them
  v->m,r; for i in 1 : n-1 loop  v[ i ]->m[i+1]; /* one */ end for;
  if a then b->c; else d -> e; end if;
 // the end
end M;
// after
"""
    assert (
        check(text)
        == """// about the file

model M "words"  // about M
  // about v
  J1 v;
  I m(I = 1);  // mass

  R r(R = a + b*c, e = -f^2);
bonds  // all of them
  v -> m, r;
  for i in 1:n-1 loop
    v[i] -> m[i+1];  /* one */
  end for;
  if a then
    b -> c;
  else
    d -> e;
  end if;
  // the end
end M;
// after
"""
    )


def test_long_lines_are_broken() -> None:
    arguments = ", ".join(f"parameter_{i} = {i} + a{i}*b{i}" for i in range(12))
    text = check(f'model M Thing thing({arguments}) "a description of the thing"; end M;')
    assert max(map(len, text.splitlines())) <= WIDTH
    sums = " + ".join(f"long_name_{i}*factor_{i}" for i in range(20))
    text = check(f"model M equation y = {sums}; end M;")
    assert max(map(len, text.splitlines())) <= WIDTH


def test_rows_stay_where_they_are() -> None:
    text = "model M\n  Real t[:, 2] = [\n  0,1;\n  2,3;\n 4,5];\n  Real u[:, 2] = {{1, 2},\n{3, 4}};\nend M;\n"
    assert check(text).splitlines()[1:6] == [
        "  Real t[:, 2] = [0, 1;",
        "      2, 3;",
        "      4, 5];",
        "  Real u[:, 2] = {{1, 2},",
        "      {3, 4}};",
    ]


def test_comments_inside_of_statements() -> None:
    check("model M\n  R r(R = 1, // 1st\n    // 2nd\n    e = /* 3rd */ 2) // 4th\n  ; // 5th\nend M // 6th\n;\n")


def test_numbers_and_dots() -> None:
    assert "2 .* x + 2. * x - 2. / 3" in check("model M Real y = 2 .*x + 2. * x - 2. /3; end M;")


def test_line_ends() -> None:
    assert check("\ufeffmodel M\r\n\tJ1 v; // c\r\n\r\n\r\nend M;\r\n") == "model M\n  J1 v;  // c\n\nend M;\n"


def test_wrong_sources_are_refused() -> None:
    with pytest.raises(SourceError, match="missing-end"):
        format_source("model M")


def test_dump_shows_the_tree() -> None:
    report = Report()
    file = parse(Source("t.bg", "model M R r[2](R = -x.y + 1); end M;"), report)
    assert (
        dump(file)
        == """\
File
  classes:
    1: Class model M
      sections:
        1: Section declarations
          items:
            1: Component
              type: Name R
              declarators:
                1: Declarator r
                  subscripts:
                    1: Number 2
                  args:
                    1: Argument
                      name: Name R
                      value: Binary +
                        left: Unary -
                          operand: Name x.y
                        right: Number 1"""
    )
    assert "Number 2 @1:13" in dump(file, places=True)
