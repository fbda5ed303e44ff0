"""The fixed parts of native code: looking up tables, and the one kernel that drives all codes of a model."""

import struct


def exact(value: float) -> str:
    """A double as LLVM writes it exactly."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


FIND = """
define internal i64 @bg_find(ptr %block, double %x) nounwind {
  %nd = load double, ptr %block
  %n = fptosi double %nd to i64
  br label %loop
loop:
  %low = phi i64 [ 0, %0 ], [ %low2, %step ]
  %high = phi i64 [ %n, %0 ], [ %high2, %step ]
  %open = icmp slt i64 %low, %high
  br i1 %open, label %step, label %found
step:
  %sum = add nsw i64 %low, %high
  %middle = lshr i64 %sum, 1
  %next = add nsw i64 %middle, 1
  %knotp = getelementptr inbounds double, ptr %block, i64 %next
  %knot = load double, ptr %knotp
  %right = fcmp ole double %knot, %x
  %low2 = select i1 %right, i64 %next, i64 %low
  %high2 = select i1 %right, i64 %high, i64 %middle
  br label %loop
found:
  %lastp = getelementptr inbounds double, ptr %block, i64 %n
  %last = load double, ptr %lastp
  %ison = fcmp oeq double %last, %x
  %several = icmp sgt i64 %n, 1
  %isend = and i1 %ison, %several
  %inner = sub nsw i64 %n, 1
  %piece = select i1 %isend, i64 %inner, i64 %low
  ret i64 %piece
}
define internal ptr @bg_piece(ptr %block, i64 %piece) nounwind {
  %nd = load double, ptr %block
  %n = fptosi double %nd to i64
  %four = shl nsw i64 %piece, 2
  %head = add nsw i64 %n, 1
  %at = add nsw i64 %head, %four
  %result = getelementptr inbounds double, ptr %block, i64 %at
  ret ptr %result
}
define internal double @bg_from(ptr %block, i64 %piece, double %x) nounwind {
  %first = icmp slt i64 %piece, 1
  %at = select i1 %first, i64 1, i64 %piece
  %knotp = getelementptr inbounds double, ptr %block, i64 %at
  %knot = load double, ptr %knotp
  %s = fsub double %x, %knot
  ret double %s
}
"""


def _polynomial(name: str, body: str) -> str:
    """A function of a table: finds the piece, then works on its coefficients a b c d and the distance s."""
    loads = "".join(
        f"  %{letter}p = getelementptr inbounds double, ptr %at, i64 {k}\n  %{letter} = load double, ptr %{letter}p\n"
        for k, letter in enumerate("abcd")
    )
    return (
        f"define internal double @bg_{name}(ptr %block, double %x) nounwind {{\n"
        "  %piece = call i64 @bg_find(ptr %block, double %x)\n"
        "  %at = call ptr @bg_piece(ptr %block, i64 %piece)\n"
        f"  %s = call double @bg_from(ptr %block, i64 %piece, double %x)\n{loads}{body}  ret double %r\n}}\n"
    )


HELPERS = {
    "table": _polynomial(
        "table",
        "  %r1 = fmul double %s, %d\n  %r2 = fadd double %c, %r1\n  %r3 = fmul double %s, %r2\n"
        "  %r4 = fadd double %b, %r3\n  %r5 = fmul double %s, %r4\n  %r = fadd double %a, %r5\n",
    ),
    "dtable": _polynomial(
        "dtable",
        f"  %r1 = fmul double {exact(3.0)}, %d\n  %r2 = fmul double %s, %r1\n  %r3 = fmul double {exact(2.0)}, %c\n"
        "  %r4 = fadd double %r3, %r2\n  %r5 = fmul double %s, %r4\n  %r = fadd double %b, %r5\n",
    ),
    "ddtable": _polynomial(
        "ddtable",
        f"  %r1 = fmul double {exact(6.0)}, %d\n  %r2 = fmul double %s, %r1\n  %r3 = fmul double {exact(2.0)}, %c\n"
        "  %r = fadd double %r3, %r2\n",
    ),
    "dddtable": _polynomial("dddtable", f"  %r = fmul double {exact(6.0)}, %d\n"),
}

DRIVER = """
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
define void @bg_drive(double %t, ptr %y, ptr %d, ptr %p, ptr %z, ptr %index, ptr %counts, ptr %out) nounwind {
  %size = load i64, ptr %counts
  %bytes = shl i64 %size, 3
  call void @llvm.memset.p0.i64(ptr %out, i8 0, i64 %bytes, i1 false)
  %kp = getelementptr inbounds i64, ptr %counts, i64 1
  %k = load i64, ptr %kp
  br label %loop
loop:
  %m = phi i64 [ 0, %0 ], [ %m2, %step ]
  %more = icmp slt i64 %m, %k
  br i1 %more, label %step, label %done
step:
  %m3 = mul nsw i64 %m, 3
  %at = add nsw i64 %m3, 2
  %fp = getelementptr inbounds i64, ptr %counts, i64 %at
  %f = load ptr, ptr %fp
  %np = getelementptr inbounds i64, ptr %fp, i64 1
  %n = load i64, ptr %np
  %op = getelementptr inbounds i64, ptr %fp, i64 2
  %o = load i64, ptr %op
  %table = getelementptr inbounds i32, ptr %index, i64 %o
  call void %f(double %t, ptr %y, ptr %d, ptr %p, ptr %z, ptr %table, i64 %n, ptr %out)
  %m2 = add nuw nsw i64 %m, 1
  br label %loop
done:
  ret void
}
"""
"""The one kernel of all models: counts = size of out, number of parts, then for each part the address of its function,
how many instances, and where its columns begin in the index."""
