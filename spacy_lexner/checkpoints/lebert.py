"""Import of published LEBERTs: a checkpoint of the authors' code (liuwei1206/LEBERT) becomes a spaCy pipeline."""

import json
import re
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, cast

import numpy as np
import spacy
from spacy.language import Language
from thinc.api import Model
from transformers import BertConfig

from ..encoders.lebert.model import LEBERT
from ..encoders.lebert.setup import LEBERTSetup
from ..encoders.shared.bert_shaped import NOT_SETTINGS
from ..encoders.shared.shim import shim_of
from ..encoders.shared.wordpieces import lookup_settings, read_vocab
from ..integrity.folders import whole_folder
from ..lexicon.entry import hash_word
from ..tagging.ncrf.tags import N_EXTRA, labels_of
from ..tensors.convert import numpy_of, tensor_of
from .lebert_words import SPECIAL_ROWS, read_lexicon, read_table
from .state_dict import fill_module, read_state_dict

CONFIG, VOCAB, WEIGHTS = "config.json", "vocab.txt", "pytorch_model.bin"
SETTINGS = BertConfig().to_dict().keys() - {"model_type", *NOT_SETTINGS}
HEAD_DROPOUT = 0.5  # the authors' HP_dropout
_LAYER = re.compile(r"encoder\.layer\.(\d+)\.(.+)")
# The authors' names within a layer, and ours within its adapter. Everything else in a layer belongs to BERT.
_ADAPTER = {
    "attn_W": "attention",
    "word_transform.weight": "word_in.weight",
    "word_transform.bias": "word_in.bias",
    "word_word_weight.weight": "word_out.weight",
    "word_word_weight.bias": "word_out.bias",
    "fuse_layernorm.weight": "norm.weight",
    "fuse_layernorm.bias": "norm.bias",
}
_HEAD = ("word_embeddings.weight", "hidden2tag.weight", "hidden2tag.bias", "crf.transitions")
_UNUSED = re.compile(r"bert\.pooler\..+|.+\.position_ids")


class LEBERTParameters(NamedTuple):
    """The parameters of a checkpoint."""

    module: Dict[str, Any]  # of LEBERT, without the word vectors
    words: Any  # the table of word vectors
    emission_W: Any  # of the layer from vectors to tags
    emission_b: Any
    transitions: Any  # from row to column; the second to last tag is the start, the last the stop

    @property
    def adapter_layers(self) -> List[int]:
        """The layers that have an adapter."""
        return sorted({int(name.split(".")[1]) for name in self.module if name.startswith("adapters.")})


