"""Make a typed dictionary from words with vectors, public lists of persons, places and organisations, and the names in
the training texts with their types. Writes a lexicon with these labels, the same lexicon without, and how the
dictionary of each fold of the training texts differs from it (see jackknife.py).

    python scripts/make_typed.py bc5cdr lexicon/empty --consecutive --normalise-case
    python scripts/make_typed.py weibo lexicon/small $LEXNER_DATA/lexicon/jieba_words.tsv.gz
    python scripts/make_typed.py msra lexicon/small $LEXNER_DATA/lexicon/jieba_words.tsv.gz --limit 4000
"""

from __future__ import annotations

import shutil
import zlib
from collections import defaultdict
from pathlib import Path
from typing import Annotated, Dict, Iterable, Iterator, List, Optional, Set

import srsly
import typer
from jackknife import Changes, key_of
from paths import PROJECT, find_input
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab
from wasabi import msg

from spacy_lexner.cli.shared import failing
from spacy_lexner.lexicon import Lexicon, LexiconEntry, Normalization
from spacy_lexner.lexicon.readers import read_jieba_dictionary

Names = Dict[str, Dict[str, Set[int]]]  # name → type → the folds in which it occurs


def make_folds(texts: List[str], n_folds: int, consecutive: bool) -> Dict[str, int]:
    """Divide texts into folds; equal texts share a fold.

    texts (List[str]): The texts.
    n_folds (int): The number of folds.
    consecutive (bool): Whether a fold is a run of consecutive texts, for texts that are sentences of documents: those
        of one document name the same things. Otherwise folds are random.
    RETURNS (Dict[str, int]): The fold of each text, by `key_of`.
    """
    if consecutive:
        return {key_of(text): i * n_folds // len(texts) for i, text in enumerate(texts)}
    return {key_of(text): zlib.crc32(text.encode("utf8")) % n_folds for text in texts}


def find_names(docs: Iterable[Doc], folds: Dict[str, int], normalization: Normalization = Normalization()) -> Names:  # noqa: B008
    """RETURNS (Names): The entities of training texts, normalised."""
    names: Names = defaultdict(lambda: defaultdict(set))
    for doc in docs:
        for ent in doc.ents:
            names[normalization(ent.text)][ent.label_].add(folds[key_of(doc.text)])
    return names


def public_words(path: Path, tags: Set[str]) -> Iterator[LexiconEntry]:
    """YIELDS (LexiconEntry): The words of a jieba dictionary with one of these tags."""
    return (entry for entry in read_jieba_dictionary(path) if entry.label in tags)


def leave_out(names: Names, fold: int, others: Lexicon) -> Changes:
    """Find how a fold's dictionary differs from the whole one.

    names (Names): The names in all training texts.
    fold (int): The fold.
    others (Lexicon): The words that do not come from the training texts.
    RETURNS (Changes): The words that differ and their labels in the fold; None for words that it lacks.
    """
    changes: Changes = {}
    for name, types in names.items():
        kept = [label for label, folds in types.items() if folds != {fold}]
        if len(kept) < len(types):
            entry = others.get(name)
            known = list(entry.labels) if entry is not None else []
            changes[name] = None if entry is None and not kept else [*known, *kept]
    return changes


def main(
    dataset: Annotated[str, typer.Argument(help="The data set, as in corpus/.")],
    lexicon: Annotated[str, typer.Argument(help="The folder of a lexicon with vectors.")],
    words: Annotated[Optional[str], typer.Argument(help="A jieba-style dictionary: word, frequency, tag.")] = None,
    tags: Annotated[str, typer.Option(help="Take the words with these tags from it.")] = "nr ns nt",
    folds: Annotated[int, typer.Option(min=2, max=7, help="Folds of the training texts.")] = 5,
    limit: Annotated[int, typer.Option(min=0, help="Only the first training texts; 0 for all.")] = 0,
    consecutive: Annotated[
        bool, typer.Option("--consecutive", help="Make folds of consecutive texts, for sentences of documents.")
    ] = False,
    normalise_case: Annotated[bool, typer.Option("--normalise-case", help="Ignore the case of words.")] = False,
) -> None:
    """Write lexicon/typed-DATASET, lexicon/plain-DATASET and lexicon/folds-DATASET.json."""
    normal = Normalization(case=normalise_case)
    with failing("No typed dictionary was made"):
        train = DocBin().from_disk(PROJECT / "corpus" / dataset / "train.spacy")
        base = [entry._replace(labels=()) for entry in Lexicon.open(find_input(lexicon)).entries()]
        public = [] if words is None else public_words(find_input(words), set(tags.split()))
        others = Lexicon.from_entries([*base, *public], merge=True, normalization=normal)
    docs = [doc for i, doc in enumerate(train.get_docs(Vocab())) if not limit or i < limit]
    fold_of = make_folds([doc.text for doc in docs], folds, consecutive)
    names = find_names(docs, fold_of, normal)
    own: List[LexiconEntry] = [LexiconEntry(name, labels=tuple(types)) for name, types in names.items()]
    typed = Lexicon.from_entries([*others.entries(), *own], merge=True, normalization=normal)
    unlabelled = (entry._replace(labels=()) for entry in typed.entries())
    plain = Lexicon.from_entries(unlabelled, normalization=normal)
    for kind, made in {"typed": typed, "plain": plain}.items():
        folder = PROJECT / "lexicon" / f"{kind}-{dataset}"
        shutil.rmtree(folder, ignore_errors=True)
        made.save(folder)
    changes = [leave_out(names, fold, others) for fold in range(folds)]
    srsly.write_json(PROJECT / "lexicon" / f"folds-{dataset}.json", {"folds": changes, "fold_of": fold_of})
    labelled = sum(bool(entry.labels) for entry in typed.entries())
    msg.good(f"{len(typed)} words, {labelled} with labels ({', '.join(sorted(typed.distinct_labels()))})")
    msg.text(
        f"{len(names)} names in {len(docs)} training texts; folds change {', '.join(str(len(c)) for c in changes)}"
    )


if __name__ == "__main__":
    typer.run(main)
