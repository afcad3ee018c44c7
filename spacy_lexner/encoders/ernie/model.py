"""ERNIE (Zhang et al. 2019): a BERT with entity vectors fused into its upper layers."""

import math
from collections import deque
from typing import Any, Dict, Iterator, NamedTuple, Optional, Sequence, Tuple

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from ..shared.bert_shaped import build_encoder
from ..shared.wordpieces import check_pieces
from .fusion import EntityFusion

LAYER_TYPES = ("sim", "mix", "norm")
DEFAULT_ENTITY_WIDTH = 100
DEFAULT_ENTITY_HEADS = 4


class ErnieStreams(NamedTuple):
    text: Tensor  # float [B, L, H]
    entity: Tensor  # float [B, L, D]


class FusedBert(nn.Module):
    """A stack of BERT layers, some of them fused with entities. The type of each layer is one of

    - "sim": the BERT layer alone; the entity stream passes unchanged,
    - "mix": fusion, without self-attention of the entities before it,
    - "norm": fusion after self-attention in both streams.

    The released base model has 5 sim, 1 mix and 6 norm layers. The text side keeps transformers' names under `text`, so
    that any BERT-shaped checkpoint fits there; the entity side is under `fusion`.

    text (nn.Module): transformers' BertModel, or a model of the same shape.
    layer_types (Sequence[str]): From the lowest layer up; missing ones are "sim", as in the original.
    entity_width (int): Width D of the entity vectors (100 in the original).
    entity_heads (int): Heads of the entity self-attention (4 in the original).
    """

    def __init__(
        self,
        text: Any,
        layer_types: Sequence[str],
        *,
        entity_width: int = DEFAULT_ENTITY_WIDTH,
        entity_heads: int = DEFAULT_ENTITY_HEADS,
    ) -> None:
        super().__init__()
        layers = _layers_of(text)
        self.text: Any = text
        self.layer_types = complete_layer_types(layer_types, len(layers))
        self.entity_width, self.entity_heads = entity_width, entity_heads
        self.gradient_checkpointing = False
        self.fusion = nn.ModuleDict(
            {
                str(i): EntityFusion(text.config, entity_width, entity_heads, self_attention=layer_type == "norm")
                for i, layer_type in enumerate(self.layer_types)
                if layer_type != "sim"
            }
        )

    def forward(self, *args: Tensor, **kwargs: Tensor) -> ErnieStreams:
        """RETURNS (ErnieStreams): Both streams after the last layer; arguments as in `layer_outputs`."""
        return deque(self.layer_outputs(*args, **kwargs), maxlen=1).pop()

    def layer_outputs(
        self,
        input_ids: Tensor,  # int64 [B, L], wordpieces
        attention_mask: Tensor,  # bool [B, L], False at padding
        token_type_ids: Tensor,  # int64 [B, L], segments
        entities: Tensor,  # float [B, L, D], the entity's vector on the first wordpiece of its mention
        entity_mask: Tensor,  # bool [B, L], where an entity is aligned
    ) -> Iterator[ErnieStreams]:
        """Encode a padded batch of wordpieces with the entities aligned to them, and yield both streams after each
        layer, from the lowest up. The first position ([CLS]) always counts as aligned, as in the original: without it a
        text with no entity would have nothing to attend to. Raises ValueError for vectors of another width."""
        if entities.shape[-1] != self.entity_width:
            raise ValueError(
                f"The entity vectors have width {entities.shape[-1]}, but this encoder has "
                f"entity_width={self.entity_width}: use vectors of that width, or change the setting and train again."
            )
        aligned = entity_mask.bool().clone()
        aligned[:, 0] = True
        text = self.text.embeddings(input_ids=input_ids, token_type_ids=token_type_ids)
        entity = entities.to(text.dtype) * entity_mask.unsqueeze(-1).to(text.dtype)
        biases = _score_bias(attention_mask, text.dtype), _score_bias(aligned, text.dtype)
        for i in range(len(self.layer_types)):
            if self.gradient_checkpointing and self.training:
                text, entity = checkpoint(self._run_layer, i, text, entity, *biases, aligned, use_reentrant=False)
            else:
                text, entity = self._run_layer(i, text, entity, *biases, aligned)
            yield ErnieStreams(text, entity)

    def _run_layer(self, index: int, text: Tensor, entity: Tensor, *masks: Tensor) -> Tuple[Tensor, Tensor]:
        layer = self.text.encoder.layer[index]
        if self.layer_types[index] == "sim":
            output = layer(text, masks[0])
            return output if isinstance(output, Tensor) else output[0], entity  # transformers 5; before: a tuple
        return self.fusion[str(index)](layer, text, entity, *masks)


