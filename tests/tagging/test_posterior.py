import pytest
import torch
from chains import TRELLISES, random_trellis
from hypothesis import assume, given, settings
from tagging import SCHEME, free, legal_paths, path_scores, random_outputs
from tolerance import assert_close, slope

from spacy_lexner.tagging import crf
from spacy_lexner.tagging.posterior import forward_backward, span_log_p
from spacy_lexner.tagging.spans.states import tag_states
from spacy_lexner.tagging.tag_search import make_trellis


def batch(seed, lengths):
    outputs = random_outputs(seed, lengths)
    emissions = torch.cat([torch.from_numpy(rows) for rows in outputs.emissions])
    return outputs, make_trellis(
        emissions, torch.from_numpy(outputs.transitions), tag_states(SCHEME.n_tags), free(lengths)
    )


@settings(max_examples=80, deadline=None)
@given(TRELLISES)
def test_the_same_numbers_as_without_a_gradient(trellis):
    log_z, upto, known = crf.posterior(trellis)
    assume(bool(torch.isfinite(log_z).all()))
    found = forward_backward(trellis)
    n_terms = max(trellis.lengths) * trellis.emissions.shape[1] + 2
    scale = [trellis.emissions.abs().sum(), 1.0]
    assert_close(found.log_p.exp(), known.unary, n_terms, "float64", scale)
    assert_close(found.log_z, log_z.repeat_interleave(torch.tensor(trellis.lengths)), n_terms, "float64", scale)
    possible = torch.isfinite(upto)
    assert_close(found.upto[possible], upto[possible], n_terms, "float64", scale)


def test_gradient():
    trellis = random_trellis(3, [3, 0, 5, 1], 4, share=0.8)
    assert torch.isfinite(crf.log_partition(trellis)).all()
    generator = torch.Generator().manual_seed(0)
    weights = torch.rand(trellis.emissions.shape, generator=generator, dtype=torch.float64)

    def value(emissions, transitions):
        found = forward_backward(trellis._replace(emissions=emissions, transitions=transitions))
        return (found.log_p.exp() * weights).sum()

    scores = [trellis.emissions.clone().requires_grad_(), trellis.transitions.clone().requires_grad_()]
    gradients = torch.autograd.grad(value(*scores), scores)
    for number, gradient in enumerate(gradients):
        direction = torch.rand(gradient.shape, generator=generator, dtype=torch.float64)

        def along(step, number=number, direction=direction):
            moved = [part.detach() + (step * direction if i == number else 0) for i, part in enumerate(scores)]
            return value(*moved).item()

        assert (gradient * direction).sum().item() == slope(along, 1e-3, n_terms=trellis.emissions.numel())


def test_spans_with_any_label_against_all_paths():
    lengths = [4, 0, 1, 3]
    outputs, trellis = batch(5, lengths)
    known = forward_backward(trellis)
    first = 0
    for i, n in enumerate(lengths):
        paths = list(legal_paths(n)) if n else []
        scores = torch.from_numpy(path_scores(outputs.emissions[i], outputs.transitions, paths)) if n else None
        for start in range(n):
            for end in range(start + 1, n + 1):
                spelled = [any(s[:2] == (start, end) for s in SCHEME.decode(path)) for path in paths]
                expected = scores.softmax(0)[torch.tensor(spelled)].sum()
                places = torch.tensor([first + start]), torch.tensor([first + end])
                assert span_log_p(known, *places).exp().item() == pytest.approx(expected.item(), abs=1e-12)
        first += n


def test_a_batch_without_tokens():
    found = forward_backward(random_trellis(0, [0, 0], 3))
    assert found.log_p.shape == (0, 3) and found.log_z.shape == (0,)
