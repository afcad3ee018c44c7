"""Make the demo corpus: sentences in four registers with gold entities, a word list, and raw text.

Dev and test contain names (known to the word list) and templates that never occur in training. The word list has no
labels. The same seed gives the same files, byte for byte.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from random import Random
from typing import Annotated, Dict, Iterable, List, NamedTuple, Sequence, Set, Tuple

import typer
from demo_names import DEV, TEST, TRAIN, Name, assign_pools, compose_decoys, compose_names
from demo_templates import Sentence, Template, fill, read_templates
from tqdm import tqdm
from wasabi import msg

DEMO = Path(__file__).parents[1] / "demo"
UNSEEN = 0.5  # share of the slots of dev and test that are filled from names unseen in training
HELD_OUT = 0.3  # share of the sentences of dev and test that come from templates unseen in training


class Demo(NamedTuple):
    """The output of the generator."""

    splits: Dict[str, List[Sentence]]
    words: List[str]
    raw: List[str]
    names: List[Name]


class Generator:
    """Generates sentences from templates and pools of names.

    seed (int): Determines everything: names, pools, sentences.
    """

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.parts = json.loads((DEMO / "names.json").read_text("utf8"))
        self.fillers: Dict[str, List[str]] = json.loads((DEMO / "fillers.json").read_text("utf8"))
        self.templates = read_templates(DEMO / "templates")
        self.names = compose_names(self.parts, self.rng)
        self.names += self._literals()
        reserved = {DEV: self.parts["reserved_for_dev"], TEST: self.parts["reserved_for_test"]}
        pools = assign_pools(self.names, reserved, self.rng)
        self.by_pool: Dict[Tuple[str, str, str], List[str]] = defaultdict(list)
        for name in self.names:
            self.by_pool[pools[name.base], name.label, name.kind].append(name.text)
        self.kinds: Dict[str, List[str]] = defaultdict(list)
        for name in self.names:
            if name.kind not in {*self.kinds[name.label], "nick", "literal"}:
                self.kinds[name.label].append(name.kind)

    def _literals(self) -> List[Name]:
        """Names spelled out in templates that are not composed from parts."""
        known = {(name.text, name.label) for name in self.names}
        spelled = [pair for template in self.templates for pair in template.literals if pair not in known]
        return [Name(text, label, "literal", text) for text, label in dict.fromkeys(spelled)]

    def pick(self, pools: Sequence[str], label: str, kinds: Sequence[str]) -> str:
        """A name of one of the kinds, from one of the pools."""
        kind = self.rng.choice(kinds or self.kinds[label])
        return self.rng.choice(self.by_pool[self.rng.choice(pools), label, kind])

    def sentence(self, templates: Sequence[Template], pools: Sequence[str]) -> Sentence:
        """One sentence from one of the templates."""
        return fill(
            self.rng.choice(templates), self.fillers, lambda label, kinds: self.pick(pools, label, kinds), self.rng
        )

    def split(self, name: str, size: int, taken: Set[str]) -> List[Sentence]:
        """`size` sentences whose texts are in no other split; adds their texts to `taken`."""
        open_templates = [template for template in self.templates if not template.held_out]
        held_out = [template for template in self.templates if template.held_out]
        pools = [TRAIN] if name == TRAIN else [TRAIN] * round(10 * (1 - UNSEEN)) + [name] * round(10 * UNSEEN)
        sentences: List[Sentence] = []
        with tqdm(total=size, desc=f"demo {name}", unit="sent", leave=False, disable=None) as bar:
            while len(sentences) < size:
                unseen = name != TRAIN and self.rng.random() < HELD_OUT
                sentence = self.sentence(held_out if unseen else open_templates, pools)
                if sentence.text not in taken:
                    taken.add(sentence.text)
                    sentences.append(sentence)
                    bar.update()
        return sentences

    def raw(self, size: int, taken: Set[str]) -> List[str]:
        """Unlabelled texts with all names and templates, none of them a sentence of train, dev or test."""
        texts = (
            self.sentence(self.templates, (TRAIN, DEV, TEST)).text
            for _ in tqdm(range(size), desc="demo raw text", unit="sent", leave=False, disable=None)
        )
        return [text for text in texts if text not in taken]

    def words(self) -> List[str]:
        """The word list: all names, common words, and decoys."""
        lines = (DEMO / "words.txt").read_text("utf8").split("\n")
        common = [word for line in lines if not line.startswith("#") for word in line.split()]
        names = [name.text for name in self.names]
        decoys = compose_decoys(self.parts, names + common, self.rng)
        words = list(dict.fromkeys([*common, *names, *decoys]))
        self.rng.shuffle(words)
        return words


def make_demo(seed: int = 0, *, train: int = 2000, dev: int = 250, test: int = 400, raw: int = 20_000) -> Demo:
    """Make the whole demo corpus.

    seed (int): The seed.
    train, dev, test, raw (int): Numbers of sentences.
    RETURNS (Demo): Splits, word list, raw texts and names.
    """
    generator = Generator(seed)
    taken: Set[str] = set()
    splits = {name: generator.split(name, size, taken) for name, size in ((TRAIN, train), (DEV, dev), (TEST, test))}
    return Demo(splits, generator.words(), generator.raw(raw, taken), generator.names)


def main(
    out: Annotated[Path, typer.Argument(help="Folder for the files.")],
    seed: Annotated[int, typer.Option(help="Determines names, splits and sentences.")] = 0,
    train: Annotated[int, typer.Option(min=1, help="Training sentences.")] = 2000,
    dev: Annotated[int, typer.Option(min=1, help="Dev sentences.")] = 250,
    test: Annotated[int, typer.Option(min=1, help="Test sentences.")] = 400,
    raw: Annotated[int, typer.Option(min=0, help="Sentences of raw text.")] = 20_000,
) -> None:
    """Make the demo corpus: train, dev and test as BIOES tag files in conll/, words.txt and raw.txt."""
    demo = make_demo(seed, train=train, dev=dev, test=test, raw=raw)
    (out / "conll").mkdir(parents=True, exist_ok=True)
    for name, sentences in demo.splits.items():
        blocks = ("".join(f"{char} {tag}\n" for char, tag in zip(s.text, s.tags())) for s in sentences)
        (out / "conll" / f"{name}.conll").write_text("\n".join(blocks), "utf8", newline="\n")
    _write_lines(out / "words.txt", demo.words)
    _write_lines(out / "raw.txt", demo.raw)
    counts = ", ".join(f"{len(sentences)} {name}" for name, sentences in demo.splits.items())
    msg.good(f"Demo corpus in {out}: {counts} sentences, {len(demo.words)} words, {len(demo.raw)} raw texts")


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), "utf8", newline="\n")


if __name__ == "__main__":
    typer.run(main)
