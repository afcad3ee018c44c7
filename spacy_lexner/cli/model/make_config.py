"""Complete configs, made from the bases in `configs/`."""

from pathlib import Path
from typing import Any, Dict, List, Optional

from spacy.language import DEFAULT_CONFIG_PRETRAIN_PATH
from spacy.util import load_config, load_model_from_config
from thinc.api import Config

PACKAGE = Path(__file__).parents[2]
# A wheel holds the bases inside the package; in a checkout they are beside it.
BASES = PACKAGE / "configs" if (PACKAGE / "configs").is_dir() else PACKAGE.parent / "configs"
# Bases for an encoder and a task together. Other pairs put the encoder of its base for entities into the task's base.
PAIRS = {
    ("flat", "ner"): "flat",
    ("flat", "words"): "segmenter_flat",
    ("flat", "spans"): "spans_flat",
    ("lebert", "ner"): "lebert",
    ("lebert", "words"): "segmenter",
    ("lebert", "joint"): "joint",
    ("lebert", "spans"): "spans",
    ("soft_lexicon", "ner"): "soft_lexicon",
    ("elmo", "ner"): "elmo",
    ("ernie", "ner"): "ernie",
}
WITHOUT_CHECKPOINT = {"flat": "FLAT", "soft_lexicon": "SoftLexicon"}


def make_config(encoder: str, task: str, *, checkpoint: Optional[str] = None, gpu: bool = False) -> Config:
    """Make a complete config, variables unresolved. Raises ValueError for options that do not go together."""
    if checkpoint is not None and encoder in WITHOUT_CHECKPOINT:
        raise ValueError(
            f"{WITHOUT_CHECKPOINT[encoder]} has no checkpoint: it trains from random weights and vectors. Use "
            "--encoder lebert or bert, or put a BERT beside FLAT with --base flat_bert."
        )
    own = "lebert" if encoder == "bert" else encoder
    if (own, task) in PAIRS:
        config = read_base(PAIRS[own, task])
    else:
        config = join(read_base(PAIRS[own, "ner"]), read_base(PAIRS["lebert", task]))
    block = find_encoder(config)
    if encoder == "bert":
        block["adapter_layers"] = []
        remove_lexicon(config)
    if checkpoint is not None:
        start_from(config, encoder, checkpoint)
    if gpu:
        block["mixed_precision"] = True
    for listener in find_listeners(config):
        listener["width"] = 0  # known once the encoder's block is complete
    config = complete(config)
    for listener in find_listeners(config):
        listener["width"] = find_width(config, encoder, checkpoint)
    return config


def read_base(name: str) -> Config:
    """Read a base of `configs/` by name, or a .cfg file, variables unresolved. Raises ValueError if there is none."""
    path = Path(name) if name.endswith(".cfg") else BASES / f"{name}.cfg"
    if not path.is_file():
        known = ", ".join(sorted(base.stem for base in BASES.glob("*.cfg")))
        raise ValueError(f"There is no base {name}. Choose one of {known}, or give a .cfg file.")
    return load_config(path)


def complete(base: Config) -> Config:
    """Fill in all defaults, as `spacy init fill-config` does (with `--pretraining` if the base has such a section)."""
    config = load_model_from_config(base, auto_fill=True, validate=False).config
    return load_config(DEFAULT_CONFIG_PRETRAIN_PATH).merge(config) if base.get("pretraining") else config