def import_lebert(
    checkpoint: Path,
    target: Path,
    *,
    bert: Path,
    labels: Path,
    lexicon: Sequence[Path],
    word_vocab: Optional[Path] = None,
    corpus: Sequence[Path] = (),
    limit: Optional[int] = None,
    max_words: int = 5,
    overwrite: bool = False,
) -> Language:
    """Convert a checkpoint to a pipeline that computes the same as the authors' code: the words that a character gets,
    the padding of one without words, unknown words by length, characters looked up as they are, and their conditional
    random field (see `spacy-lexner.NCRFTagger.v1`). Their code truncates long texts; here they are read in windows. A
    single space between characters is not a token in spaCy, so the model does not see it. Only tensors are unpickled;
    other objects in the file are refused.

    checkpoint (Path): The state dict (.bin, .pt), with or without the prefix `module.`, or a folder with
        pytorch_model.bin.
    target (Path): The folder of the pipeline.
    bert (Path): A folder with the config.json and vocab.txt of its BERT.
    labels (Path): The label file that it was trained with, one label per line.
    lexicon (Sequence[Path]): The lexicon it was trained with; the first column of each line is a word.
    word_vocab (Optional[Path]): The word_vocab.txt that its training wrote.
    corpus (Sequence[Path]): A substitute if that is lost: its train.json, dev.json and test.json.
    limit (Optional[int]): Number of lexicon lines that it was trained with (`max_scan_num`).
    max_words (int): Number of words per character that it was trained with (`max_word_num`).
    overwrite (bool): Whether to replace an existing folder.
    RETURNS (Language): The pipeline. Raises ValueError, and writes nothing, if the files are damaged or inconsistent.
    """
    path = checkpoint / WEIGHTS if Path(checkpoint).is_dir() else Path(checkpoint)
    parameters = _read_parameters(path)
    tags = _read_tags(labels, len(parameters.emission_b))
    words = read_lexicon(lexicon, limit)
    rows = read_table(words, len(parameters.words), word_vocab, corpus)
    settings = _read_settings(bert / CONFIG, parameters)
    config = BertConfig(**{name: value for name, value in settings.items() if name in SETTINGS})
    nlp = _make_pipeline(config, parameters, tags, max_words, settings.get("HP_dropout", HEAD_DROPOUT))
    cast(Any, nlp.get_pipe("lex_matcher")).set_lexicon(words)
    ner: Any = nlp.get_pipe("lex_ner")
    for label in labels_of(tags):
        ner.add_label(label)
    encoder = next(node for node in ner.model.walk() if node.name == "lebert")
    _fill_encoder(encoder, config, lookup_settings(read_vocab(bert / VOCAB)), parameters, rows, path)
    _fill_tagger(ner.model, parameters)
    inputs = [path, bert, labels, *lexicon, *corpus, *([word_vocab] if word_vocab else [])]
    with whole_folder(target, overwrite=overwrite, inputs=inputs) as folder:
        nlp.to_disk(folder)
    return nlp


def _read_parameters(path: Path) -> LEBERTParameters:
    """Read the parameters of a WCBertCRFForTokenClassification under our names."""
    state = read_state_dict(path)
    missing = [name for name in _HEAD if name not in state]
    module = {_rename(name): value for name, value in state.items() if not (name in _HEAD or _UNUSED.fullmatch(name))}
    problem = None
    if "attn_W" in state:
        problem = (
            "it is the authors' BERT+Word baseline (BertWordLSTMCRF_Token), not a LEBERT: it has a single attention "
            "to words, after BERT"
        )
    elif missing:
        problem = (
            f"it has no {', '.join(missing)}; expected a WCBertCRF_Token as saved by the training code of "
            "liuwei1206/LEBERT"
        )
    elif not any(name.startswith("adapters.") for name in module):
        problem = "it has no lexicon adapter: it is a BERT with a tagger"
    if problem is not None:
        raise ValueError(f"{path} cannot be imported: {problem}.")
    return LEBERTParameters(module, *(state[name] for name in _HEAD))


def _rename(name: str) -> str:
    name = name.removeprefix("bert.")
    in_layer = _LAYER.fullmatch(name)
    if in_layer and in_layer[2] in _ADAPTER:
        return f"adapters.{in_layer[1]}.{_ADAPTER[in_layer[2]]}"
    return f"encoder.{name}"


def _read_tags(path: Path, n_emissions: int) -> List[str]:
    tags = [line.split()[0] for line in read_vocab(path) if line.strip()]
    if len(tags) + N_EXTRA != n_emissions:
        raise ValueError(
            f"{path} has {len(tags)} labels, but the checkpoint {n_emissions - N_EXTRA}. Give the label file that the "
            "checkpoint was trained with."
        )
    return tags


def _read_settings(path: Path, parameters: LEBERTParameters) -> Dict[str, Any]:
    try:
        settings = json.loads(path.read_text("utf8"))
        layers = sorted(settings.get("add_layers", parameters.adapter_layers))
    except OSError as error:
        raise ValueError(f"{path} cannot be read; expected a folder with {CONFIG} and {VOCAB} of a BERT.") from error
    except (UnicodeDecodeError, json.JSONDecodeError, AttributeError, TypeError) as error:
        raise ValueError(f"{path} is not the config of a BERT ({error}).") from error
    if settings.get("model_type", "bert") != "bert":
        raise ValueError(f"{path} is the config of a {settings['model_type']!r}; expected that of a BERT.")
    if layers != parameters.adapter_layers:
        raise ValueError(
            f"{path} has adapters after layers {layers} (add_layers), but the checkpoint after "
            f"{parameters.adapter_layers}. Give the config that the checkpoint was trained with."
        )
    return settings


