"""LEBERT (Liu et al. 2021): a BERT-shaped encoder with lexicon adapters after some of its layers."""

import contextlib
from contextvars import ContextVar
from functools import partial
from typing import Any, ContextManager, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from ..shared.bert_shaped import build_encoder, encoder_layers
from ..shared.word_attention import WordAttention
from ..shared.wordpieces import check_pieces
from ..shared.words import Words, WordVectors, check_words

AdapterInputs = Tuple[Tensor, Tensor, Optional[List[Tensor]]]
# The words and slots of the current batch, and the list that records attention to them. Hooks read them from here,
# since layers pass on only hidden vectors; a context variable separates threads.
_BATCH_WORDS: ContextVar[AdapterInputs] = ContextVar("_BATCH_WORDS")


class LEBERTBatch(NamedTuple):
    """A padded batch of B sequences of up to L wordpieces."""

    input_ids: Tensor  # int64 [B, L]
    attention_mask: Tensor  # bool [B, L], False at padding
    kept: Tensor  # int64 [N], which of the B * L vectors are returned
    slots: Optional[Tensor] = None  # int64 [B, L, W], each wordpiece's candidate words: 0 empty, u the u-th word
    words: Optional[Words] = None  # the U distinct words
    segments: Optional[Tensor] = None  # int64 [B, L], 1 in the second text of a pair; None is all 0
    record: Optional[List[Tensor]] = None  # if given, each adapter appends its attention to words, float [B, L, W]


class LexiconAdapter(WordAttention):
    """Fuse every hidden vector with the words that cover its token (Liu et al. 2021, section 3.2, equation 7):
    LayerNorm(dropout(h + z)), with h the hidden vector and z the attended words. `options` are those of WordAttention;
    its dropout also acts on the sum, as in the authors' code."""

    def __init__(self, hidden_width: int, word_width: int, *, layer_norm_eps: float = 1e-12, **options: Any) -> None:
        super().__init__(hidden_width, word_width, **options)
        self.norm = nn.LayerNorm(hidden_width, eps=layer_norm_eps)

    def forward(self, hidden: Tensor, words: Tensor, slots: Tensor, record: Optional[List[Tensor]] = None) -> Tensor:
        """RETURNS (Tensor): The hidden vectors fused with words, float [B, L, H]; arguments as in
        `WordAttention.attend`."""
        return self.norm(self.dropout(hidden + self.attend(hidden, words, slots, record)))


