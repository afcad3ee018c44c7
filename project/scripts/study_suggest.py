"""At which ranks words that were removed from a lexicon are suggested again.

python scripts/study_suggest.py training/msra/model-best corpus/msra/test.spacy --hidden 200
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from statistics import median
from typing import Annotated, Any, List, Optional

import typer
from pipelines import load_pipeline

from spacy_lexner.formats.spacy_file import read_docs
from spacy_lexner.rules.suggest import suggest


def main(
    model: Annotated[Path, typer.Argument(help="A trained pipeline.")],
    corpus: Annotated[Path, typer.Argument(help="Annotated texts, .spacy.")],
    hidden: Annotated[int, typer.Option(help="How many of their entities to remove from the lexicon.")] = 200,
    tried: Annotated[int, typer.Option(help="How many words to try.")] = 2000,
    seed: Annotated[int, typer.Option(help="Seed of the sample of words.")] = 0,
) -> List[Optional[int]]:
    """Print at which ranks hidden words are suggested."""
    nlp = load_pipeline(model)
    matcher: Any = nlp.get_pipe("lex_matcher")
    docs = list(read_docs(corpus))
    known = sorted({ent.text for doc in docs for ent in doc.ents if ent.text in matcher.lexicon})
    words = Random(seed).sample(known, min(hidden, len(known)))
    matcher.remove_words(words)
    texts = list(dict.fromkeys(doc.text for doc in docs))
    found = {each.word: rank for rank, each in enumerate(suggest(nlp, texts, tried, n_tried=tried), 1)}
    ranks = [found.get(word) for word in words]
    returned = sorted(rank for rank in ranks if rank is not None)
    print(f"{len(words)} words hidden, {len(returned)} of them among {len(found)} suggestions")
    if returned:
        print(f"median rank {median(returned):.0f}; among the first 50: {sum(rank <= 50 for rank in returned)}")
    return ranks


if __name__ == "__main__":
    typer.run(main)
