"""ELMo.v1 in spaCy: configs, pipes, training, saving, pretraining."""

import numpy as np
import pytest
import spacy
from spacy.cli.train import train as train_cli
from spacy.tokens import DocBin
from spacy.training import Example
from spacy.training.pretrain import pretrain
from thinc.api import ConfigValidationError

from configs import filled
from spacy_lexner.checkpoints.elmo import import_elmo
from spacy_lexner.encoders.elmo.counted_words import write_counted_words

TEXTS = [
    ("小明住在南京市", [(0, 2, "PER"), (4, 7, "LOC")]),
    ("南京市长江大桥很长", [(0, 3, "LOC"), (3, 7, "LOC")]),
    ("小红去北京了", [(0, 2, "PER"), (3, 5, "LOC")]),
    ("今天没有事", []),
]
GOLD = [sorted(spans) for _, spans in TEXTS]
SMALL = {
    "embedding_dim": 8,
    "filters": [[1, 16], [2, 16]],
    "projection_dim": 16,
    "cell_dim": 24,
    "dropout": 0.0,
    "lstm_dropout": 0.0,
}


def elmo(**changes):
    return {"@architectures": "spacy-lexner.ELMo.v1", **SMALL, **changes}


def make_examples(nlp):
    return [Example.from_dict(nlp.make_doc(text), {"entities": entities}) for text, entities in TEXTS]


def lex_ner_with_elmo(**changes):
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_ner", config={"model": {"tok2vec": elmo(**changes)}})
    return nlp


def train(nlp, n_steps=60, learn_rate=0.02):
    examples = make_examples(nlp)
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = learn_rate
    for _ in range(n_steps):
        losses = {}
        nlp.update(examples, sgd=optimizer, losses=losses, drop=0.0)
    return losses


def entities(nlp, **options):
    docs = nlp.pipe([text for text, _ in TEXTS], **options)
    return [[(ent.start_char, ent.end_char, ent.label_) for ent in doc.ents] for doc in docs]


def test_lex_ner_learns_and_comes_back_from_disk(tmp_path):
    nlp = lex_ner_with_elmo()
    train(nlp)
    assert entities(nlp) == GOLD
    nlp.to_disk(tmp_path / "nlp")
    loaded = spacy.load(tmp_path / "nlp")
    assert entities(loaded) == GOLD
    assert entities(loaded, n_process=2) == GOLD
    encoders = [pipe.get_pipe("lex_ner").model.get_ref("tok2vec") for pipe in (nlp, loaded)]
    np.testing.assert_array_equal(*(encoder.predict([nlp.make_doc("南京北")])[0] for encoder in encoders))


def test_lex_ner_shows_it_the_characters_of_all_texts():
    nlp = lex_ner_with_elmo()
    nlp.initialize(lambda: make_examples(nlp) * 20)
    characters = nlp.get_pipe("lex_ner").model.get_ref("tok2vec").shims[0].settings["characters"]["characters"]
    assert set(characters) == set("".join(text for text, _ in TEXTS))


@pytest.mark.parametrize(
    "changes",
    [
        {"unit": "byte"},
        {"cell_clip": 0, "projection_clip": 0},
        {"n_mixes": 2, "mix_norm": "token", "mix_layers": [1, 2]},
        {"block_rows": 3},
    ],
)
def test_options_learn(changes):
    nlp = lex_ner_with_elmo(**changes)
    train(nlp)
    assert entities(nlp) == GOLD


@pytest.mark.filterwarnings("ignore:ELMo takes its characters")
def test_shared_with_spacy_s_own_ner(tmp_path):
    nlp = spacy.blank("zh")
    nlp.add_pipe("tok2vec", config={"model": elmo()})
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 32}
    model = {
        "@architectures": "spacy.TransitionBasedParser.v2",
        "state_type": "ner",
        "extra_state_tokens": False,
        "hidden_width": 32,
        "maxout_pieces": 2,
        "tok2vec": listener,
    }
    nlp.add_pipe("ner", config={"model": model})
    train(nlp, n_steps=300)
    assert entities(nlp) == GOLD
    nlp.to_disk(tmp_path / "nlp")
    assert entities(spacy.load(tmp_path / "nlp")) == GOLD
    nlp.replace_listeners("tok2vec", "ner", ["model.tok2vec"])
    nlp.remove_pipe("tok2vec")
    assert entities(nlp) == GOLD
    nlp.to_disk(tmp_path / "replaced")
    assert entities(spacy.load(tmp_path / "replaced")) == GOLD


