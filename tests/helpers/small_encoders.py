"""Small pipelines with a lexicon, briefly trained, one for each encoder."""

from functools import lru_cache
from typing import Any, Dict

import numpy as np
import spacy
from spacy.language import Language
from spacy.training import Example
from spacy.util import fix_random_seed

from spacy_lexner.lexicon import Lexicon, LexiconEntry

PLACES, RIVERS, NAMES = ("南京市", "武汉市", "济南市"), ("长江大桥", "黄河大桥"), ("张三", "李四")
GOLD = [
    ("武汉市长江大桥很长", [(0, 3, "GPE"), (3, 7, "LOC")]),
    ("济南市黄河大桥很长", [(0, 3, "GPE"), (3, 7, "LOC")]),
    ("张三住在南京市", [(0, 2, "PER"), (4, 7, "GPE")]),
    ("李四和张三去长江大桥", [(0, 2, "PER"), (3, 5, "PER"), (6, 10, "LOC")]),
    ("今天天气很好", []),
]
BERT = {"hidden_width": 16, "depth": 2, "heads": 2, "intermediate_width": 32}
ENCODERS: Dict[str, Dict[str, Any]] = {
    "FLAT": {"width": 16, "heads": 2, "layers": 1},
    "SoftLexicon": {"width": 16},
    "LEBERT": {**BERT, "adapter_layers": [0]},
    "ERNIE": {**BERT, "entity_width": 8, "entity_heads": 2},
    "ELMo": {
        "unit": "unicode",
        "filters": [[1, 8], [2, 8]],
        "cell_dim": 16,
        "projection_dim": 8,
        "embedding_dim": 8,
        "n_highway": 1,
        "n_layers": 1,
    },
}


def small_lexicon() -> Lexicon:
    """RETURNS (Lexicon): Words with 8-dimensional vectors and entity ids, for every encoder."""
    rng = np.random.default_rng(0)
    words = [*PLACES, *RIVERS, *NAMES, "市长", "大桥"]
    vectors = rng.normal(size=(len(words), 8)).astype("f4")
    return Lexicon.from_entries(
        LexiconEntry(word, vector=vector, entity_id=f"Q{i}") for i, (word, vector) in enumerate(zip(words, vectors))
    )


def make_pipeline(encoder: str, seed: int = 0, steps: int = 3) -> Language:
    """RETURNS (Language): A pipeline with `lex_matcher` and `lex_ner`; the encoder is one of ENCODERS or "ensemble"."""
    fix_random_seed(seed)
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher").set_lexicon(small_lexicon())
    nlp.add_pipe("lex_ner", config={"model": tagger(encoder), "threshold": 0.0})
    examples = [Example.from_dict(nlp.make_doc(text), {"entities": entities}) for text, entities in GOLD]
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.01
    for _ in range(steps):
        nlp.update(examples, sgd=optimizer)
    return nlp


def tagger(encoder: str) -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): The config of a model for `lex_ner`."""
    if encoder == "ensemble":
        return {"@architectures": "spacy-lexner.EnsembleTagger.v1", "n_members": 2, "member": tagger("FLAT")}
    tok2vec = {"@architectures": f"spacy-lexner.{encoder}.v1", **ENCODERS[encoder]}
    return {"@architectures": "spacy-lexner.CRFTagger.v1", "tok2vec": tok2vec}


@lru_cache
def pipeline_bytes(encoder: str) -> bytes:
    """RETURNS (bytes): A pipeline of `make_pipeline`, trained once per process."""
    return make_pipeline(encoder).to_bytes()
