"""How well models find entities in texts of another script: pipelines that `study.py run --keep` trained are evaluated
on a test split as it is, and converted to traditional characters by OpenCC, with the same offsets.

A text is converted character by character ("characters"), which goes wrong where a character is ambiguous (头发 becomes
頭發 instead of 頭髮), and by phrases ("phrases"), as a person would write it, if that keeps its length.
"""

from __future__ import annotations

import json
import statistics
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Dict, Iterator, List

import typer
from evaluate import evaluate, mentions
from paths import PROJECT
from pipelines import load_pipeline, read_examples
from spacy.tokens import Doc
from spacy.training import Example
from study_table import spread
from tqdm import tqdm
from wasabi import msg

CONVERSIONS = ("original", "characters", "phrases")
CONFIG = "s2t"  # OpenCC's config: simplified to traditional characters


def convert(text: str, how: str) -> str:
    """Convert a text to traditional characters.

    text (str): The text, in simplified characters.
    how (str): "original" (not at all), "characters" or "phrases"; see above.
    RETURNS (str): The text, of the same length.
    """
    converter = load_converter()
    if how == "original":
        return text
    if how == "phrases" and len(whole := converter.convert(text)) == len(text):
        return whole
    pieces = [converter.convert(character) for character in text]
    return "".join(piece if len(piece) == 1 else character for piece, character in zip(pieces, text))


@cache
def load_converter() -> Any:
    """RETURNS (opencc.OpenCC): The converter from simplified to traditional characters, by phrases."""
    from opencc import OpenCC  # the extra `zh`

    return OpenCC(CONFIG)


def converted(examples: List[Example], how: str) -> List[Example]:
    """RETURNS (List[Example]): Examples with converted texts and the same entities, at the same offsets."""
    return [Example(example.predicted.copy(), rewritten(example.reference, how)) for example in examples]


def rewritten(doc: Doc, how: str) -> Doc:
    """RETURNS (Doc): A gold Doc with the converted text: its tokens and entities stay where they are."""
    text = convert(doc.text, how)
    words = [text[token.idx : token.idx + len(token)] for token in doc]
    again = Doc(doc.vocab, words=words, spaces=[bool(token.whitespace_) for token in doc])
    again.set_ents([again.char_span(ent.start_char, ent.end_char, ent.label_) for ent in doc.ents])
    return again


def measure(model: Path, corpus: Path, gpu_id: int = -1) -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): For each conversion, the `ents_p`, `ents_r`, `ents_f` of a pipeline on the test split,
    and `changed`, the share of characters that differ from the original."""
    nlp = load_pipeline(model, gpu_id)
    seen = mentions(read_examples(nlp, corpus / "train.spacy"))
    examples = read_examples(nlp, corpus / "test.spacy")
    texts = "".join(example.reference.text for example in examples)
    found = {}
    for how in CONVERSIONS:
        there = converted(examples, how)
        scores = evaluate(nlp, there, seen)
        others = "".join(example.reference.text for example in there)
        changed = sum(one != other for one, other in zip(texts, others, strict=True)) / len(texts)
        found[how] = {**{key: scores[key] for key in ("ents_p", "ents_r", "ents_f")}, "changed": round(changed, 4)}
    return found


def table(lines: List[Dict[str, Any]]) -> Iterator[str]:
    """YIELDS (str): The lines of a Markdown table: F1 by system and conversion, mean and standard deviation over seeds,
    and how much it differs from that on the original."""
    changes = [f"{how}, change" for how in CONVERSIONS[1:]]
    yield f"| data set | system | {' | '.join([*CONVERSIONS, *changes])} | seeds |"
    yield f"|---|---|{'---:|' * (2 * len(CONVERSIONS))}"
    for dataset, system in dict.fromkeys((line["dataset"], line["system"]) for line in lines):
        own = [line["scripts"] for line in lines if (line["dataset"], line["system"]) == (dataset, system)]
        cells = [spread([scores[how]["ents_f"] for scores in own]) for how in CONVERSIONS]
        for how in CONVERSIONS[1:]:
            change = statistics.mean(scores[how]["ents_f"] - scores["original"]["ents_f"] for scores in own)
            cells.append(f"{100 * change:+.1f}")
        yield f"| {dataset} | {system} | {' | '.join(cells)} | {len(own)} |"


def main(
    results: Annotated[Path, typer.Argument(help="File for the results, a JSON line per pipeline.")],
    dataset: Annotated[List[str], typer.Option(help="Data sets; repeat the option for several.")],
    system: Annotated[List[str], typer.Option(help="Systems of the study; repeat the option for several.")],
    study: Annotated[str, typer.Option(help="The study whose pipelines were kept.")] = "scripts",
    seeds: Annotated[int, typer.Option(min=1, help="Seeds 0 to SEEDS - 1.")] = 3,
    gpu_id: Annotated[int, typer.Option(help="GPU, or -1 for the CPU.")] = -1,
) -> None:
    """Measure the pipelines of a study on converted test splits, and print a table of F1."""
    runs = [(name, each, seed) for name in dataset for each in system for seed in range(seeds)]
    folders = [PROJECT / "training" / study / "-".join(map(str, run)) / "model-best" for run in runs]
    for folder in folders:
        if not folder.is_dir():
            msg.fail(f"{folder} is missing", "Create it with `study.py run --keep`.", exits=1)
    lines = []
    for run, folder in zip(tqdm(runs, unit="run"), folders):
        scores = measure(folder, PROJECT / "corpus" / run[0], gpu_id)
        lines.append({**dict(zip(("dataset", "system", "seed"), run)), "scripts": scores})
    results.parent.mkdir(parents=True, exist_ok=True)
    results.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf8")
    print("\n".join(table(lines)))


if __name__ == "__main__":
    typer.run(main)
