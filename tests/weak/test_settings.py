import pytest
from small_ner import HASH_EMBED_CNN
from small_training import save_config

from spacy_lexner.cli.model.make_config import complete, read_base
from spacy_lexner.training.runs import set_values
from spacy_lexner.weak.settings import CRF, Settings, check_seed, prepare_config

NEGATIVES = "spacy-lexner.NegativeSampling.v1"
PLACE = "components.lex_ner.model"


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    return complete(read_base(str(save_config(tmp_path_factory.mktemp("config") / "config.cfg"))))


def model_of(config, **settings):
    return prepare_config(config, ["PER"], Settings(**settings))["components"]["lex_ner"]["model"]


def with_model(config, name, **values):
    return set_values(config, {PLACE: {"@architectures": f"spacy-lexner.{name}", **values}})


def test_labels_and_seed(config):
    prepared = prepare_config(config, ["LOC", "PER"], Settings(seed=3)).interpolate()
    assert prepared["initialize"]["components"]["lex_ner"]["labels"] == ["LOC", "PER"]
    assert prepared["training"]["seed"] == prepared["system"]["seed"] == 3


def test_the_guard_of_the_settings(config):
    assert model_of(config, negatives=0.5)["guard"] == {"@misc": NEGATIVES, "share": 0.5}
    assert model_of(config, ratio=0.2)["guard"] == {
        "@misc": "spacy-lexner.EntityRatio.v1",
        "ratio": 0.2,
        "margin": 0.05,
    }


def test_the_guard_of_a_config_stays(config):
    own = set_values(config, {f"{PLACE}.guard": {"@misc": NEGATIVES}})
    assert model_of(own)["guard"] == {"@misc": NEGATIVES}
    for name, value in (("ratio", 0.2), ("negatives", 1.0)):
        with pytest.raises(ValueError, match=f"{name} has no effect, .* guard of its own in {PLACE}.* --{name}"):
            model_of(own, **{name: value})


def test_members_of_an_ensemble_are_guarded(config):
    member = {"@architectures": CRF, "tok2vec": HASH_EMBED_CNN}
    ensemble = with_model(config, "EnsembleTagger.v1", n_members=2, member=member)
    assert model_of(ensemble, ratio=0.4)["member"]["guard"]["ratio"] == 0.4


def test_a_head_without_a_guard(config):
    softmax = with_model(config, "SoftmaxTagger.v1", tok2vec=HASH_EMBED_CNN)
    assert "guard" not in model_of(softmax)
    with pytest.raises(ValueError, match=rf"ratio has no effect, since {PLACE} is spacy-lexner.SoftmaxTagger.v1: exp"):
        model_of(softmax, ratio=0.2)


@pytest.mark.parametrize("value", [0.0, -1.0, float("inf"), float("nan")])
def test_negatives_out_of_range(config, value):
    with pytest.raises(ValueError, match=f"negatives is {value:g}; expected a number above 0"):
        model_of(config, negatives=value)


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan")])
def test_a_ratio_out_of_range(config, value):
    with pytest.raises(ValueError, match=f"ratio is {value:g}; expected a share from 0 to 1"):
        model_of(config, ratio=value)


@pytest.mark.parametrize("section", ["training", "system"])
def test_a_seed_of_the_config_is_not_replaced(config, section):
    own = set_values(config, {f"{section}.seed": 7})
    with pytest.raises(ValueError, match=rf"{section}\.seed = 7, but the run has the seed 1, .* \(--seed 7\)"):
        model_of(own, seed=1)
    check_seed(own, 7)
    check_seed(set_values(config, {f"{section}.seed": None}), 1)
