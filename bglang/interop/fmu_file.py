"""FMU archives, read with suspicion: nothing is unpacked or run here.

An archive may come from anywhere: its size, the number of its members and what they unpack to have limits, names that
lead out of its folder and links are refused, and its description is read by a parser that knows no entities."""

import stat
import zipfile
from pathlib import Path, PurePosixPath
from xml.parsers import expat

from bglang.records import dataclass

ARCHIVE_BYTES = 500_000_000
UNPACKED_BYTES = 1_000_000_000
MEMBERS = 10_000
DESCRIPTION_BYTES = 50_000_000
VARIABLES = 200_000


class WrongFmu(Exception):
    """The archive cannot be used; the text says why."""


@dataclass(frozen=True, slots=True)
class FmuVariable:
    name: str
    reference: int
    causality: str
    variability: str
    type: str
    unit: str
    description: str
    start: float | None


@dataclass(frozen=True, slots=True)
class Fmu:
    """What a description says.  `identifiers` by kind: "CoSimulation", "ModelExchange"."""

    path: Path
    version: str
    name: str
    guid: str
    description: str
    identifiers: dict[str, str]
    variables: tuple[FmuVariable, ...]
    step: float | None
    stop: float | None

    def of(self, *causalities: str) -> list[FmuVariable]:
        """The numbers among the variables with one of these causalities."""
        return [v for v in self.variables if v.causality in causalities and v.type in ("Real", "Integer", "Boolean")]


def read_fmu(path: Path) -> Fmu:
    """The description of an archive; raises `WrongFmu`."""
    try:
        with zipfile.ZipFile(path) as archive:
            check_members(path, archive)
            try:
                text = archive.read("modelDescription.xml")
            except KeyError:
                raise WrongFmu("it holds no modelDescription.xml") from None
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as problem:
        raise WrongFmu(f"it is no readable archive ({problem})") from None
    reader = _Reader()
    try:
        reader.read(text)
    except expat.ExpatError as problem:
        raise WrongFmu(f"its modelDescription.xml is wrong: {problem}") from None
    return reader.result(path)


def check_members(path: Path, archive: zipfile.ZipFile) -> None:
    """Refuses archives that would fill the disk or write outside of their folder."""
    members = archive.infolist()
    if path.stat().st_size > ARCHIVE_BYTES or len(members) > MEMBERS:
        raise WrongFmu(f"it is larger than {ARCHIVE_BYTES} bytes or {MEMBERS} members")
    if sum(m.file_size for m in members) > UNPACKED_BYTES:
        raise WrongFmu(f"unpacked it would be larger than {UNPACKED_BYTES} bytes")
    for m in members:
        name = PurePosixPath(m.filename.replace("\\", "/"))
        if name.is_absolute() or ".." in name.parts or ":" in m.filename:
            raise WrongFmu(f"its member `{m.filename[:80]}` would lie outside of its folder")
        if stat.S_ISLNK(m.external_attr >> 16):
            raise WrongFmu(f"its member `{m.filename[:80]}` is a link")
        if m.filename == "modelDescription.xml" and m.file_size > DESCRIPTION_BYTES:
            raise WrongFmu(f"its modelDescription.xml is larger than {DESCRIPTION_BYTES} bytes")


class _Reader:
    """Collects what is needed from the elements as they pass by."""

    def __init__(self) -> None:
        self._top: dict[str, str] = {}
        self._experiment: dict[str, str] = {}
        self._identifiers: dict[str, str] = {}
        self._variables: list[FmuVariable] = []
        self._scalar: dict[str, str] | None = None

    def read(self, text: bytes) -> None:
        parser = expat.ParserCreate()
        parser.StartElementHandler = self._begin
        parser.StartDoctypeDeclHandler = self._refuse
        parser.EntityDeclHandler = self._refuse
        parser.Parse(text, True)

    @staticmethod
    def _refuse(*_: object) -> None:
        raise WrongFmu("its modelDescription.xml declares a document type or entities, which no FMU needs")

    def _begin(self, tag: str, about: dict[str, str]) -> None:
        if tag == "fmiModelDescription":
            self._top = about
        elif tag in ("CoSimulation", "ModelExchange"):
            self._identifiers[tag] = about.get("modelIdentifier", "")
        elif tag == "DefaultExperiment":
            self._experiment = about
        elif tag == "ScalarVariable":
            self._scalar = about
        elif tag in ("Real", "Integer", "Boolean", "String", "Enumeration") and self._scalar is not None:
            self._add(self._scalar, tag, about)
            self._scalar = None

    def _add(self, scalar: dict[str, str], kind: str, about: dict[str, str]) -> None:
        if len(self._variables) >= VARIABLES:
            raise WrongFmu(f"it has more than {VARIABLES} variables")
        try:
            reference = int(scalar.get("valueReference", ""))
        except ValueError:
            raise WrongFmu(f"the variable `{scalar.get('name', '')[:80]}` has no value reference") from None
        start = {"true": 1.0, "false": 0.0}.get(about.get("start", ""), _number(about.get("start")))
        self._variables.append(
            FmuVariable(
                scalar.get("name", ""), reference, scalar.get("causality", "local"),
                scalar.get("variability", "continuous"), kind, about.get("unit", ""), scalar.get("description", ""),
                start if kind != "String" else None,
            )
        )  # fmt: skip

    def result(self, path: Path) -> Fmu:
        version = self._top.get("fmiVersion", "")
        if not version.startswith("2."):
            raise WrongFmu(f"it is of FMI {version or 'an unknown version'}; units of FMI 2.0 can be used")
        if not all(_is_identifier(name) for name in self._identifiers.values()):
            raise WrongFmu("its model identifier is no C identifier")
        step, stop = _number(self._experiment.get("stepSize")), _number(self._experiment.get("stopTime"))
        return Fmu(
            path, version, self._top.get("modelName", path.stem), self._top.get("guid", ""),
            self._top.get("description", ""), self._identifiers, tuple(self._variables), step, stop,
        )  # fmt: skip


def _is_identifier(name: str) -> bool:
    """It becomes the name of the file that is loaded."""
    return name.isascii() and name.isidentifier()


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text is not None else None
    except ValueError:
        return None
    return value if value is None or abs(value) < 1e300 else None
