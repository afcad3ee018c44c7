"""Time of ELMo per 10,000 tokens of real text, beside a language model with a plain LSTM cell run step by step.

    python benchmarks/elmo.py --data ../shared/data

The baseline is a loop as in the reference implementation (allennlp's LstmCellWithProjection): each direction
separately, sentences sorted by length, at each step one product with the input and one with the state, one gate after
the other, unfinished sentences only. It has the same weights. `forward_x` (official size) and `small_forward_x`
(projection 128, cell 512) are its time divided by ours, for the language model alone; `cnn_share` is the share of the
character CNN in the time of an ELMo of the official size. With --train, forward and backward passes are timed.
"""

import argparse
import gzip
import json
import re
import time
from pathlib import Path
from statistics import median
from typing import Callable, Dict, List, Tuple

import jieba
import torch
from real_text import DATA
from torch import Tensor
from torch.nn.functional import linear

from spacy_lexner.encoders.elmo.bilm import BiLM
from spacy_lexner.encoders.elmo.char_cnn import CharacterCNN
from spacy_lexner.encoders.elmo.character_ids import ByteCharacters
from spacy_lexner.encoders.elmo.lstm import ClippedLSTM
from spacy_lexner.encoders.elmo.model import ELMo, ScalarMix

FILTERS = [(1, 32), (2, 32), (3, 64), (4, 128), (5, 256), (6, 512), (7, 1024)]
SIZES = {"official": (512, 4096), "small": (128, 512)}  # projection, cell
CLIP = 3.0
Batch = Tuple[Tensor, Tensor, Tensor]
Weights = List[Tensor]


def plain_weights(bilm: BiLM) -> List[List[Weights]]:
    """Copies of the weights of each layer and direction: input, state, bias and projection."""
    layers = [layer for layer in bilm.layers if isinstance(layer, ClippedLSTM)]
    names = ("input_weight", "recurrent_weight", "bias", "projection")
    return [
        [[getattr(layer, name)[d].detach().clone().requires_grad_() for name in names] for d in (0, 1)]
        for layer in layers
    ]


def plain_direction(weights: Weights, direction: int, inputs: Tensor, lengths: List[int]) -> Tensor:
    """One direction of one layer over a padded batch [n, steps, width], longest sentence first."""
    w_x, w_h, b, w_p = weights
    n, steps, _ = inputs.shape
    size = w_p.shape[1]
    outputs = inputs.new_zeros(n, steps, w_p.shape[0])
    all_hidden, all_cell = inputs.new_zeros(n, w_p.shape[0]), inputs.new_zeros(n, size)
    running = n if direction == 0 else 1
    for step in range(steps):
        index = step if direction == 0 else steps - step - 1
        while direction == 0 and lengths[running - 1] <= index:
            running -= 1
        while direction == 1 and running < n and lengths[running] > index:
            running += 1
        cell, hidden = all_cell[:running].clone(), all_hidden[:running].clone()
        by_input, by_state = linear(inputs[:running, index], w_x), linear(hidden, w_h, b)
        i = torch.sigmoid(by_input[:, :size] + by_state[:, :size])
        f = torch.sigmoid(by_input[:, size : 2 * size] + by_state[:, size : 2 * size])
        g = torch.tanh(by_input[:, 2 * size : 3 * size] + by_state[:, 2 * size : 3 * size])
        o = torch.sigmoid(by_input[:, 3 * size :] + by_state[:, 3 * size :])
        cell = torch.clamp(i * g + f * cell, -CLIP, CLIP)
        hidden = torch.clamp(linear(o * torch.tanh(cell), w_p), -CLIP, CLIP)
        all_cell, all_hidden = all_cell.clone(), all_hidden.clone()
        all_cell[:running], all_hidden[:running] = cell, hidden
        outputs[:running, index] = hidden
    return outputs


def plain_bilm(weights: List[List[Weights]], words: Tensor, batch: Batch) -> List[Tensor]:
    """All layers over a ragged batch with the plain cell; the same result as the module's."""
    _, rows, lengths = batch
    order = torch.argsort(lengths, descending=True, stable=True)
    sequences = words[rows].split(lengths.tolist())
    padded = torch.nn.utils.rnn.pad_sequence([sequences[i] for i in order], batch_first=True)
    ordered = lengths[order].tolist()
    current, layers = [padded, padded], []
    for number, layer in enumerate(weights):
        new = [plain_direction(layer[direction], direction, current[direction], ordered) for direction in (0, 1)]
        current = [y + x if number > 0 else y for x, y in zip(current, new)]
        layers.append(torch.cat(current, dim=2))
    back = torch.argsort(order)
    return [torch.cat([layer[back[i], : lengths[i]] for i in range(len(lengths))]) for layer in layers]


