import catalogue
import pytest
import spacy
import srsly
from small_encoders import GOLD, make_pipeline
from thinc.config import ConfigValidationError

import spacy_lexner
from spacy_lexner.integrity.pipelines import save, seal_pipeline, verify_pipeline
from spacy_lexner.integrity.seal import SealError, SealWarning

TEXT = GOLD[0][0]


@pytest.fixture(scope="module")
def nlp():
    return make_pipeline("FLAT")


@pytest.fixture
def folder(nlp, tmp_path):
    spacy_lexner.save(nlp, tmp_path / "model")
    return tmp_path / "model"


def scores(nlp):
    return [(ent.start, ent.end, ent.label_, ent._.lex_score) for ent in nlp(TEXT).ents]


def flip(path, place=0.5):
    data = bytearray(path.read_bytes())
    data[int(len(data) * place)] ^= 1
    path.write_bytes(data)


def test_a_saved_pipeline_is_whole(nlp, folder):
    assert list(verify_pipeline(folder)) == []
    assert scores(spacy.load(folder)) == scores(nlp)
    save(spacy.load(folder), folder)  # over itself, its lexicon mapped
    assert list(verify_pipeline(folder)) == [] and scores(spacy.load(folder)) == scores(nlp)
    assert [path.name for path in folder.parent.iterdir()] == ["model"]


@pytest.mark.parametrize("name", ["meta.json", "config.cfg", "vocab/strings.json", "lex_ner/cfg", "lex_ner/model"])
def test_a_changed_file_is_named(folder, name):
    flip(folder / name)
    (problem,) = verify_pipeline(folder)
    assert problem.startswith(f"{folder / name}: ") and "lexner seal" in problem


def test_every_part_of_the_lexicon_is_read(folder):
    for part in sorted((folder / "lex_matcher" / "lexicon").glob("*-*")):
        original = part.read_bytes()
        flip(part, 0.9)
        (problem,) = verify_pipeline(folder)
        assert problem.startswith(f"{part}: ")
        part.write_bytes(original)


def test_a_manifest_of_another_kind(folder):
    (folder / "web").mkdir()
    for text in ('{"format": "web app"}', "[]"):
        (folder / "web" / "manifest.json").write_text(text)
        (folder / "web" / "page.html").write_text("<p>")
        seal_pipeline(folder)
        assert list(verify_pipeline(folder)) == []
    flip(folder / "web" / "page.html")
    (problem,) = verify_pipeline(folder)
    assert problem.startswith(f"{folder / 'web' / 'page.html'}: ")


def test_missing_new_and_linked_files(folder, tmp_path):
    (folder / "meta.json").rename(tmp_path / "meta.json")
    (folder / "lex_ner" / "new").write_text("")
    (folder / "meta.json").symlink_to(tmp_path / "meta.json")
    problems = "\n".join(verify_pipeline(folder))
    assert "meta.json: a link to a file outside" in problems and "new: the folder's seal.json does not list" in problems
    with pytest.raises(SealError, match="outside of the folder"):
        seal_pipeline(folder)
    (folder / "meta.json").unlink()
    assert "meta.json: the file cannot be read" in "\n".join(verify_pipeline(folder))


def test_what_belongs_to_another_training_is_refused(nlp, folder, tmp_path):
    make_pipeline("FLAT", seed=1).to_disk(tmp_path / "other")
    (folder / "lex_ner" / "model").write_bytes((tmp_path / "other" / "lex_ner" / "model").read_bytes())
    with pytest.raises(SealError, match=r"lex_ner.model: its SHA-256"):
        spacy.load(folder)


def test_reversed_labels_are_refused(folder):
    path = folder / "lex_ner" / "cfg"
    cfg = srsly.read_json(path)
    srsly.write_json(path, {**cfg, "labels": cfg["labels"][::-1]})
    with pytest.raises(SealError, match=r"lex_ner.cfg: its SHA-256"):
        spacy.load(folder)


def test_an_old_pipeline_loads_with_a_warning_and_can_be_sealed(nlp, folder):
    for seal in folder.rglob("seal.json"):
        seal.unlink()
    with pytest.warns(SealWarning, match="lexner seal MODEL"):
        again = spacy.load(folder)
    assert scores(again) == scores(nlp)
    assert any("there is no seal.json" in problem for problem in verify_pipeline(folder))
    assert seal_pipeline(folder) > 3
    assert list(verify_pipeline(folder)) == [] and scores(spacy.load(folder)) == scores(nlp)


def test_no_pipeline(tmp_path):
    assert list(verify_pipeline(tmp_path / "none")) == [f"{tmp_path / 'none'}: no such folder."]
    with pytest.raises(SealError, match=r"config.cfg is missing"):
        seal_pipeline(tmp_path)


def test_bytes_are_checked(nlp):
    pipe = nlp.get_pipe("lex_ner")
    sealed = bytearray(pipe.to_bytes())
    sealed[-1] ^= 1
    with pytest.raises(SealError, match="lex_ner: these are not the bytes"):
        pipe.from_bytes(bytes(sealed))


@pytest.mark.parametrize("registry", ["misc", "architectures"])
def test_a_config_with_an_unknown_function(folder, registry):
    """spaCy finds nothing with that name and calls nothing; `verify` names the edited config."""
    config = (folder / "config.cfg").read_text("utf8")
    edited = config.replace('@architectures = "spacy-lexner.FLAT.v1"', f'@{registry} = "someone.steals.v1"')
    assert edited != config
    (folder / "config.cfg").write_text(edited, "utf8")
    with pytest.raises((catalogue.RegistryError, ConfigValidationError), match=r"someone\.steals\.v1"):
        spacy.load(folder)
    (problem,) = verify_pipeline(folder)
    assert "config.cfg" in problem


def test_other_heads_in_saved_settings(nlp, folder):
    """No shape of a weight depends on the number of heads: only the checksum tells."""
    path = folder / "lex_ner" / "model"
    message = srsly.msgpack_loads(path.read_bytes())
    [(i, shim)] = [(i, srsly.msgpack_loads(shims[0])) for i, shims in enumerate(message["shims"]) if shims]
    assert shim["settings"]["heads"] == 2
    shim["settings"]["heads"] = 4
    message["shims"][i] = [srsly.msgpack_dumps(shim)]
    path.write_bytes(srsly.msgpack_dumps(message))
    with pytest.raises(SealError, match="model"):
        spacy.load(folder)


def test_other_heads_in_the_config(nlp, folder):
    """The settings saved with the weights apply, and `verify` names the config."""
    config = (folder / "config.cfg").read_text("utf8")
    assert config.count("heads = 2") == 1
    (folder / "config.cfg").write_text(config.replace("heads = 2", "heads = 4"), "utf8")
    assert scores(spacy.load(folder)) == scores(nlp)
    (problem,) = verify_pipeline(folder)
    assert "config.cfg" in problem


def test_a_linked_folder(folder, tmp_path):
    (folder / "lex_matcher").rename(tmp_path / "elsewhere")
    (folder / "lex_matcher").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    assert any("lex_matcher: a link to a file outside" in problem for problem in verify_pipeline(folder))
    with pytest.raises(SealError, match="outside of the folder"):
        seal_pipeline(folder)
