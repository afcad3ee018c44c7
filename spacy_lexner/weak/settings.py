"""The settings of weakly supervised training, and what they change in a config."""

from typing import Any, Dict, List, NamedTuple, Optional, Sequence

from thinc.api import Config

from ..training.runs import set_values
from .rounds import find_component
from .teacher import Bounds

CRF = "spacy-lexner.CRFTagger.v1"


class Settings(NamedTuple):
    """Settings of weakly supervised training."""

    folds: int = 4  # parts of the dictionary, each judged by a model that has not learned it; 0: none
    rounds: int = 3  # most students
    bounds: Bounds = Bounds()  # how sure a teacher must be
    average: bool = False  # whether the average of all models so far teaches
    negatives: float = 2.0  # how many spans without annotation count as no entities in each step, per token
    ratio: Optional[float] = None  # instead: the expected share of tokens in entities
    held_out: float = 0.1  # share of words held out to score models, if no texts are annotated
    limit: int = 50_000  # most texts to learn from
    skip_shared: bool = False  # leave out texts that are also among those that score models, instead of an error
    seed: int = 0

    @property
    def guard(self) -> Dict[str, Any]:
        """RETURNS (Dict[str, Any]): The section of the CRF's guard."""
        if self.ratio is None:
            return {"@misc": "spacy-lexner.NegativeSampling.v1", "share": self.negatives}
        return {"@misc": "spacy-lexner.EntityRatio.v1", "ratio": self.ratio, "margin": self.ratio / 4}


def prepare_config(config: Config, labels: Sequence[str], settings: Settings) -> Config:
    """Make the config of the rounds: set all labels and the seed, and give the CRF a guard if it has none. Raises
    ValueError if a setting is out of its range, would have no effect, or would replace one of the config."""
    _check_numbers(settings)
    check_seed(config, settings.seed)
    name = find_component(config)
    values: Dict[str, Any] = {f"initialize.components.{name}.labels": list(labels), "training.seed": settings.seed}
    if "seed" in config.get("system", {}):
        values["system.seed"] = settings.seed
    model, place = config["components"][name]["model"], f"components.{name}.model"
    unguarded = [path for path, block in _crfs(model, place).items() if not block.get("guard")]
    if not unguarded:
        _check_guard(model, place, settings)
    return set_values(config, {**values, **{f"{path}.guard": settings.guard for path in unguarded}})


def check_seed(config: Config, seed: int) -> None:
    """Raise ValueError if a config has another seed than the run, whose seed would replace it; 0 is the default of
    every config."""
    filled = config.interpolate()
    for section in ("system", "training"):
        own = filled.get(section, {}).get("seed")
        if own not in (None, 0, seed):
            raise ValueError(
                f"The config has {section}.seed = {own}, but the run has the seed {seed}, which would replace it. Set "
                f"the seed of the run instead (--seed {own}), and leave it out of the config."
            )


def _check_numbers(settings: Settings) -> None:
    if not 0 < settings.negatives < float("inf"):
        raise ValueError(f"negatives is {settings.negatives:g}; expected a number above 0.")
    if settings.ratio is not None and not 0 <= settings.ratio <= 1:
        raise ValueError(f"ratio is {settings.ratio:g}; expected a share from 0 to 1.")


def _crfs(model: Dict[str, Any], place: str) -> Dict[str, Dict[str, Any]]:
    """The CRFs of a config by dotted name: the model, or the member of an ensemble."""
    blocks = {place: model, f"{place}.member": model.get("member", {})}
    return {path: block for path, block in blocks.items() if block.get("@architectures") == CRF}


def _check_guard(model: Dict[str, Any], place: str, settings: Settings) -> None:
    """Raise ValueError if the settings ask for a guard, which the model of a config does not take."""
    asked: List[str] = ["ratio"] * (settings.ratio is not None)
    asked += ["negatives"] * (settings.negatives != Settings().negatives)
    if asked and _crfs(model, place):
        raise ValueError(
            f"{asked[0]} has no effect, since the config has a guard of its own in {place}. Leave out --{asked[0]}, or "
            "take the guard out of the config."
        )
    if asked:
        raise ValueError(
            f"{asked[0]} has no effect, since {place} is {model.get('@architectures')}: expected {CRF}, or an ensemble "
            f"with such a member. Leave out --{asked[0]}, or choose another config."
        )
