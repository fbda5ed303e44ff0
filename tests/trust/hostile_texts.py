# ruff: noqa: E501  attacks are kept on one line each
"""Sources that try to run code, read what they may not, or use up the machine; each is answered with diagnostics."""

BODY = "J1 v; I m(I = 1); bonds v -> m;"


def _doubling(n: int, first: str, each: str) -> str:
    return first + " ".join(each.replace("NEXT", str(i + 1)).replace("LAST", str(i)) for i in range(n))


def _functions(n: int) -> str:
    first = "function f0 input Real x; output Real y; algorithm y := x*x + x; end f0; "
    return _doubling(
        n, first, "function fNEXT input Real x; output Real y; algorithm y := fLAST(x) + fLAST(x + 1); end fNEXT;"
    )


REFUSED = {
    "import os": 'model M Real x = __import__("os").system("touch pwned"); end M;',
    "dunder": "model M parameter Real x = ().__class__.__bases__; end M;",
    "eval": 'model M parameter Real x = eval("1+1"); J1 v; I m(I = x); bonds v -> m; end M;',
    "open": 'model M parameter Real x = open("/etc/passwd"); J1 v; I m(I = x); bonds v -> m; end M;',
    "power in a size": "model M parameter Real x[integer(10^10)]; end M;",
    "tower of powers": "model M parameter Integer n = 10^(10^10); J1 v[n]; end M;",
    "powers of powers": "model M parameter Integer n = ((10^100)^100)^100; R r[n]; end M;",
    "size 1e18": "model M parameter Integer n = 1000000000000000000; J1 v[n]; end M;",
    "size in two dimensions": "model M Real v[1000000000000000000, 1000000000]; end M;",
    "loop to 1e12": "model M J1 v; bonds for i in 1:1000000000000 loop end for; end M;",
    "loops in loops": "model M J1 v; bonds " + "for i in 1:1000 loop " * 8 + "end for; " * 8 + "end M;",
    "comprehension": "model M parameter Real x = sum({i for i in 1:1000000000000}); end M;",
    "comprehension in four": "model M parameter Real x = sum({i*j*k*l for i in 1:1000, j in 1:1000, k in 1:1000, l in 1:1000}); end M;",
    "comprehension in comprehension": "model M parameter Real x = sum({sum({i*j for i in 1:9000}) for j in 1:9000}); end M;",
    "zeros": "model M parameter Real x[:,:] = zeros(1000000000, 1000000000); end M;",
    "identity": "model M parameter Real x = sum(identity(1000000)); end M;",
    "linspace": "model M parameter Real x = sum(linspace(0, 1, 1000000000000)); end M;",
    "arrays doubled": "model M " + _doubling(40, "parameter Real a0[10] = ones(10); ", "parameter Real aNEXT[:] = cat(1, aLAST, aLAST);") + " end M;",
    "strings doubled": "model M " + _doubling(40, 'parameter String a0 = "' + "x" * 100 + '"; ', "parameter String aNEXT = aLAST + aLAST;") + f" {BODY} end M;",
    "functions doubled": _functions(30) + "model M J1 v; I m(I = 1); R r(e = f30(f)); bonds v -> m, r; end M;",
    "functions doubled in a size": _functions(30) + "model M parameter Integer n = integer(f30(1)); J1 v[n]; end M;",
    "function calls itself": "function f input Real x; output Real y; algorithm y := f(x - 1); end f; model M parameter Real a = f(3); end M;",
    "functions call each other": "function f input Real x; output Real y; algorithm y := g(x); end f; function g input Real x; output Real y; algorithm y := f(x); end g; model M parameter Real a = f(3); end M;",
    "endless while": "function f input Real x; output Real y; algorithm y := x; while true loop y := y + 1; end while; end f; model M parameter Real a = f(3); J1 v; I m(I = a); bonds v -> m; end M;",
    "endless while in a law": "function f input Real x; output Real y; algorithm y := x; while true loop y := y + 1; end while; end f; model M J1 v; I m(I = 1); R r(e = f(f)); bonds v -> m, r; end M;",
    "endless while with a product": "function f input Real x; output Real y; algorithm y := x; while true loop y := y*x + sin(x); end while; end f; model M J1 v; I m(I = 1); R r(e = f(f)); bonds v -> m, r; end M;",
    "while that the run would end": "function f input Real x; output Real y; algorithm y := x; while y > 0 loop y := y + 1; end while; end f; model M J1 v; I m(I = 1); R r(e = f(f)); bonds v -> m, r; end M;",
    "long for in a function": "function f input Real x; output Real y; algorithm y := x; for i in 1:1000000000 loop y := y + x; end for; end f; model M J1 v; I m(I = 1); R r(e = f(f)); bonds v -> m, r; end M;",
    "model in itself": "model A A a; end A; model M A a; end M;",
    "models in each other": "model A B b; end A; model B A a; end B; model M A a; end M;",
    "models doubled": _doubling(60, "model A0 J1 v; end A0; ", "model ANEXT ALAST a; ALAST b; end ANEXT;") + " model M A60 x; end M;",
    "arrays of arrays of models": _doubling(20, "model A0 J1 v; end A0; ", "model ANEXT ALAST a[10]; end ANEXT;") + " model M A20 x; end M;",
    "macro in itself": "macro A(node a) J1 v; bonds a -> v; A x(v); end A; model M J1 j; bonds A x(j); end M;",
    "macros doubled": _doubling(60, "macro A0(node a) J1 v; bonds a -> v; end A0; ", "macro ANEXT(node a) bonds ALAST x(a); ALAST y(a); end ANEXT;") + " model M J1 j; bonds A60 x(j); end M;",
    "inheritance in a circle": "model A extends B; end A; model B extends A; end B; model M extends A; end M;",
    "inheritance doubled": _doubling(60, "model A0 J1 v; end A0; ", "model ANEXT extends ALAST; extends ALAST; end ANEXT;") + " model M extends A60; end M;",
    "redeclared as itself": "model A replaceable model B = A; B b; end A; model M A a(redeclare model B = A); end M;",
    "a size in a circle": "model M parameter Real a = 2:b; parameter Real b = c + 1; parameter Real c = a; Real x = a*time; end M;",
    "parameters in a circle": "model M parameter Real a = b; parameter Real b = a; end M;",
    "import circle": "import M.*; import A.B; model M import M; J1 v; I m(I = 1); bonds v -> m; end M;",
    "type circle": "type T = U; type U = T; model M T x = 1; end M;",
    "parentheses": "model M Real x = " + "(" * 90_000 + "1" + ")" * 90_000 + "; end M;",
    "braces": "model M Real x = " + "{" * 90_000 + "1" + "}" * 90_000 + "; end M;",
    "dots": "model M Real x = " + "a." * 60_000 + "b; end M;",
    "nots": "model M Boolean x = " + "not " * 40_000 + "true; end M;",
    "minus": "model M Real x = " + "-" * 100_000 + "1; end M;",
    "long name": "model M Real " + "x" * 100_000 + "; end M;",
    "large file": "model M " + "Real x; " * 200_000 + "end M;",
    "open comment": "/* " * 50_000,
    "open string": 'model M "' + "x" * 150_000,
    "quotes": '"' * 100_001,
    "backslashes": '"' + "\\" * 100_001,
    "zero byte": "model M\0 Real x; end M;",
    "zero byte in a string": 'model M parameter String s = "a\0b"; end M;',
    "right to left": "model M Real \u202ex = 1; end M;",
    "same letters": "model М Real х = 1; end M;",
    "zero width": "model M Re\u200bal x; end M;",
    "half a character": "model M \ud800 end M;",
    "accents": "model M Real e" + "\u0301" * 10_000 + "; end M;",
    "dense field": "element F parameter Integer n = 300; port Any d[n]; parameter Real A[n,n] = ones(n,n); equation d.e = A*d.q; end F; model M parameter Integer n = 300; F x(n = n); J1 v[n]; bonds v -> x.d; end M;",
    "inverse of symbols": "model M parameter Integer n = 40; parameter Real A[n,n] = identity(n); Real B[n,n] = inv(A*time + identity(n)); end M;",
    "not a number": "model M J1 v; I m(I = 1); bonds v -> m; annotation(experiment(StopTime = 0/0, Tolerance = -1)); end M;",
    "home in a name": 'model M R r(f = table(e, "$HOME/.bashrc")); J1 v; I m(I = 1); bonds v -> r, m; end M;',
    "tilde in a name": 'model M R r(f = table(e, "~/.bashrc")); J1 v; I m(I = 1); bonds v -> r, m; end M;',
    "password file": 'model M R r(f = table(e, "/etc/passwd")); J1 v; I m(I = 1); bonds v -> r, m; end M;',
    "parent folder": 'model M R r(f = table(e, "../../../../../../etc/passwd")); J1 v; I m(I = 1); bonds v -> r, m; end M;',
    "endless device": 'model M R r(f = table(e, "/dev/zero")); J1 v; I m(I = 1); bonds v -> r, m; end M;',
    "zero in a file name": 'model M R r(f = table(e, "a\\0b")); J1 v; I m(I = 1); bonds v -> r, m; end M;',
    "long file name": 'model M R r(f = table(e, "' + "a/" * 5000 + '")); J1 v; I m(I = 1); bonds v -> r, m; end M;',
    "native code": 'model M FMU x(file = "evil.fmu"); end M;',
    "rate of its own flow": "model M J1 v; I m(I = 0); R r(R = 1); Se push(e = 3*der(v.f)); bonds push -> v -> m, r; end M;",
    "rate of its own flow, far": "model M J1 v, w; TF t(m = 2); R r(R = 1), s(f = e^3 + e); Se push(e = 3*der(w.f)); bonds push -> v -> t -> w; v -> r; w -> s; end M;",
}  # fmt: skip

