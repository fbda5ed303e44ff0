"""A case: one piece of physics, in the language of every program that takes part, with a reference for the error.

A program without a text does not take part."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """`variable` at `stop` is compared with `reference()`; names differ between the languages.

    With `variations` the model is run once for each value of the parameter `varied`, and what is compared is the sum
    of the end values.  `slow` programs would need minutes or more than the memory: they are said to be left out."""

    name: str
    stop: float
    variable: str
    reference: Callable[[], float]
    bg: str
    modelica: str = ""
    modelica_model: str = ""
    modelica_variable: str = ""
    spice: str = ""
    diffsl: str = ""
    c: str = ""
    tolerance: float = 1e-7
    accuracy: float = 1e-5
    """Relative error that all have to reach: each program runs with the loosest tolerance that does."""
    varied: str = ""
    variations: tuple[float, ...] = ()
    slow: tuple[str, ...] = ()
    points: int = 2
    libraries: tuple[str, ...] = ()
    """Folders that the bglang text imports from."""
