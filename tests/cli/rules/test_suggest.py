import json
import re

import pytest
import spacy
from spacy.training import Example
from typer.testing import CliRunner

from spacy_lexner.cli.app import lexner
from spacy_lexner.lexicon.rule_file import read_rules


def run(*arguments):
    result = CliRunner().invoke(lexner, ["words", "suggest", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, " ".join(re.sub("\x1b.*?m", "", result.output).split())


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("words")
    spacy.util.fix_random_seed(0)
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher").add_words(["武汉市", "长江大桥"])
    nlp.add_pipe("lex_ner")
    gold = [("武汉市长江大桥很长", [(0, 3, "GPE"), (3, 7, "LOC")]), ("我在武汉市", [(2, 5, "GPE")])]
    examples = [Example.from_dict(nlp.make_doc(text), {"entities": entities}) for text, entities in gold]
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(12):
        nlp.update(examples, sgd=optimizer)
    nlp.to_disk(folder / "model")
    (folder / "texts.txt").write_text("南京市钱江大桥很长\n我在宁波市\n钱江大桥在杭州市\n", "utf8")
    return folder


def test_a_dictionary_file(files, tmp_path):
    code, printed = run(files / "model", files / "texts.txt", "-o", tmp_path / "out.tsv")
    assert code == 0 and "a dictionary file of" in printed
    rows = list(read_rules(tmp_path / "out.tsv"))
    code, printed = run(files / "model", files / "texts.txt", "--json")
    assert [row.word for row in rows] == [each["word"] for each in json.loads(printed)] and rows
    spacy.load(files / "model").get_pipe("lex_matcher").load_rules(tmp_path / "out.tsv")
    code, printed = run(files / "model", files / "texts.txt", "-o", tmp_path / "out.tsv")
    assert code == 1 and "already exists" in printed


def test_no_model(files):
    code, printed = run("blank:zh", files / "texts.txt")
    assert code == 1 and "no lex_matcher" in printed
