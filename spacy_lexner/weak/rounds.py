"""Self-training in rounds: a student learns from scratch what its teacher is sure of, and becomes the next teacher."""

from pathlib import Path
from typing import List, NamedTuple, Optional, Sequence

import srsly
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import load_model
from thinc.api import Config

from ..formats.spacy_file import write_docs
from ..integrity.folders import whole_folder
from ..pipeline.ner.combine import combine
from ..report.gold import GoldText
from ..training.runs import set_values, train_once
from .teacher import Bounds, calibrate, teach_files
from .texts import write_shards

LABELLED = "labelled.spacy"  # next to the texts labelled by a dictionary or a teacher


class Round(NamedTuple):
    """One round and its model."""

    number: int  # 0: learned from the dictionary's labels
    model: Path
    score: float  # F1 on dev, or on the held-out words


class SelfTraining(NamedTuple):
    """A self-training run."""

    config: Config  # complete, except for paths.train and paths.dev
    output: Path  # the folder of all rounds
    texts: Path  # the texts labelled by the dictionary, a folder of .spacy files
    dev: Path  # the file on which the best state of a model is selected
    labelled: Sequence[Doc] = ()  # training texts of every round
    gold: Optional[Sequence[GoldText]] = None  # annotated texts to calibrate scores on; None: plain probabilities
    bounds: Bounds = Bounds()
    average: bool = False  # whether the average of all models so far teaches, not only the best one
    use_gpu: int = -1

    def run(self, n_rounds: int) -> List[Round]:
        """Train a model, and up to `n_rounds` students, until the score no longer rises. Finished steps are kept: after
        an interruption, the same call continues.

        RETURNS (List[Round]): The rounds; the last one may be worse than an earlier one.
        """
        rounds = [self._train(0)]
        while len(rounds) <= n_rounds:
            self._teach(rounds)
            rounds.append(self._train(len(rounds)))
            if rounds[-1].score <= max(each.score for each in rounds[:-1]):
                break
        return rounds

    def teacher(self, rounds: Sequence[Round]) -> Language:
        """RETURNS (Language): The best model so far, or the ensemble of all, with calibrated scores."""
        if self.average and len(rounds) > 1:
            nlp = combine({f"round {each.number}": load_model(each.model) for each in rounds}, self._component)
        else:
            nlp = load_model(best(rounds).model)
        if self.gold is not None:
            calibrate(nlp, self.gold)
        return nlp

    @property
    def _component(self) -> str:
        return find_component(self.config)

    def _folder(self, number: int) -> Path:
        return self.output / f"round-{number}"

    def _train(self, number: int) -> Round:
        """Train on the texts of a round."""
        folder = self._folder(number)
        if number == 0:
            self._write(folder / "texts", None)
        seed = int(self.config.interpolate()["training"]["seed"] or 0) + number
        values = {"paths.train": str(folder / "texts"), "paths.dev": str(self.dev), "training.seed": seed}
        model = train_once(set_values(self.config, values), folder / "training", use_gpu=self.use_gpu)
        score = srsly.read_json(model / "meta.json")["performance"].get("ents_f") or 0.0
        return Round(number, model, score)

    def _teach(self, rounds: Sequence[Round]) -> None:
        """Annotate the texts of the next round."""
        folder = self._folder(len(rounds)) / "texts"
        if not folder.exists():
            self._write(folder, self.teacher(rounds))

    def _write(self, folder: Path, teacher: Optional[Language]) -> None:
        if folder.exists():
            return
        with whole_folder(folder) as temporary:
            if teacher is None:
                for file in sorted(self.texts.glob("*.spacy")):
                    (temporary / file.name).write_bytes(file.read_bytes())
            else:
                write_shards(teach_files(teacher, [self.texts], self.bounds), temporary / "taught")
            if self.labelled:
                write_docs(self.labelled, temporary / LABELLED)


def best(rounds: Sequence[Round]) -> Round:
    """The round with the highest score, the first of several."""
    return max(rounds, key=lambda each: (each.score, -each.number))


def find_component(config: Config) -> str:
    """The name of the one `lex_ner` in a config. Raises ValueError if there are none or several."""
    components = config["components"]
    names = [name for name in config["nlp"]["pipeline"] if components[name].get("factory") == "lex_ner"]
    if len(names) != 1:
        raise ValueError(f"The config has {len(names)} lex_ner components; expected exactly one.")
    return names[0]
