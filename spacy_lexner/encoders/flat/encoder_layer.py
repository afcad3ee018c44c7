"""A layer of FLAT's encoder: attention and feed-forward, each with what happens before and after it."""

from typing import Callable, List, Optional

from torch import Tensor, nn

from .attention import LatticeAttention
from .relative_positions import RelativePositions

STEPS = "and"  # add, normalise, drop
ACTIVATIONS = {"relu": nn.ReLU, "leaky": nn.LeakyReLU, "gelu": nn.GELU}


class FeedForward(nn.Module):
    """W_2 activation(dropout(W_1 x + b_1)) + b_2, and dropout: the first dropout stands before the activation."""

    def __init__(self, width: int, inner_width: int, activation: str, dropout: float, output_dropout: float) -> None:
        super().__init__()
        if activation not in ACTIVATIONS:
            raise ValueError(f"Unknown activation {activation!r}. Known are: {', '.join(ACTIVATIONS)}.")
        self.inner = nn.Linear(width, inner_width)
        self.outer = nn.Linear(inner_width, width)
        self.activation = ACTIVATIONS[activation]()
        self.dropout = nn.Dropout(dropout)
        self.output_dropout = nn.Dropout(output_dropout)
        for linear in (self.inner, self.outer):
            nn.init.xavier_uniform_(linear.weight)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.output_dropout(self.outer(self.activation(self.dropout(self.inner(tokens)))))


class Steps(nn.Module):
    """What is done before or after a sub-layer: a sequence of `a` (add), `n` (normalise) and `d` (dropout).

    `a` adds what the sub-layer got. Where there is nothing of the kind, because the model is made without residual
    connections, it adds the input of the sequence to itself, as the original code does.
    """

    def __init__(self, sequence: str, width: int, dropout: float) -> None:
        super().__init__()
        unknown = set(sequence) - set(STEPS)
        if unknown:
            raise ValueError(
                f"Unknown steps {sorted(unknown)} in {sequence!r}. Known are a (add), n (normalise), d (drop)."
            )
        self.sequence = sequence
        self.norm = nn.LayerNorm(width) if "n" in sequence else nn.Identity()
        self.dropout = nn.Dropout(dropout if "d" in sequence else 0.0)

    def forward(self, tokens: Tensor, residual: Optional[Tensor] = None) -> Tensor:
        added = tokens if residual is None else residual
        for step in self.sequence:
            if step == "a":
                tokens = tokens + added
            else:
                tokens = self.norm(tokens) if step == "n" else self.dropout(tokens)
        return tokens


class FlatLayer(nn.Module):
    """Attention and feed-forward with their steps."""

    def __init__(
        self,
        width: int,
        attention: LatticeAttention,
        feed_forward: FeedForward,
        *,
        pre: str = "",
        post: str = "an",
        pre_dropout: float = 0.5,
        post_dropout: float = 0.3,
        residual: bool = True,
        shared_norm: bool = False,
    ) -> None:
        """Create the layer.

        width (int): H, width of the vectors.
        attention (LatticeAttention): The first sub-layer.
        feed_forward (FeedForward): The second.
        pre (str): Steps before each sub-layer, of `n` and `d` (without residual connections also `a`).
        post (str): Steps after each sub-layer.
        pre_dropout (float): Dropout of a `d` in `pre`.
        post_dropout (float): Dropout of a `d` in `post`.
        residual (bool): An `a` adds the input of the sub-layer to its output. False is what the original code does:
            there, the output is added to itself, and the layer has no residual connections.
        shared_norm (bool): One layer normalisation for both sub-layers, as in the original code.
        """
        super().__init__()
        if residual and "a" in pre:
            raise ValueError(f"Nothing can be added before a sub-layer: take the a out of pre={pre!r}.")
        self.attention = attention
        self.feed_forward = feed_forward
        self.residual = residual
        self.pre_attention = Steps(pre, width, pre_dropout)
        self.post_attention = Steps(post, width, post_dropout)
        self.pre_feed_forward = self.pre_attention if shared_norm else Steps(pre, width, pre_dropout)
        self.post_feed_forward = self.post_attention if shared_norm else Steps(post, width, post_dropout)

    def forward(
        self,
        tokens: Tensor,
        mask: Tensor,
        positions: RelativePositions,
        bias: Optional[Tensor] = None,
        record: Optional[List[Tensor]] = None,
    ) -> Tensor:
        """Run the layer. For the arguments and the result see `LatticeAttention`."""

        def attend(x: Tensor) -> Tensor:
            return self.attention(x, mask, positions, bias, record)

        tokens = self._sub_layer(self.pre_attention, attend, self.post_attention, tokens)
        return self._sub_layer(self.pre_feed_forward, self.feed_forward, self.post_feed_forward, tokens)

    def _sub_layer(self, pre: Steps, compute: Callable[[Tensor], Tensor], post: Steps, tokens: Tensor) -> Tensor:
        return post(compute(pre(tokens)), tokens if self.residual else None)
