"""Time and memory of a FLAT layer: the formula for each pair, with distinct positions, ours, and without positions.

    python benchmarks/flat_attention.py [--original PATH] [--fusions ff ff_two] [--batch 8] [--length 200]
        [--repeats 5] [--threads 1 2]

All run one encoder layer (hidden 160, 8 heads, feed-forward 480) with the same weights on the same random lattices,
whose tokens are 60 % characters. They alternate, so that other work on the machine affects all of them; with one thread
CPU time is measured, with more the wall clock. Ours is timed without and with what prediction caches between batches.
Memory is the peak of a separate process above what it held before the pass. `--original` names a checkout of
https://github.com/LeeSureman/Flat-Lattice-Transformer, whose own layer then runs too.
"""

import argparse
import json
import random
import statistics
import subprocess
import sys
import time
import types
from pathlib import Path
from typing import Callable, Dict, List, Tuple

import torch
from torch import Tensor, nn

from spacy_lexner.encoders.flat.attention import LatticeAttention
from spacy_lexner.encoders.flat.model import LatticeEncoder
from spacy_lexner.encoders.flat.options import Positions, SubLayers
from spacy_lexner.encoders.flat.positions import pair_distances

WIDTH, HEADS, INNER = 160, 8, 480
IMPLEMENTATIONS = ("naive", "unique", "ours", "floor")


def random_lattices(batch: int, length: int, seed: int = 0) -> Tuple[Tensor, Tensor, Tensor]:
    """Starts, ends, mask of texts of 0.7 to 1.0 times the length, with words of two to six characters, mostly two."""
    rng = random.Random(seed)
    lattices = torch.zeros(batch, length, 3, dtype=torch.long)
    for b in range(batch):
        n_tokens = length if b == 0 else int(length * rng.uniform(0.7, 1.0))
        n = max(1, round(n_tokens * 0.6))
        spans = [(i, i + 1) for i in range(n)]
        for _ in range(n_tokens - n):
            size = min(n, rng.choices((2, 3, 4, 5, 6), (50, 30, 10, 6, 4))[0])
            start = rng.randrange(n - size + 1)
            spans.append((start, start + size))
        spans[n:] = sorted(spans[n:])
        lattices[b, : len(spans)] = torch.tensor([(start, end, 1) for start, end in spans])
    return lattices[..., 0], lattices[..., 1], lattices[..., 2].bool()


