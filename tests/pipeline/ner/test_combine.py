import numpy as np
import pytest
import spacy
from small_ner import HASH_EMBED_CNN, TEXTS, blank, examples, found, scores, train
from tolerance import assert_close, moved

from spacy_lexner.pipeline.ner.calibration import Calibration, Scale
from spacy_lexner.pipeline.ner.combine import combine

N_TERMS = 100  # the longest sum: in FLAT, the vectors of a character and of its bigram
FLAT = {"@architectures": "spacy-lexner.FLAT.v1", "width": 16, "heads": 2, "layers": 1}
WORDS = ["北京大学", "复旦大学", "北京", "上海", "南京"]


def trained(tok2vec=None, words=WORDS, **config):
    nlp = blank(tok2vec=tok2vec, **config)
    nlp.add_pipe("lex_matcher", first=True).add_words(words)
    train(nlp)
    return nlp


def outputs(nlp, text):
    doc = nlp.make_doc(text)
    doc = nlp.get_pipe("lex_matcher")(doc)
    (emissions,), transitions = nlp.get_pipe("lex_ner").model.predict([doc])
    return emissions, transitions


@pytest.fixture
def pair():
    return {"wide": trained(threshold=0.1), "flat": trained(FLAT)}


def test_scores_of_different_models_are_averaged(pair):
    own = [outputs(nlp, TEXTS[0][0]) for nlp in pair.values()]
    nlp = combine(pair)
    for together, first, second in zip(outputs(nlp, TEXTS[0][0]), *own):
        assert_close(together, (first + second) / 2, N_TERMS)
    assert nlp.pipe_names == ["lex_matcher", "lex_ner"]
    assert nlp.get_pipe("lex_ner").cfg["threshold"] == 0.1
    assert found(nlp(TEXTS[0][0])) == TEXTS[0][1]


def test_saved_and_loaded(pair, tmp_path):
    nlp = combine(pair)
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    for text, _ in TEXTS:
        assert found(loaded(text)) == found(nlp(text))
        assert scores(loaded(text)) == pytest.approx(scores(nlp(text)))


def test_the_words_of_the_lexicon_are_those_of_the_pipeline(pair):
    nlp = combine(pair)
    before = outputs(nlp, "在南昌")[0]
    nlp.get_pipe("lex_matcher").add_words(["南昌"])
    assert moved(before, outputs(nlp, "在南昌")[0], N_TERMS).any()


def test_it_is_trained_further(pair):
    nlp = combine(pair)
    optimizer = nlp.resume_training()
    gold = examples(nlp, [("赵六去广州", [(0, 2, "PER"), (3, 5, "LOC")])])
    losses = [nlp.update(gold, sgd=optimizer)["lex_ner"] for _ in range(20)]
    assert losses[-1] < losses[0] and losses[-2] < losses[1]


def test_ensembles_are_members_too():
    member = {"@architectures": "spacy-lexner.CRFTagger.v1", "tok2vec": HASH_EMBED_CNN}
    nlp = spacy.blank("zh")
    nlp.add_pipe(
        "lex_ner",
        config={"model": {"@architectures": "spacy-lexner.EnsembleTagger.v1", "member": member, "n_members": 2}},
    )
    train(nlp)
    other = blank()
    train(other)
    model = combine({"two": nlp, "one": other}).get_pipe("lex_ner").model
    assert [layer.name for layer in model.layers] == ["ensemble", "tagger"]


def test_a_calibration_is_of_one_model_alone():
    first, second = trained(), trained()
    first.get_pipe("lex_ner").set_confidence(Calibration(Scale(2.0, 0.0), {}), 0.3)
    combined = combine({"first": first, "second": second}).get_pipe("lex_ner")
    assert combined.calibration is None and combined.cfg["threshold"] == 0.3


def test_what_does_not_fit_is_named():
    nlp, other = trained(), trained(words=["广州"])
    with pytest.raises(ValueError, match="other and nlp have different lexicons"):
        combine({"nlp": nlp, "other": other})
    with pytest.raises(ValueError, match="1 pipelines to combine; expected at least 2"):
        combine({"nlp": nlp})
    with pytest.raises(ValueError, match="plain has no lex_ner called 'lex_ner': empty"):
        combine({"nlp": nlp, "plain": spacy.blank("zh")})
    labels = trained()
    labels.get_pipe("lex_ner").add_label("GPE")
    with pytest.raises(ValueError, match=r"labels and nlp have different labels: .*GPE.* Train them with the same"):
        combine({"nlp": nlp, "labels": labels})
    with pytest.raises(ValueError, match="tokens and nlp have different units: tokens and characters"):
        combine({"nlp": nlp, "tokens": trained(units="tokens")})
    assert nlp.get_pipe("lex_ner").model.name == "tagger"


def test_a_softmax_stands_beside_a_crf():
    crf, softmax = trained(), trained(tagger="SoftmaxTagger")
    own = outputs(crf, TEXTS[0][0])[1]
    nlp = combine({"crf": crf, "softmax": softmax})
    np.testing.assert_array_equal(outputs(nlp, TEXTS[0][0])[1], own / 2)
    assert found(nlp(TEXTS[0][0])) == TEXTS[0][1]
