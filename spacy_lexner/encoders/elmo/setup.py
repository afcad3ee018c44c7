"""The construction of an ELMo when a pipeline is initialised: its sizes, characters and weights."""

import warnings
from typing import Any, Dict, Literal, Mapping, Optional, Sequence

from spacy.tokens import Doc

from ...candidates.training_texts import TrainingTexts
from ...lexicon.limits import quote
from ..shared.shim import ModuleShim
from .bilm import BiLM
from .character_ids import MAX_CHARACTERS, ByteCharacters, CharacterIds, UnicodeCharacters
from .checkpoint import BILM_KEYS, CNN_KEYS, build_cnn, load_weights, read_config
from .counted_words import read_counted_words
from .model import ELMo, ScalarMix

Unit = Literal["byte", "unicode"]
UNITS = ("byte", "unicode")
MOST_CHARACTERS = 100_000  # upper limit of max_characters, since every word takes memory for that many
# Without a checkpoint: small enough to train on a CPU.
DEFAULT_SIZES: Dict[str, Any] = {
    "unit": "unicode",
    "max_characters": MAX_CHARACTERS,
    "embedding_dim": 16,
    "filters": [[1, 32], [2, 32], [3, 64], [4, 128]],
    "n_highway": 1,
    "activation": "relu",
    "projection_dim": 128,
    "cell_dim": 512,
    "n_layers": 2,
    "cell_clip": 3.0,
    "projection_clip": 3.0,
    "skip_connections": True,
}
LEAST = {
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


class ELMoSetup:
    """The settings of an ELMo that are only used for its initialisation; a saved pipeline contains the module
    itself."""

    def __init__(
        self, checkpoint: Optional[str], vocab: Optional[str], sizes: Mapping[str, Any], mix: Mapping[str, Any]
    ) -> None:
        """Check the settings, see `build_elmo_v1`. `sizes` has the names of DEFAULT_SIZES; a size of None stands for
        the checkpoint's value or the default. `mix` has mix_layers, n_mixes, mix_weights and mix_norm."""
        self.checkpoint, self.vocab = checkpoint, vocab
        self.sizes = {name: value for name, value in sizes.items() if value is not None}
        self.mix = dict(mix)
        for name, value in {**self.sizes, **self.mix}.items():
            if name in LEAST and value < LEAST[name]:
                raise ValueError(f"{name} = {value} is out of range: it must be at least {LEAST[name]}.")
        if "filters" in self.sizes:
            filters = self.sizes["filters"] = [list(pair) for pair in self.sizes["filters"]]
            if not filters or any(len(pair) != 2 or min(pair) < 1 for pair in filters):
                raise ValueError(f"filters = {filters} must be pairs of width and number, each at least 1.")
        if mix["n_mixes"] > 1 and mix["mix_weights"] is not None:
            raise ValueError(
                f"n_mixes is {mix['n_mixes']}; expected 1, since mixes with fixed mix_weights are all equal."
            )
        if vocab is not None and (checkpoint is not None or self.sizes.get("unit") == "byte"):
            raise ValueError("vocab is only for unit = 'unicode' without a checkpoint. Remove it.")

    @property
    def reads_tokens(self) -> bool:
        """RETURNS (bool): Whether the vocabulary consists of the characters of the training texts."""
        return self.checkpoint is None and self.vocab is None and self.sizes.get("unit") != "byte"

    @property
    def width(self) -> Optional[int]:
        """RETURNS (Optional[int]): Width of the output; None if it depends on the checkpoint."""
        if self.checkpoint is not None and "projection_dim" not in self.sizes:
            return None
        return 2 * self.mix["n_mixes"] * {**DEFAULT_SIZES, **self.sizes}["projection_dim"]

    def build(self, shim: ModuleShim, sample: Sequence[Doc], texts: TrainingTexts) -> ELMo:
        """Build the module and put it, with its settings, into the shim. `texts` are the training texts; if no
        component or callback has collected them, `sample`, a few Docs, replaces them."""
        if self.checkpoint is None:
            sizes = {**DEFAULT_SIZES, **self.sizes}
            settings = {
                "characters": self._characters(sizes, sample, texts).to_dict(),
                "cnn": {name: sizes[name] for name in CNN_KEYS},
                "bilm": {name: sizes[name] for name in BILM_KEYS},
            }
        else:
            settings = read_config(self.checkpoint)
        widest = max(width for width, _ in settings["cnn"]["filters"])
        if settings["characters"]["max_characters"] < max(widest, 3):
            raise ValueError(
                f"max_characters = {settings['characters']['max_characters']} is too small: the widest filter needs "
                f"{widest} characters, and a word at least 3, with its begin and end."
            )
        settings = {**settings, "mix": self._mix(settings["bilm"]["n_layers"])}
        self.check(settings, f"the checkpoint {self.checkpoint!r}")
        module = shim.initialize(settings)
        assert isinstance(module, ELMo)
        if self.checkpoint is not None:
            load_weights(self.checkpoint, settings, module.characters, module.bilm)
        return module

    def check(self, settings: Dict[str, Any], source: str) -> None:
        """Raise ValueError if a shim's settings differ from the given sizes; `source` says where they come from."""
        found = {name: value for part in ("characters", "cnn", "bilm", "mix") for name, value in settings[part].items()}
        for name, value in {**self.sizes, **self._mix(settings["bilm"]["n_layers"])}.items():
            if (value or None) != (found[name] or None):  # a clip of 0 is none
                raise ValueError(
                    f"{name} = {value} does not agree with {source}, where it is {found[name]}. Use that value in the "
                    "config."
                )

    def _mix(self, n_layers: int) -> Dict[str, Any]:
        """RETURNS (Dict[str, Any]): The settings of the mix as plain JSON, with an explicit list of layers."""
        layers = self.mix["mix_layers"]
        layers = list(range(n_layers + 1) if layers is None else layers)
        if not layers or min(layers) < 0 or max(layers) > n_layers or len(set(layers)) < len(layers):
            raise ValueError(
                f"mix_layers is {layers}; expected different layers from 0 (the word vectors) to {n_layers}."
            )
        weights = self.mix["mix_weights"]
        return {**self.mix, "mix_layers": layers, "mix_weights": None if weights is None else list(weights)}

    def _characters(self, sizes: Dict[str, Any], sample: Sequence[Doc], texts: TrainingTexts) -> CharacterIds:
        length = sizes["max_characters"]
        if sizes["unit"] == "byte":
            return ByteCharacters(length)
        if sizes["unit"] != "unicode":
            raise ValueError(f"unit is {sizes['unit']!r}; expected one of {', '.join(UNITS)}.")
        if self.vocab is not None:
            return UnicodeCharacters.from_counts(read_counted_words(self.vocab), length)
        if not texts.n_docs:
            warnings.warn(
                f"ELMo takes its characters from the training texts, but saw only a sample of {len(sample)}; all other "
                "characters are unknown to it. `lex_ner` shows it all texts. With another component, set vocab to a "
                "file written by 'spacy lexner count-words', or unit = \"byte\", or add to the config\n"
                '[initialize.before_init]\n@callbacks = "spacy-lexner.collect_texts.v1"',
                stacklevel=2,
            )
            texts.add(sample)
        return UnicodeCharacters.from_counts(texts.tokens.items(), length)


def build_elmo(settings: Dict[str, Any]) -> ELMo:
    """Build a module with random weights from the settings that `ELMoSetup.build` puts into the shim. Raises ValueError
    for settings that would fail later."""
    mix, bilm, length = settings["mix"], settings["bilm"], settings["characters"]["max_characters"]
    layers = mix["mix_layers"]
    if not layers or not all(type(layer) is int and 0 <= layer <= bilm["n_layers"] for layer in layers):
        raise ValueError(f"mix_layers is {quote(layers)}; expected layers from 0 to {bilm['n_layers']}")
    if type(length) is not int or not 3 <= length <= MOST_CHARACTERS:
        raise ValueError(f"max_characters is {quote(length)}; expected 3 to {MOST_CHARACTERS}")
    for name in ("cell_clip", "projection_clip"):
        if not isinstance(bilm[name] or 0, (int, float)):
            raise ValueError(f"{name} is {quote(bilm[name])}; expected a number or null")
    mixes = [ScalarMix(len(layers), mix["mix_norm"], mix["mix_weights"]) for _ in range(mix["n_mixes"])]
    return ELMo(build_cnn(settings), BiLM(**settings["bilm"]), mixes, layers)
