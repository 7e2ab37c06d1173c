"""Paths of the configuration, made to lie beside its file, wherever the command was started."""

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

Section = TypeVar("Section", bound=BaseModel)


def beside(section: Section, folder: Path) -> Section:
    """The same section with every relative path in it, at any depth, taken from `folder`; ~ is the home directory."""
    moved: dict[str, object] = {}
    for name in type(section).model_fields:
        match getattr(section, name):
            case Path() as path:
                moved[name] = folder / path.expanduser()
            case BaseModel() as inner:
                moved[name] = beside(inner, folder)
    return section.model_copy(update=moved)
