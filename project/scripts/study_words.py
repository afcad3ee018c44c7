"""The study of words and parts of speech: as study.py; beside jieba and pkuseg; and joint training with entities.

    python -m spacy project run data . --vars.dataset udc
    python scripts/study_words.py run metrics/words.jsonl --dataset udc --system segmenter --system segmenter-empty \\
        --system flat --system flat-empty --paths.checkpoint checkpoints/small-whole_word
    python scripts/study_words.py peers udc metrics/words-peers.json
    python scripts/study_words.py join weibo-udc weibo udc
    python scripts/study_words.py run metrics/joint.jsonl --dataset weibo-udc --system joint
    python scripts/study_words.py run metrics/joint.jsonl --dataset weibo --system lebert
    python scripts/study_words.py run metrics/joint.jsonl --dataset udc --system segmenter
    python scripts/study_words.py table metrics/words.jsonl
"""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
import time
from pathlib import Path
from typing import Annotated, Any, Callable, Dict, Iterator, List

import spacy
import study
import typer
from pipelines import read_examples
from spacy.attrs import ORTH
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.vocab import Vocab
from wasabi import msg, table

from spacy_lexner.pipeline.lex_segmenter_scorer import lex_segmenter_score

SYSTEMS = {
    "segmenter": study.System("segmenter", "lexicon", "LEBERT with the lexicon", "word_pos_f"),
    "segmenter-empty": study.System("segmenter", "empty", "LEBERT with an empty lexicon", "word_pos_f"),
    "flat": study.System("segmenter_flat", "lexicon", "FLAT with the lexicon", "word_pos_f"),
    "flat-empty": study.System("segmenter_flat", "empty", "FLAT with an empty lexicon", "word_pos_f"),
    "lebert": study.System("lebert", "lexicon", "LEBERT for entities", "ents_f"),
    "joint": study.System("joint", "lexicon", "LEBERT for entities, words and parts of speech", "word_pos_f"),
}
COLUMNS = {
    "word_p": "P",
    "word_r": "R",
    "word_f": "F1 of words",
    "word_oov_r": "recall of unseen words",
    "word_pos_f": "F1 with part of speech",
    "ents_f": "F1 of entities",
}
SPLITS = ("train", "dev", "test")
Cutter = Callable[[str], List[str]]


def join_corpora(
    name: Annotated[str, typer.Argument(help="Name of the new data set.")],
    datasets: Annotated[List[str], typer.Argument(help="Data sets that are converted.")],
) -> None:
    """Put data sets together: one has entities, another words."""
    folder = study.PROJECT / "corpus"
    (folder / name).mkdir(parents=True, exist_ok=True)
    vocab = Vocab()
    for split in SPLITS:
        joined = DocBin(attrs=["ENT_IOB", "ENT_TYPE", "POS", "TAG"])
        for dataset in datasets:
            for doc in DocBin().from_disk(folder / dataset / f"{split}.spacy").get_docs(vocab):
                joined.add(doc)
        joined.to_disk(folder / name / f"{split}.spacy")
        msg.good(f"{folder / name / split}.spacy: {len(joined)} texts")


def compare_peers(
    dataset: Annotated[str, typer.Argument(help="A data set in words.")],
    out: Annotated[Path, typer.Argument(help="File for the scores, JSON.")],
    iterations: Annotated[int, typer.Option(help="Passes of pkuseg's training over the data.")] = 20,
) -> None:
    """Segment the test texts with jieba, which is not trained, and with a pkuseg trained on the training texts."""
    nlp = spacy.blank("zh")
    corpus = {split: read_examples(nlp, study.PROJECT / "corpus" / dataset / f"{split}.spacy") for split in SPLITS}
    known = {word for example in corpus["train"] for word in example.reference.to_array(ORTH).tolist()}
    results: Dict[str, Dict[str, Any]] = {}
    for name, prepare in (("jieba", prepare_jieba), ("pkuseg", lambda: train_pkuseg(corpus, iterations))):
        start = time.perf_counter()
        cut = prepare()
        seconds = time.perf_counter() - start
        start = time.perf_counter()
        for example in corpus["test"]:
            example.predicted = make_word_doc(nlp.vocab, cut, example.reference.text)
        n_characters = sum(len(example.reference.text) for example in corpus["test"])
        speed = n_characters / (time.perf_counter() - start)
        scores = lex_segmenter_score(corpus["test"], pos=None, known_words=sorted(known))
        results[name] = {**scores, "characters_per_second": round(speed), "seconds_of_training": round(seconds, 1)}
    columns = {key: title for key, title in COLUMNS.items() if key.startswith("word_") and "pos" not in key}
    rows = [(name, *(study.spread([scores[key]]) for key in columns)) for name, scores in results.items()]
    print(table(rows, header=("segmenter", *columns.values()), divider=True, aligns=("l", *"r" * len(columns))))
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(results), "utf8")


def prepare_jieba() -> Cutter:
    import jieba

    jieba.setLogLevel("ERROR")
    jieba.initialize()
    return jieba.lcut


def train_pkuseg(corpus: Dict[str, List[Example]], iterations: int) -> Cutter:
    import spacy_pkuseg

    with tempfile.TemporaryDirectory() as folder:
        for split in ("train", "dev"):
            lines = (" ".join(solid_words(example.reference)) for example in corpus[split])
            (Path(folder) / f"{split}.txt").write_text("\n".join(lines) + "\n", "utf8")
        with contextlib.redirect_stdout(io.StringIO()):
            files = f"{folder}/train.txt", f"{folder}/dev.txt", f"{folder}/model"
            spacy_pkuseg.train(*files, train_iter=iterations)
        return spacy_pkuseg.pkuseg(f"{folder}/model").cut


def solid_words(doc: Doc) -> Iterator[str]:
    """YIELDS (str): The words of a Doc, without white space."""
    return (token.text for token in doc if not token.is_space)


def make_word_doc(vocab: Vocab, cut: Cutter, text: str) -> Doc:
    """RETURNS (Doc): A text in the words of a segmenter, which may leave out white space."""
    words, spaces = spacy.util.get_words_and_spaces(cut(text), text)
    return Doc(vocab, words, spaces=spaces)


if __name__ == "__main__":
    study.SYSTEMS.clear()
    study.SYSTEMS.update(SYSTEMS)
    study.COLUMNS.clear()
    study.COLUMNS.update(COLUMNS)
    study.app.command("join")(join_corpora)
    study.app.command("peers")(compare_peers)
    study.app()
