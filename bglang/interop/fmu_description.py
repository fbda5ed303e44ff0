"""modelDescription.xml of an exported model (FMI 2.0)."""

import re
from collections.abc import Iterable, Mapping
from xml.sax.saxutils import quoteattr

from bglang import __version__
from bglang.interop.c_model import inputs_of, parameters_of
from bglang.interop.exported import Ready
from bglang.records import dataclass

STRIDE = 1 << 24
UNKNOWN, RATE, PARAMETER, OUTPUT, INPUT = (kind * STRIDE for kind in range(5))
"""Value references, as `fmu2.c` reads them."""


@dataclass(frozen=True, slots=True)
class Variable:
    """One ScalarVariable; `derivative` is the name of the state whose rate it is."""

    name: str
    reference: int
    causality: str
    variability: str
    initial: str
    unit: str = ""
    description: str = ""
    start: float | None = None
    derivative: str = ""


def identifier(name: str) -> str:
    """A model's name as C and file systems accept it."""
    made = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return made if re.match(r"[A-Za-z_]", made) else f"m_{made}"


def variables_of(ready: Ready) -> list[Variable]:
    """Inputs, declared outputs, parameters, states with their rates, then everything else."""
    system, at = ready.system, ready.at
    numbers = {system.outputs[int(k)].name: n for n, k in enumerate(ready.program.output_numbers)}
    states = {u.name for u in system.unknowns if u.kind == "state"}
    declared = [name for name in ready.graph.outputs if name in numbers and name not in states]
    discrete = {v.name for v in ready.graph.variables if v.kind == "discrete"}
    found = _inputs(ready)
    for name in declared:
        found.append(_output(ready, numbers[name], "output", name in discrete))
    found += _parameters(ready)
    for i, u in enumerate(system.unknowns):
        if u.kind == "state":
            causality = "output" if u.name in ready.graph.outputs else "local"
            start = float(at.y[i]) if ready.restarts else None
            initial = "exact" if ready.restarts else "calculated"
            found.append(Variable(u.name, UNKNOWN + i, causality, "continuous", initial, u.unit, "", start))
            rate = f"{u.unit}/s" if u.unit else ""
            name = f"der({u.name})"
            found.append(Variable(name, RATE + i, "local", "continuous", "calculated", rate, "", None, u.name))
    known = {v.name for v in found}
    found += [_output(ready, n, "local", name in discrete) for name, n in numbers.items() if name not in known]
    return found


def _output(ready: Ready, number: int, causality: str, discrete: bool) -> Variable:
    output = ready.system.outputs[int(ready.program.output_numbers[number])]
    variability = "discrete" if discrete else "continuous"
    return Variable(output.name, OUTPUT + number, causality, variability, "calculated", output.unit, output.description)


def _inputs(ready: Ready) -> list[Variable]:
    known = {v.name: v for v in ready.graph.variables}
    found = list[Variable]()
    for n, mode in enumerate(inputs_of(ready)):
        v = known[ready.system.modes[mode].name]
        start = float(ready.at.z[mode])
        found.append(Variable(v.name, INPUT + n, "input", "continuous", "", v.unit, v.description, start))
    return found


def _parameters(ready: Ready) -> list[Variable]:
    """Those given as numbers may be set; those computed from others follow."""
    known = {q.name: q for q in ready.graph.parameters}
    found = list[Variable]()
    for n, k in enumerate(parameters_of(ready)):
        q = ready.system.parameters[k]
        about = known[q.name]
        value = float(ready.p[k])
        kind = ("parameter", "fixed", "exact")
        if isinstance(q.value, tuple):
            kind = ("calculatedParameter", "fixed", "calculated")
        elif about.final or k in ready.tied or not ready.restarts:
            kind = ("local", "constant", "exact")
        start = None if kind[2] == "calculated" else value
        found.append(Variable(q.name, PARAMETER + n, *kind, about.unit, about.description, start))
    return found