class LEBERT(nn.Module):
    """A BERT-shaped encoder with lexicon adapters.

    adapter_layers (Sequence[int]): Layers, counted from 0, followed by an adapter of their own; [] is plain BERT.
    word_width (int): Width D of the word vectors.
    n_tuned (int): Number of fine-tuned words.
    n_labels (int): Number of labels of words that have a vector.
    dropout (float): Dropout of the adapters.
    empty (str): What a token without words receives, "zero" or "pad" (see WordAttention).
    gradient_checkpointing (bool): Recompute each layer in the backward pass instead of keeping its activations.
    """

    def __init__(
        self,
        encoder: PreTrainedModel,
        adapter_layers: Sequence[int],
        *,
        word_width: int,
        n_tuned: int = 0,
        n_labels: int = 0,
        dropout: float = 0.1,
        empty: str = "zero",
        gradient_checkpointing: bool = False,
    ) -> None:
        super().__init__()
        config = encoder.config
        check_adapter_layers(adapter_layers, config.num_hidden_layers)
        self.encoder = encoder
        self.words = WordVectors(word_width, n_tuned, n_labels) if adapter_layers else None
        self.adapters = nn.ModuleDict()
        for index in adapter_layers:
            adapter = LexiconAdapter(
                config.hidden_size,
                word_width,
                dropout=dropout,
                layer_norm_eps=getattr(config, "layer_norm_eps", 1e-12),
                empty=empty,
                initializer_range=getattr(config, "initializer_range", 0.02),
            )
            self.adapters[str(index)] = adapter
            encoder_layers(encoder)[index].register_forward_hook(partial(_fuse, adapter))
        if gradient_checkpointing:
            options = {"use_reentrant": False, "context_fn": _checkpoint_contexts}
            encoder.gradient_checkpointing_enable(gradient_checkpointing_kwargs=options)

    @property
    def text_model(self) -> PreTrainedModel:
        """The BERT-shaped encoder."""
        return self.encoder

    def forward(self, batches: Sequence[LEBERTBatch]) -> Tensor:
        """RETURNS (Tensor): The kept vectors of all batches, in order, float [N, H]. Each batch has its own length."""
        return torch.cat([self._encode(batch).flatten(0, 1).index_select(0, batch.kept) for batch in batches])

    def _encode(self, batch: LEBERTBatch) -> Tensor:
        words = None
        if self.words is not None:
            if batch.words is None or batch.slots is None:
                raise ValueError("This LEBERT has lexicon adapters: a batch needs `words` and `slots`.")
            words = self.words(batch.words)
        return self.encode(batch.input_ids, batch.attention_mask, words, batch.slots, batch.segments, batch.record)

    def encode(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        words: Optional[Tensor] = None,
        slots: Optional[Tensor] = None,
        segments: Optional[Tensor] = None,
        record: Optional[List[Tensor]] = None,
    ) -> Tensor:
        """RETURNS (Tensor): The vectors of all wordpieces, float [B, L, H]. `words` are the vectors of the padding word
        and of the U distinct words, float [1 + U, D]; for the other arguments see LEBERTBatch."""
        with contextlib.ExitStack() as stack:
            if words is not None and slots is not None:
                stack.enter_context(_batch_words((words, slots, record)))
            given: Dict[str, Any] = {} if segments is None else {"token_type_ids": segments}
            given["return_dict"] = True  # whatever the checkpoint's config says
            return self.encoder(input_ids, attention_mask=attention_mask.long(), **given).last_hidden_state


def build_lebert(settings: Dict[str, Any]) -> LEBERT:
    """Build a module with random weights from plain JSON: "encoder" is the result of `config_settings`, "lebert" the
    other arguments of LEBERT. Raises ValueError if the wordpieces do not fit the encoder."""
    check_pieces(settings)
    check_words(settings)
    return LEBERT(build_encoder(settings["encoder"]), **settings["lebert"])


def check_adapter_layers(adapter_layers: Sequence[int], n_layers: int) -> None:
    """Raise ValueError if layer numbers (from 0) are out of range or repeated."""
    if len(set(adapter_layers)) < len(adapter_layers) or any(index not in range(n_layers) for index in adapter_layers):
        raise ValueError(
            f"adapter_layers = {list(adapter_layers)} does not fit an encoder of {n_layers} layers: give different "
            f"numbers from 0 to {n_layers - 1} (0 is the output of the first layer), or [] for a plain encoder."
        )


def _fuse(adapter: LexiconAdapter, layer: nn.Module, inputs: Tuple[Tensor, ...], output: Any) -> Any:
    """Forward hook: fuse a layer's hidden vectors (its output, or the first part of a tuple) with words."""
    words, slots, record = _BATCH_WORDS.get()
    if isinstance(output, tuple):
        return (adapter(output[0], words, slots, record), *output[1:])
    return adapter(output, words, slots, record)


@contextlib.contextmanager
def _batch_words(value: AdapterInputs) -> Iterator[None]:
    token = _BATCH_WORDS.set(value)
    try:
        yield
    finally:
        _BATCH_WORDS.reset(token)


def _checkpoint_contexts() -> Tuple[ContextManager[None], ContextManager[None]]:
    """RETURNS (Tuple[ContextManager[None], ContextManager[None]]): Contexts for a layer's forward pass and its
    recomputation. The latter may happen in another thread, after the batch has left the encoder, so its context
    restores the batch's words."""
    value = _BATCH_WORDS.get(None)
    return contextlib.nullcontext(), contextlib.nullcontext() if value is None else _batch_words(value)
