import pytest
import torch

from spacy_lexner.checkpoints.state_dict import fill_module, read_state_dict


def test_reads_tensors_without_the_prefix_of_distributed_training(tmp_path):
    torch.save({"module.weight": torch.ones(2, dtype=torch.float16), "module.module.a": torch.zeros(1)}, tmp_path / "a")
    state = read_state_dict(tmp_path / "a")
    assert set(state) == {"weight", "module.a"} and state["weight"].dtype == torch.float32


@pytest.mark.parametrize("content", [[torch.ones(1)], {"a": 1}, {1: torch.ones(1)}])
def test_refuses_what_is_no_dictionary_of_tensors(tmp_path, content):
    torch.save(content, tmp_path / "a")
    with pytest.raises(ValueError, match="expected a dictionary of tensors"):
        read_state_dict(tmp_path / "a")


def test_refuses_what_is_no_file_of_weights(tmp_path):
    with pytest.raises(ValueError, match="does not exist"):
        read_state_dict(tmp_path / "a")
    torch.save({"a": torch.ones(1000)}, tmp_path / "a")
    whole = (tmp_path / "a").read_bytes()
    for part in (b"", b"text", whole[: len(whole) // 2]):
        (tmp_path / "a").write_bytes(part)
        with pytest.raises(ValueError, match="not a file of weights, or ") as caught:
            read_state_dict(tmp_path / "a")
        assert "weights_only" not in str(caught.value)


def test_refuses_a_whole_model_without_the_advice_to_run_its_code(tmp_path):
    torch.save(torch.nn.Linear(2, 1), tmp_path / "a")
    with pytest.raises(ValueError, match=r"holds more than tensors.* Save the model's state_dict") as caught:
        read_state_dict(tmp_path / "a")
    assert "weights_only" not in str(caught.value)


def test_fills_a_module_or_says_what_does_not_fit(tmp_path):
    module = torch.nn.Linear(2, 1)
    fill_module(
        module, {"weight": torch.ones(1, 2), "bias": torch.ones(1), "x.ids": torch.ones(1)}, tmp_path, derived=["ids"]
    )
    assert module.bias.item() == 1
    with pytest.raises(
        ValueError, match=r"bias is missing; other is not known; weight has shape \[2\] instead of \[1, 2\]"
    ):
        fill_module(module, {"weight": torch.ones(2), "other": torch.ones(1)}, tmp_path)
