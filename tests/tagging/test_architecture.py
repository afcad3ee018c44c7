import spacy
from spacy.util import registry

from spacy_lexner.tagging.architecture import build_crf_tagger_v1, build_softmax_tagger_v1
from spacy_lexner.tagging.heads import CRFHead, SoftmaxHead

HASH_EMBED_CNN = {
    "@architectures": "spacy.HashEmbedCNN.v2",
    "width": 8,
    "depth": 1,
    "embed_size": 50,
    "window_size": 1,
    "maxout_pieces": 2,
    "subword_features": True,
    "pretrained_vectors": None,
}


def build(name, **settings):
    config = {"model": {"@architectures": f"spacy-lexner.{name}.v1", "tok2vec": HASH_EMBED_CNN, **settings}}
    return registry.resolve(config)["model"]


def test_registered():
    assert registry.architectures.get("spacy-lexner.CRFTagger.v1") is build_crf_tagger_v1
    assert registry.architectures.get("spacy-lexner.SoftmaxTagger.v1") is build_softmax_tagger_v1


def test_crf_tagger():
    model = build("CRFTagger", dropout=0.5, normalization="token")
    assert model.attrs["head"] == CRFHead("token")
    output = model.get_ref("output_layer")
    assert output.attrs["own_dropout"] == 0.5 and "transitions" in output.param_names
    assert model.get_ref("tok2vec").get_dim("nO") == 8


def test_softmax_tagger():
    model = build("SoftmaxTagger", focal_gamma=2.0, label_smoothing=0.1)
    assert model.attrs["head"] == SoftmaxHead("mean", 2.0, 0.1)
    assert "transitions" not in model.get_ref("output_layer").param_names


def test_arguments_are_filled_in():
    filled = registry.fill({"model": {"@architectures": "spacy-lexner.CRFTagger.v1", "tok2vec": HASH_EMBED_CNN}})
    assert {key: filled["model"][key] for key in ("nO", "dropout", "normalization")} == {
        "nO": None,
        "dropout": None,
        "normalization": "mean",
    }


def test_takes_a_listener():
    nlp = spacy.blank("zh")
    nlp.add_pipe("tok2vec", config={"model": HASH_EMBED_CNN})
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 8}
    nlp.add_pipe("lex_ner", config={"model": {"@architectures": "spacy-lexner.CRFTagger.v1", "tok2vec": listener}})
    assert nlp.get_pipe("tok2vec").listening_components == ["lex_ner"]