def join(base: Config, frame: Config) -> Config:
    """Combine the encoder, paths and training of `base`, a config for entities, with the components of `frame`, a
    config for another task, into a new config."""
    config, frame = base.copy(), frame.copy()
    ner = config["components"].pop("lex_ner")
    encoder = ner["model"].pop("tok2vec")
    components = frame["components"]
    for name, component in components.items():
        model = component.get("model")
        if name == "tok2vec":
            component["model"] = encoder
        elif model is not None:
            own = encoder if "tok2vec" not in components else model["tok2vec"]
            head = ner["model"] if model["@architectures"] == ner["model"]["@architectures"] else model
            component["model"] = {**head, "tok2vec": own}
        if name == "lex_ner":
            component.update({key: value for key, value in ner.items() if key != "model"})
    has_lexicon = "lex_matcher" in config["components"]
    # The encoder reads the words that it was measured with (SoftLexicon: also those of one character). But a suggester,
    # which reads the matcher's words, too, would suggest all runs of characters.
    if has_lexicon and not any("suggester" in component for component in components.values()):
        components["lex_matcher"].update(config["components"]["lex_matcher"])
    config["components"] = components
    config["nlp"]["pipeline"] = frame["nlp"]["pipeline"]
    config.setdefault("initialize", {}).update(
        {key: value for key, value in frame["initialize"].items() if key == "before_init"}
    )
    if "score_weights" in frame["training"]:
        config["training"]["score_weights"] = frame["training"]["score_weights"]
    if not has_lexicon:
        remove_lexicon(config)
    if "pretraining" in config:
        shared = "tok2vec" in components
        config["pretraining"]["component"] = "tok2vec" if shared else config["nlp"]["pipeline"][-1]
        config["pretraining"]["layer"] = "" if shared else "tok2vec"
    return config


def find_encoder(config: Config) -> Dict[str, Any]:
    """The encoder's block: that of the pipe `tok2vec`, or the last component's own."""
    components = config["components"]
    if "tok2vec" in components:
        return components["tok2vec"]["model"]
    return components[config["nlp"]["pipeline"][-1]]["model"]["tok2vec"]


def find_listeners(config: Config) -> List[Dict[str, Any]]:
    """The blocks that listen to the pipe `tok2vec`."""
    models = [component.get("model", {}) for component in config["components"].values()]
    blocks = [model["tok2vec"] for model in models if "tok2vec" in model]
    return [block for block in blocks if block["@architectures"] == "spacy.Tok2VecListener.v1"]


def remove_lexicon(config: Config) -> None:
    """Remove the matcher and everything that belongs to it. A suggester then proposes spans of up to ten tokens."""
    config["components"].pop("lex_matcher", None)
    for component in config["components"].values():
        if "suggester" in component:
            component["suggester"] = {"@misc": "spacy.ngram_range_suggester.v1", "min_size": 1, "max_size": 10}
    config["nlp"]["pipeline"] = [name for name in config["nlp"]["pipeline"] if name != "lex_matcher"]
    config["paths"].pop("lexicon", None)
    config["training"].pop("annotating_components", None)
    config["initialize"].pop("components", None)


def start_from(config: Config, encoder: str, checkpoint: str) -> None:
    """Start the encoder from a checkpoint, with suitable learning rates."""
    config["paths"]["checkpoint"] = checkpoint
    training = config["training"]
    if encoder == "elmo":  # the mix and the tagger are trained; pretrained layers stay as they are
        from ...encoders.elmo.checkpoint import read_config

        read_config(checkpoint)  # raises an error for another kind of checkpoint
        find_encoder(config)["freeze"] = True
        del training["optimizer"]["groups"]["language_model"]
        return
    training["optimizer"]["learn_rate"]["initial_rate"] = 0.0001
    training["optimizer"]["groups"]["encoder"]["learn_rate_factor"] = 0.1
    training["batcher"]["max_tokens"] = 1000


def find_width(config: Config, encoder: str, checkpoint: Optional[str]) -> Any:
    """The width of the shared encoder's rows: a number, or the config variable that holds it."""
    if encoder == "elmo":
        if checkpoint is None:
            tok2vec: Any = load_model_from_config(config).get_pipe("tok2vec")
            return tok2vec.model.get_dim("nO")
        from ...encoders.elmo.checkpoint import read_config

        return 2 * read_config(checkpoint)["bilm"]["projection_dim"]
    if checkpoint is None:
        return f"${{components.tok2vec.model.{'width' if encoder in WITHOUT_CHECKPOINT else 'hidden_width'}}}"
    from ...encoders.shared.bert_shaped import load_encoder_config

    return load_encoder_config(checkpoint).hidden_size
