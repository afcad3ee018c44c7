"""A project folder with tiny trained pipelines: entities on `weibo`, words and parts of speech on `udc`, entities that
overlap on `nested`."""

from pathlib import Path

import small_ner
import small_segmenter
import small_spans
from spacy.tokens import DocBin

import spacy_lexner

CORPORA = {
    "weibo": ("flat", small_ner),
    "udc": ("segmenter", small_segmenter),
    "nested": ("spans_flat", small_spans),
}


def make_project(folder: Path, datasets=("weibo", "udc")) -> Path:
    """RETURNS (Path): The folder, with `corpus/` and `training/` as the workflow `train` leaves them."""
    for dataset in datasets:
        config, module = CORPORA[dataset]
        nlp = module.blank()
        nlp.add_pipe("lex_matcher", first=True).add_words(["北京", "南京市", "长江", "大学"])
        gold = module.examples(nlp)
        corpus = folder / "corpus" / dataset
        corpus.mkdir(parents=True)
        attributes = ["ENT_IOB", "ENT_TYPE", "POS", "TAG"]
        for split, part in (("train", gold[:3]), ("dev", gold), ("test", gold)):
            DocBin(attrs=attributes, docs=[example.reference for example in part]).to_disk(corpus / f"{split}.spacy")
        module.train(nlp, gold[:3])
        spacy_lexner.save(nlp, folder / "training" / dataset / config / "model-best")
    return folder
