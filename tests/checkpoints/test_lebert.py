"""The import of LEBERT against what its authors' code computed (see lebert_files.py)."""

import json
import re

import pytest
import spacy
import torch
from lebert_files import CONFIG, Files
from spacy.training import Example
from tolerance import assert_close, tolerance

from spacy_lexner.checkpoints.lebert import import_lebert

SUMS = 4 * 64  # layers, and their longest sum
CHUNK = re.compile(r"\w-(\w+)")


@pytest.fixture
def files(tmp_path, fixtures_dir):
    return Files(tmp_path / "original", fixtures_dir)


def spans(tags):
    """What seqeval reads in tags, by its own rules: whether a chunk ends or starts between two tags."""
    found, start = [], 0
    pairs = [(tag[0].replace("M", "I"), tag[2:]) if CHUNK.fullmatch(tag) else ("O", "") for tag in tags]
    previous = ("O", "")
    for i, (kind, label) in enumerate([*pairs, ("O", "")]):
        other = previous[1] != label
        ends = previous[0] in "ES" or (previous[0] in "BI" and kind in "BSO") or (previous[0] != "O" and other)
        starts = kind in "BS" or (kind in "EI" and previous[0] in "ESO") or (kind != "O" and other)
        if previous[0] != "O" and ends:
            found.append((start, i, previous[1]))
        if starts:
            start = i
        previous = (kind, label)
    return found


def test_finds_what_the_original_finds(files, tmp_path):
    import_lebert(files.checkpoint, tmp_path / "lebert", **files.arguments)
    files.checkpoint.unlink()
    nlp = spacy.load(tmp_path / "lebert")
    ner = nlp.get_pipe("lex_ner")
    docs = [nlp.get_pipe("lex_matcher")(nlp.make_doc(text)) for text in files.texts]
    emissions, _ = ner.model.predict(docs)
    for i, rows in enumerate(emissions):
        assert_close(rows, files.recorded["logits"][i, : len(docs[i]) + 2], SUMS)
    wrong = []
    for i, doc in enumerate(nlp.pipe(files.texts)):
        found = [(ent.start, ent.end, ent.label_) for ent in doc.ents]
        assert all(0 < ent._.lex_score <= 1 for ent in doc.ents)
        wrong += [] if found == spans(files.tags(i)) else [files.texts[i]]
    assert not wrong
    assert any("<start>" in files.tags(i) for i in range(20))  # so the head is really tested


def test_has_the_loss_of_the_original(files, tmp_path):
    nlp = import_lebert(files.checkpoint, tmp_path / "lebert", **files.arguments)
    ner = nlp.get_pipe("lex_ner")
    largest = files.recorded["logits"].max()
    for text, expected in zip(files.texts, files.recorded["loss_per_seq"].tolist()):
        example = Example.from_dict(nlp.make_doc(text), {"entities": []})
        loss, _ = ner.get_loss([example], ner.model.predict([example.predicted]))
        assert loss == pytest.approx(expected, abs=len(text) * tolerance(SUMS, largest))


def test_words_come_from_the_corpus_as_well(files, tmp_path, fixtures_dir):
    recorded = json.loads((fixtures_dir / "pipeline" / "lw.json").read_text("utf8"))
    corpus = tmp_path / "dev.json"
    corpus.write_text("".join(json.dumps(each) + "\n" for each in files.inputs["sentences"]), "utf8")
    arguments = {**files.arguments, "word_vocab": None, "corpus": [corpus]}
    with pytest.raises(ValueError, match=r"vectors for 292 words .* has 321, so it is not what"):
        import_lebert(files.checkpoint, tmp_path / "lebert", **arguments)
    files.state["module.word_embeddings.weight"] = torch.randn(recorded["word_vocab_size"], 20)
    torch.save(files.state, files.checkpoint)
    nlp = import_lebert(files.checkpoint, tmp_path / "lebert", **arguments)
    encoder = next(node for node in nlp.get_pipe("lex_ner").model.walk() if node.name == "lebert")
    assert len(encoder.shims[0].module.words.tuned) == len(recorded["corpus_words_sorted"])


def test_no_prefix_and_a_folder(tmp_path, fixtures_dir):
    files = Files(tmp_path / "original", fixtures_dir, prefix="")
    nlp = import_lebert(files.checkpoint.parent, tmp_path / "lebert", **files.arguments)
    assert nlp.get_pipe("lex_ner").labels == ("LOC", "PER")


def test_no_file_that_is_read_is_replaced(files, tmp_path):
    before = files.checkpoint.read_bytes()
    with pytest.raises(ValueError, match=r"cannot be replaced, since that would remove .*, which is read"):
        import_lebert(files.checkpoint, files.checkpoint.parent, **files.arguments, overwrite=True)
    assert files.checkpoint.read_bytes() == before


