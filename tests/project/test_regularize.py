"""Terms of a CRF's loss against sums over all paths; passes; training with `--code`."""

import numpy as np
import pytest
import spacy
import torch
from regularize import RegularizedHead, create_regularizer, moved_borders, moved_tables
from small_ner import blank, examples
from small_training import make_texts, save_config, save_docs
from spacy.cli._util import import_code
from spacy.cli.init_config import fill_config
from spacy.cli.train import train
from spacy.util import fix_random_seed
from tagging import LEGAL, SCHEME, free, legal_paths, path_scores, random_outputs, tags_of
from thinc.api import set_dropout_rate
from tolerance import assert_close, slope

from spacy_lexner.tagging.heads import CRFHead
from spacy_lexner.tagging.spans.tag_scheme import TagSpan

FLAT = {
    "@architectures": "spacy-lexner.FLAT.v1",
    "width": 16,
    "heads": 2,
    "words": "none",
    "embedding": {"token_dropout": 0.0},
}
SPANS = [TagSpan(0, 2, 0), TagSpan(3, 4, 1)]
GOLD = SCHEME.gold(["B-PER", "L-PER", "O", "U-LOC"])


def marginals(outputs, doc=0):
    emissions = outputs.emissions[doc]
    paths = list(legal_paths(len(emissions)))
    scores = path_scores(emissions, outputs.transitions, paths)
    weights = np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()
    table = np.zeros((len(emissions), SCHEME.n_tags))
    for path, weight in zip(paths, weights):
        table[np.arange(len(path)), path] += weight
    return table


def loss(head, outputs, gold=(GOLD,)):
    lengths = [len(mask) for mask in gold]
    return head.loss(outputs, free(lengths), list(gold), [[] for _ in gold])


def test_nothing_is_added_by_default():
    outputs = random_outputs(0, [4])
    assert loss(RegularizedHead("sum"), outputs)[0] == pytest.approx(loss(CRFHead("sum"), outputs)[0])


def test_label_smoothing():
    outputs = random_outputs(1, [4])
    p = marginals(outputs)
    spread = sum(-np.log(row[row > 0]).mean() for row in p)  # what no legal path has is no part of the target
    expected = 0.9 * loss(CRFHead("sum"), outputs)[0] + 0.1 * spread
    assert loss(RegularizedHead("sum", label_smoothing=0.1), outputs)[0] == pytest.approx(expected)


def test_label_smoothing_leaves_out_what_is_not_annotated():
    outputs, nothing = random_outputs(2, [4]), SCHEME.gold([None] * 4)
    value, gradient = loss(RegularizedHead("sum", label_smoothing=0.1), outputs, [nothing])
    assert value == 0 and np.abs(gradient.emissions[0]).max() < 1e-6


def test_moved_borders():
    tags = tags_of(SPANS, 4)
    paths, weights = moved_borders(tags, np.ones((4, SCHEME.n_tags), dtype=bool))
    found = [SCHEME.decode(path) for path in paths]
    first, second = SPANS
    assert found == [
        [TagSpan(1, 2, 0), second],
        [TagSpan(0, 1, 0), second],
        [TagSpan(0, 3, 0), second],
        [first, TagSpan(2, 4, 1)],
    ]
    assert weights == [1 / 3, 1 / 3, 1 / 3, 1.0]
    none_of_first = free([4])[0]
    none_of_first[0, 4] = none_of_first[1, 1] = False  # a single PER cannot be at 0
    assert [TagSpan(0, 1, 0), second] not in [SCHEME.decode(path) for path in moved_borders(tags, none_of_first)[0]]


def test_an_entity_whose_borders_cannot_move_has_no_paths():
    assert moved_borders(tags_of([TagSpan(0, 1, 0)], 1), np.ones((1, SCHEME.n_tags), dtype=bool)) == ([], [])
    paths, weights = moved_borders(
        tags_of([TagSpan(0, 1, 0), TagSpan(1, 2, 1)], 3), np.ones((3, SCHEME.n_tags), dtype=bool)
    )
    assert [SCHEME.decode(path) for path in paths] == [[TagSpan(0, 1, 0), TagSpan(1, 3, 1)]] and weights == [1.0]


def test_boundary_smoothing_is_the_loss_of_a_mixture_of_paths():
    outputs = random_outputs(3, [4])
    tags = tags_of(SPANS, 4)
    moved, weights = moved_borders(tags, free([4])[0])
    score, *others = path_scores(outputs.emissions[0], outputs.transitions, [tags, *moved])
    expected = loss(CRFHead("sum"), outputs)[0] + 0.1 * np.dot(weights, score - np.array(others))
    assert loss(RegularizedHead("sum", boundary_smoothing=0.1), outputs)[0] == pytest.approx(expected)


@pytest.mark.parametrize("biluo", [["B-PER", "L-PER", None, "O"], ["B-PER", None, "O", "O"], ["O"] * 4])
def test_boundary_smoothing_leaves_out_partly_annotated_texts_and_those_without_entities(biluo):
    outputs, part = random_outputs(4, [4]), SCHEME.gold(biluo)
    plain = loss(CRFHead("sum"), outputs, [part])[0]
    assert loss(RegularizedHead("sum", boundary_smoothing=0.1), outputs, [part])[0] == pytest.approx(plain)


