"""Words of Modelica that are not in the language, and what is used instead."""

REPLACED = {
    "connect": "write `a -> b;` in a `bonds` section.",
    "connector": "use a port: `port Electrical pin;`.",
    "record": "use a `package` of constants, or a `model` with parameters.",
    "inner": "give the value to the parts that need it by modifications, or keep it as a `constant` in a package.",
    "outer": "give the value to the parts that need it by modifications, or keep it as a `constant` in a package.",
    "flow": "which variable is the flow is said by the domain of a port: `port Hydraulic a;`.",
    "stream": "carry the property in a bond of its own, for instance a thermal one beside the hydraulic one.",
    "delay": "use an `FMU`, or approximate it by a chain of first-order blocks.",
    "external": "write the body as an `algorithm`, or use an `FMU`.",
    "operator": "define a `function` and call it by its name.",
    "expandable": "use ports and signals, which are declared one by one.",
    "pure": "every function is pure: leave the word out.",
    "impure": "every function is pure: leave the word out.",
    "Clock": "use `when sample(start, interval) then ... end when;`.",
    "hold": "a `discrete` variable that is assigned in a `when` holds its value by itself.",
    "previous": "use `pre(x)`.",
    "subSample": "use `when sample(start, interval) then ... end when;`.",
    "superSample": "use `when sample(start, interval) then ... end when;`.",
    "shiftSample": "use `when sample(start, interval) then ... end when;`.",
    "backSample": "use `when sample(start, interval) then ... end when;`.",
    "noClock": "use `when sample(start, interval) then ... end when;`.",
}
"""What to do instead of each; for a hint."""

PREFIX_WORDS = frozenset({"inner", "outer", "flow", "stream", "operator", "expandable", "pure", "impure", "external"})
"""Those that stand before a declaration or class; they are names here, so the parser stumbles over what follows."""