def read_batches(data: Path, n_tokens: int, batch_size: int) -> List[Batch]:
    """Sentences of real text, as batches: character ids of the distinct words, each token's row in them, lengths."""
    jieba.setLogLevel("ERROR")
    ids = ByteCharacters()
    sentences: List[List[str]] = []
    with gzip.open(data / "text" / "lctt.txt.gz", "rt", encoding="utf8") as file:
        for line in file:
            sentences += [jieba.lcut(part) for part in re.findall(r"[^。！？]+[。！？]?", line.strip())]
            if sum(map(len, sentences)) >= n_tokens:
                break
    batches = []
    for start in range(0, len(sentences), batch_size):
        part = sentences[start : start + batch_size]
        numbers: Dict[str, int] = {}
        rows: List[int] = []
        for sentence in part:
            rows += [0, *(numbers.setdefault(word, len(numbers) + 2) for word in sentence), 1]
        characters = torch.from_numpy(ids.encode(list(numbers)))
        characters = torch.cat([torch.from_numpy(ids.boundary_words()), characters])
        batches.append((characters, torch.tensor(rows), torch.tensor([len(s) + 2 for s in part])))
    return batches


def timed(run: Callable[[int], Tensor], number: int, train: bool) -> float:
    """Seconds for a batch."""
    start = time.perf_counter()
    output = run(number)
    if train:
        output.sum().backward()
    return time.perf_counter() - start


def measure(size: str, batches: List[Batch], repeats: int, train: bool) -> Dict[str, float]:
    """Seconds per 10,000 tokens of each part, medians of the repeats, in which the variants alternate."""
    projection, cell = SIZES[size]
    torch.manual_seed(0)
    cnn = CharacterCNN(262, 16, FILTERS, 2, projection, 261)
    bilm = BiLM(projection, cell, 2, cell_clip=CLIP, projection_clip=CLIP)
    elmo = ELMo(cnn, bilm, [ScalarMix(3)], [0, 1, 2], freeze=False)
    elmo.train(train)
    weights = plain_weights(bilm)
    seconds: Dict[str, List[float]] = {}
    scale = 10_000 / sum(len(rows) for _, rows, _ in batches)
    with torch.set_grad_enabled(train):
        words = [elmo.embed(characters).detach() for characters, _, _ in batches]
        difference = max(
            float((ours - plain).abs().max())
            for ours, plain in zip(
                bilm(words[0], batches[0][2], batches[0][1])[1:], plain_bilm(weights, words[0], batches[0])
            )
        )
        variants: Dict[str, Callable[[int], Tensor]] = {
            "biLM, plain cell": lambda i: plain_bilm(weights, words[i], batches[i])[-1],
            "biLM": lambda i: bilm(words[i], *batches[i][:0:-1])[-1],
            "characters, every token": lambda i: elmo.embed(batches[i][0][batches[i][1]]),
            "characters, distinct words": lambda i: elmo.embed(batches[i][0]),
            "ELMo": lambda i: elmo(*batches[i]),
        }
        for _ in range(repeats):
            for name, run in variants.items():
                total = sum(timed(run, i, train) for i in range(len(batches)))
                elmo.zero_grad(set_to_none=True)
                for weight in (w for layer in weights for direction in layer for w in direction):
                    weight.grad = None
                seconds.setdefault(name, []).append(total * scale)
    return {**{name: median(times) for name, times in seconds.items()}, "max_diff": difference}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--batch-size", type=int, default=8, help="sentences per batch")
    parser.add_argument("--tokens", type=int, nargs=2, default=(2000, 10000), help="tokens to time at each size")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--train", action="store_true", help="time forward and backward passes")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    result: Dict[str, float] = {}
    for size, n_tokens in zip(SIZES, args.tokens):
        batches = read_batches(args.data, n_tokens, args.batch_size)
        n_rows = sum(len(rows) for _, rows, _ in batches)
        distinct = sum(len(characters) for characters, _, _ in batches) / n_rows
        figures = measure(size, batches, args.repeats, args.train)
        print(f"\n{size}: {n_rows} tokens in {len(batches)} batches, {distinct:.0%} distinct, {args.threads} threads")
        for name, value in figures.items():
            print(
                f"  {name:<28} {value:10.2e}" if name == "max_diff" else f"  {name:<28} {value:8.2f} s / 10,000 tokens"
            )
        x = "forward_x" if size == "official" else "small_forward_x"
        result[x] = figures["biLM, plain cell"] / figures["biLM"]
        if size == "official":
            result["cnn_share"] = figures["characters, distinct words"] / figures["ELMo"]
        print(f"  {x} {result[x]:.2f}")
    print(json.dumps({name: round(value, 3) for name, value in result.items()}))


if __name__ == "__main__":
    main()
