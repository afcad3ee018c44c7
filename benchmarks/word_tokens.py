"""A trained pipeline on words instead of characters: F1 by characters, with the tokens of jieba and pkuseg.

    python benchmarks/word_tokens.py MODEL CORPUS.spacy [--pkuseg MODEL] [--limit N] [--out FILE.json]

The tokenizer decides only which entities doc.ents can hold: of two in one token the second goes to
doc.spans["lex_left_out"]. "ents_f" is the F1 of doc.ents and "found_f" that of everything found, both by exact
characters; "difference" and "found_difference" compare them with the pipeline's own tokenizer, "differences" and
"differences_found" count the texts whose entities differ.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple

import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from spacy_lexner.pipeline.exact_offsets import get_offsets
from spacy_lexner.pipeline.ner.entity_writer import LEFT_OUT_KEY
from spacy_lexner.pipeline.ner.scorer import score_by_units

MODES = ("expand", "contract", "strict", "split")
Entities = List[Tuple[int, int, str]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="trained pipeline with a lex_ner")
    parser.add_argument("corpus", type=Path, help="annotated Docs, .spacy")
    parser.add_argument("--pkuseg", help="folder of a pkuseg model; without one, pkuseg is left out")
    parser.add_argument("--modes", nargs="+", default=["expand"], choices=MODES, help="values of alignment_mode")
    parser.add_argument("--limit", type=int, help="number of Docs")
    parser.add_argument("--out", type=Path, help="JSON file for the results")
    args = parser.parse_args()
    results = compare(spacy.load(args.model), args.corpus, args.pkuseg, args.modes, args.limit)
    text = json.dumps({"model": args.model, "corpus": str(args.corpus), **results}, ensure_ascii=False, indent=2)
    print(text)
    if args.out:
        args.out.write_text(text + "\n", "utf8")


def compare(
    nlp: Language, corpus: Path, pkuseg: Optional[str], modes: List[str], limit: Optional[int] = None
) -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): For each tokenizer and alignment mode the scores, and the differences from the pipeline
    with its own tokenizer."""
    gold = list(DocBin().from_disk(corpus).get_docs(nlp.vocab))[:limit]
    [ner] = [pipe for _, pipe in nlp.pipeline if hasattr(pipe, "alignment_counts")]
    own, expected, _ = run(nlp, gold, nlp.tokenizer)
    results: Dict[str, Any] = {"own": own}
    for name, tokenizer in other_tokenizers(pkuseg).items():
        for mode in modes:
            ner.writer.mode = mode
            ner.alignment_counts.clear()
            scores, found, left_out = run(nlp, gold, tokenizer)
            scores["difference"] = round(scores["ents_f"] - own["ents_f"], 4)
            scores["found_difference"] = round(scores["found_f"] - own["found_f"], 4)
            scores["differences"] = sum(a != b for a, b in zip(found, expected))
            everything = zip(map(sorted, map(list.__add__, found, left_out)), map(sorted, expected))
            scores["differences_found"] = sum(a != b for a, b in everything)
            scores["left_out"] = {what: n for what, n in ner.alignment_counts.items() if what != "moved"}
            scores["moved"] = ner.alignment_counts["moved"]
            results[f"{name}, {mode}"] = scores
    return results


def other_tokenizers(pkuseg: Optional[str]) -> Dict[str, Callable[[str], Doc]]:
    """RETURNS (Dict[str, Callable]): spaCy's Chinese word tokenizers."""
    settings = {"@tokenizers": "spacy.zh.ChineseTokenizer"}
    made = {}
    for segmenter in ("jieba", "pkuseg") if pkuseg else ("jieba",):
        made[segmenter] = spacy.blank(
            "zh", config={"nlp": {"tokenizer": {**settings, "segmenter": segmenter}}}
        ).tokenizer
    if pkuseg:
        made["pkuseg"].initialize(pkuseg_model=pkuseg, pkuseg_user_dict="default")
    return made


def run(
    nlp: Language, gold: List[Doc], tokenizer: Callable[[str], Doc]
) -> Tuple[Dict[str, Any], List[Entities], List[Entities]]:
    """RETURNS (Tuple[Dict[str, Any], List, List]): Scores by characters, the exact entities of each text, and those
    left out of doc.ents."""
    docs = []
    for reference in gold:
        doc = tokenizer(reference.text)
        words, spaces = [token.text for token in doc], [bool(token.whitespace_) for token in doc]
        docs.append(Doc(nlp.vocab, words=words, spaces=spaces))
    n_tokens = sum(map(len, docs))
    start = time.perf_counter()
    docs = list(nlp.pipe(docs))
    seconds = time.perf_counter() - start
    scores = score_by_units([Example(doc, reference) for doc, reference in zip(docs, gold)])
    found = [[(*get_offsets(ent), ent.label_) for ent in doc.ents] for doc in docs]
    left_out = [read_left_out(doc) for doc in docs]
    kept = {name: round(scores[name] or 0.0, 4) for name in ("ents_p", "ents_r", "ents_f")}
    kept["found_f"] = f1(gold, map(list.__add__, found, left_out))
    return {**kept, "tokens": n_tokens, "seconds": round(seconds, 2)}, found, left_out


def f1(gold: Iterable[Doc], found: Iterable[Entities]) -> float:
    """RETURNS (float): F1 of entities by exact characters."""
    wanted = [{(ent.start_char, ent.end_char, ent.label_) for ent in doc.ents} for doc in gold]
    given = [set(entities) for entities in found]
    right, total = sum(len(a & b) for a, b in zip(wanted, given)), sum(map(len, [*wanted, *given]))
    return round(2 * right / max(1, total), 4)


def read_left_out(doc: Doc) -> Entities:
    """The exact entities that have no tokens of their own."""
    group = doc.spans.get(LEFT_OUT_KEY)
    return [(a, b, span.label_) for span, (a, b) in zip(group, group.attrs["offsets"])] if group else []


if __name__ == "__main__":
    main()
