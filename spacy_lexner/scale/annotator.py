"""A pipeline that annotates batches of texts in a process of its own: texts in, plain values out."""

import sys
import traceback
from typing import Any, Dict, List, Optional, Sequence

import spacy
from spacy.tokens import Doc, Span

from ..pipeline.annotate_texts import annotate_alone
from ..pipeline.codecs import find_codecs_once
from ..pipeline.exact_offsets import get_offsets
from ..pipeline.lexicon_pipe import LexiconPipe
from ..pipeline.ner.entity_search import get_alternatives
from ..pipeline.ner.entity_writer import read_uncertain
from ..pipeline.ner.lex_ner import LexNER
from .results import Result, Wanted


class Annotator:
    """Loads a pipeline once, and annotates batches."""

    def __init__(self, model: str, wanted: Wanted, *, threads: int = 1, gpu_id: int = -1) -> None:
        """Load the pipeline. Raises OSError if there is none, ValueError if it lacks a component for what is wanted."""
        import torch

        find_codecs_once()
        torch.set_num_threads(threads)
        if gpu_id >= 0:
            spacy.require_gpu(gpu_id)
        self.nlp = spacy.load(model)
        self.nlp.max_length = sys.maxsize  # the engine handles texts that are too long for the memory
        self.wanted = wanted
        self._require(LexiconPipe, "lex_matcher", words=wanted.words, lex_version=wanted.version)
        self._require(LexNER, "lex_ner", alternatives=wanted.alternatives, uncertain=wanted.uncertain)
        for _, pipe in self.nlp.pipeline:
            if isinstance(pipe, LexNER):
                pipe.n_alternatives = wanted.alternatives or pipe.n_alternatives
                pipe.uncertain = wanted.uncertain or pipe.uncertain

    def _require(self, kind: type, factory: str, **wanted: Any) -> None:
        names = " and ".join(name for name, value in wanted.items() if value)
        if names and not any(isinstance(pipe, kind) for _, pipe in self.nlp.pipeline):
            raise ValueError(
                f"{names} need a {factory}, but the pipeline has only {', '.join(self.nlp.pipe_names)}: leave out "
                f"{names}, or add the component"
            )

    def annotate(self, texts: Sequence[str]) -> List[Result]:
        """RETURNS (List[Result]): The result of each text. A failing text does not affect the others."""
        with self.nlp.memory_zone():
            try:
                docs = list(self.nlp.pipe(map(self.nlp.make_doc, texts), batch_size=max(1, len(texts))))
                if len(docs) == len(texts):
                    return [Result(self._row(doc)) for doc in docs]
            except Exception:
                docs = []  # retry the texts one by one to find those at fault
            return [self._alone(text) for text in texts]

    def _alone(self, text: str) -> Result:
        try:
            return Result(self._row(annotate_alone(self.nlp, text)))
        except Exception as error:
            return Result(None, str(error) or repr(error), "".join(traceback.format_exception(error)))

    def _row(self, doc: Doc) -> Dict[str, Any]:
        text = doc.text  # joined from the tokens at each call
        row: Dict[str, Any] = {"entities": [_entity(text, ent) for ent in doc.ents]}
        if self.wanted.words:
            matches = (doc._.lex_matches if Doc.has_extension("lex_matches") else None) or ()
            row["words"] = [{"start": m.start, "end": m.end, "word": m.word, "labels": list(m.labels)} for m in matches]
        if self.wanted.alternatives:
            row["alternatives"] = [
                {
                    "probability": one.probability,
                    "entities": [
                        {"start": e.start_char, "end": e.end_char, "text": e.text, "label": e.label}
                        for e in one.entities
                    ],
                }
                for one in get_alternatives(doc)
            ]
        if self.wanted.uncertain is not None:
            row["uncertain"] = [_span(text, *span) for span in read_uncertain(doc)]
        if self.wanted.version:
            row["lex_version"] = doc._.lex_version if Doc.has_extension("lex_version") else None
        if self.wanted.doc:
            row["doc"] = doc.to_bytes()
        return row


def _entity(text: str, ent: Span) -> Dict[str, Any]:
    score = ent._.lex_score if Span.has_extension("lex_score") else None
    return _span(text, *get_offsets(ent), ent.label_, score)


def _span(text: str, start: int, end: int, label: str, score: Optional[float]) -> Dict[str, Any]:
    return {"start": start, "end": end, "text": text[start:end], "label": label, "score": score}
