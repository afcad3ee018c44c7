"""The layer that fuses ERNIE's text and entity streams."""

from typing import Any, Tuple

from torch import Tensor, nn
from transformers import BertConfig
from transformers.models.bert.modeling_bert import BertAttention


class EntityFusion(nn.Module):
    """The entity half of one fusion layer; the text half is the BERT layer at the same height.

    With `a` the text stream after the BERT layer's own attention, `e` the entity stream (after its own attention, if it
    has one) and zero where no entity is aligned:

        z = act(W_t a + b_t + W_e e + b_e)
        text = LayerNorm(W z + b + a),  entity = LayerNorm_e(W' z + b' + e)

    `W_t`, `W`, `act` and the text's LayerNorm are those of the BERT layer's feed-forward part, so that every
    BERT-shaped checkpoint already holds them. Zhang et al. 2019, section 3.3; residual connections and layer norms as
    in the authors' code, where a position without an entity also keeps the bias `b_e`.

    `config` is that of the text side. `entity_heads` must divide `entity_width`, D, else ValueError. With
    `self_attention` the entities attend to each other before they are fused ("norm" layers, not "mix").
    """

    def __init__(self, config: BertConfig, entity_width: int, entity_heads: int, *, self_attention: bool) -> None:
        super().__init__()
        if entity_heads < 1 or entity_width % entity_heads:
            raise ValueError(
                f"{entity_heads} entity heads cannot share entity vectors of width {entity_width}: "
                f"choose entity_heads of at least 1 that divide the width."
            )
        self.attention = (
            BertAttention(_attention_config(config, entity_width, entity_heads)) if self_attention else None
        )
        self.dense_in = nn.Linear(entity_width, config.intermediate_size)
        self.dense_out = nn.Linear(config.intermediate_size, entity_width)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.norm = nn.LayerNorm(entity_width, eps=config.layer_norm_eps)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, std=config.initializer_range)
                nn.init.zeros_(module.bias)

    def forward(
        self,
        layer: Any,  # the BERT layer of the text side (`attention`, `intermediate`, `output`)
        text: Tensor,  # float [B, L, H]
        entity: Tensor,  # float [B, L, D], anything where the mask is False
        text_bias: Tensor,  # float [B, 1, 1, L], added to the text's attention scores: very negative at padding
        entity_bias: Tensor,  # likewise for the entities: very negative where none is aligned
        entity_mask: Tensor,  # bool [B, L], where an entity is aligned
    ) -> Tuple[Tensor, Tensor]:
        """Both streams after the layer. The entity stream is not zero where the mask is False: the next layer masks it
        again."""
        aligned = entity_mask.unsqueeze(-1).to(entity.dtype)
        if self.attention is not None:
            entity = self.attention(entity, entity_bias)[0]
        entity = entity * aligned
        attended = layer.attention(text, text_bias)[0]
        feed_forward = layer.intermediate
        mixed = feed_forward.intermediate_act_fn(feed_forward.dense(attended) + self.dense_in(entity))
        return layer.output(mixed, attended), self.norm(self.dropout(self.dense_out(mixed)) + entity)


def _attention_config(config: BertConfig, entity_width: int, entity_heads: int) -> BertConfig:
    return BertConfig(
        hidden_size=entity_width,
        num_attention_heads=entity_heads,
        hidden_dropout_prob=config.hidden_dropout_prob,
        attention_probs_dropout_prob=config.attention_probs_dropout_prob,
        layer_norm_eps=config.layer_norm_eps,
        attn_implementation="sdpa",
    )
