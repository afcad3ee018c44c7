"""Pretraining with PretrainMLM.v1 against transformers' BertForMaskedLM and its collator: time and memory.

    python benchmarks/pretraining.py --data ../shared/data

Both read the same batches of the same raw text, split it into wordpieces, mask 15 %, and make a whole update with AdamW
and gradient clipping, at the same size and with the vocabulary of bert-base-chinese (21,128). They alternate in one
process; times are medians of the rounds. Memory is the peak of a separate process above what it held before the model
was built: weights, gradients, moments and activations.
"""

import argparse
import gzip
import json
import random
import subprocess
import sys
import time
import warnings
from pathlib import Path
from statistics import median
from typing import Callable, Dict, List

import spacy
import torch
from real_text import DATA
from spacy.util import registry
from transformers import BertConfig, BertForMaskedLM, BertTokenizerFast, DataCollatorForLanguageModeling

from spacy_lexner.pretraining.mlm import create_pretrain_mlm
from spacy_lexner.training.batchers import pack_by_length
from spacy_lexner.training.optimizers.adamw import GroupedAdamW

Batches = List[List[str]]
LEARN_RATE = 1e-4


def read_batches(data: Path, n_characters: int, length: int, batch_tokens: int) -> Batches:
    """Paragraphs of raw text, truncated to the maximum sequence length, in batches of similar length."""
    texts: List[str] = []
    total = 0
    for path in sorted((data / "text").glob("*.txt.gz")):
        with gzip.open(path, "rt", encoding="utf8") as file_:
            taken = 0
            for line in file_:
                text = line.strip()[: length - 2]
                if len(text) > 10:
                    texts.append(text)
                    taken += len(text)
                if taken > n_characters / 6:
                    break
            total += taken
    batches = pack_by_length([len(text) for text in texts], batch_tokens)
    random.Random(0).shuffle(batches)
    return [[texts[i] for i in batch] for batch in batches]


def build_ours(vocab: Path, args: argparse.Namespace) -> Callable[[List[str]], None]:
    nlp = spacy.blank("zh")
    nlp.tokenizer = registry.tokenizers.get("spacy-lexner.CharTokenizer.v1")()(nlp)
    encoder = registry.architectures.get("spacy-lexner.LEBERT.v1")(
        vocab=str(vocab),
        hidden_width=args.hidden,
        depth=args.depth,
        heads=args.heads,
        intermediate_width=4 * args.hidden,
        adapter_layers=[],
        max_batch_tokens=args.batch_tokens,
    )
    docs = [nlp.make_doc("南京市长江大桥")]
    encoder.initialize(docs)
    create = create_pretrain_mlm(max_length=args.length, progress_bar=False, log_every=0, masking=args.masking)
    model = create(nlp.vocab, encoder)
    model.initialize(docs)
    optimizer = GroupedAdamW(LEARN_RATE)

    def update(texts: List[str]) -> None:
        losses, backprop = model.begin_update([nlp.make_doc(text) for text in texts])
        backprop(model.attrs["loss"](model.ops, texts, losses)[1])
        model.finish_update(optimizer)

    return update


def build_theirs(vocab: Path, args: argparse.Namespace) -> Callable[[List[str]], None]:
    tokenizer = BertTokenizerFast(str(vocab))
    collator = DataCollatorForLanguageModeling(tokenizer)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=args.hidden,
        num_hidden_layers=args.depth,
        num_attention_heads=args.heads,
        intermediate_size=4 * args.hidden,
    )
    model = BertForMaskedLM(config).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARN_RATE)

    def update(texts: List[str]) -> None:
        encoded = tokenizer(texts, truncation=True, max_length=args.length, return_special_tokens_mask=True)
        batch = collator([{name: values[i] for name, values in encoded.items()} for i in range(len(texts))])
        model(**batch).loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()

    return update


BUILDERS = {"ours": build_ours, "transformers": build_theirs}


def measure_time(batches: Batches, args: argparse.Namespace) -> Dict[str, float]:
    """Seconds per 100,000 characters, medians of the rounds."""
    vocab = args.data / "vocab" / "bert-base-chinese-vocab.txt"
    updates = {name: build(vocab, args) for name, build in BUILDERS.items()}
    scale = 100_000 / sum(len(text) for batch in batches for text in batch)
    seconds: Dict[str, List[float]] = {name: [] for name in updates}
    for update in updates.values():
        update(batches[0])
    for _ in range(args.repeats):
        taken = dict.fromkeys(updates, 0.0)
        for batch in batches:
            for name, update in updates.items():
                begin = time.perf_counter()
                update(batch)
                taken[name] += time.perf_counter() - begin
        for name, value in taken.items():
            seconds[name].append(value * scale)
    return {name: median(values) for name, values in seconds.items()}


def measure_memory(name: str, args: argparse.Namespace) -> float:
    """Peak memory of a separate process, in MB."""
    command = [sys.executable, __file__, *sys.argv[1:], "--memory-of", name]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return float(output.strip().splitlines()[-1])


def print_memory(name: str, args: argparse.Namespace) -> None:
    batches = read_batches(args.data, args.characters, args.length, args.batch_tokens)
    longest = sorted(batches, key=lambda batch: -len(batch) * max(map(len, batch)))[:4]
    before = read_status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak is counted from here
    update = BUILDERS[name](args.data / "vocab" / "bert-base-chinese-vocab.txt", args)
    for batch in longest:
        update(batch)
    print((read_status("VmHWM") - before) / 1024)


def read_status(key: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(key))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--characters", type=int, default=30_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--depth", type=int, default=4)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--length", type=int, default=128)
    parser.add_argument("--batch-tokens", type=int, default=4096)
    parser.add_argument("--masking", default="piece")
    parser.add_argument("--memory-of", choices=BUILDERS, help=argparse.SUPPRESS)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    if args.memory_of:
        print_memory(args.memory_of, args)
        return
    batches = read_batches(args.data, args.characters, args.length, args.batch_tokens)
    seconds = measure_time(batches, args)
    megabytes = {name: measure_memory(name, args) for name in BUILDERS}
    n_characters = sum(len(text) for batch in batches for text in batch)
    sizes = f"{args.depth} layers of {args.hidden}, threads: {args.threads}"
    print(f"{sizes}, {n_characters} characters in {len(batches)} batches")
    for name in BUILDERS:
        print(f"  {name:14} {seconds[name]:8.2f} s / 100,000 characters   {megabytes[name]:8.1f} MB at the peak")
    result = {
        "time_x": seconds["transformers"] / seconds["ours"],
        "memory_share": megabytes["ours"] / megabytes["transformers"],
    }
    print(json.dumps({name: round(value, 3) for name, value in result.items()}))


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    main()
