import pytest
import torch
from safetensors.torch import save
from torch import nn

from spacy_lexner.encoders.shared.shim import ModuleShim
from spacy_lexner.encoders.shared.weights import DTYPES, build_empty, check_ids, find_mismatch, is_whole, read_weights


def build(settings):
    return nn.Sequential(
        nn.Embedding(settings["rows"], 4), *(nn.Linear(4, settings["width"]) for _ in range(settings["depth"]))
    )


SETTINGS = {"rows": 5, "width": 4, "depth": 2}


@pytest.fixture
def saved():
    shim = ModuleShim(build)
    shim.initialize(SETTINGS)
    return shim


def forged(shim, **settings):
    shim.settings = {**shim.settings, **settings}
    return shim.to_bytes()


def test_every_dtype_is_read():
    tensors = {name: torch.arange(6).reshape(2, 3).to(dtype) for name, dtype in DTYPES.items()}
    tensors["scalar"], tensors["empty"] = torch.tensor(1.5), torch.zeros(0, 3)
    read = read_weights(save(tensors))
    assert all(torch.equal(read[name], tensor) and read[name].dtype == tensor.dtype for name, tensor in tensors.items())


@pytest.mark.parametrize("settings", [{"rows": 10**12}, {"width": 10**9}, {"depth": 3}, {"rows": 4}])
def test_sizes_that_are_not_those_of_the_weights_take_no_memory(saved, settings):
    with pytest.raises(ValueError, match="The saved weights do not fit"):
        ModuleShim(build).from_bytes(forged(saved, **settings))


@pytest.mark.timeout(30)
def test_a_forged_depth_is_refused_at_once(saved):
    with pytest.raises(ValueError, match="many more weights than the 5 that were saved"):
        ModuleShim(build).from_bytes(forged(saved, depth=10**9))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("where", [(0, 0), (4, 3), slice(None)])
def test_weights_that_are_not_finite_are_named(saved, value, where):
    saved.module[0].weight.data[where] = value
    with pytest.raises(ValueError, match=r"the weight 0\.weight has values that are not finite"):
        ModuleShim(build).from_bytes(saved.to_bytes())


def test_weights_whose_sum_is_not_finite_are_loaded(saved):
    saved.module[0].weight.data[:] = torch.finfo(torch.float32).max
    assert ModuleShim(build).from_bytes(saved.to_bytes()).is_initialized


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.int64, torch.bool])
def test_weights_of_another_dtype_are_named(saved, dtype):
    saved.module[1].requires_grad_(False).bias.data = torch.zeros(4, dtype=dtype)
    with pytest.raises(ValueError, match=rf"the weight 1\.bias is made of {dtype}; expected torch\.float32"):
        ModuleShim(build).from_bytes(saved.to_bytes())


def test_settings_that_the_layer_reads(saved):
    assert ModuleShim(build, reads=["rows"]).from_bytes(saved.to_bytes()).is_initialized
    with pytest.raises(ValueError, match="the settings of the torch module lack vocab, words"):
        ModuleShim(build, reads=["vocab", "rows", "words"]).from_bytes(saved.to_bytes())


class Plain(nn.Module):
    """A module with a tensor that is not saved."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.register_buffer("places", torch.arange(3), persistent=False)
        self.scale = torch.ones(1)


def build_plain(settings):
    return Plain()


def test_what_is_not_saved_is_there_after_loading():
    shim = ModuleShim(build_plain)
    weight = shim.initialize({}).linear.weight
    module = ModuleShim(build_plain).from_bytes(shim.to_bytes()).module
    assert is_whole(module) and module.places.tolist() == [0, 1, 2] and module.scale.item() == 1
    assert torch.equal(module.linear.weight, weight) and module.linear.weight.requires_grad
    assert not is_whole(build_empty(build_plain, {}, 2))


def test_a_loaded_module_predicts_at_once(saved):
    assert not any(part.training for part in ModuleShim(build).from_bytes(saved.to_bytes()).module.modules())


def test_ids():
    check_ids({"cls": 0, "sep": 4}, 5, "rows")
    for wrong in (-1, 5, True, "1", None, 10**5000):
        with pytest.raises(ValueError, match="the id of sep"):
            check_ids({"cls": 0, "sep": wrong}, 5, "rows")


def test_weights_that_fit():
    assert find_mismatch({"a": (2, 3), "b": [1]}, {"a": [2, 3], "b": (1,)}) is None
    assert find_mismatch({"a": (2,), "x.ids": ()}, {"a": (2,), "mask": (4,)}, derived=("ids", "mask")) is None


def test_weights_that_do_not_fit():
    problem = find_mismatch({"b": (1,), "c": (2,)}, {"a": (1,), "c": (2, 1)})
    assert problem == "a is missing; b is not known; c has shape [2] instead of [2, 1]"
    many = {f"w{i}": (1,) for i in range(7)}
    assert find_mismatch({}, many) == "w0 is missing; w1 is missing; w2 is missing; w3 is missing; and 3 more"
