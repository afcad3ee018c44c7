"""What `nlp.add_pipe` builds is what the measured configs train."""

import pytest
import spacy

from configs import filled


@pytest.mark.parametrize(("pipe", "base"), [("lex_ner", "flat"), ("lex_segmenter", "segmenter_flat")])
def test_the_factory_builds_what_the_config_trains(pipe, base):
    nlp = spacy.blank("zh")
    nlp.add_pipe(pipe)
    trained = dict(filled(base)["components"][pipe])
    if pipe == "lex_ner":  # the rate depends on the length of training
        assert trained["model"]["tok2vec"]["lexicon"].pop("lexicon_dropout") == 0.3
    embedding = trained["model"]["tok2vec"]["embedding"]
    for kind in ("character", "bigram"):  # only the config can have it
        assert embedding.pop(f"{kind}_vectors") == f"${{paths.{kind}_vectors}}"
    assert dict(nlp.get_pipe_config(pipe)) == trained
