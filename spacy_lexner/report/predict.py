"""What a pipeline finds in texts, whatever becomes of single ones."""

import time
from typing import Dict, List, Mapping, NamedTuple, Optional, Sequence

from spacy.language import Language
from tqdm import tqdm

from ..pipeline.annotate_texts import annotate_texts
from ..visualize.lattice import Mark, read_marks


class Predictions(NamedTuple):
    """What a pipeline found.

    marks (List[List[Mark]]): The entities of each text.
    seconds (float): How long it took.
    failed (Dict[int, str]): The texts that the pipeline could not process, and why. They have no entities.
    """

    marks: List[List[Mark]]
    seconds: float
    failed: Dict[int, str]


def predict(
    nlp: Language,
    texts: Sequence[str],
    *,
    label_map: Optional[Mapping[str, str]] = None,
    batch_size: Optional[int] = None,
    title: str = "texts",
) -> Predictions:
    """Run a pipeline over texts.

    nlp (Language): Any pipeline that sets `doc.ents`.
    texts (Sequence[str]): The texts.
    label_map (Optional[Mapping[str, str]]): Labels to rename, such as PERSON to PER.
    batch_size (Optional[int]): Texts to process at once; by default as the pipeline says.
    title (str): What the progress bar says.
    RETURNS (Predictions): What it found.
    """
    marks: List[List[Mark]] = [[] for _ in texts]
    failed: Dict[int, str] = {}
    start = time.perf_counter()
    with tqdm(total=len(texts), desc=title, unit=" texts", disable=None, leave=False) as bar:
        for i, doc in annotate_texts(nlp, texts, failed, batch_size):
            marks[i] = [_rename(mark, label_map or {}) for mark in read_marks(doc.ents)]
            bar.update()
    return Predictions(marks, time.perf_counter() - start, failed)


def _rename(mark: Mark, label_map: Mapping[str, str]) -> Mark:
    return mark._replace(label=label_map.get(mark.label, mark.label))
