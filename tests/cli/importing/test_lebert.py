import pytest
import spacy
from lebert_files import Files
from typer.testing import CliRunner

from spacy_lexner.cli.app import lexner


@pytest.fixture
def files(tmp_path, fixtures_dir):
    return Files(tmp_path / "original", fixtures_dir)


def run(files, target, *options):
    arguments = [files.checkpoint, "--bert", files.bert, "--labels", files.labels, "--lexicon", files.lexicon]
    result = CliRunner().invoke(lexner, ["import", "lebert", *map(str, [*arguments, "-o", target, *options])])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, " ".join(result.output.split())


def test_a_checkpoint_becomes_a_pipeline(files, tmp_path):
    options = ["--word-vocab", files.word_vocab, "--max-word-num", 3]
    code, output = run(files, tmp_path / "lebert", *options)
    assert code == 0 and "a pipeline with the labels LOC, PER" in output
    assert spacy.load(tmp_path / "lebert")(files.texts[0]).ents
    assert run(files, tmp_path / "lebert", *options)[0] == 1
    assert run(files, tmp_path / "lebert", "--force", *options)[0] == 0


def test_what_is_wrong_is_said_without_a_traceback(files, tmp_path):
    code, output = run(files, tmp_path / "lebert")
    assert code == 1 and "Nothing was written" in output and "give the word_vocab.txt" in output
    files.checkpoint.write_bytes(b"no weights")
    assert run(files, tmp_path / "lebert", "--word-vocab", files.word_vocab)[0] == 1
    assert not (tmp_path / "lebert").exists()
