import pytest
import spacy
from small_ner import examples, found
from spacy.util import fix_random_seed

from spacy_lexner.encoders.lebert.architecture import build_lebert_v1
from spacy_lexner.tagging.ncrf.architecture import build_ncrf_tagger_v1

TAGS = ["O", *(f"{prefix}-{label}" for label in ("ORG", "PER", "LOC") for prefix in "BMES")]
LEBERT = {
    "@architectures": "spacy-lexner.LEBERT.v1",
    "hidden_width": 32,
    "heads": 2,
    "intermediate_width": 64,
    "word_width": 8,
    "dropout": 0.0,
}


def blank(tags=TAGS, tok2vec=LEBERT):
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher").add_words(["北京大学", "北京", "南京", "上海", "复旦大学"])
    model = {"@architectures": "spacy-lexner.NCRFTagger.v1", "tok2vec": tok2vec, "tags": tags, "normalization": "mean"}
    nlp.add_pipe("lex_ner", config={"model": model})
    return nlp


def test_learns_and_comes_back(tmp_path):
    nlp = blank()
    gold = examples(nlp)
    fix_random_seed(0)
    optimizer = nlp.initialize(lambda: gold)
    optimizer.learn_rate = 0.005
    for _ in range(40):
        losses = nlp.update(gold, sgd=optimizer)
    assert losses["lex_ner"] < 0.5
    assert nlp.get_pipe("lex_ner").labels == ("LOC", "ORG", "PER")
    assert nlp.evaluate(gold)["ents_f"] == 1.0
    nlp.to_disk(tmp_path / "model")
    again = spacy.load(tmp_path / "model")
    for example in gold:
        doc = again(example.text)
        assert found(doc) == found(nlp(example.text))
        assert [ent._.lex_score for ent in doc.ents] == pytest.approx(
            [ent._.lex_score for ent in nlp(example.text).ents]
        )


def test_labels_are_those_of_the_tags():
    nlp = blank(tags=["O", "B-PER", "E-PER"])
    with pytest.raises(ValueError, match="'LOC' cannot be added, since the tags of the model are fixed"):
        nlp.initialize(lambda: examples(nlp))


def test_the_encoder_must_have_a_frame():
    with pytest.raises(ValueError, match=r"no \[CLS\] and \[SEP\]"):
        blank(
            tok2vec={
                "@architectures": "spacy.HashEmbedCNN.v2",
                "width": 8,
                "depth": 1,
                "embed_size": 10,
                "window_size": 1,
                "maxout_pieces": 2,
                "subword_features": False,
                "pretrained_vectors": None,
            }
        )


def test_what_is_no_tag_set():
    with pytest.raises(ValueError, match="'X' is not known"):
        blank(tags=["O", "X"])


def test_the_number_of_tags_is_known_and_stays():
    model = build_ncrf_tagger_v1(build_lebert_v1(adapter_layers=[]), ["O", "B-PER", "E-PER", "S-LOC"])
    assert model.get_ref("output_layer").get_dim("nO") == 6
    assert model.attrs["labels"] == ("LOC", "PER")
    with pytest.raises(ValueError, match=r"labels are LOC, PER. For other labels train"):
        model.attrs["resize_output"](model, 13)