def test_consistency_of_two_passes():
    outputs = random_outputs(5, [4, 4])
    p, q = marginals(outputs), marginals(outputs, 1)
    both = (p > 0) & (q > 0)
    expected = loss(CRFHead("sum"), outputs, [GOLD, GOLD])[0]
    expected += 0.5 * 0.5 * ((p - q)[both] * np.log(p[both] / q[both])).sum()
    assert loss(RegularizedHead("sum", consistency=0.5), outputs)[0] == pytest.approx(expected)


def test_boundary_smoothing_of_a_batch():
    outputs, empty, none = random_outputs(7, [4, 0, 4]), SCHEME.gold([]), SCHEME.gold(["O"] * 4)
    smoothed, plain = RegularizedHead("sum", boundary_smoothing=0.1), CRFHead("sum")
    whole = loss(smoothed, outputs, [GOLD, empty, none])[0]
    assert whole == pytest.approx(loss(smoothed, outputs.take([0]))[0] + loss(plain, outputs.take([2]), [none])[0])


@pytest.mark.parametrize("settings", [{"label_smoothing": 0.2}, {"boundary_smoothing": 0.2}, {"consistency": 0.5}])
def test_gradient(settings):
    outputs, head = random_outputs(6, [4] * (2 if "consistency" in settings else 1)), RegularizedHead("sum", **settings)
    _, gradient = loss(head, outputs)
    for array, own in zip([*outputs.emissions, outputs.transitions], [*gradient.emissions, gradient.transitions]):
        for i in list(np.ndindex(array.shape))[::3]:
            kept = array[i]

            def at(step, array=array, i=i, kept=kept):
                array[i] = kept + step
                return loss(head, outputs)[0]

            assert own[i] == slope(at, 1e-2, n_terms=1)
            array[i] = kept
    assert not gradient.transitions[~LEGAL].any()


def regularized(**settings):
    fix_random_seed(0)
    nlp = blank(tok2vec=FLAT)
    nlp.initialize(lambda: examples(nlp))
    return create_regularizer(**settings)(nlp)


def test_texts_are_read_twice_in_training_alone():
    nlp = regularized(consistency=1.0)
    ner, docs = nlp.get_pipe("lex_ner"), [example.predicted for example in examples(nlp)]
    outputs, _ = ner.model.begin_update(docs)
    assert len(outputs.emissions) == 2 * len(docs) == 2 * len(ner.model.predict(docs).emissions)
    assert nlp.update(examples(nlp), sgd=nlp.create_optimizer())["lex_ner"] > 0


def gradients(nlp):
    set_dropout_rate(nlp.get_pipe("lex_ner").model, 0.0)
    model = nlp.get_pipe("lex_ner").model
    [module] = [shim.module for node in model.walk() for shim in node.shims]
    for part in module.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.0
    nlp.get_pipe("lex_ner").update(examples(nlp))  # without an optimizer, so that gradients stay
    named = module.named_parameters()
    return {name: one.grad.to_dense().clone() for name, one in named if one.grad is not None}


def test_adversarial_pass_adds_gradients_and_leaves_tables_alone():
    plain, moved = regularized(), regularized(distance=1e-6)
    before = moved.get_pipe("lex_ner").model.to_bytes()
    once, both = gradients(plain), gradients(moved)
    assert moved.get_pipe("lex_ner").model.to_bytes() == before
    largest = max(gradient.abs().max() for gradient in once.values())
    for name, gradient in once.items():  # the second pass is next to the first, so it adds as much
        assert (both[name] - 2 * gradient).abs().max() < 1e-3 * largest, name


def test_tables_move_along_their_gradients():
    nlp = regularized()
    gradient = gradients(nlp)["embedding.characters.weight"]
    model = nlp.get_pipe("lex_ner").model
    [table] = [
        parameter
        for node in model.walk()
        for shim in node.shims
        for name, parameter in shim.module.named_parameters()
        if name == "embedding.characters.weight"
    ]
    before = table.detach().clone()
    with moved_tables(model, 0.5):
        step = table.detach() - before
    assert_close(step, 0.5 * gradient / gradient.norm(), n_terms=4, scale=before)
    assert (table == before).all()


def test_a_softmax_has_no_paths():
    nlp = blank("SoftmaxTagger")
    nlp.initialize(lambda: examples(nlp))
    with pytest.raises(ValueError, match=r"expected that of spacy-lexner\.CRFTagger\.v1"):
        create_regularizer()(nlp)


def test_pipelines_load_without_the_file(tmp_path, project_dir):
    fill_config(tmp_path / "full.cfg", save_config(tmp_path / "small.cfg", training__max_steps=4), silent=True)
    paths = {f"paths.{name}": str(save_docs(tmp_path / f"{name}.spacy", make_texts(30))) for name in ("train", "dev")}
    import_code(project_dir / "scripts" / "regularize.py")  # as `--code` does
    callback = {"@callbacks": "study.regularize.v1", "boundary_smoothing": 0.1, "consistency": 1.0}
    train(tmp_path / "full.cfg", tmp_path / "out", overrides={**paths, "initialize.after_init": callback})
    nlp = spacy.load(tmp_path / "out" / "model-last")
    assert type(nlp.get_pipe("lex_ner").head) is CRFHead and nlp("王伟去东山市了")
