"""Characters per second of whole pipelines, beside the usual alternatives.

    OMP_NUM_THREADS=1 python benchmarks/throughput.py MODEL corpus/msra/train.spacy corpus/msra/test.spacy
        [--lexicon lexicon/small] [--texts 600] [--base-texts 60] [--rounds 5] [--threads 1 2] [--no-base]

MODEL is a trained FLAT. The others are made here and trained for a few steps, so that they find entities: spaCy's
default `ner`; `lex_ner` on LEBERT, and on a plain BERT with the same weights; spacy-transformers' `transformer` with
spaCy's `ner`, and Hugging Face's token classification, both with that BERT. "base" has the size of bert-base, and reads
fewer texts. int8 is `spacy lexner quantize`; onnx runs the graph of `spacy lexner export-onnx` without decoding.

Texts keep their order. The systems alternate in each round; figures are medians over the rounds, of wall-clock time, or
with --cpu of CPU time (for one thread on a busy machine). The last line is a JSON object: `flat_vs_spacy_ner_x`,
`lebert_vs_spacy_trf_x`, `lebert_vs_hf_pipeline_x` (the faster of both batch sizes), `int8_x` (at the size of
bert-base), `overhead_share_base` and `overhead_share_flat`: the share of time spent outside the module. Ratios for
other numbers of threads than the first end in, say, `_2_threads`.
"""

import argparse
import json
import random
import statistics
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Sequence

import spacy
import torch
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from spacy_lexner.checkpoints.int8 import quantize
from spacy_lexner.encoders.lebert.layer import make_batches
from spacy_lexner.encoders.shared.shim import ModuleShim, shim_of
from spacy_lexner.encoders.shared.wordpiece_encoder import wordpieces_of
from spacy_lexner.lexicon.lexicon import Lexicon
from spacy_lexner.pipeline.matcher.lex_matcher import LexMatcher
from spacy_lexner.pipeline.ner import lex_ner

SMALL = {"hidden_width": 256, "depth": 4, "heads": 4, "intermediate_width": 1024}
BASE = {"hidden_width": 768, "depth": 12, "heads": 12, "intermediate_width": 3072}
TOKENIZER = {"@tokenizers": "spacy-lexner.CharTokenizer.v1"}
TRAINING_TEXTS = 200  # for the models made here
STAGES = {  # each without the stages within it
    "tokenizer": (Language, "make_doc"),
    "matcher": (LexMatcher, "_annotate"),
    "module": (ModuleShim, "predict"),
    "search": (lex_ner, "find_entities"),
    "constraints": (lex_ner.LexNER, "_constraints"),
    "annotation": (lex_ner.LexNER, "set_annotations"),
    "units, words, batches": (lex_ner.LexNER, "predict"),
}


class System(NamedTuple):
    """A system that finds entities in texts; `run` returns how many."""

    name: str
    run: Callable[[Sequence[str]], int]
    is_base: bool = False


def read(path: Path) -> List[Doc]:
    return [doc for doc in DocBin().from_disk(path).get_docs(spacy.blank("zh").vocab) if len(doc)]


def train(nlp: Language, gold: Sequence[Doc], steps: int, size: int) -> Language:
    examples = [Example(nlp.make_doc(doc.text), doc) for doc in gold]
    optimizer = nlp.initialize(lambda: examples)
    rng = random.Random(0)
    for _ in range(steps):
        nlp.update(rng.sample(examples, size), sgd=optimizer)
    return nlp


def pipe(nlp: Language) -> Callable[[Sequence[str]], int]:
    return lambda texts: sum(len(doc.ents) for doc in nlp.pipe(texts))


def make_lebert(gold: Sequence[Doc], lexicon: Lexicon, sizes: Dict[str, int], steps: int, words: bool) -> Language:
    nlp = spacy.blank("zh", config={"nlp": {"tokenizer": TOKENIZER, "batch_size": 256}})
    nlp.add_pipe("lex_matcher").set_lexicon(lexicon)
    encoder = {"@architectures": "spacy-lexner.LEBERT.v1", **sizes, **({} if words else {"adapter_layers": []})}
    model = {"@architectures": "spacy-lexner.CRFTagger.v1", "tok2vec": encoder}
    nlp.add_pipe("lex_ner", config={"model": model})
    return train(nlp, gold, steps, 16)


def export_bert(nlp: Language, folder: Path) -> str:
    """RETURNS (str): A Hugging Face folder with the BERT of a pipeline."""
    from spacy_lexner.checkpoints.huggingface import export_huggingface

    nlp.to_disk(folder / "pipeline")
    export_huggingface(folder / "pipeline", folder / "bert")
    return str(folder / "bert")


