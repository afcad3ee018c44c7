import json
import re

import pytest
import spacy
from spacy.tokens import DocBin
from typer.testing import CliRunner

from spacy_lexner.cli.app import lexner
from spacy_lexner.cli.model.make_config import make_config
from spacy_lexner.lexicon import Lexicon, LexiconEntry


def run(*arguments):
    result = CliRunner().invoke(lexner, ["debug-data", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, " ".join(re.sub("\x1b.*?m", "", result.output).split())


def write(path, texts):
    nlp, docs = spacy.blank("zh"), DocBin()
    for text, entities in texts:
        doc = nlp.make_doc(text)
        doc.ents = [doc.char_span(start, end, label) for start, end, label in entities]
        docs.add(doc)
    docs.to_disk(path)


@pytest.fixture
def arguments(tmp_path):
    write(
        tmp_path / "train.spacy",
        [("在南京", [(1, 3, "GPE")]), ("看长江大桥", [(1, 5, "LOC")]), ("北京ab", [(0, 3, "GPE")])],
    )
    write(tmp_path / "dev.spacy", [("在南京" * 10, [(1, 3, "GPE")]), ("王五在武汉", [(0, 2, "PER"), (3, 5, "GPE")])])
    Lexicon.from_entries(map(LexiconEntry, ["南京", "长江大桥", "武汉"])).save(tmp_path / "lexicon")
    make_config("flat", "ner").to_disk(tmp_path / "config.cfg")
    paths = [item for name in ("train", "dev") for item in (f"--paths.{name}", tmp_path / f"{name}.spacy")]
    return [tmp_path / "config.cfg", *paths, "--paths.lexicon", tmp_path / "lexicon"]


def test_figures(arguments):
    code, output = run(*arguments, "--json", "--components.lex_ner.model.tok2vec.window", 4)
    assert code == 0
    found = json.loads(output)
    assert found["train"]["labels"] == {"GPE": 2, "LOC": 1} and found["dev"]["labels"] == {"GPE": 2, "PER": 1}
    assert (found["train"]["texts"], found["dev"]["texts"], found["dev"]["longest"]) == (3, 2, 30)
    assert found["coverage"] == {"of train": [2, 3], "of dev, seen in train": [1, 1], "of dev, unseen": [1, 2]}
    assert set(found["windows"].values()) == {4} and found["train"]["misaligned"] == 0
    warnings = "; ".join(found["warnings"])
    for part in (
        "below 50): GPE (2), LOC (1)",
        "in dev only, so never learned: PER",
        "1 texts of train are longer",
        "dev has texts of 30 tokens, train none above 5",
    ):
        assert part in warnings


def test_texts_are_counted_as_they_are(arguments):
    _, output = run(*arguments, "--json", "--corpora.train.augmenter.rate", 1)
    found = json.loads(output)
    assert found["train"]["texts"] == found["train"]["entities"] == 3


def test_entities_off_token_borders(arguments):
    words = ["--nlp.tokenizer.@tokenizers", "spacy.Tokenizer.v1"]
    code, output = run(*arguments, *words)
    assert code == 0 and "train: 3 entities do not begin and end with tokens (GPE '南京', LOC" in output
    assert "In the lexicon: 1 of 2 entities of dev, unseen (50%)" in output


def test_errors(arguments, tmp_path):
    code, output = run(*arguments[:3])
    assert code == 1 and "cannot be checked" in output
    code, output = run(tmp_path / "none.cfg")
    assert code == 1 and "none.cfg" in output


def test_dev_without_entities(arguments, tmp_path):
    write(tmp_path / "dev.spacy", [("没有人", [])])
    code, output = run(*arguments)
    assert code == 0 and "dev has no entities" in output


def test_registered_functions(arguments, tmp_path):
    (tmp_path / "code.py").write_text(
        "import spacy\n\n@spacy.registry.augmenters('test_debug_data.v1')\ndef make():\n"
        "    return lambda nlp, example: iter([example])\n"
    )
    augmenter = ["--corpora.train.augmenter", '{"@augmenters":"test_debug_data.v1"}']
    code, output = run(*arguments, *augmenter, "--code", tmp_path / "code.py")
    assert code == 0 and "texts" in output, output


def test_a_corpus_of_words_needs_no_entities(arguments, tmp_path):
    for split in ("train", "dev"):
        write(tmp_path / f"{split}.spacy", [("没有人", [])])
    make_config("flat", "words").to_disk(tmp_path / "config.cfg")
    assert run(*arguments)[1].endswith("Nothing looks wrong")
    make_config("flat", "joint").to_disk(tmp_path / "config.cfg")
    assert "train has no entities" in run(*arguments)[1]