class ERNIEBatch(NamedTuple):
    """A padded batch of B sequences of up to L wordpieces."""

    input_ids: Tensor  # int64 [B, L]
    attention_mask: Tensor  # bool [B, L], False at padding
    kept: Tensor  # int64 [N], which of the B * L vectors are returned
    entities: Tensor  # int64 [B, L], the entity aligned to each wordpiece: 0 for none, u for the u-th
    vectors: Tensor  # float [1 + U, D], of the U distinct entities, after a row of zeros
    tuned: Tensor  # int64 [1 + U], their rows in the fine-tuned table, -1 if not in it
    segments: Optional[Tensor] = None  # int64 [B, L], 1 in the second text of a pair; None is all 0


class ERNIE(nn.Module):
    """FusedBert for batches of windows, and a table of `n_tuned` fine-tuned entities; the others stay as given.
    Gradient checkpointing recomputes each layer in the backward pass instead of keeping its activations."""

    def __init__(
        self,
        text: nn.Module,
        layer_types: Sequence[str],
        *,
        entity_width: int,
        entity_heads: int,
        n_tuned: int = 0,
        gradient_checkpointing: bool = False,
    ) -> None:
        super().__init__()
        self.encoder = FusedBert(text, layer_types, entity_width=entity_width, entity_heads=entity_heads)
        self.encoder.gradient_checkpointing = gradient_checkpointing
        bound = math.sqrt(3.0 / entity_width)
        self.tuned = nn.Parameter(torch.empty(n_tuned, entity_width).uniform_(-bound, bound))
        self.tuned_hashes: Tensor
        self.register_buffer("tuned_hashes", torch.zeros(n_tuned, dtype=torch.int64))

    @property
    def text_model(self) -> Any:
        """The text side."""
        return self.encoder.text

    def forward(self, batches: Sequence[ERNIEBatch]) -> Tensor:
        """RETURNS (Tensor): The kept vectors of all batches, in order, float [N, H]. Each batch has its own length."""
        return torch.cat([self._encode(batch).flatten(0, 1)[batch.kept] for batch in batches])

    def entity_vectors(self, vectors: Tensor, tuned: Tensor) -> Tensor:
        """Replace given vectors, float [1 + U, D], with fine-tuned ones: `tuned`, int64 [1 + U], holds rows of their
        table, or -1 for none."""
        if not len(self.tuned):
            return vectors
        return torch.where((tuned >= 0).unsqueeze(-1), self.tuned[tuned.clamp(min=0)], vectors)

    def _encode(self, batch: ERNIEBatch) -> Tensor:
        vectors = self.entity_vectors(batch.vectors, batch.tuned)
        segments = torch.zeros_like(batch.input_ids) if batch.segments is None else batch.segments
        streams = self.encoder(
            batch.input_ids, batch.attention_mask, segments, vectors[batch.entities], batch.entities > 0
        )
        return streams.text


def build_ernie(settings: Dict[str, Any]) -> ERNIE:
    """Build a module with random weights from plain JSON: "encoder" is the result of `config_settings`, "ernie" the
    other arguments of ERNIE. Raises ValueError if the wordpieces do not fit the encoder."""
    check_pieces(settings)
    return ERNIE(build_encoder(settings["encoder"]), **settings["ernie"])


def complete_layer_types(layer_types: Sequence[str], n_layers: int) -> Tuple[str, ...]:
    """RETURNS (Tuple[str, ...]): One type per layer of the text model, "sim" for missing ones. Raises ValueError for
    unknown or too many types."""
    for i, layer_type in enumerate(layer_types):
        if layer_type not in LAYER_TYPES:
            raise ValueError(f"layer_types[{i}] is {layer_type!r}; expected one of {', '.join(LAYER_TYPES)}.")
    if len(layer_types) > n_layers:
        raise ValueError(
            f"{len(layer_types)} layer types were given for a text model of {n_layers} layers: shorten layer_types."
        )
    return (*layer_types, *["sim"] * (n_layers - len(layer_types)))


def _layers_of(text: Any) -> Sequence[nn.Module]:
    layers = getattr(getattr(text, "encoder", None), "layer", ())
    parts = ("attention", "intermediate", "output")
    if not layers or not hasattr(text, "embeddings") or not all(hasattr(layers[0], part) for part in parts):
        raise ValueError(
            f"{type(text).__name__} is not a BERT-shaped model: ERNIE needs `embeddings` and `encoder.layer`, "
            f"each layer with {', '.join(parts)}, as in BERT, RoBERTa, ELECTRA and the like."
        )
    return layers


def _score_bias(mask: Tensor, dtype: torch.dtype) -> Tensor:
    bias = torch.zeros(mask.shape, dtype=dtype, device=mask.device)
    return bias.masked_fill_(~mask.bool(), torch.finfo(dtype).min)[:, None, None, :]
