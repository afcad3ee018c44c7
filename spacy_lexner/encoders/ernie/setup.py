"""The settings of an ERNIE, and its construction when a pipeline is initialised."""

from dataclasses import dataclass
from typing import ClassVar, Dict, List, Literal, Optional, Sequence, Tuple

import numpy as np
from spacy.tokens import Doc

from ...candidates.training_texts import TrainingTexts
from ...lexicon.entry import hash_word
from ...lexicon.lexicon import Lexicon
from ...lexicon.matcher import Matcher
from ...tensors.convert import tensor_of
from ..shared.bert_setup import BertSetup
from ..shared.bert_shaped import config_settings
from ..shared.shim import ModuleShim
from ..shared.words import match_in_parts
from .checkpoint import EntitySide, has_entity_side, load_entity_side, read_entity_side
from .model import DEFAULT_ENTITY_HEADS, DEFAULT_ENTITY_WIDTH, ERNIE, complete_layer_types

EntitiesFrom = Literal["frozen", "finetuned"]


@dataclass(frozen=True)
class ERNIESetup(BertSetup):
    """The settings of an ERNIE; see `build_ernie_v1`."""

    block = "ERNIE"
    least: ClassVar = {**BertSetup.least, "entity_width": 1, "entity_heads": 1}

    layer_types: Optional[Tuple[str, ...]]
    entity_width: Optional[int]
    entity_heads: Optional[int]
    entities: EntitiesFrom

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.layer_types is not None:
            complete_layer_types(self.layer_types, len(self.layer_types) if self.checkpoint else self.depth)

    @property
    def reads_texts(self) -> bool:
        return self.entities == "finetuned"

    def build(self, shim: ModuleShim, sample: Sequence[Doc], texts: TrainingTexts, matcher: Matcher) -> ERNIE:
        """Build the module, as `LEBERTSetup.build` does. Raises ValueError if the lexicon's vectors do not fit."""
        self.take_sample(sample, texts, "ERNIE")
        wordpieces = self.wordpieces(texts, matcher)
        config = self.config(wordpieces)
        side = self._entity_side(config.num_hidden_layers, matcher.lexicon)
        tuned = entities_of_texts(matcher, texts.texts) if self.reads_texts else {}
        module = shim.initialize(
            {
                "encoder": config_settings(config),
                "ernie": {
                    "layer_types": list(side.layer_types),
                    "entity_width": side.entity_width,
                    "entity_heads": side.entity_heads,
                    "n_tuned": len(tuned),
                    "gradient_checkpointing": self.gradient_checkpointing,
                },
                "wordpieces": wordpieces,
            }
        )
        assert isinstance(module, ERNIE)
        self.load_weights(module.encoder.text, config, wordpieces)
        if self.checkpoint is not None and has_entity_side(self.checkpoint):
            load_entity_side(self.checkpoint, module.encoder)
        _start_from_vectors(module, tuned)
        return module

    def _entity_side(self, depth: int, lexicon: Lexicon) -> EntitySide:
        saved = None
        if self.checkpoint is not None and has_entity_side(self.checkpoint):
            saved = read_entity_side(self.checkpoint, depth)
        layer_types = saved.layer_types if saved else default_layer_types(depth)
        layer_types = complete_layer_types(layer_types if self.layer_types is None else self.layer_types, depth)
        width = self.entity_width or (saved.entity_width if saved else lexicon.dim or DEFAULT_ENTITY_WIDTH)
        heads = self.entity_heads or (saved.entity_heads if saved else DEFAULT_ENTITY_HEADS)
        check_entity_vectors(lexicon, width)
        side = EntitySide(layer_types, width, heads)
        if saved:
            check_entity_side(side, saved)
        return side


def default_layer_types(depth: int) -> Tuple[str, ...]:
    """RETURNS (Tuple[str, ...]): "norm" for the upper half, "mix" for the layer below it, "sim" for the rest: 5 sim,
    1 mix and 6 norm of 12 layers."""
    n_norm = depth // 2
    return (*["sim"] * (depth - n_norm - 1), "mix", *["norm"] * n_norm)


def check_entity_side(side: EntitySide, saved: EntitySide) -> None:
    """Raise ValueError if the weights of a checkpoint's entity side mean something else in another one. A layer that
    reads text alone needs none."""
    layers = enumerate(zip(side.layer_types, saved.layer_types))
    used = [(i, *types) for i, types in layers if types[0] != "sim"]
    wrong = [f"layer_types[{i}] is {given!r}, but {known!r}" for i, given, known in used if given != known]
    if used and side.entity_heads != saved.entity_heads:
        wrong.append(f"entity_heads is {side.entity_heads}, but {saved.entity_heads}")
    if wrong:
        raise ValueError(
            f"{wrong[0]} in the checkpoint: leave that setting out. To train another entity side on its text side, "
            "remove ernie.json from the folder."
        )


def check_entity_vectors(lexicon: Lexicon, width: int) -> None:
    """Raise ValueError if an entity side of some width cannot read a lexicon's vectors. An empty lexicon is fine."""
    if not len(lexicon) or lexicon.dim == width:
        return
    if not lexicon.dim:
        raise ValueError(
            "The lexicon has no vectors, but ERNIE needs entity vectors. Build it from a knowledge base that has them, "
            "or from a file of vectors with spacy-lexner.EntityVectors.v1."
        )
    raise ValueError(
        f"The lexicon has vectors of {lexicon.dim} dimensions, but the encoder reads entity vectors of {width}: give "
        "it a lexicon of that width, or set entity_width and train again."
    )


def entities_of_texts(matcher: Matcher, texts: Sequence[str]) -> Dict[str, np.ndarray]:
    """RETURNS (Dict[str, numpy.ndarray]): The vector, float32[D], of each entity with a vector that a word in the texts
    names."""
    lexicon, seen = matcher.lexicon, np.zeros(0, "u8")
    found: Dict[str, np.ndarray] = {}
    for part, words, borders in match_in_parts(matcher, texts):
        hashes, places = np.unique(words.hashes, return_index=True)
        places = places[~np.isin(hashes, seen)]
        texts_of = np.searchsorted(borders, places, "right") - 1
        for i, text in zip(places.tolist(), texts_of.tolist()):
            entry = lexicon.get(part[text][words.starts[i] : words.ends[i]])
            if entry is not None and entry.entity_id and entry.vector is not None:
                found.setdefault(entry.entity_id, np.asarray(entry.vector, "f4"))
        seen = np.union1d(seen, hashes)
    return found


def _start_from_vectors(module: ERNIE, tuned: Dict[str, np.ndarray]) -> None:
    """Initialise the fine-tuned entities with their vectors, ordered by hash."""
    if not tuned:
        return
    hashes = np.array([hash_word(entity_id) for entity_id in tuned], "u8")
    order = np.argsort(hashes)
    vectors: List[np.ndarray] = list(tuned.values())
    module.tuned.data.copy_(tensor_of(np.stack([vectors[i] for i in order.tolist()])))
    module.tuned_hashes.copy_(tensor_of(hashes[order].view("i8")))  # type: ignore[operator]
