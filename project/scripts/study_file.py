"""The definition of a study: a YAML file in `studies/`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, TypeVar

import srsly
from pydantic import BaseModel, ValidationError, model_validator
from wasabi import msg

SystemT = TypeVar("SystemT")


class System(BaseModel, extra="forbid"):
    """One of the systems compared.

    title (str): Its name in the table.
    config (str): A file in ../configs without its ending; empty for an ensemble.
    members (List[str]): For an ensemble, the systems whose pipelines with the same seed, trained and kept before, are
        combined.
    lexicon (Optional[str]): The folder of its lexicon, relative to the project's. Here and in the arguments, {dataset}
        stands for the name of the data set.
    score (str): The score by which the best pipeline of a run is selected on dev.
    limit (int): Train on only this many texts, from the first; 0 for all.
    arguments (List[str]): More arguments for `spacy train`.
    datasets (Dict[str, List[str]]): Arguments to add for particular data sets, by name.
    """

    title: str
    config: str = ""
    members: List[str] = []
    lexicon: Optional[str] = None
    score: str = "ents_f"
    limit: int = 0
    arguments: List[str] = []
    datasets: Dict[str, List[str]] = {}

    @model_validator(mode="after")
    def check_source(self) -> System:
        """Raises ValueError unless there is either a config or members."""
        if bool(self.config) == bool(self.members):
            raise ValueError("expected either a config or members")
        return self

    def on(self, dataset: str) -> System:
        """RETURNS (System): The system as configured for a data set."""
        lexicon = None if self.lexicon is None else self.lexicon.replace("{dataset}", dataset)
        own = self.datasets.get(dataset, [])
        arguments = [argument.replace("{dataset}", dataset) for argument in [*self.arguments, *own]]
        return self.model_copy(update={"lexicon": lexicon, "arguments": arguments})

    def settings(self) -> Dict[str, Any]:
        """RETURNS (Dict[str, Any]): What matters for a result, for a system that `on` returned."""
        return self.model_dump(exclude={"title", "datasets"})


class Study(BaseModel, extra="forbid"):
    """A study.

    description (str): What it should show.
    columns (Dict[str, str]): The scores in its table, with their titles.
    systems (Dict[str, System]): The systems, by their names in the results.
    """

    description: str
    columns: Dict[str, str]
    systems: Dict[str, System]

    @model_validator(mode="after")
    def check_members(self) -> Study:
        """Raises ValueError if a member is not a system of the study that has a config."""
        for name, system in self.systems.items():
            for member in system.members:
                if member not in self.systems or self.systems[member].members:
                    raise ValueError(f"{member!r}, a member of {name!r}, is not a system of this study with a config")
        return self


def read_study(path: Path) -> Study:
    """Read a study, or exit with a message that says what is wrong with the file.

    path (Path): The file.
    RETURNS (Study): The study.
    """
    try:
        return Study.model_validate(srsly.read_yaml(path))
    except (OSError, ValueError) as error:
        faults = error.errors() if isinstance(error, ValidationError) else []
        lines = [f"{' → '.join(map(str, fault['loc']))}: {fault['msg']}" for fault in faults] or [str(error)]
        msg.fail(f"{path} is not a study", "\n".join(lines), exits=1)
        raise


def choose(systems: Mapping[str, SystemT], names: Optional[Sequence[str]]) -> Dict[str, SystemT]:
    """RETURNS (Dict[str, SystemT]): The named systems, or all. Exits with a message if one is unknown."""
    if unknown := sorted(set(names or ()) - set(systems)):
        msg.fail(f"Unknown system '{unknown[0]}'", f"Known are {', '.join(systems)}.", exits=1)
    return {name: systems[name] for name in names or systems}
