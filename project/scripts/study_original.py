"""Run the original FLAT (https://github.com/LeeSureman/Flat-Lattice-Transformer, V0) on Resume, to compare with ours.

    python -m pip install --no-deps FastNLP==0.5.0 && python -m pip install nltk prettytable pytz requests
    python scripts/study_original.py PATH --texts FOLDER --vectors FOLDER --seed 1

PATH is a checkout of that code. Its main program, models, loaders, optimiser and callbacks run unchanged, with three
exceptions: fitlog, which only logs, is replaced by a stub that sets the seed; lines that start with `#`, which fastNLP
skips, are read; and the positional term of attention is computed by our modules, in a tenth of the time. The first
batches are computed both ways and compared. Each epoch shows fastNLP's F1, which counts broken tag sequences, and that
of strict spans. The last line is JSON: both scores on dev and test for the epoch with the best fastNLP F1 on dev.
"""

import argparse
import gzip
import json
import os
import random
import runpy
import sys
import tempfile
import types
from pathlib import Path
from typing import Any, Dict, Iterable, Iterator, List, Set, Tuple

import numpy
import torch

from spacy_lexner.encoders.flat.distinct_positions import DistinctPositions
from spacy_lexner.encoders.flat.position_scores import position_scores
from spacy_lexner.encoders.flat.positions import PositionKeys

Span = Tuple[int, int, str]
CHECKED_BATCHES = 3
FITLOG_NOTES = ("hyper", "loss", "metric", "best_metric", "progress", "other")
FITLOG = ("debug", "set_log_dir", "finish", *(f"add_{what}" for what in FITLOG_NOTES))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path, help="a checkout of the original code")
    parser.add_argument("--texts", type=Path, required=True, help="train.conll, dev.conll and test.conll of Resume")
    parser.add_argument("--vectors", type=Path, required=True, help="words_50d, chars_50d and bigrams_50d.vec.gz")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    scores: List[Dict[str, float]] = []
    code = arguments.path.resolve()
    sys.path.insert(0, str(code))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder, arguments.texts, arguments.vectors)
        mend_fastnlp(arguments.seed)
        point_to(folder)
        score_strictly(scores)
        regroup_attention()
        os.chdir(folder)
        sys.argv = ["flat_main.py", "--dataset", "resume", "--device", "cpu"]
        runpy.run_path(str(code / "V0" / "flat_main.py"), run_name="__main__")
    dev, test = scores[0::2], scores[1::2]
    best = max(range(len(dev)), key=lambda epoch: dev[epoch]["fastnlp"])
    print(json.dumps({"seed": arguments.seed, "epoch": best + 1, "dev": dev[best], "test": test[best]}))


def write_files(folder: Path, texts: Path, vectors: Path) -> None:
    """Write texts and vectors as the original's loaders expect them: BMES tags, vectors without a header, and an
    additional file with those of words and characters."""
    for split in ("train", "dev", "test"):
        lines = (texts / f"{split}.conll").read_text(encoding="utf8").splitlines()
        (folder / f"{split}.char.bmes").write_text("\n".join(to_bmes(lines)) + "\n\n", encoding="utf8")
    read = {kind: read_vectors(vectors / f"{kind}_50d.vec.gz") for kind in ("words", "chars", "bigrams")}
    read["words"] = [line for line in read["words"] if len(line.split(" ")[0]) > 1]
    for kind, lines in {**read, "mix": read["words"] + read["chars"]}.items():
        (folder / f"{kind}.vec").write_text("\n".join(lines) + "\n", encoding="utf8")
    for name in ("log", "cache"):
        (folder / name).mkdir()


def to_bmes(lines: Iterable[str]) -> Iterator[str]:
    """YIELDS (str): Lines of a character and a tag, with M- for I-."""
    for line in lines:
        character, _, tag = line.partition(" ")
        yield f"{character} M{tag[1:]}" if tag.startswith("I-") else line


def read_vectors(path: Path) -> List[str]:
    """RETURNS (List[str]): The lines of a gzipped word2vec text file, without the first."""
    with gzip.open(path, "rt", encoding="utf8") as file:
        return file.read().split("\n")[1:-1]


def mend_fastnlp(seed: int) -> None:
    """Make fastNLP 0.5.0 run with current torch, read every line, and start from a seed."""
    torch.optim.lr_scheduler._LRScheduler = torch.optim.lr_scheduler.LRScheduler  # type: ignore[misc]
    fitlog = types.ModuleType("fitlog")
    for name in FITLOG:
        setattr(fitlog, name, lambda *args, **kwargs: None)
    fitlog.set_rng_seed = lambda _: set_seed(seed)  # type: ignore[attr-defined]
    sys.modules["fitlog"] = fitlog
    import fastNLP.core.batch
    import fastNLP.core.trainer
    import fastNLP.io.loader.conll

    def init(self: Any, sampler: Any, dataset: Any) -> None:
        self.sampler, self.dataset = sampler, dataset

    fastNLP.core.batch.SamplerAdapter.__init__ = init
    fastNLP.core.trainer._move_model_to_device = lambda model, device: model
    fastNLP.io.loader.conll._read_conll = read_conll


def set_seed(seed: int) -> None:
    random.seed(seed)
    numpy.random.seed(seed)
    torch.manual_seed(seed)


def read_conll(path: str, **_: Any) -> Iterator[Tuple[int, List[List[str]]]]:
    """YIELDS (Tuple[int, List[List[str]]]): The number of a sentence, and its columns."""
    for number, block in enumerate(Path(path).read_text(encoding="utf8").strip("\n").split("\n\n")):
        yield number, [list(column) for column in zip(*(line.split() for line in block.splitlines()))]


