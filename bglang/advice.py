"""What to say about each kind of mistake where a message itself says no more: why it is one, and what to do.

Every message has a hint.  Most are made where the mistake is found, with the names of the model in them; the others
take theirs from this table, by code."""

from typing import NamedTuple


class Advice(NamedTuple):
    reason: str
    hint: str


NONE = Advice("", "")
ADVICE = {
    "arrays/each": Advice("", "write `each` before it, or give one value per member."),
    "arrays/index": Advice("Subscripts count from 1 to the size of the array.", "check the subscript and the size."),
    "arrays/shape": Advice("Arrays fit when they have the same sizes.", "check the sizes of both."),
    "arrays/size": Advice("A size is a whole number, 0 or more.", "check the expression of the size."),
    "bonds/shape": Advice(
        "Arrays of equal shape are bonded member by member.", "choose members or slices of the same shape: `a[1:n]`."
    ),
    "classes/kind": Advice("What a class may hold and extend depends on its kind.", "use another kind of class."),
    "classes/section": Advice(
        "Each part of a class has a place of its own.", "move it under the heading it belongs to."
    ),
    "enport/function": Advice("", "write the function in the law by hand."),
    "enport/order": Advice("", "sort the points of the table by X."),
    "enport/scan": Advice("", "rename the node if this is not meant."),
    "enport/variable": Advice("", "write the variable by its name: `node.e`, `node.f`, `node.q`, `node.p`."),
    "equations/shared-friction": Advice("", "make them one friction, or put something elastic between them."),
    "equations/tuple": Advice(
        "A function with several outputs gives them in order.", "write `(a, b) = g(x);` with as many names as outputs."
    ),
    "equations/when": Advice(
        "In a `when` variables take values and states are set anew.",
        "write `x = …;` for a discrete variable or `reinit(state, value);`.",
    ),
    "events/sample": Advice("", "`sample(start, interval)` needs a positive interval."),
    "experiment/times": Advice("A run goes forward in time.", "let StopTime be greater than StartTime."),
    "experiment/tolerance": Advice("It bounds the error of the results.", "write for instance `Tolerance = 1e-6`."),
    "experiment/unknown": Advice(
        "It has no effect.",
        "the usual ones are StartTime, StopTime, Tolerance, Interval and initial.",
    ),
    "expressions/division-by-zero": Advice("The quotient has no value.", "check what the divisor is made of."),
    "expressions/end": Advice("", "write `a[end]` for the last member of `a`."),
    "expressions/not-a-number": Advice("The function has no value there.", "check the arguments."),
    "expressions/not-constant": Advice(
        "Sizes, conditions around declarations and bonds, and bounds of loops shape the model.",
        "use parameters and constants here; a condition that changes belongs into a law: `e = if … then … else …`.",
    ),
    "expressions/singular": Advice("Its determinant is zero.", "check the matrix, or leave the system implicit."),
    "functions/arguments": Advice("", "compare the call with the declaration of the function."),
    "functions/assertion": Advice("The function refuses these arguments.", "check the arguments of the call."),
    "functions/declaration": Advice(
        "A function has inputs, outputs and an algorithm.", "declare `input Real x;` and `output Real y;`."
    ),
    "functions/recursion": Advice("A function is written out where it is called.", "use a loop instead."),
    "functions/statement": Advice("", "a statement looks like `y := x^2;`."),
    "functions/unassigned": Advice(
        "Every way through the algorithm must give it a value.", "assign it at the beginning, or in every branch."
    ),
    "graph/dangling-junction": Advice("", "bond something else to it; a source of 0 there says that it is meant."),
    "laws/too-few": Advice("Every port needs one law.", "write a law for each port, or an `energy`."),
    "laws/too-many": Advice("Every port needs one law.", "remove one of the laws."),
    "enport/connector": Advice("", "write `name BG V from to`, with nodes of the NODE table."),
    "enport/counts": Advice("", "check the three numbers behind the function, and the rows below it."),
    "enport/empty": Advice("", "check that this is the right file."),
    "enport/end": Advice("", "the file may be cut off; END-FILE is its last line."),
    "enport/equation": Advice("", "every node but a junction needs a block `Node: … Equation: …`."),
    "enport/graph": Advice("", "the tables NODE and CONNECTOR describe the graph."),
    "enport/heading": Advice("", "check that this is an ENPORT model file."),
    "enport/inactive": Advice("", "remove the node if it is not meant to take part."),
    "enport/macro": Advice("", "its nodes are kept one by one."),
    "enport/matrix": Advice("", "a matrix stands in blocks of at most three columns, each headed by X names."),
    "enport/node": Advice("", "write `name type x y T`."),
    "enport/number": Advice("", "check the row for errors of scanning."),
    "enport/outputs": Advice("", "a node equation is missing or stands twice."),
    "enport/parameter": Advice("", "an index above 0 stands for one value everywhere; write 0 for a plain number."),
    "enport/row": Advice("", "write the value and its index, 0 for a plain number."),
    "enport/twice": Advice("", "rename one of them."),
    "enport/unknown": Advice("", "it is kept as a comment in the source."),
    "export/unsupported": Advice("", "run the model with `bglang run`, or write this part of it in another way."),
    "fmu/file": Advice("", "ask where it comes from for a unit of FMI 2.0 for co-simulation."),
    "fmu/run": Advice("", "check the values that it is given, or take a shorter `step`."),
    "files/text": Advice("", "check that this is the right file."),
    "mck/delimiter": Advice("", "matrices stand in `[` and `]`, each row ended by `;`."),
    "mck/dimension": Advice("", "DIMENSION is the number of degrees of freedom; rows may go over several lines."),
    "mck/empty": Advice("", "check that this is the right file."),
    "mck/export": Advice("", "replace what is not linear, or keep the model as source."),
    "mck/force": Advice("", "each line of FORCE INFORMATION is `0` or `1` and a number."),
    "mck/form": Advice("", "use the multiport form, which takes any matrices."),
    "mck/heading": Advice("", "check that this is an MCK file."),
    "mck/keyword": Advice("", "check the spelling; keywords are in capitals."),
    "mck/matrix": Advice("", "masses and stiffnesses are symmetric, and no motion has negative kinetic energy."),
    "mck/matrix-file": Advice(
        "", "MatrixMarket files (.mtx) hold one real matrix, .npz archives the arrays M, K and C."
    ),
    "mck/missing": Advice("", "an MCK file has DIMENSION, MASS MATRIX and STIFFNESS MATRIX."),
    "mck/number": Advice("", "write numbers as 1.5, -2 or 1.5E+03."),
    "mck/order": Advice("", "move DIMENSION up."),
    "mck/settings": Advice("", "give a file, or `M`, `K` and, with damping, `C`."),
    "mck/twice": Advice("", "remove one of them."),
    "mck/after-end": Advice("", "move it before END-FILE, or remove it."),
    "mck/description": Advice("", "shorten it if the file goes to other programs."),
    "names/duplicate": Advice("Names of one class are different.", "rename one of them."),
    "names/unknown": Advice("", "check the spelling, or declare it."),
    "parameters/cyclic": Advice("", "give one of them a value of its own."),
    "parameters/no-value": Advice("", "give it a value where it is declared or used, or with `--set`."),
    "parameters/not-a-number": Advice("", "check the values that it is made of."),
    "parameter/range": Advice("", "choose a value between its `min` and `max`."),
    "parameter/value": Advice("", "check the values that it is made of."),
    "run/table": Advice("", 'give the table more points, or say `outside = "linear"`.'),
    "run/no-value": Advice("", "limit its argument, or look at whether the model should come there at all."),
    "run/assert": Advice("The model itself says that this must not be.", "change the values that the condition reads."),
    "solve/no-solution": Advice("", "check the laws there: no values of these variables satisfy them all."),
    "syntax/argument": Advice("", "write plain values or `name = value`."),
    "syntax/binary": Advice("", "save it as plain text in UTF-8."),
    "syntax/end-value": Advice("", "write the array before it: `x[end]`."),
    "syntax/missing-end": Advice(
        "Classes, `if`, `for`, `when` and `while` end with `end`.", "write it where it is missing."
    ),
    "syntax/missing-semicolon": Advice(
        "Every declaration, bond, equation and statement ends with a semicolon.", "write `;` here."
    ),
    "syntax/missing-value": Advice("", "write the value, or remove what asks for it."),
    "syntax/missing-word": Advice("", "write it here."),
    "syntax/number": Advice("", "write a number of ordinary size."),
    "syntax/statement": Advice("", "say what is to become of the value, as in `x = …;`."),
    "syntax/type-name": Advice("", "put the subscripts behind the declared name: `Real x[3];`."),
    "syntax/unbalanced": Advice("Brackets come in pairs.", "close the bracket where its contents end."),
    "syntax/unexpected": Advice("", "something is missing before it, or it is too much."),
    "syntax/wrong-end": Advice("An `end` names what it ends.", "remove it, or check what is open here."),
    "syntax/if-expression": Advice("", "write `if … then … else …`."),
    "tables/data": Advice(
        "A table is a list of points.", "write them as `[x1, y1; x2, y2; …]`, or name a csv file with two columns."
    ),
    "tables/file": Advice("", "a table is a text file with two columns of numbers."),
    "tables/option": Advice("", "leave it out to take the first one."),
    "tables/order": Advice("", "sort the points by x and remove those that are given twice."),
    "types/argument": Advice("", "check the arguments and their types."),
    "types/choice": Advice("Only these have a meaning here.", "choose one of them, in double quotes."),
    "types/loop": Advice("", "write `for i in 1:n loop … end for;`."),
    "types/mismatch": Advice(
        "Of types only Integer becomes Real by itself.", "give it a value of the type that is wanted."
    ),
    "types/not-a-component": Advice("", "declare a component of a model, block or element."),
    "types/not-a-value": Advice("", "name a variable or parameter of a component."),
    "types/operands": Advice("", "check the types of both sides; relations such as `x > 0` give Booleans."),
    "types/range": Advice("", "write `first:last` or `first:step:last`."),
    "types/subscript": Advice("", "remove the subscript, or declare the name as an array."),
    "types/variability": Advice("It is fixed before the run begins.", "use parameters and constants here."),
}


def advice_for(code: str) -> Advice:
    return ADVICE.get(code, NONE)
