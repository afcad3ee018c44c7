import shutil

import pytest
import spacy
from small_ner import TEXTS, blank, found, train
from typer.testing import CliRunner

from spacy_lexner.cli.app import lexner


def run(*arguments):
    result = CliRunner().invoke(lexner, ["combine", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, " ".join(result.output.split())


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    for name, labels in (("a", ()), ("b", ()), ("c", ("GPE",))):
        nlp = blank()
        for label in labels:
            nlp.get_pipe("lex_ner").add_label(label)
        train(nlp)
        nlp.to_disk(folder / name)
    return folder


def test_a_combined_pipeline(models, tmp_path):
    code, output = run(models / "a", models / "b", "-o", tmp_path / "out")
    assert code == 0 and "2 pipelines together" in output
    nlp = spacy.load(tmp_path / "out")
    assert len(nlp.get_pipe("lex_ner").model.layers) == 2
    assert found(nlp(TEXTS[0][0])) == TEXTS[0][1]
    code, output = run(models / "a", models / "b", "-o", tmp_path / "out")
    assert code == 1 and "already exists" in output
    assert run(models / "a", models / "b", "-o", tmp_path / "out", "--force")[0] == 0


def test_what_does_not_fit_is_named(models, tmp_path):
    for wrong, message in [
        ([models / "a", models / "c"], "different labels"),
        ([models / "a", models / "a"], "given twice"),
        ([models / "a"], "expected at least 2"),
        ([models / "a", models / "none"], "none"),
    ]:
        code, output = run(*wrong, "-o", tmp_path / "out")
        assert code == 1 and message in output
    assert not (tmp_path / "out").exists()


def test_a_member_is_not_replaced(models, tmp_path):
    shutil.copytree(models / "a", tmp_path / "all" / "a")
    for output in (tmp_path / "all" / "a", tmp_path / "all"):
        code, printed = run(tmp_path / "all" / "a", models / "b", "-o", output, "--force")
        assert code == 1 and "which is read" in printed
    assert (tmp_path / "all" / "a" / "meta.json").is_file()
    code, printed = run(models / "a", models / "b" / ".." / "a", "-o", tmp_path / "out")
    assert code == 1 and "given twice" in printed
