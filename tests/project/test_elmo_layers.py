"""The chart of layer weights in trained pipelines."""

import elmo_layers
import pytest
import spacy
from spacy.training import Example


def test_layers_of_kept_pipelines(tmp_path, capsys):
    for seed, shift in ((0, 0.0), (1, 2.0)):
        nlp = spacy.blank("zh")
        model = {"@architectures": "spacy-lexner.ELMo.v1", "unit": "byte", "projection_dim": 4, "cell_dim": 6}
        nlp.add_pipe("lex_ner", config={"model": {"tok2vec": model}})
        example = Example.from_dict(nlp.make_doc("南京"), {"entities": [(0, 2, "LOC")]})
        nlp.initialize(lambda example=example: [example])
        nlp.get_pipe("lex_ner").model.get_ref("tok2vec").shims[0].module.mixes[0].scalars.data[2] += shift
        (tmp_path / f"weibo-elmo-{seed}").mkdir()
        nlp.to_disk(tmp_path / f"weibo-elmo-{seed}" / "model-best")
    elmo_layers.show_layers(tmp_path)
    out = capsys.readouterr().out
    assert "weibo-elmo (2 seeds)" in out and "layer 2" in out and "0.560 ±" in out
    (tmp_path / "other" / "weibo-lebert-0").mkdir(parents=True)
    spacy.blank("zh").to_disk(tmp_path / "other" / "weibo-lebert-0" / "model-best")
    with pytest.raises(SystemExit):
        elmo_layers.show_layers(tmp_path / "other")
    with pytest.raises(SystemExit):
        elmo_layers.show_layers(tmp_path / "none")
