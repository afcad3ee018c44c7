"""The shim of a module around a BERT-shaped encoder: how it is trained is not part of its weights."""

from typing import Any, Dict

from .shim import ModuleShim

SIZES = {"num_hidden_layers": "depth", "num_attention_heads": "heads", "intermediate_size": "intermediate_width"}
TRAINING = ("hidden_dropout_prob", "attention_probs_dropout_prob", "dropout", "gradient_checkpointing")


class BertShim(ModuleShim):
    """Holds a module whose settings describe an "encoder". Weights that replace those of an initialised module
    (`initialize.init_tok2vec`, `spacy pretrain --resume-path`) leave its dropouts and gradient checkpointing as they
    are: pretraining has others than training."""

    def adapt(self, saved: Dict[str, Any]) -> Dict[str, Any]:
        """Raises ValueError if weights of an encoder of other sizes would replace those of an initialised module."""
        return saved if self.settings is None else _adapt(saved, self.settings)


def _adapt(saved: Dict[str, Any], own: Dict[str, Any]) -> Dict[str, Any]:
    """Saved settings, with those of training from one's own."""
    blocks = {key: block for key, block in saved.items() if isinstance(block, dict) and key in own}
    for name, option in SIZES.items():
        given, expected = (settings.get("encoder", {}).get(name) for settings in (blocks, own))
        if given != expected:
            raise ValueError(
                f"The saved encoder has {option} = {given}, but the config describes one with {expected}: set {option} "
                "(or `checkpoint`) to what the weights were trained with."
            )
    kept = {key: {name: own[key][name] for name in TRAINING if name in own[key]} for key in blocks}
    return {**saved, **{key: {**block, **kept[key]} for key, block in blocks.items()}}