def point_to(folder: Path) -> None:
    """Tell the original where its files are."""
    import paths  # type: ignore[import-not-found]

    paths.resume_ner_path = str(folder)
    for name, kind in {"unigram": "chars", "bigram": "bigrams", "word": "words", "char_and_word": "mix"}.items():
        setattr(paths, f"yangjie_rich_pretrain_{name}_path", str(folder / f"{kind}.vec"))


def score_strictly(scores: List[Dict[str, float]]) -> None:
    """Make fastNLP's metric count strict spans too, and append both F1 scores at each evaluation, dev and test in
    turn."""
    from fastNLP.core.metrics import SpanFPreRecMetric

    evaluate, get_metric = SpanFPreRecMetric.evaluate, SpanFPreRecMetric.get_metric
    counts = [0, 0, 0]  # right, found, gold

    def evaluate_too(self: Any, pred: Any, target: Any, seq_len: Any) -> None:
        for found, gold, n in zip(pred.tolist(), target.tolist(), seq_len.tolist()):
            both = [read_spans([self.tag_vocab.to_word(tag) for tag in tags[:n]]) for tags in (found, gold)]
            for place, spans in enumerate((both[0] & both[1], *both)):
                counts[place] += len(spans)
        evaluate(self, pred, target, seq_len)

    def get_both(self: Any, reset: bool = True) -> Dict[str, float]:
        metric: Dict[str, float] = get_metric(self, reset)
        scores.append({"strict": 200 * counts[0] / (counts[1] + counts[2]), "fastnlp": 100 * metric["f"]})
        print(f"evaluation {len(scores)}: {scores[-1]}", flush=True)
        counts[:] = [0, 0, 0]
        return metric

    SpanFPreRecMetric.evaluate, SpanFPreRecMetric.get_metric = evaluate_too, get_both


def read_spans(tags: List[str]) -> Set[Span]:
    """RETURNS (Set[Span]): First token, last token and label of each well-formed span: B M* E with one label, or S."""
    spans: Set[Span] = set()
    start = -1
    for i, tag in enumerate(tags):
        kind, _, label = tag.upper().partition("-")
        if kind in ("B", "S"):
            start = i
        elif kind not in ("M", "E") or start < 0 or tags[start].upper()[2:] != label:
            start = -1
        if kind in ("E", "S") and start >= 0:
            spans.add((start, i, label))
            start = -1
    return spans


def regroup_attention() -> None:
    """Score the distinct positions of a batch only once each. The rest of the layer is computed as in the original."""
    from V0 import modules  # type: ignore[import-not-found]

    fusion, attention = modules.Four_Pos_Fusion_Embedding, modules.MultiHead_Attention_Lattice_rel_save_gpumm
    fuse, attend = fusion.forward, attention.forward
    n_checked = 0

    def attend_regrouped(self: Any, *args: Any, rel_pos_embedding: Any, **spans: Any) -> torch.Tensor:
        nonlocal n_checked
        result = attend_by_position(self, *args, fusion=rel_pos_embedding, **spans)
        if n_checked < CHECKED_BATCHES:
            n_checked += 1
            fused = fuse(rel_pos_embedding, spans["pos_s"], spans["pos_e"])
            theirs = attend(self, *args, rel_pos_embedding=fused, **spans)
            valid = torch.arange(result.shape[1]) < (args[3] + spans["lex_num"]).unsqueeze(1)
            torch.testing.assert_close(result[valid], theirs[valid], atol=1e-5, rtol=0)
        return result

    fusion.forward = lambda self, pos_s, pos_e: self
    attention.forward = attend_regrouped


def attend_by_position(
    layer: Any, key: Any, query: Any, value: Any, seq_len: Any, *, lex_num: Any, pos_s: Any, pos_e: Any, fusion: Any
) -> torch.Tensor:
    """The original's attention with its default options (V0, `ff_two`)."""
    assert layer.q_proj and layer.v_proj and layer.r_proj and not layer.k_proj and not layer.scaled
    n, length, width = key.shape
    heads = layer.num_heads
    mask = torch.arange(length) < (seq_len + lex_num).unsqueeze(1)
    (section,) = DistinctPositions(pos_s, pos_e + 1, mask).sections
    pairs, lookup = torch.unique(section.distances[:, [0, 3]], dim=0, return_inverse=True)
    starts, ends = (pairs + fusion.max_seq_len).unbind(1)
    fused = fusion.pos_fusion_forward(torch.cat((fusion.pe_ss[starts], fusion.pe_ee[ends]), dim=-1))

    def split(tokens: torch.Tensor) -> torch.Tensor:
        return tokens.reshape(n * length, heads, width // heads).transpose(0, 1)

    queries, keys, values = split(layer.w_q(query)), split(key), split(layer.w_v(value))
    by_position = position_scores(
        queries + layer.v.unsqueeze(1), PositionKeys(layer.w_r(fused), lookup), section, length
    )
    shape = (heads * n, length, width // heads)
    by_content = torch.bmm((queries + layer.u.unsqueeze(1)).reshape(shape), keys.reshape(shape).transpose(1, 2))
    scores = by_content.view(heads, n, length, length) + by_position.view(heads, n, length, length)
    weights = layer.dropout(scores.masked_fill(~mask.view(1, n, 1, length), -1e15).softmax(-1))
    attended = weights @ values.reshape(heads, n, length, width // heads)
    return attended.permute(1, 2, 0, 3).reshape(n, length, width)


if __name__ == "__main__":
    main()
