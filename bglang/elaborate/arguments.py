"""Arguments of calls: by position or by name, matched with what a function takes."""

from collections.abc import Mapping, Sequence

from bglang.elaborate.builtins import Signature
from bglang.elaborate.hints import did_you_mean
from bglang.elaborate.protocol import Fault, fault
from bglang.elaborate.values import Value, named, real
from bglang.records import dataclass
from bglang.source import Span
from bglang.syntax import ast


@dataclass(frozen=True, slots=True)
class Arguments:
    """The values of a call's arguments, with their places."""

    function: str
    span: Span
    positional: tuple[tuple[Value, Span], ...]
    named: Mapping[str, tuple[Value, Span]]

    def values(self) -> list[Value]:
        return [value for value, _ in self.positional]

    def exactly(self, count: int) -> list[Value]:
        """The arguments of a function that takes so many of them by position."""
        self.unnamed()
        if len(self.positional) != count:
            raise self.wrong_count(str(count), count)
        return self.values()

    def unnamed(self) -> None:
        for name, (_, span) in self.named.items():
            raise fault(
                "functions/arguments",
                f"`{self.function}` takes its arguments by position; `{name} = …` is not one of them",
                span,
            )

    def at_least(self, count: int) -> list[Value]:
        self.unnamed()
        if len(self.positional) < count:
            raise self.wrong_count(f"at least {count}", count)
        return self.values()

    def wrong_count(self, expected: str, last: int) -> Fault:
        given = len(self.positional)
        noun = "argument" if last == 1 else "arguments"
        return fault(
            "functions/arguments",
            f"`{self.function}` takes {expected} {noun}, but {_count(given)} given",
            self.span,
        )

    def match(self, signature: Signature) -> list[tuple[Value, Span]]:
        """One value per parameter of the signature, defaults filled in."""
        aliases = dict(signature.aliases)
        found: dict[str, tuple[Value, Span]] = dict(zip(signature.parameters, self.positional, strict=False))
        if len(self.positional) > len(signature.parameters):
            raise self.wrong_count(f"at most {len(signature.parameters)}", len(signature.parameters))
        for name, (value, span) in self.named.items():
            parameter = aliases.get(name, name)
            if parameter not in signature.parameters:
                known = ", ".join(f"`{p}`" for p in signature.parameters)
                raise fault(
                    "functions/arguments",
                    f"`{self.function}` has no parameter `{name}`",
                    span,
                    reason=f"Its parameters are {known}.",
                    hint=did_you_mean(name, signature.parameters),
                )
            if parameter in found:
                raise fault("functions/arguments", f"`{parameter}` of `{self.function}` is given twice", span)
            found[parameter] = value, span
        first_default = len(signature.parameters) - len(signature.defaults)
        for k, parameter in enumerate(signature.parameters):
            if parameter not in found:
                if k < first_default:
                    raise fault("functions/arguments", f"`{self.function}` needs `{parameter}`", self.span)
                found[parameter] = real(signature.defaults[k - first_default]), self.span
        return [found[parameter] for parameter in signature.parameters]


def _count(n: int) -> str:
    return "none is" if n == 0 else "1 is" if n == 1 else f"{n} are"


def numbers(function: str, pairs: Sequence[tuple[Value, Span]]) -> list[Value]:
    """The values, if all are numbers."""
    for value, span in pairs:
        if not value.numeric:
            hint = "`if b then 1 else 0` turns a Boolean into a number." if value.type == "Boolean" else ""
            raise fault("types/argument", f"`{function}` needs a number, but this is {named(value)}", span, hint=hint)
    return [value for value, _ in pairs]


def expression_of(argument: ast.Argument) -> ast.Expression:
    """The expression that an argument by position is; `sin(cos(x))` has an argument that looks like a modification."""
    if argument.value is not None and argument.args is None and argument.redeclare is None:
        return argument.value
    if argument.name is not None and argument.args is not None and argument.value is None:
        return ast.Call(argument.name, argument.args, argument.span)
    raise fault("functions/arguments", "this is not an argument of a function", argument.span)


def name_of(argument: ast.Argument) -> str | None:
    """The parameter's name of an argument by name, None for one by position."""
    if argument.name is None or argument.value is None:
        return None
    if len(argument.name.parts) != 1 or argument.name.parts[0].subscripts is not None:
        raise fault("functions/arguments", "an argument is given by the plain name of a parameter", argument.name.span)
    return argument.name.parts[0].ident
