"""What the study of words needs besides study.py: segmenters to compare with, and joined data sets.

    python -m spacy project run data . --vars.dataset udc
    python scripts/study_words.py peers udc metrics/words-peers.json
    python scripts/study.py run studies/words.yml metrics/words.jsonl --dataset udc --system segmenter \\
        --system segmenter-empty --system flat --system flat-empty --paths.checkpoint checkpoints/small-whole_word
    python scripts/study_words.py join weibo-udc weibo udc
    python scripts/study.py run studies/words.yml metrics/joint.jsonl --dataset weibo-udc --system joint
    python scripts/study.py run studies/words.yml metrics/joint.jsonl --dataset weibo --system lebert
    python scripts/study.py run studies/words.yml metrics/joint.jsonl --dataset udc --system segmenter
    python scripts/study.py table studies/words.yml metrics/words.jsonl
    python scripts/study_words.py speed udc joint=training/words/weibo-udc-joint-0/model-best \\
        separate=training/words/weibo-lebert-0/model-best,training/words/udc-segmenter-0/model-best

The last command needs runs with --keep.
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
import typer
from paths import PROJECT, SPLITS
from pipelines import load_pipeline, read_examples
from spacy.attrs import ORTH
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.vocab import Vocab
from study_table import spread
from wasabi import msg, table
from word_differences import differences, summarise_differences

from spacy_lexner.pipeline.segmenter.scorer import lex_segmenter_score

COLUMNS = {"word_p": "P", "word_r": "R", "word_f": "F1 of words", "word_oov_r": "recall of unseen words"}
Cutter = Callable[[str], List[str]]
app = typer.Typer(help=__doc__, no_args_is_help=True, pretty_exceptions_enable=False)


@app.command("join")
def join_corpora(
    name: Annotated[str, typer.Argument(help="Name of the new data set.")],
    datasets: Annotated[List[str], typer.Argument(help="Converted data sets.")],
) -> None:
    """Join data sets, for example one with entities and one with words."""
    folder = PROJECT / "corpus"
    (folder / name).mkdir(parents=True, exist_ok=True)
    vocab = Vocab()
    for split in SPLITS:
        joined = DocBin(attrs=["ENT_IOB", "ENT_TYPE", "POS", "TAG"])
        for dataset in datasets:
            for doc in DocBin().from_disk(folder / dataset / f"{split}.spacy").get_docs(vocab):
                joined.add(doc)
        joined.to_disk(folder / name / f"{split}.spacy")
        msg.good(f"{folder / name / split}.spacy: {len(joined)} texts")


@app.command("peers")
def compare_peers(
    dataset: Annotated[str, typer.Argument(help="A data set with words.")],
    out: Annotated[Path, typer.Argument(help="File for the scores, JSON.")],
    iterations: Annotated[int, typer.Option(help="Passes of pkuseg's training over the data.")] = 20,
) -> None:
    """Segment the test texts with jieba, as it is, and with a pkuseg trained on the training texts. Print their scores,
    and how they differ from the annotation: words split, words joined, or words crossed."""
    nlp = spacy.blank("zh")
    corpus = {split: read_examples(nlp, PROJECT / "corpus" / dataset / f"{split}.spacy") for split in SPLITS}
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
        results[name]["differences"] = summarise_differences(differences(corpus["test"]))
    rows = [(name, *(spread([scores[key]]) for key in COLUMNS)) for name, scores in results.items()]
    print(table(rows, header=("segmenter", *COLUMNS.values()), divider=True, aligns=("l", *"r" * len(COLUMNS))))
    for name, scores in results.items():
        for kind, counts in scores["differences"].items():
            print(f"{name}, {kind}:", ", ".join(f"{stretch} ({n})" for stretch, n in counts.items()))
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(results, ensure_ascii=False), "utf8")


@app.command("speed")
def measure_speed(
    dataset: Annotated[str, typer.Argument(help="The data set of the test texts.")],
    systems: Annotated[List[str], typer.Argument(help="NAME=FOLDER, or NAME=FOLDER,FOLDER to run several in turn.")],
    repeats: Annotated[int, typer.Option(min=1, help="Passes; the fastest counts.")] = 3,
) -> None:
    """Run pipelines over the same texts and print their size and speed, in CPU time."""
    texts = [doc.text for doc in DocBin().from_disk(PROJECT / "corpus" / dataset / "test.spacy").get_docs(Vocab())]
    rows = []
    for system in systems:
        name, _, folders = system.rpartition("=")
        paths = [Path(folder) for folder in folders.split(",")]
        pipelines = [load_pipeline(path) for path in paths]
        size = sum(file.stat().st_size for path in paths for file in path.rglob("*") if file.is_file()) / 1e6
        seconds = min(run_all(pipelines, texts) for _ in range(repeats))
        rows.append((name or folders, f"{size:.1f}", f"{seconds:.2f}", f"{sum(map(len, texts)) / seconds:,.0f}"))
    print(table(rows, header=("system", "MB", "seconds", "characters/s"), divider=True, aligns=("l", "r", "r", "r")))


def run_all(pipelines: List[Language], texts: List[str]) -> float:
    """RETURNS (float): CPU seconds it takes to run all pipelines over all texts."""
    start = time.process_time()
    for nlp in pipelines:
        for _ in nlp.pipe(texts):
            pass
    return time.process_time() - start


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
        # The default, its own dictionary, would join words by another guideline than that of the training texts.
        return spacy_pkuseg.pkuseg(f"{folder}/model", user_dict=None).cut


def solid_words(doc: Doc) -> Iterator[str]:
    """YIELDS (str): The words of a Doc, without white space."""
    return (token.text for token in doc if not token.is_space)


def make_word_doc(vocab: Vocab, cut: Cutter, text: str) -> Doc:
    """RETURNS (Doc): A text in the words of a segmenter, which may drop white space."""
    words, spaces = spacy.util.get_words_and_spaces(cut(text), text)
    return Doc(vocab, words, spaces=spaces)


if __name__ == "__main__":
    app()