def make_spacy_transformer(gold: Sequence[Doc], bert: str, steps: int) -> Language:
    nlp = spacy.blank("zh", config={"nlp": {"batch_size": 256}})
    nlp.add_pipe("transformer", config={"model": {"name": bert}})
    listener = {"@architectures": "spacy-transformers.TransformerListener.v1", "grad_factor": 1.0}
    listener["pooling"] = {"@layers": "reduce_mean.v1"}  # type: ignore[assignment]
    model = {"@architectures": "spacy.TransitionBasedParser.v2", "state_type": "ner", "extra_state_tokens": False}
    model |= {"hidden_width": 64, "maxout_pieces": 2, "use_upper": False, "nO": None, "tok2vec": listener}
    nlp.add_pipe("ner", config={"model": model})
    return train(nlp, gold, steps, 16)


def make_hugging_face(gold: Sequence[Doc], bert: str, batch_size: int) -> Callable[[Sequence[str]], int]:
    """Hugging Face's token classification: weights are random, but as many tokens are in entities as in the gold
    texts."""
    from transformers import AutoModelForTokenClassification, AutoTokenizer, pipeline

    tokenizer = AutoTokenizer.from_pretrained(bert)
    model = AutoModelForTokenClassification.from_pretrained(bert, num_labels=13).eval()
    share = sum(len(ent) for doc in gold for ent in doc.ents) / sum(map(len, gold))
    with torch.no_grad():
        inputs = tokenizer([doc.text for doc in gold[:50]], padding=True, return_tensors="pt")
        logits = model(**inputs).logits[inputs["attention_mask"].bool()]
        model.classifier.bias[0] += torch.quantile(logits[:, 1:].amax(1) - logits[:, 0], 1 - share)
    found: Any = pipeline("token-classification", model=model, tokenizer=tokenizer, aggregation_strategy="simple")
    return lambda texts: sum(map(len, found(list(texts), batch_size=batch_size)))


def make_onnx(nlp: Language, folder: Path) -> Callable[[Sequence[str]], int]:
    """From texts to emissions with ONNX Runtime, without decoding."""
    import onnxruntime

    from spacy_lexner.checkpoints.onnx import export_onnx

    export_onnx(nlp, folder)
    encoder: Any = nlp.get_pipe("lex_ner").model.get_ref("tok2vec")
    module = shim_of(encoder).module.eval()
    sessions: Dict[int, Any] = {}

    def run(texts: Sequence[str]) -> int:
        n_threads = torch.get_num_threads()
        if n_threads not in sessions:
            settings = onnxruntime.SessionOptions()
            settings.intra_op_num_threads = n_threads
            sessions[n_threads] = onnxruntime.InferenceSession(folder / "model.onnx", settings)
        docs = list(nlp.get_pipe("lex_matcher").pipe(map(nlp.make_doc, texts)))
        with torch.inference_mode():
            for batch, _ in make_batches(encoder, docs, *wordpieces_of(encoder).encode(docs)):
                words = module.words(batch.words)
                named = {"input_ids": batch.input_ids, "attention_mask": batch.attention_mask}
                named |= {"slots": batch.slots, "words": words}
                sessions[n_threads].run(None, {name: tensor.numpy() for name, tensor in named.items()})
        return 0

    return run


def make_systems(options: argparse.Namespace, folder: Path) -> Iterator[System]:
    gold = random.Random(0).sample(read(options.train), 1000)
    lexicon = Lexicon.open(options.lexicon) if options.lexicon else Lexicon.from_entries([])
    yield System("flat", pipe(spacy.load(options.model)))
    nlp = spacy.blank("zh")
    nlp.add_pipe("ner")
    yield System("spaCy ner", pipe(train(nlp, gold, 2 * options.steps, 32)))
    few = gold[:TRAINING_TEXTS]
    for size, sizes, steps in (("4x256", SMALL, options.steps), ("base", BASE, 2)):
        is_base = size == "base"
        if is_base and options.no_base:
            return
        plain = make_lebert(few, lexicon, sizes, steps, words=False)
        lebert = make_lebert(few, lexicon, sizes, steps, words=True)
        yield System(f"lebert {size}", pipe(lebert), is_base)
        yield System(f"bert {size}", pipe(plain), is_base)
        here = folder / size
        here.mkdir()
        lebert.to_disk(here / "lebert")
        bert = export_bert(plain, here)
        yield System(f"spaCy trf {size}", pipe(make_spacy_transformer(few, bert, steps)), is_base)
        for batch_size in (1, 32):
            yield System(f"HF {size}, {batch_size}", make_hugging_face(few, bert, batch_size), is_base)
        yield System(f"lebert onnx {size}", make_onnx(lebert, here / "onnx"), is_base)
        small = spacy.load(here / "lebert")
        quantize(small)
        yield System(f"lebert int8 {size}", pipe(small), is_base)


