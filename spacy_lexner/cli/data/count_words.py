"""`spacy lexner count-words`: the words of a corpus of raw text and how often each occurs."""

from itertools import islice
from pathlib import Path
from typing import Annotated, List

import typer
from spacy.cli._util import import_code
from spacy.language import Language
from spacy.util import load_config, load_model, load_model_from_config
from wasabi import msg

from ...encoders.elmo.counted_words import write_counted_words
from ...pretraining.text_corpus import TextCorpus
from ...pretraining.text_index import find_text_files
from ...pretraining.word_vocabulary import MAX_HELD, WordCounter
from ..model.training_config import CodeOption
from ..shared import RawTextsArgument, check_apart, failing, progress

DOCS_AT_ONCE = 2000


def count_words_cli(
    target: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write: a word, a tab, its count")],
    texts: RawTextsArgument,
    tokenizer: Annotated[
        str,
        typer.Option(
            "--tokenizer",
            "-t",
            metavar="NAME",
            help="Makes the words: a config file, the folder or name of a pipeline, or blank:zh",
        ),
    ] = "blank:zh",
    min_count: Annotated[int, typer.Option(help="Leave out words that occur less often", metavar="N", min=1)] = 1,
    max_words: Annotated[int, typer.Option(help="Write at most this many words; 0 for all", metavar="N", min=0)] = 0,
    max_held: Annotated[
        int,
        typer.Option(
            help="Distinct words held in memory; beyond that, the rarest half is forgotten", metavar="N", min=2
        ),
    ] = MAX_HELD,
    code: CodeOption = None,
) -> None:
    """Count the words of raw text, one paragraph per line, for a pretraining objective and `vocab` of ELMo.v1.

    Use the tokenizer of the pipeline that will be trained. The text is read as a stream.

    \b
    Examples:
      python -m spacy lexner count-words words.tsv texts/ --tokenizer configs/elmo.cfg --min-count 3
      python -m spacy lexner count-words chars.tsv corpus.txt.gz --tokenizer blank:zh
    """
    with failing("Nothing was written"):
        import_code(code)
        check_apart(target, find_text_files(texts))
        counter = count_words(texts, load_tokenizer(tokenizer), max_held)
        words = counter.most_common(max_words, min_count)
        if not words:
            raise ValueError(f"None of {counter.n_words} words occurs {min_count} times.")
        write_counted_words(words, target)
    covered = sum(count for _, count in words)
    msg.good(f"{target}: {len(words)} words, {covered / counter.n_words:.2%} of the {counter.n_words} in the text")
    if counter.least_certain >= words[-1][1]:
        msg.warn(
            f"Counts up to {counter.least_certain} are too low for some words, which were forgotten for a while.",
            "Raise --max-held or --min-count.",
        )


def count_words(texts: List[Path], nlp: Language, max_held: int = MAX_HELD) -> WordCounter:
    """Count the words of files and folders, as the tokenizer of `nlp` splits them, in bounded memory (for `max_held`
    see WordCounter). Raises ValueError if there is no text."""
    counter = WordCounter(max_held)
    examples = iter(progress(TextCorpus([str(path) for path in texts])(nlp)))
    while True:
        n_docs = 0
        with nlp.memory_zone():  # otherwise the vocabulary would keep every string it has seen
            for example in islice(examples, DOCS_AT_ONCE):
                counter.add(token.text for token in example.reference)
                n_docs += 1
        if not n_docs:
            return counter


def load_tokenizer(name: str) -> Language:
    """Load a pipeline for its tokenizer, from a config file, a folder, a package name or "blank:zh"."""
    if Path(name).suffix != ".cfg":
        return load_model(name)
    config = load_config(name)
    if "nlp" not in config:
        raise ValueError(f"{name} has no section [nlp]. Give the config of a pipeline, its folder, or blank:zh.")
    config["nlp"]["pipeline"] = []
    tokenizer = config.get("initialize", {}).get("tokenizer", {})
    nlp = load_model_from_config({"nlp": config["nlp"], "initialize": {"tokenizer": tokenizer}}, auto_fill=True)
    nlp.initialize()
    return nlp