class PairAttention(nn.Module):
    """The attention by its formula, with a vector for every pair of tokens; optionally fuses only the distinct pairs,
    as "V2" of the original code does.
    """

    def __init__(self, attention: LatticeAttention, fusion: str, unique: bool) -> None:
        super().__init__()
        self.inner = attention
        self.fusion = fusion
        self.unique = unique

    def forward(self, tokens: Tensor, mask: Tensor, positions: object, *_: object) -> Tensor:
        n_lattices, n_tokens, _ = tokens.shape
        pairs = (n_lattices, n_tokens, n_tokens)
        distances = pair_distances(self.starts, self.ends).view(-1, 4)
        if self.unique:
            distances, inverse = torch.unique(distances, return_inverse=True, dim=0)
        fused = self.fuse(distances)
        if self.unique:
            fused = fused[inverse]
        shape = (n_lattices, n_tokens, HEADS, WIDTH // HEADS)
        relative = self.inner.position(fused.view(*pairs, WIDTH)).view(*pairs, *shape[2:])
        query, key, value = (
            project(tokens).view(shape) for project in (self.inner.query, self.inner.key, self.inner.value)
        )
        by_content = torch.matmul((query + self.inner.content_bias).transpose(1, 2), key.permute(0, 2, 3, 1))
        by_position = torch.matmul(
            (query + self.inner.position_bias).transpose(1, 2).unsqueeze(-2), relative.permute(0, 3, 1, 4, 2)
        )
        scores = (by_content + by_position.squeeze(-2)).masked_fill(~mask[:, None, None], -1e15)
        attended = torch.matmul(scores.softmax(-1), value.transpose(1, 2))
        return attended.transpose(1, 2).reshape(tokens.shape)

    def fuse(self, distances: Tensor) -> Tensor:
        encoding, linear = self.inner.fusion.encoding, self.inner.fusion.linear
        farthest = int(distances.abs().max())
        table = encoding(torch.arange(-farthest, farthest + 1), 0)
        kinds = (0, 3) if self.fusion == "ff_two" else (0, 1, 2, 3)
        return torch.relu(linear(torch.cat([table[distances[:, kind] + farthest] for kind in kinds], dim=-1)))


def build(name: str, fusion: str, starts: Tensor, ends: Tensor) -> LatticeEncoder:
    """An encoder with one layer, which has the same weights under every name."""
    torch.manual_seed(0)
    sublayers = SubLayers(inner_width=INNER, inner_dropout=0.0, output_dropout=0.0)
    encoder = LatticeEncoder(WIDTH, HEADS, positions=Positions(fusion=fusion), sublayers=sublayers)
    layer = encoder.layers[0]
    if name in ("naive", "unique"):
        layer.attention = PairAttention(layer.attention, fusion, name == "unique")
        layer.attention.starts, layer.attention.ends = starts, ends
    if name == "floor":
        without = LatticeAttention(WIDTH, HEADS)
        without.load_state_dict(layer.attention.state_dict(), strict=False)
        layer.attention = without
    return encoder


def build_original(
    path: Path, encoder: LatticeEncoder, fusion: str, mask: Tensor
) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    """The original code's encoder, with our weights."""
    sys.path.insert(0, str(path))
    stand_in = types.ModuleType("fastNLP")  # of which the layer uses one function
    stand_in.seq_len_to_mask = lambda lengths: torch.arange(int(lengths.max())) < lengths.unsqueeze(1)
    stand_in.__getattr__ = lambda name: object  # type: ignore[method-assign]
    sys.modules.setdefault("fastNLP", stand_in)
    from V0.modules import Transformer_Encoder, get_embedding

    longest = mask.shape[1]
    table = nn.Parameter(get_embedding(longest, WIDTH, rel_pos_init=1), requires_grad=False)
    theirs = Transformer_Encoder(
        WIDTH, HEADS, 1, True, False, False, "", "an", None, False, INNER, max_seq_len=longest, pe=table, pe_ss=table,
        pe_se=table, pe_es=table, pe_ee=table, k_proj=False, attn_ff=False, lattice=True, four_pos_fusion=fusion,
    )  # fmt: skip
    ours, their_layer = encoder.layers[0], theirs.layer_0
    their_attention = their_layer.attn
    for target, source in (
        (theirs.four_pos_fusion_embedding.pos_fusion_forward[0], ours.attention.fusion.linear),
        (their_attention.w_q, ours.attention.query),
        (their_attention.w_v, ours.attention.value),
        (their_attention.w_r, ours.attention.position),
        (their_layer.ff.w0, ours.feed_forward.inner),
        (their_layer.ff.w1, ours.feed_forward.outer),
    ):
        target.load_state_dict(source.state_dict())
    their_attention.u.data.copy_(ours.attention.content_bias)
    their_attention.v.data.copy_(ours.attention.position_bias)
    lengths = mask.sum(1)
    return lambda tokens, starts, ends: theirs(tokens, lengths, 0, starts, ends - 1)


Pass = Callable[[], Tensor]


def passes(args: argparse.Namespace, fusion: str, names: Tuple[str, ...]) -> Dict[str, Tuple[Pass, Pass]]:
    """For each implementation, a function for the forward pass and one for forward and backward."""
    starts, ends, mask = random_lattices(args.batch, args.length)
    torch.manual_seed(1)
    tokens = torch.randn(args.batch, args.length, WIDTH)
    gradient = torch.randn_like(tokens) * mask.unsqueeze(-1)
    found: Dict[str, Tuple[Pass, Pass]] = {}
    for name in names:
        encoder = build("ours" if name in ("cached", "original") else name, fusion, starts, ends)
        run = build_original(args.original, encoder, fusion, mask) if name == "original" else encoder

        def forward(name: str = name, encoder: LatticeEncoder = encoder, run: Callable = run) -> Tensor:
            encoder.eval()
            if name == "ours":
                encoder.layers[0].attention.cache.clear()
            with torch.no_grad():
                return run(tokens, starts, ends, *(() if name == "original" else (mask,)))

        def train(name: str = name, encoder: LatticeEncoder = encoder, run: Callable = run) -> Tensor:
            encoder.train()
            encoded = run(tokens, starts, ends, *(() if name == "original" else (mask,)))
            encoded.backward(gradient)
            return encoded

        found[name] = (forward, train)
    return found


def medians(runs: Dict[str, Pass], repeats: int, clock: Callable[[], float]) -> Dict[str, float]:
    """Milliseconds, medians of several rounds in which all alternate."""
    times: Dict[str, List[float]] = {name: [] for name in runs}
    for round_ in range(repeats + 1):
        for name, run in runs.items():
            begin = clock()
            run()
            if round_:
                times[name].append(clock() - begin)
    return {name: 1000 * statistics.median(seconds) for name, seconds in times.items()}


def peak_memory(args: argparse.Namespace, fusion: str, name: str, which: str) -> float:
    """MB above what a process held before the pass, measured in a separate process."""
    command = [sys.executable, __file__, "--measure", name, which, "--fusions", fusion]
    command += ["--batch", str(args.batch), "--length", str(args.length)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[-1])


def measure(args: argparse.Namespace) -> None:
    name, which = args.measure
    torch.set_num_threads(1)
    status = Path("/proc/self/status")
    small = argparse.Namespace(batch=2, length=8, original=None)
    for run in passes(small, args.fusions[0], (name,))[name]:
        run()  # load what the libraries load
    run = passes(args, args.fusions[0], (name,))[name][which == "train"]
    before = int(status.read_text().split("VmRSS:")[1].split()[0])
    Path("/proc/self/clear_refs").write_text("5")
    run()
    print((int(status.read_text().split("VmHWM:")[1].split()[0]) - before) / 1024)


def compare(args: argparse.Namespace, fusion: str) -> Dict[str, float]:
    names = ("naive", *(("unique",) if fusion == "ff" else ()), "ours", "cached", "floor")
    names += ("original",) if args.original else ()
    runs = passes(args, fusion, names)
    expected = runs["naive"][0]()
    _, _, mask = random_lattices(args.batch, args.length)
    differences = {name: float((runs[name][0]() - expected)[mask].abs().max()) for name in names if name != "floor"}
    result = {"max_diff": max(differences.values())}
    for threads in args.threads:
        torch.set_num_threads(threads)
        clock, unit = (time.process_time, "cpu") if threads == 1 else (time.perf_counter, "wall")
        for which, column in (("forward", 0), ("train", 1)):
            these = {name: run[column] for name, run in runs.items() if not (which == "train" and name == "cached")}
            times = medians(these, args.repeats, clock)
            label = f"{which}, {threads} thread{'s' * (threads > 1)}, {unit}"
            print_row(fusion, label, times, "ms")
            key = which if threads == 1 else f"{which}_{threads}_threads"
            for name, ms in times.items():
                if name not in ("ours", "floor", "cached"):
                    result[f"{'' if name == 'naive' else name + '_'}{key}_x"] = ms / times["ours"]
            result[f"{key}_floor_x"] = times["ours"] / times["floor"]
            if "cached" in times:
                result[f"{key}_cached_x"] = times["naive"] / times["cached"]
    if Path("/proc/self/clear_refs").exists():
        for which in ("forward", "train"):
            megabytes = {name: peak_memory(args, fusion, name, which) for name in ("naive", "ours", "floor")}
            print(
                f"{fusion:8} {which + ', peak memory':24}"
                + "".join(f"{n} {mb:9.1f} MB  " for n, mb in megabytes.items())
            )
            result["memory_x" if which == "forward" else "train_memory_x"] = megabytes["naive"] / megabytes["ours"]
    return result


def print_row(fusion: str, label: str, values: Dict[str, float], unit: str) -> None:
    print(f"{fusion:7} {label:26}" + "".join(f" {name} {value:.1f} {unit} " for name, value in values.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--original", type=Path)
    parser.add_argument("--fusions", nargs="+", default=["ff", "ff_two"], choices=["ff", "ff_two"])
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--length", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, torch.get_num_threads()])
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        return measure(args)
    results = {fusion: compare(args, fusion) for fusion in args.fusions}
    worst = {
        "forward_x": min(result["forward_x"] for result in results.values()),
        "train_x": min(result["train_x"] for result in results.values()),
        "memory_x": min(result.get("memory_x", 0.0) for result in results.values()),
        "floor_x": max(max(r["forward_floor_x"], r["train_floor_x"]) for r in results.values()),
        "v2_forward_x": results.get("ff", {}).get("unique_forward_x"),
        "max_diff": max(result["max_diff"] for result in results.values()),
    }
    rounded = {name: {key: float(f"{x:.3g}") for key, x in result.items()} for name, result in results.items()}
    print(json.dumps({**{k: v if v is None else float(f"{v:.3g}") for k, v in worst.items()}, "fusions": rounded}))


if __name__ == "__main__":
    main()