HARMLESS = {
    "Python in quotes": f"model M parameter Real '__import__(\"os\")' = 1; {BODY} end M;",
    "format strings": f'model M parameter String s = "{{0.__class__}} %s%n ${{HOME}}"; {BODY} end M;',
    "values doubled": "model M " + _doubling(60, "Real x0 = time; ", "Real xNEXT = xLAST*xLAST + xLAST;") + f" {BODY} end M;",
    "parameters doubled": "model M " + _doubling(60, "parameter Real x0 = 1; ", "parameter Real xNEXT = xLAST/2 + xLAST/2;") + f" {BODY} end M;",
    "law doubled": "model M " + _doubling(40, "Real y0 = v.f; ", "Real yNEXT = sin(yLAST)*cos(yLAST);") + " J1 v; I m(I = 1); R r(e = y40*f); bonds v -> m, r; end M;",
    "deep law": "model M J1 v; I m(I = 1); R r(e = " + "sin(f*" * 90 + "f" + ")" * 90 + "); bonds v -> m, r; end M;",
    "product of sixty": "element F port Any d[60]; energy = product(d.q); end F; model M F x; J1 v[60]; I m[60](each I = 1); bonds v -> x.d; v -> m; end M;",
    "many branches": "model M J1 v; I m(I = 1); R r(e = " + "+".join(f"(if f > {i} then f else 0)" for i in range(300)) + "); bonds v -> m, r; end M;",
    "long run": "model M J1 v; I m(I = 1); bonds v -> m; annotation(experiment(StopTime = 1e300)); end M;",
}  # fmt: skip
