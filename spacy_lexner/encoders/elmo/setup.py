"""What an ELMo is made of, and how it is built when a pipeline is initialised."""

import warnings
from dataclasses import dataclass
from typing import Any, Dict, List, Literal, Optional, Sequence, Tuple

from spacy.tokens import Doc

from ...candidates.training_texts import TrainingTexts
from ..shared.shim import ModuleShim
from .bilm import BiLM
from .char_cnn import ACTIVATIONS
from .character_ids import ByteCharacters, CharacterIds, UnicodeCharacters
from .checkpoint import build_cnn, load_weights, read_config
from .counted_words import read_counted_words
from .model import ELMo
from .scalar_mix import Norm, ScalarMix

Unit = Literal["byte", "unicode"]
UNITS = ("byte", "unicode")
MAX_CHARACTERS = 50
Filters = Sequence[Sequence[int]]
# Sizes without a checkpoint: small enough to train on a CPU.
DEFAULT_CNN: Dict[str, Any] = {
    "embedding_dim": 16,
    "filters": [[1, 32], [2, 32], [3, 64], [4, 128]],
    "n_highway": 1,
    "activation": "relu",
}
DEFAULT_BILM: Dict[str, Any] = {
    "projection_dim": 128,
    "cell_dim": 512,
    "n_layers": 2,
    "cell_clip": 3.0,
    "projection_clip": 3.0,
    "skip_connections": True,
}


@dataclass(frozen=True)
class ELMoSetup:
    """The settings of an ELMo. They matter once, when it is initialised; what is saved is the module itself.

    For a size, None means the checkpoint's, or the default without one; a value must agree with the checkpoint's.

    checkpoint (Optional[str]): Folder with a trained biLM; None for random weights.
    unit (Optional[str]): What a word is made of: "byte" or "unicode"; by default "unicode" without a checkpoint.
    vocab (Optional[str]): File with counted words, whose characters are the vocabulary of "unicode"; None for the
        characters of the training texts.
    max_characters (Optional[int]): Length of a row of characters, with begin and end of the word.
    embedding_dim, filters, n_highway, activation: See CharacterCNN.
    projection_dim, cell_dim, n_layers, cell_clip, projection_clip, skip_connections: See BiLM. A clip of 0 is none.
    mix_layers (Optional[Tuple[int, ...]]): The layers that are mixed; None for all.
    n_mixes (int): Number of mixes, side by side.
    mix_weights (Optional[Tuple[float, ...]]): Fixed weights of the layers, see ScalarMix.
    mix_norm (Optional[str]): See ScalarMix.
    """

    checkpoint: Optional[str] = None
    unit: Optional[Unit] = None
    vocab: Optional[str] = None
    max_characters: Optional[int] = None
    embedding_dim: Optional[int] = None
    filters: Optional[Filters] = None
    n_highway: Optional[int] = None
    activation: Optional[str] = None
    projection_dim: Optional[int] = None
    cell_dim: Optional[int] = None
    n_layers: Optional[int] = None
    cell_clip: Optional[float] = None
    projection_clip: Optional[float] = None
    skip_connections: Optional[bool] = None
    mix_layers: Optional[Tuple[int, ...]] = None
    n_mixes: int = 1
    mix_weights: Optional[Tuple[float, ...]] = None
    mix_norm: Optional[Norm] = None

    def __post_init__(self) -> None:
        for name, least in _LEAST.items():
            value = getattr(self, name)
            if value is not None and value < least:
                raise ValueError(f"{name} = {value} is out of range: it must be at least {least}.")
        for name, allowed in (("unit", UNITS), ("activation", tuple(ACTIVATIONS))):
            if getattr(self, name) not in (None, *allowed):
                raise ValueError(f"Unknown {name} = {getattr(self, name)!r}. Choose one of {allowed}.")
        if self.filters is not None and not (
            self.filters and all(len(pair) == 2 and min(pair) > 0 for pair in self.filters)
        ):
            raise ValueError(f"filters = {self.filters} must be pairs of width and number, each at least 1.")
        if self.n_mixes > 1 and self.mix_weights is not None:
            raise ValueError(f"n_mixes = {self.n_mixes} mixes with the same fixed mix_weights would all be the same.")
        if self.vocab is not None and (self.checkpoint is not None or self.unit == "byte"):
            raise ValueError("vocab names words for the characters of unit = 'unicode', without a checkpoint.")

    @property
    def reads_tokens(self) -> bool:
        """RETURNS (bool): Whether the vocabulary of characters is made of the training texts."""
        return self.checkpoint is None and self.vocab is None and self.unit != "byte"

    @property
    def width(self) -> Optional[int]:
        """RETURNS (Optional[int]): Width of the output, where it is known before a checkpoint is read."""
        if self.projection_dim is None and self.checkpoint is not None:
            return None
        return 2 * self.n_mixes * (self.projection_dim or DEFAULT_BILM["projection_dim"])

    def build(self, shim: ModuleShim, sample: Sequence[Doc], texts: TrainingTexts) -> ELMo:
        """Build the module.

        shim (ModuleShim): Receives the module and its settings.
        sample (Sequence[Doc]): A few Docs, for want of all training texts.
        texts (TrainingTexts): The training texts, if a component or callback has shown them.
        RETURNS (ELMo): The module.
        """
        if self.checkpoint is None:
            config = {**self._sizes(), "characters": self._characters(sample, texts).to_dict()}
        else:
            config = read_config(self.checkpoint)
        widest = max(width for width, _ in config["cnn"]["filters"])
        if config["characters"]["max_characters"] < max(widest, 3):
            raise ValueError(
                f"max_characters = {config['characters']['max_characters']} is too small: the widest filter needs "
                f"{widest} characters, and a word at least 3, with its begin and end."
            )
        mix = self._mix(config["bilm"]["n_layers"])
        settings = {"characters": config["characters"], "cnn": config["cnn"], "bilm": config["bilm"], "mix": mix}
        self.check(settings, f"the checkpoint {self.checkpoint!r}")
        module = shim.initialize(settings)
        assert isinstance(module, ELMo)
        if self.checkpoint is not None:
            load_weights(self.checkpoint, config, module.characters, module.bilm)
        return module

    def check(self, settings: Dict[str, Any], source: str) -> None:
        """Refuse weights of other sizes than those that are asked for.

        settings (Dict[str, Any]): The settings of a shim.
        source (str): Where they come from. Raises ValueError where they do not agree.
        """
        sizes = self._sizes()
        given = {**sizes["cnn"], **sizes["bilm"], "unit": self.unit, "max_characters": self.max_characters}
        found = {**settings["cnn"], **settings["bilm"], **settings["characters"]}
        asked = {name: value for name, value in given.items() if getattr(self, name) is not None}
        mix, found_mix = self._mix(settings["bilm"]["n_layers"]), settings["mix"]
        for name, value, other in (
            *((name, value, found[name]) for name, value in asked.items()),
            *((_MIX_NAMES[key], value, found_mix[key]) for key, value in mix.items()),
        ):
            if value != other:
                raise ValueError(
                    f"{name} = {value} does not agree with {source}, where it is {other}. Set it to that in the config."
                )

    def _sizes(self) -> Dict[str, Any]:
        sizes: Dict[str, Any] = {}
        for part, defaults in (("cnn", DEFAULT_CNN), ("bilm", DEFAULT_BILM)):
            given = {name: getattr(self, name) for name in defaults}
            sizes[part] = {name: defaults[name] if value is None else value for name, value in given.items()}
        sizes["cnn"]["filters"] = [list(pair) for pair in sizes["cnn"]["filters"]]
        for clip in ("cell_clip", "projection_clip"):
            sizes["bilm"][clip] = sizes["bilm"][clip] or None
        return sizes

    def _characters(self, sample: Sequence[Doc], texts: TrainingTexts) -> CharacterIds:
        length = self.max_characters or MAX_CHARACTERS
        if self.unit == "byte":
            return ByteCharacters(length)
        if self.vocab is not None:
            return UnicodeCharacters.from_counts(read_counted_words(self.vocab), length)
        if not texts.n_docs:
            _warn_of_sample(len(sample))
            texts.add(sample)
        return UnicodeCharacters.from_counts(texts.tokens.items(), length)

    def _mix(self, n_layers: int) -> Dict[str, Any]:
        layers: List[int] = list(range(n_layers + 1)) if self.mix_layers is None else list(self.mix_layers)
        if not layers or min(layers) < 0 or max(layers) > n_layers or len(set(layers)) < len(layers):
            raise ValueError(
                f"mix_layers = {layers} is out of range: the layers are 0, the word vectors, to {n_layers}, each "
                "at most once."
            )
        weights = None if self.mix_weights is None else list(self.mix_weights)
        return {"layers": layers, "n_mixes": self.n_mixes, "norm": self.mix_norm, "weights": weights}