def test_goes_on_learning_and_survives_saving(files, tmp_path):
    nlp = import_lebert(files.checkpoint, tmp_path / "lebert", **files.arguments)
    texts = [("必须转啊啊宇多田光", [(5, 9, "PER")]), ("昨天和老公一起去大润发", [(8, 11, "LOC")])]
    examples = [Example.from_dict(nlp.make_doc(text), {"entities": entities}) for text, entities in texts]
    optimizer = nlp.resume_training()
    optimizer.learn_rate = 0.005
    losses = [nlp.update(examples, sgd=optimizer)["lex_ner"] for _ in range(60)]
    assert losses[-1] < losses[0] / 5
    again = spacy.blank("zh").from_config(nlp.config).from_bytes(nlp.to_bytes())
    for text, entities in texts:
        for pipeline in (nlp, again):
            assert [(ent.start, ent.end, ent.label_) for ent in pipeline(text).ents] == entities
    assert [doc.ents for doc in nlp.pipe(["", " "])] == [(), ()]


def test_labels_are_fixed(files, tmp_path):
    ner = import_lebert(files.checkpoint, tmp_path / "lebert", **files.arguments).get_pipe("lex_ner")
    with pytest.raises(ValueError, match="Its labels are LOC, PER"):
        ner.add_label("ORG")
    assert ner.labels == ("LOC", "PER")


class Evil:
    def __reduce__(self):
        return (print, ("run",))


def break_checkpoint(files, change):
    state = dict(files.state)
    change(state)
    torch.save(state, files.checkpoint)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda state: state.pop("module.crf.transitions"), r"has no crf.transitions; expected a WCBertCRF_Token"),
        (lambda state: state.update({"module.attn_W": torch.zeros(2, 2)}), r"BERT\+Word baseline"),
        (
            lambda state: state.pop("module.bert.encoder.layer.1.output.dense.bias"),
            "layer.1.output.dense.bias is missing",
        ),
        (lambda state: state.update({"module.other": torch.zeros(2)}), "other is not known"),
        (lambda state: state["module.hidden2tag.bias"].fill_(float("nan")), "hidden2tag.bias are not finite"),
        (lambda state: state.update(evil=Evil()), "holds more than tensors, which is refused"),
    ],
)
def test_other_checkpoints_are_refused(files, tmp_path, change, message):
    break_checkpoint(files, change)
    with pytest.raises(ValueError, match=message):
        import_lebert(files.checkpoint, tmp_path / "lebert", **files.arguments)
    assert not (tmp_path / "lebert").exists()


def write(name, text):
    def change(files):
        getattr(files, name).write_text(text, "utf8")

    return change


def change_config(**values):
    return lambda files: (files.bert / "config.json").write_text(json.dumps({**CONFIG, **values}), "utf8")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (write("labels", "O\nB-PER\n"), "has 2 labels, but the checkpoint 7"),
        (write("labels", "O\nB-PER\nM-PER\nE-PER\nS-PER\nB-LOC\nX\n"), "tag 'X' is not known"),
        (write("labels", "O\nB-PER\nM-PER\nI-PER\nS-PER\nB-LOC\nM-LOC\n"), "'M-PER' and 'I-PER' are the same"),
        (write("lexicon", "\n \n"), "There is no word in"),
        (write("word_vocab", "0\t<pad>\n2\t<unk>\n"), r"word_vocab.txt:2: .*; expected 1, a tab and a word"),
        (write("word_vocab", "0\t<unk>\n1\t<pad>\n"), "begin with <unk>, <pad>; expected <pad>"),
        (lambda files: files.labels.unlink(), "labels.txt' cannot be read"),
        (change_config(hidden_size=48), "do not fit its config"),
        (change_config(model_type="roberta"), "is the config of a 'roberta'; expected that of a BERT"),
        (
            change_config(add_layers=[0, 2]),
            r"adapters after layers \[0, 2\] \(add_layers\), but the checkpoint after \[0\]",
        ),
        (lambda files: (files.bert / "config.json").write_text("[1]"), "not the config of a BERT"),
        (lambda files: (files.bert / "config.json").unlink(), "expected a folder with config.json and vocab.txt"),
    ],
)
def test_other_files_are_named(files, tmp_path, change, message):
    change(files)
    with pytest.raises(ValueError, match=message):
        import_lebert(files.checkpoint, tmp_path / "lebert", **files.arguments)
    assert not (tmp_path / "lebert").exists()


def test_without_the_words_of_the_vectors(files, tmp_path):
    with pytest.raises(ValueError, match=r"give the word_vocab.txt that its training wrote"):
        import_lebert(files.checkpoint, tmp_path / "lebert", **{**files.arguments, "word_vocab": None})