def measure(systems: Sequence[System], texts: Dict[bool, List[str]], options: argparse.Namespace) -> Dict[str, float]:
    """RETURNS (Dict[str, float]): Characters per second of each system."""
    clock = time.process_time if options.cpu else time.perf_counter
    times: Dict[str, List[float]] = {system.name: [] for system in systems}
    found: Dict[str, int] = {}
    for system in systems:
        system.run(texts[system.is_base][:20])
    for _ in range(options.rounds):
        for system in systems:
            start = clock()
            found[system.name] = system.run(texts[system.is_base])
            times[system.name].append(clock() - start)
    rates = {}
    for system in systems:
        n_characters = sum(map(len, texts[system.is_base]))
        rates[system.name] = n_characters / statistics.median(times[system.name])
        per_100 = 100 * found[system.name] / n_characters
        print(f"{system.name:24}{rates[system.name]:12,.0f}{per_100:12.2f}", flush=True)
    return rates


@contextmanager
def timed_stages(clock: Callable[[], float]) -> Iterator[Counter]:
    """Measures the seconds of each stage, without those of the stages within it."""
    seconds: Counter = Counter()
    within: List[float] = []
    originals = {name: getattr(owner, attribute) for name, (owner, attribute) in STAGES.items()}

    def timed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            start = clock()
            within.append(0.0)
            try:
                return function(*args, **kwargs)
            finally:
                spent = clock() - start
                seconds[name] += spent - within.pop()
                if within:
                    within[-1] += spent

        return run

    for name, (owner, attribute) in STAGES.items():
        setattr(owner, attribute, timed(name, originals[name]))
    try:
        yield seconds
    finally:
        for name, (owner, attribute) in STAGES.items():
            setattr(owner, attribute, originals[name])


def break_down(system: System, texts: List[str], options: argparse.Namespace) -> float:
    """Print the share of each stage. RETURNS (float): The share of all but the module."""
    clock = time.process_time if options.cpu else time.perf_counter
    shares = []
    for _ in range(options.rounds):
        with timed_stages(clock) as seconds:
            start = clock()
            system.run(texts)
            total = clock() - start
        shares.append({**{name: seconds[name] / total for name in STAGES}, "rest": 1 - seconds.total() / total})
    print(f"\n{system.name}: " + ", ".join(f"{n} {statistics.median(s[n] for s in shares):.1%}" for n in shares[0]))
    return statistics.median(1 - share["module"] for share in shares)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a pipeline with FLAT")
    parser.add_argument("train", type=Path, help="annotated texts, as .spacy")
    parser.add_argument("test", type=Path, help="the texts to read, as .spacy")
    parser.add_argument("--lexicon", type=Path, help="lexicon for LEBERT; FLAT has its own")
    parser.add_argument("--texts", type=int, default=600)
    parser.add_argument("--base-texts", type=int, default=60)
    parser.add_argument("--steps", type=int, default=30, help="training steps for the models made here")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--cpu", action="store_true", help="measure CPU time instead of wall-clock time")
    parser.add_argument("--no-base", action="store_true", help="skip the systems of bert-base's size")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = [doc.text for doc in read(options.test)]
    texts = {False: lines[: options.texts], True: lines[: options.base_texts]}
    figures: Dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name:
        systems = list(make_systems(options, Path(name)))
        for n_threads in options.threads:
            torch.set_num_threads(n_threads)
            print(f"\n{n_threads} thread(s){'':12}{'characters/s':>12}{'entities/100':>13}")
            end = "" if n_threads == options.threads[0] else f"_{n_threads}_threads"
            found = ratios(measure(systems, texts, options))
            figures |= {f"{name}{end}": value for name, value in found.items()}
        torch.set_num_threads(options.threads[0])
        by_name = {system.name: system for system in systems}
        figures["overhead_share_flat"] = break_down(by_name["flat"], texts[False], options)
        if not options.no_base:
            figures["overhead_share_base"] = break_down(by_name["lebert base"], texts[True], options)
    print("\n" + json.dumps({name: round(value, 3) for name, value in figures.items()}))


def ratios(rates: Dict[str, float]) -> Dict[str, float]:
    figures = {"flat_vs_spacy_ner_x": rates["flat"] / rates["spaCy ner"]}
    for size in ("4x256", "base"):
        if f"lebert {size}" in rates:
            ours, end = rates[f"lebert {size}"], "" if size == "4x256" else "_base"
            figures[f"lebert_vs_spacy_trf_x{end}"] = ours / rates[f"spaCy trf {size}"]
            figures[f"lebert_vs_hf_pipeline_x{end}"] = ours / max(rates[f"HF {size}, {n}"] for n in (1, 32))
            figures[f"int8_x{'_small' if not end else ''}"] = rates[f"lebert int8 {size}"] / ours
    return figures


if __name__ == "__main__":
    main()