_LEAST = {
    "max_characters": 3,
    "embedding_dim": 1,
    "n_highway": 0,
    "projection_dim": 1,
    "cell_dim": 1,
    "n_layers": 1,
    "cell_clip": 0,
    "projection_clip": 0,
    "n_mixes": 1,
}
_MIX_NAMES = {"layers": "mix_layers", "n_mixes": "n_mixes", "norm": "mix_norm", "weights": "mix_weights"}


def build_elmo(settings: Dict[str, Any]) -> ELMo:
    """settings (Dict[str, Any]): The settings that `ELMoSetup.build` gives the shim.
    RETURNS (ELMo): The module, with random weights.
    """
    mix = settings["mix"]
    mixes = [ScalarMix(len(mix["layers"]), mix["norm"], mix["weights"]) for _ in range(mix["n_mixes"])]
    return ELMo(build_cnn(settings), BiLM(**settings["bilm"]), mixes, mix["layers"])


def _warn_of_sample(n_docs: int) -> None:
    warnings.warn(
        f"ELMo makes its vocabulary of the characters of the training texts, but saw only a sample of {n_docs}; all "
        "other characters are unknown to it. `lex_ner` shows it all texts. With another component, set vocab to a file "
        "written by 'spacy lexner count-words', or unit = \"byte\", or add to the config\n"
        '[initialize.before_init]\n@callbacks = "spacy-lexner.collect_texts.v1"',
        stacklevel=2,
    )
