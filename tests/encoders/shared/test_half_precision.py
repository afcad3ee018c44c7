import pytest
import torch

from spacy_lexner.encoders.shared import half_precision as module
from spacy_lexner.encoders.shared.half_precision import gradient_scaler, half_precision


@pytest.mark.parametrize("has_it, expected", [(True, torch.bfloat16), (False, None)])
def test_half_precision_on_a_processor(monkeypatch, has_it, expected):
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: has_it, raising=False)
    assert half_precision(torch.device("cpu")) == expected


@pytest.mark.parametrize("has_it, expected", [(True, torch.bfloat16), (False, torch.float16)])
def test_half_precision_on_a_gpu(monkeypatch, has_it, expected):
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda: has_it)
    assert half_precision(torch.device("cuda")) == expected


def test_no_half_precision_where_it_cannot_be_asked(monkeypatch):
    monkeypatch.delattr(torch.cpu, "_is_amx_tile_supported", raising=False)
    assert half_precision(torch.device("cpu")) is None


@pytest.mark.parametrize("tiles, expected", [(True, torch.bfloat16), (False, None)])
def test_vector_instructions_alone_are_not_enough(monkeypatch, tiles, expected):
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: True, raising=False)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: tiles, raising=False)
    assert half_precision(torch.device("cpu")) == expected


def test_no_half_precision_on_another_device():
    assert half_precision(torch.device("meta")) is None


@pytest.mark.parametrize("mixed_precision", [True, False])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, None])
def test_gradients_are_scaled_for_float16_only(monkeypatch, mixed_precision, dtype):
    devices = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)  # a GPU that is not used
    monkeypatch.setattr(module, "half_precision", lambda device: devices.append(device.type) or dtype)
    assert gradient_scaler(mixed_precision)._enabled == (mixed_precision and dtype == torch.float16)
    assert not gradient_scaler(mixed_precision, {"enabled": False})._enabled
    assert set(devices) <= {"cpu"}
