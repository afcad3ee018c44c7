"""Time of the CRF head beside pytorch-crf: loss and gradient, decoding, and the probability of each predicted entity.

    python benchmarks/crf.py

Batches of 32 sentences of 20 to 90 tokens, labels as in MSRA (3), Weibo (8) and CLUENER (10); and one text of 20,000
tokens. pytorch-crf computes in float32, over padded batches, and supports neither BIOES constraints nor missing
annotation; its loss and paths are checked against the head's without constraints. Medians of several rounds in which
the two alternate; one thread.
"""

import argparse
import json
import time
from statistics import median
from typing import Callable, Dict, List, Sequence

import numpy as np
import torch
from torchcrf import CRF

from spacy_lexner.tagging import crf
from spacy_lexner.tagging.heads import CRFHead
from spacy_lexner.tagging.spans.head import TaggerOutput
from spacy_lexner.tagging.spans.tag_scheme import TagScheme

BATCHES = {"msra": (3, 32), "weibo": (8, 32), "cluener": (10, 32), "long": (8, 1)}


class Case:
    """A batch of random scores and tags for both implementations."""

    def __init__(self, n_labels: int, lengths: Sequence[int]) -> None:
        rng = np.random.default_rng(0)
        self.lengths = list(lengths)
        self.scheme = TagScheme([str(i) for i in range(n_labels)])
        n_tags = self.scheme.n_tags
        self.emissions = [3 * rng.standard_normal((n, n_tags), dtype="float32") for n in lengths]
        self.transitions = rng.standard_normal((n_tags + 1, n_tags + 1), dtype="float32")
        self.outputs = TaggerOutput(self.emissions, self.transitions)
        self.allowed = [np.ones((n, n_tags), dtype=bool) for n in lengths]
        self.head = CRFHead()
        noise = [rng.standard_normal(e.shape, dtype="float32") for e in self.emissions]
        self.tags = self.head.search(TaggerOutput(noise, self.transitions), self.allowed).best()
        self.gold = [np.eye(n_tags, dtype=bool)[tags] for tags in self.tags]
        self.peer = CRF(n_tags, batch_first=True)
        self.peer.transitions.data = torch.from_numpy(self.transitions[:-1, :-1])
        self.peer.start_transitions.data = torch.from_numpy(self.transitions[-1, :-1])
        self.peer.end_transitions.data = torch.from_numpy(self.transitions[:-1, -1])

    def loss(self) -> None:
        self.head.loss(self.outputs, self.allowed, self.gold, [[] for _ in self.lengths])

    def decode(self) -> List[np.ndarray]:
        return self.head.search(self.outputs, self.allowed).best()

    def score(self) -> None:
        self.head.search(self.outputs, self.allowed).span_scores([self.scheme.decode(path) for path in self.decode()])

    def padded(self) -> Dict[str, torch.Tensor]:
        pad = torch.nn.utils.rnn.pad_sequence
        emissions = pad([torch.from_numpy(e) for e in self.emissions], batch_first=True)
        mask = torch.arange(max(self.lengths)) < torch.tensor(self.lengths)[:, None]
        return {"emissions": emissions, "mask": mask}

    def peer_loss(self) -> torch.Tensor:
        batch = self.padded()
        tags = torch.nn.utils.rnn.pad_sequence([torch.from_numpy(t) for t in self.tags], batch_first=True)
        loss = -self.peer(batch["emissions"].requires_grad_(), tags, mask=batch["mask"], reduction="mean")
        loss.backward()
        return loss.detach()

    def peer_decode(self) -> List[List[int]]:
        return self.peer.decode(**self.padded())

    def check(self) -> None:
        """Check that the results without constraints equal the peer's."""
        emissions = torch.from_numpy(np.concatenate(self.emissions))
        transitions = torch.from_numpy(self.transitions)
        anything, legal = torch.ones_like(emissions, dtype=torch.bool), torch.ones_like(transitions, dtype=torch.bool)
        right = torch.from_numpy(np.concatenate(self.gold))
        free = crf.Trellis(emissions, transitions, anything, legal, self.lengths)
        loss = crf.log_partition(free) - crf.log_partition(free._replace(allowed=right))
        torch.testing.assert_close(loss.mean(), self.peer_loss(), rtol=1e-4, atol=1e-3)
        path = crf.viterbi(free).tags
        assert path.tolist() == [tag for tags in self.peer_decode() for tag in tags]


def in_turn(repeats: int, **functions: Callable[[], object]) -> Dict[str, float]:
    """RETURNS (Dict[str, float]): The median time of each function, in milliseconds."""
    times: Dict[str, List[float]] = {name: [] for name in functions}
    for _ in range(repeats + 1):
        for name, function in functions.items():
            start = time.perf_counter()
            function()
            times[name].append(1000 * (time.perf_counter() - start))
    return {name: median(measured[1:]) for name, measured in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=9)
    repeats = parser.parse_args().repeats
    torch.set_num_threads(1)
    results = {}
    print(f"{'batch':10}{'tags':>5}{'tokens':>8}   milliseconds (pytorch-crf)")
    print(f"{'':26}{'loss + gradient':>22}{'decode':>20}{'decode + score':>18}")
    for name, (n_labels, n) in BATCHES.items():
        lengths = np.random.default_rng(1).integers(20, 91, size=n).tolist() if name != "long" else [20_000]
        case = Case(n_labels, lengths)
        if name != "long":  # in float32 the sums of the long text differ
            case.check()
        ms = in_turn(
            repeats if name != "long" else 1,
            loss=case.loss,
            peer_loss=case.peer_loss,
            decode=case.decode,
            peer_decode=case.peer_decode,
            score=case.score,
        )
        pairs = [f"{ms[key]:9.1f} ({ms['peer_' + key]:.1f})" for key in ("loss", "decode")]
        print(f"{name:10}{case.scheme.n_tags:5}{sum(lengths):8}   {pairs[0]:>22}{pairs[1]:>20}{ms['score']:18.1f}")
        results[f"loss_x_{name}"] = round(ms["peer_loss"] / ms["loss"], 2)
        results[f"decode_x_{name}"] = round(ms["peer_decode"] / ms["decode"], 2)
    print(json.dumps(results))


if __name__ == "__main__":
    main()
