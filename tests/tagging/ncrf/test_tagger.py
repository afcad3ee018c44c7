import pytest

from spacy_lexner.encoders.lebert.architecture import build_lebert_v1
from spacy_lexner.tagging.ncrf.tagger import ncrf_tagger


def test_the_number_of_tags_is_known_and_stays():
    model = ncrf_tagger(build_lebert_v1(adapter_layers=[]), ["O", "B-PER", "E-PER", "S-LOC"])
    assert model.get_ref("output_layer").get_dim("nO") == 6
    assert model.attrs["labels"] == ("LOC", "PER")
    with pytest.raises(ValueError, match=r"labels are LOC, PER. For other labels train"):
        model.attrs["resize_output"](model, 13)