def description(ready: Ready, guid: str, sources: Iterable[str], date: str) -> str:
    """The whole document."""
    variables = variables_of(ready)
    index = {v.name: k for k, v in enumerate(variables, 1)}
    experiment, name = ready.system.experiment, identifier(ready.system.name)
    roots = sum(len(m.roots) for m in ready.system.modes)
    units = sorted({v.unit for v in variables if v.unit})
    files = ["    <SourceFiles>", *(f"      <File name={quoteattr(f)}/>" for f in sources), "    </SourceFiles>"]
    step = experiment.interval or (experiment.stop - experiment.start) / 500
    head = {
        "fmiVersion": "2.0", "modelName": ready.system.name, "guid": guid, "description": ready.graph.description,
        "generationTool": f"bglang {__version__}", "generationDateAndTime": date,
        "variableNamingConvention": "structured" if _structured(variables) else "flat",
        "numberOfEventIndicators": str(roots),
    }  # fmt: skip
    times = {"startTime": experiment.start, "stopTime": experiment.stop, "tolerance": experiment.tolerance}
    if step > 0:
        times["stepSize"] = step
    default = " ".join(f'{key}="{value!r}"' for key, value in times.items())
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>', f"<fmiModelDescription {_attributes(head)}>",
            f'  <ModelExchange modelIdentifier="{name}">', *files, "  </ModelExchange>",
            f'  <CoSimulation modelIdentifier="{name}" canHandleVariableCommunicationStepSize="true">', *files,
            "  </CoSimulation>",
            *(["  <UnitDefinitions>", *(f"    <Unit name={quoteattr(u)}/>" for u in units), "  </UnitDefinitions>"]
              if units else []),
            f"  <DefaultExperiment {default}/>", "  <ModelVariables>", *(_scalar(v, index) for v in variables),
            "  </ModelVariables>", "  <ModelStructure>", *_structure(variables), "  </ModelStructure>",
            "</fmiModelDescription>", "",
        ]
    )  # fmt: skip


def _structured(variables: Iterable[Variable]) -> bool:
    """Whether all names follow the convention for dotted names; quoted identifiers may hold what it does not allow."""
    part = r"(?:[A-Za-z_]\w*)(?:\[\d+(?:,\d+)*\])?"
    plain = re.compile(rf"(?:der\({part}(?:\.{part})*\)|{part}(?:\.{part})*)\Z", re.ASCII)
    return all(plain.match(v.name) for v in variables)


def _attributes(values: Mapping[str, str]) -> str:
    return " ".join(f"{key}={quoteattr(_one_line(value))}" for key, value in values.items() if value)


def _one_line(value: str) -> str:
    return "".join(c if c >= " " else " " for c in value)


def _scalar(v: Variable, index: Mapping[str, int]) -> str:
    about = {"name": v.name, "valueReference": str(v.reference), "description": v.description,
             "causality": v.causality, "variability": v.variability, "initial": v.initial}  # fmt: skip
    real = {"unit": v.unit, "start": "" if v.start is None else repr(v.start),
            "derivative": str(index[v.derivative]) if v.derivative else ""}  # fmt: skip
    if v.reference < STRIDE:
        real["reinit"] = "true"
    return f"    <ScalarVariable {_attributes(about)}><Real {_attributes(real)}/></ScalarVariable>"


def _structure(variables: list[Variable]) -> list[str]:
    """Every unknown may depend on everything; nothing is said, which means that."""
    outputs = [k for k, v in enumerate(variables, 1) if v.causality == "output"]
    rates = [k for k, v in enumerate(variables, 1) if v.derivative]
    first = [k for k, v in enumerate(variables, 1)
             if v.initial == "calculated" and (v.causality in ("output", "calculatedParameter") or v.derivative
                                               or v.reference < STRIDE)]  # fmt: skip
    lines = list[str]()
    for tag, chosen in (("Outputs", outputs), ("Derivatives", rates), ("InitialUnknowns", first)):
        if chosen:
            lines += [f"    <{tag}>", *(f'      <Unknown index="{k}"/>' for k in chosen), f"    </{tag}>"]
    return lines
