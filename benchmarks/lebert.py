"""What the lexicon adapter costs: LEBERT against plain BERT at the size of bert-base, and against the naive adapter.

    python benchmarks/lebert.py [--repeats 9] [--batch 8] [--length 128] [--max-words 3] [--word-width 200]

Forward passes with random weights on one thread. The implementations alternate, and each figure is a median of CPU
times, so that other work on the machine disturbs little. The adapter costs far less than the noise of a whole BERT, so
it is timed separately, on the same batch, and `overhead` is its time over that of plain BERT. The difference between
the two whole passes is printed beside it (`overhead_by_difference`). The last line is a JSON object: `overhead`
(0.02 = 2 %), `naive_adapter_x` (how many times faster than transforming the word in every slot).
"""

import argparse
import json
import statistics
import time
from typing import Callable

import torch
from torch import Tensor
from transformers import BertConfig

from spacy_lexner.encoders.lebert.model import LEBERT, LEBERTBatch, LexiconAdapter
from spacy_lexner.encoders.shared.bert_shaped import build_encoder, config_settings
from spacy_lexner.encoders.shared.words import Words

TOLERANCE = 1e-5
N_KNOWN_WORDS = 50_000
WORD_LENGTHS = (0.70, 0.17, 0.13)  # of 2, 3 and 4 characters
SHARE_OF_STARTS = (
    0.6  # characters where a word starts: the jieba dictionary has 0.32 in real text, millions of words more
)


def draw_words(n_rows: int, length: int, max_words: int) -> tuple[Tensor, int]:
    """Words drawn by Zipf's law, each in the slots of all its characters: slots [B, L, W], number of distinct words."""
    generator = torch.Generator().manual_seed(0)
    frequencies = 1.0 / torch.arange(1, N_KNOWN_WORDS + 1)
    rows: list[list[list[int]]] = [[[] for _ in range(length)] for _ in range(n_rows)]
    numbers: dict[int, int] = {}
    for row in rows:
        starts = (torch.rand(length, generator=generator) < SHARE_OF_STARTS).nonzero().flatten().tolist()
        drawn = torch.multinomial(frequencies, max(1, len(starts)), replacement=True, generator=generator).tolist()
        lengths = torch.multinomial(torch.tensor(WORD_LENGTHS), len(drawn), replacement=True, generator=generator) + 2
        for start, word, n_characters in zip(starts, drawn, lengths.tolist()):
            if len(row[start]) < max_words:
                number = numbers.setdefault(word, len(numbers) + 1)
                for token in row[start : start + n_characters]:
                    token.append(number)
    padded = [[(token + [0] * max_words)[:max_words] for token in row] for row in rows]
    return torch.tensor(padded), len(numbers)


def naive_adapter(adapter: LexiconAdapter, hidden: Tensor, words: Tensor, slots: Tensor) -> Tensor:
    """The published formula: the word in every slot is looked up and transformed."""
    mask = (slots > 0).float()
    values = adapter.word_out(torch.tanh(adapter.word_in(words[slots])))
    scores = torch.matmul((hidden @ adapter.attention).unsqueeze(2), values.transpose(2, 3)).squeeze(2)
    weights = torch.softmax(scores + (1 - mask) * -10000.0, dim=-1) * mask
    return adapter.norm(hidden + (weights.unsqueeze(-1) * values).sum(dim=2))


def interleave(functions: dict[str, Callable[[], Tensor]], repeats: int) -> dict[str, float]:
    """Median CPU seconds of each, after one warm-up round."""
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    for i in range(repeats + 1):
        for name, function in functions.items():
            start = time.process_time()
            function()
            if i:
                seconds[name].append(time.process_time() - start)
    return {name: statistics.median(values) for name, values in seconds.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--length", type=int, default=128)
    parser.add_argument("--max-words", type=int, default=3)
    parser.add_argument("--word-width", type=int, default=200)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    config = BertConfig(vocab_size=21128)  # the defaults are the size of bert-base
    module = LEBERT(build_encoder(config_settings(config)), [0], word_width=args.word_width).eval()
    plain = LEBERT(build_encoder(config_settings(config)), [], word_width=args.word_width).eval()

    slots, n_words = draw_words(args.batch, args.length, args.max_words)
    vectors = torch.randn(n_words, args.word_width)
    no_rows = torch.full((n_words,), -1)
    words = Words(vectors, torch.ones(n_words, dtype=torch.bool), torch.full((n_words,), 2), no_rows)
    ids = torch.randint(106, config.vocab_size, (args.batch, args.length))
    batch = LEBERTBatch(ids, torch.ones_like(ids, dtype=torch.bool), torch.arange(ids.numel()), slots, words)

    adapter, table = module.adapters["0"], module.words
    hidden = torch.randn(args.batch, args.length, config.hidden_size)
    with torch.no_grad():
        fused, naive = adapter(hidden, table(words), slots), naive_adapter(adapter, hidden, table(words), slots)
        difference = (fused - naive).abs().max().item()
        if difference > TOLERANCE:
            raise SystemExit(f"The adapter differs from the naive formula by {difference:.1e}, more than {TOLERANCE}.")
        adapters = interleave(
            {
                "adapter": lambda: adapter(hidden, table(words), slots),
                "naive": lambda: naive_adapter(adapter, hidden, table(words), slots),
            },
            10 * args.repeats,
        )
        whole = interleave({"plain BERT": lambda: plain([batch]), "LEBERT": lambda: module([batch])}, args.repeats)

    filled = int((slots > 0).sum())
    print(f"{filled} of {slots.numel()} slots filled, {n_words} distinct words; one thread, CPU ms, medians")
    for name, seconds in {**whole, **adapters}.items():
        print(f"  {name:<12} {1000 * seconds:9.1f}")
    print(f"  largest difference from the naive formula {difference:.1e}")
    result = {
        "overhead": adapters["adapter"] / whole["plain BERT"],
        "overhead_by_difference": whole["LEBERT"] / whole["plain BERT"] - 1,
        "naive_overhead": adapters["naive"] / whole["plain BERT"],
        "naive_adapter_x": adapters["naive"] / adapters["adapter"],
        "max_difference": difference,
    }
    print(json.dumps({name: float(f"{value:.3g}") for name, value in result.items()}))


if __name__ == "__main__":
    main()
