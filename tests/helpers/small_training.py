"""A corpus of invented sentences that a small model learns in a second, and the config to train it."""

import random
from typing import Any, Dict, List, Tuple

import spacy
from small_ner import HASH_EMBED_CNN
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from thinc.api import Config

SURNAMES, GIVEN = "王李张刘陈杨赵黄周吴", "伟芳娜敏静强磊洋勇艳"
PLACES = [f"{a}{b}{end}" for a in "东西南北" for b in "山河林海" for end in "市县"]
TEMPLATES = ["{PER}去{LOC}了", "{PER}住在{LOC}", "我在{LOC}看见{PER}", "今天{PER}很忙", "{LOC}的天气好", "没有人来"]
Text = Tuple[str, List[Tuple[int, int, str]]]

CONFIG: Dict[str, Any] = {
    "paths": {"train": None, "dev": None},
    "system": {"seed": 0},
    "nlp": {"lang": "zh", "pipeline": ["lex_ner"]},
    "components": {
        "lex_ner": {
            "factory": "lex_ner",
            "threshold": 0.0,
            "model": {
                "@architectures": "spacy-lexner.CRFTagger.v1",
                "normalization": "mean",
                "tok2vec": {**HASH_EMBED_CNN, "depth": 2},
            },
        }
    },
    "corpora": {
        name: {"@readers": "spacy.Corpus.v1", "path": f"${{paths.{name}}}", "max_length": 0}
        for name in ("train", "dev")
    },
    "training": {
        "seed": "${system.seed}",
        "max_steps": 40,
        "max_epochs": 0,
        "eval_frequency": 20,
        "dropout": 0.1,
        "patience": 0,
        "batcher": {"@batchers": "spacy.batch_by_sequence.v1", "size": 16},
        "optimizer": {"@optimizers": "Adam.v1", "learn_rate": 0.01},
    },
}


def make_texts(n: int, seed: int = 0) -> List[Text]:
    """RETURNS (List[Text]): Sentences with their entities; some occur more than once."""
    rng = random.Random(seed)
    texts: List[Text] = []
    for _ in range(n):
        text, entities, rest = "", [], rng.choice(TEMPLATES)
        while rest:
            if rest[0] == "{":
                label, rest = rest[1:4], rest[5:]
                name = rng.choice(SURNAMES) + rng.choice(GIVEN) if label == "PER" else rng.choice(PLACES)
                entities.append((len(text), len(text) + len(name), label))
                text += name
            else:
                text, rest = text + rest[0], rest[1:]
        texts.append((text, entities))
    return texts


def make_docs(texts: List[Text]) -> List[Doc]:
    nlp = spacy.blank("zh")
    return [Example.from_dict(nlp.make_doc(text), {"entities": ents}).reference for text, ents in texts]


def save_docs(path, texts: List[Text]):
    """RETURNS (Path): The path of a `.spacy` file with the texts."""
    DocBin(docs=make_docs(texts)).to_disk(path)
    return path


def save_config(path, **values: Any):
    """RETURNS (Path): The path of a config that has to be completed, like those in `configs/`."""
    config = Config(CONFIG).copy()
    for name, value in values.items():
        section, key = name.split("__")
        config[section][key] = value
    config.to_disk(path)
    return path
