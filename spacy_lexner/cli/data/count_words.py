"""`spacy lexner count-words`: the words of a corpus of raw text and how often each occurs."""

from itertools import islice
from pathlib import Path
from typing import Annotated, Iterator, List

import typer
from spacy.language import Language
from spacy.training import Example
from spacy.util import load_config, load_model, load_model_from_config
from tqdm import tqdm
from wasabi import msg

from ...encoders.elmo.counted_words import write_counted_words
from ...pretraining.text_corpus import TextCorpus
from ...pretraining.word_vocabulary import MAX_HELD, WordCounter

DOCS_AT_ONCE = 2000

TargetArgument = Annotated[Path, typer.Argument(metavar="OUT", help="The file to write: a word, a tab, its count")]
TextsArgument = Annotated[
    List[Path],
    typer.Argument(metavar="TEXT...", help="Text files (UTF-8, also .gz), or folders with *.txt and *.txt.gz"),
]
TokenizerOption = Annotated[
    str,
    typer.Option(
        "--tokenizer",
        "-t",
        metavar="NAME",
        help="What cuts the text into words: a config file, the folder or name of a pipeline, or blank:zh and the like",
    ),
]
MinCountOption = Annotated[int, typer.Option(help="Leave out words that occur less often", metavar="N")]
MaxWordsOption = Annotated[int, typer.Option(help="Most words to write; 0 for all", metavar="N")]
MaxHeldOption = Annotated[
    int, typer.Option(help="Most distinct words to hold in memory; beyond it the rarest half is forgotten", metavar="N")
]


def count_words_cli(
    target: TargetArgument,
    texts: TextsArgument,
    tokenizer: TokenizerOption = "blank:zh",
    min_count: MinCountOption = 1,
    max_words: MaxWordsOption = 0,
    max_held: MaxHeldOption = MAX_HELD,
) -> None:
    """Count the words of raw text, a paragraph a line, for [pretraining.objective] words and for vocab of ELMo.v1.

    Use the tokenizer of the pipeline that is to be trained. Reads one text after the other.

    \b
    Examples:
      python -m spacy lexner count-words words.tsv texts/ --tokenizer configs/elmo.cfg --min-count 3
      python -m spacy lexner count-words chars.tsv corpus.txt.gz --tokenizer blank:zh
    """
    try:
        counter = count_words(texts, load_tokenizer(tokenizer), max_held)
        words = counter.most_common(max_words, min_count)
        if not words:
            raise ValueError(f"None of {counter.n_words} words occurs {min_count} times.")
        target.parent.mkdir(parents=True, exist_ok=True)
        write_counted_words(words, target)
    except (ValueError, OSError) as error:
        msg.fail("Nothing was written", str(error), exits=1)
    covered = sum(count for _, count in words)
    msg.good(f"{target}: {len(words)} words, {covered / counter.n_words:.2%} of the {counter.n_words} in the text")
    if counter.least_certain >= words[-1][1]:
        msg.warn(
            f"Counts up to {counter.least_certain} are too low for some words, which had been forgotten for a while.",
            "Set --max-held higher, or --min-count.",
        )


def count_words(texts: List[Path], nlp: Language, max_held: int = MAX_HELD) -> WordCounter:
    """Count the words of text files in bounded memory.

    texts (List[Path]): Files and folders.
    nlp (Language): Its tokenizer makes the words.
    max_held (int): See WordCounter.
    RETURNS (WordCounter): The counts. Raises ValueError where there is no text.
    """
    counter = WordCounter(max_held)
    examples = TextCorpus([str(path) for path in texts])(nlp)
    with tqdm(unit=" texts", disable=None, leave=False) as bar:
        while n_docs := _count_some(nlp, examples, counter):
            bar.update(n_docs)
    return counter


def _count_some(nlp: Language, examples: Iterator[Example], counter: WordCounter) -> int:
    """Count the words of some Docs, whose strings the vocabulary then forgets."""
    n_docs = 0
    with nlp.memory_zone():
        for example in islice(examples, DOCS_AT_ONCE):
            counter.add(token.text for token in example.reference)
            n_docs += 1
    return n_docs


def load_tokenizer(name: str) -> Language:
    """Load what cuts texts into words.

    name (str): A config file, the folder or name of a pipeline, or "blank:zh".
    RETURNS (Language): A pipeline of which only the tokenizer is needed.
    """
    if Path(name).suffix != ".cfg":
        return load_model(name)
    config = load_config(name)
    config["nlp"]["pipeline"] = []
    tokenizer = config.get("initialize", {}).get("tokenizer", {})
    nlp = load_model_from_config({"nlp": config["nlp"], "initialize": {"tokenizer": tokenizer}}, auto_fill=True)
    nlp.initialize()
    return nlp
