"""The shim of a module around a BERT-shaped encoder: how it is trained is not part of its weights."""

from typing import Any, Dict

from .shim import ModuleShim

# By block of the settings: what the weights mean, and the option that says so.
OPTIONS = {
    "encoder": {
        "num_hidden_layers": "depth",
        "num_attention_heads": "heads",
        "intermediate_size": "intermediate_width",
    },
    "lebert": {"adapter_layers": "adapter_layers", "empty": "empty"},
    "ernie": {"layer_types": "layer_types", "entity_heads": "entity_heads"},
}
TRAINING = ("hidden_dropout_prob", "attention_probs_dropout_prob", "dropout", "gradient_checkpointing")


class BertShim(ModuleShim):
    """Holds a module whose settings describe an "encoder". Weights that replace those of an initialised module
    (`initialize.init_tok2vec`, `spacy pretrain --resume-path`) leave its dropouts and gradient checkpointing as they
    are: pretraining has others than training."""

    def adapt(self, saved: Dict[str, Any]) -> Dict[str, Any]:
        """Raises ValueError if weights of another encoder than the config's would replace those of an initialised
        module."""
        return saved if self.settings is None else _adapt(saved, self.settings)


def _adapt(saved: Dict[str, Any], own: Dict[str, Any]) -> Dict[str, Any]:
    """Saved settings, with those of training from one's own."""
    blocks = {key: block for key, block in saved.items() if isinstance(block, dict) and key in own}
    for key, options in OPTIONS.items():
        for name, option in options.items():
            given, expected = (settings.get(key, {}).get(name) for settings in (blocks, own))
            if given != expected:
                raise ValueError(
                    f"The saved encoder has {option} = {given}, but the config describes one with {expected}: set "
                    f"{option} (or `checkpoint`) to what the weights were trained with."
                )
    kept = {key: {name: own[key][name] for name in TRAINING if name in own[key]} for key in blocks}
    return {**saved, **{key: {**block, **kept[key]} for key, block in blocks.items()}}