def _make_pipeline(
    config: BertConfig, parameters: LEBERTParameters, tags: Sequence[str], max_words: int, dropout: float
) -> Language:
    tokenizer = {"@tokenizers": "spacy-lexner.CharTokenizer.v1"}
    nlp = spacy.blank("zh", config={"nlp": {"tokenizer": tokenizer}})
    nlp.add_pipe("lex_matcher", config={"min_length": 1, "max_length": None, "single_chars": "keep"})
    encoder = {
        "@architectures": "spacy-lexner.LEBERT.v1",
        "hidden_width": config.hidden_size,
        "depth": config.num_hidden_layers,
        "heads": config.num_attention_heads,
        "intermediate_width": config.intermediate_size,
        "adapter_layers": parameters.adapter_layers,
        "max_words": max_words,
        "policy": "start",
        "single_chars": "uncovered",
        "empty": "pad",
        "words": "finetuned",
        "word_width": parameters.words.shape[1],
        "dropout": config.hidden_dropout_prob,
        "attention_dropout": config.attention_probs_dropout_prob,
    }
    tagger = {
        "@architectures": "spacy-lexner.NCRFTagger.v1",
        "tok2vec": encoder,
        "tags": list(tags),
        "dropout": dropout,
    }
    nlp.add_pipe("lex_ner", config={"model": tagger, "threshold": 0.0})  # theirs drops no entity
    nlp.meta.update(name="lebert", description="A LEBERT, imported from a checkpoint of its authors' code")
    return nlp


def _fill_encoder(
    node: Model,
    config: BertConfig,
    wordpieces: Dict[str, Any],
    parameters: LEBERTParameters,
    rows: Sequence[str],
    path: Path,
) -> None:
    setup: LEBERTSetup = node.attrs["setup"]
    tuned = rows[len(SPECIAL_ROWS) :]
    hashes = np.array([hash_word(word) for word in tuned], "u8")
    order = np.argsort(hashes)
    module = shim_of(node).initialize(setup.settings(config, wordpieces, 0, len(tuned)))
    table = parameters.words
    state = {
        **parameters.module,
        "words.padding": table[:1],
        "words.by_length": table[1 : len(SPECIAL_ROWS)],
        "words.tuned": table[len(SPECIAL_ROWS) :][tensor_of(order)],
        "words.tuned_hashes": tensor_of(hashes[order].view("i8")),
    }
    fill_module(cast(LEBERT, module), state, path)
    node.set_dim("nO", config.hidden_size)


def _fill_tagger(model: Model, parameters: LEBERTParameters) -> None:
    """Set the output layer's weights. In their tag set, the second to last tag is the start and the last the stop, and
    both may occur within a path; ours has an extra row for starts and an extra column for ends, which are copies."""
    output, moves = model.get_ref("output_layer"), numpy_of(parameters.transitions)
    n_tags = len(moves)
    transitions = np.zeros((n_tags + 1, n_tags + 1), "f4")
    transitions[:-1, :-1], transitions[-1, :-1], transitions[:-1, -1] = moves, moves[-2], moves[:, -1]
    weights: Dict[str, Any] = {
        "emission_W": numpy_of(parameters.emission_W),
        "emission_b": numpy_of(parameters.emission_b),
        "transitions": transitions,
    }
    output.set_dim("nI", weights["emission_W"].shape[1])
    model.get_ref("tok2vec").set_dim("nO", output.get_dim("nI"))
    for name, value in weights.items():
        output.set_param(name, cast(Any, model.ops.asarray(value)))