def test_official_weights_are_in_the_saved_pipeline(fixtures_dir, tmp_path):
    folder = tmp_path / "elmo"
    import_elmo(fixtures_dir / "elmo" / "options.json", fixtures_dir / "elmo" / "weights.hdf5", folder)
    nlp = spacy.blank("zh")
    model = {"tok2vec": {"@architectures": "spacy-lexner.ELMo.v1", "checkpoint": str(folder), "freeze": True}}
    nlp.add_pipe("lex_ner", config={"model": model})
    train(nlp, n_steps=3)
    nlp.to_disk(tmp_path / "nlp")
    folder.rename(tmp_path / "moved")
    doc = nlp.make_doc("北京天安门")
    before, after = (pipe.get_pipe("lex_ner").model.get_ref("tok2vec") for pipe in (nlp, spacy.load(tmp_path / "nlp")))
    np.testing.assert_array_equal(before.predict([doc])[0], after.predict([doc])[0])
    assert before.get_dim("nO") == 32


def test_a_checkpoint_that_is_none(tmp_path):
    nlp = lex_ner_with_elmo(checkpoint=str(tmp_path))
    with pytest.raises(ValueError, match="import elmo"):
        nlp.initialize(lambda: make_examples(nlp))


def test_wrong_options_are_named():
    with pytest.raises(ConfigValidationError, match="filter_widths"):
        lex_ner_with_elmo(filter_widths=[3])
    with pytest.raises(ConfigValidationError, match="unit"):
        lex_ner_with_elmo(unit="bytes")


@pytest.fixture
def corpus(tmp_path):
    nlp = spacy.blank("zh")
    DocBin(docs=[example.reference for example in make_examples(nlp)]).to_disk(tmp_path / "train.spacy")
    text = "\n".join(text for text, _ in TEXTS)
    (tmp_path / "text.txt").write_text(text, "utf8")
    write_counted_words([(character, 1) for character in sorted(set(text) - {"\n"})], tmp_path / "words.tsv")
    return tmp_path


def small_config(name, block, **overrides):
    sizes = {f"{block}.{key}": value for key, value in SMALL.items() if "dropout" not in key}
    return filled(name, **sizes, **overrides)


@pytest.mark.filterwarnings("ignore:The pattern .* of a parameter group matches none")
def test_pretrain_then_train(corpus):
    words = {"paths.words": str(corpus / "words.tsv")}
    pretraining = {
        "paths.raw_text": str(corpus / "text.txt"),
        "pretraining.max_epochs": 2,
        "pretraining.batcher.n_batches": 10,
        "pretraining.optimizer.learn_rate.total_steps": 20,
        "pretraining.objective.progress_bar": False,
        "pretraining.objective.log_every": 0,
    }
    (corpus / "pretrained").mkdir()
    config = small_config("pretrain_elmo", "components.tok2vec.model", **words, **pretraining)
    pretrain(config.interpolate(), corpus / "pretrained")
    encoder = "components.lex_ner.model.tok2vec"
    training = {
        "paths.train": str(corpus / "train.spacy"),
        "paths.dev": str(corpus / "train.spacy"),
        "paths.init_tok2vec": str(corpus / "pretrained" / "model-last.bin"),
        f"{encoder}.freeze": True,
        "training.optimizer.learn_rate.total_steps": 20,
        "training.eval_frequency": 10,
    }
    (corpus / "output").mkdir()
    small_config("elmo", encoder, **words, **training).to_disk(corpus / "config.cfg")
    train_cli(corpus / "config.cfg", corpus / "output")
    nlp = spacy.load(corpus / "output" / "model-last")
    saved = lex_ner_with_elmo().get_pipe("lex_ner").model.get_ref("tok2vec")
    saved.from_bytes((corpus / "pretrained" / "model-last.bin").read_bytes())
    trained = nlp.get_pipe("lex_ner").model.get_ref("tok2vec").shims[0].module
    for name, values in saved.shims[0].module.named_parameters():
        same = np.array_equal(values.detach().numpy(), dict(trained.named_parameters())[name].detach().numpy())
        assert same == (not name.startswith("mixes")), name
