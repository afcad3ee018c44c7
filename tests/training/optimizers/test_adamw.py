import copy
import pickle
import warnings

import numpy
import pytest
import spacy
import torch
from spacy.training import Example
from thinc.api import Linear, PyTorchWrapper, chain, registry
from tolerance import assert_all_close, assert_close, moved, near

from spacy_lexner.training.optimizers.adamw import GroupedAdamW
from spacy_lexner.training.optimizers.parameter_groups import parse_groups
from spacy_lexner.training.optimizers.schedules import warmup_linear

OPERATIONS = 10  # of a step, on a weight
GROUPS = [
    {"pattern": r"(bias|\.norm\.)", "weight_decay": 0.0},
    {"pattern": r"^encoder\.", "learn_rate_factor": 0.1},
]


class Net(torch.nn.Module):
    """An encoder with a scalar weight, and a head."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = torch.nn.ModuleDict({"dense": torch.nn.Linear(6, 5), "norm": torch.nn.LayerNorm(5)})
        self.scale = torch.nn.Parameter(torch.tensor(1.5))
        self.head = torch.nn.Linear(5, 3)

    def forward(self, x):
        return self.head(self.encoder["norm"](torch.tanh(self.encoder["dense"](x))) * self.scale)


def make_net() -> Net:
    torch.manual_seed(0)
    return Net()


def batches(n):
    generator = torch.Generator().manual_seed(1)
    return [(torch.randn(4, 6, generator=generator), torch.randn(4, 3, generator=generator)) for _ in range(n)]


def train_thinc(optimizer, n_steps, net=None):
    """Train with thinc's own torch wrapper."""
    net = net if net is not None else make_net()
    model = PyTorchWrapper(net)
    for x, y in batches(n_steps):
        output, backprop = model.begin_update(x.numpy())
        backprop((2 * (output - y.numpy()) / y.numel()).astype("f"))
        model.finish_update(optimizer)
        optimizer.step_schedules()
    return {name: parameter.detach().clone() for name, parameter in net.named_parameters()}


def train_torch(optimizer, net, n_steps, rates=None):
    for i, (x, y) in enumerate(batches(n_steps)):
        for group in optimizer.param_groups if rates is not None else []:
            group["lr"] = group["factor"] * rates[i]
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()
    return {name: parameter.detach().clone() for name, parameter in net.named_parameters()}


@pytest.mark.parametrize("weight_decay", [0.0, 0.1])
def test_same_as_torch(weight_decay):
    ours = train_thinc(GroupedAdamW(0.01, weight_decay=weight_decay, eps=1e-6), 12)
    net = make_net()
    theirs = train_torch(torch.optim.AdamW(net.parameters(), lr=0.01, weight_decay=weight_decay, eps=1e-6), net, 12)
    assert_all_close(ours, theirs, 12 * OPERATIONS)


def test_same_as_torch_with_groups_and_schedule():
    schedule = warmup_linear(0.01, 12, warmup_steps=3)
    rates = [schedule.rate * schedule.get_factor(i) for i in range(12)]
    ours = train_thinc(GroupedAdamW(schedule, groups=GROUPS, weight_decay=0.2), 12)
    net = make_net()
    split = {}
    for name, parameter in net.named_parameters():
        decay = 0.0 if "bias" in name or ".norm." in name else 0.2
        split.setdefault((0.1 if name.startswith("encoder.") else 1.0, decay), []).append(parameter)
    assert len(split) == 4
    groups = [{"params": p, "factor": factor, "weight_decay": decay} for (factor, decay), p in split.items()]
    assert_all_close(ours, train_torch(torch.optim.AdamW(groups, lr=0.01), net, 12, rates), 12 * OPERATIONS)


def test_encoder_at_1e_5_and_the_rest_at_1e_4():
    """The first step of Adam moves every weight by its learning rate: sign(gradient) * rate."""
    optimizer = GroupedAdamW(1e-4, groups=GROUPS, weight_decay=0.0, max_grad_norm=0.0, eps=1e-30)
    before = dict(make_net().named_parameters())
    after = train_thinc(optimizer, 1)
    for name, weights in after.items():
        step = (weights - before[name].detach()).abs().max().item()
        assert step == near(1e-5 if name.startswith("encoder.") else 1e-4, OPERATIONS, weights), name


def test_thinc_layers_by_their_names():
    model = chain(Linear(4, 3), Linear(2, 4))
    model.initialize()
    optimizer = GroupedAdamW(0.01, groups=[{"pattern": "^b$", "learn_rate_factor": 0.0}], weight_decay=0.0)
    for node in model.layers:
        node.set_param("b", numpy.ones_like(node.get_param("b")))
    before = copy.deepcopy(model)
    _, backprop = model.begin_update(numpy.ones((5, 3), dtype="f"))
    backprop(numpy.ones((5, 2), dtype="f"))
    model.finish_update(optimizer)
    for node, old in zip(model.layers, before.layers):
        numpy.testing.assert_array_equal(node.get_param("b"), old.get_param("b"))
        assert moved(node.get_param("W"), old.get_param("W"), OPERATIONS).all()
        assert not node.get_grad("W").any() and not node.get_grad("b").any()


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda optimizer: pickle.loads(pickle.dumps(optimizer))])
def test_copies_go_on_where_the_original_stands(clone):
    def make():
        return GroupedAdamW(warmup_linear(0.01, 9, warmup_steps=3), groups=GROUPS)

    net = make_net()
    model = PyTorchWrapper(net)
    optimizer = make()
    for i, (x, y) in enumerate(batches(6)):
        if i == 3:
            optimizer = clone(optimizer)
        output, backprop = model.begin_update(x.numpy())
        backprop((2 * (output - y.numpy()) / y.numel()).astype("f"))
        model.finish_update(optimizer)
        optimizer.step_schedules()
    expected = train_thinc(make(), 6)
    assert all(torch.equal(parameter, expected[name]) for name, parameter in net.named_parameters())


@pytest.mark.parametrize(
    "weights",
    [
        numpy.arange(12, dtype="f").reshape(3, 4).T,
        numpy.arange(24, dtype="f")[::2],
        numpy.arange(6, dtype="d"),
        numpy.ones((), dtype="f"),
        numpy.frombuffer(numpy.arange(4, dtype="f").tobytes(), dtype="f"),
        numpy.zeros((0, 3), dtype="f"),
    ],
    ids=["transposed", "strided", "float64", "scalar", "read-only", "empty"],
)
def test_any_memory_layout(weights):
    gradient = numpy.cos(numpy.arange(weights.size)).astype(weights.dtype).reshape(weights.shape)
    parameter = torch.nn.Parameter(torch.tensor(weights.copy()))
    theirs = torch.optim.AdamW([parameter], lr=0.1, weight_decay=0.1)
    ours = GroupedAdamW(0.1, weight_decay=0.1)
    for _ in range(3):
        parameter.grad = torch.tensor(gradient)
        theirs.step()
        given = gradient.copy()
        weights, given = ours((1, "W"), weights, given)
        assert not given.any()
    assert weights.shape == gradient.shape and weights.dtype == gradient.dtype
    assert_close(weights, parameter, 3 * OPERATIONS)


def test_updates_in_place():
    weights = numpy.ones((3, 2), dtype="f")
    updated, _ = GroupedAdamW()((1, "W"), weights, numpy.ones((3, 2), dtype="f"))
    assert numpy.shares_memory(updated, weights)


def test_a_nan_gradient_does_not_stay():
    gradient = numpy.array([numpy.nan, 1.0], dtype="f")
    _, gradient = GroupedAdamW()((1, "W"), numpy.ones(2, dtype="f"), gradient)
    assert not gradient.any()


def test_clipping_of_each_parameter_alone():
    optimizer = GroupedAdamW(0.1, grad_clip=1.0, beta1=0.0, beta2=0.5, eps=1.0, weight_decay=0.0)
    clipped, _ = optimizer((1, "W"), numpy.zeros(2, dtype="f"), numpy.array([30.0, 40.0], dtype="f"))
    same, _ = optimizer((2, "W"), numpy.zeros(2, dtype="f"), numpy.array([0.6, 0.8], dtype="f"))
    assert_close(clipped, same, OPERATIONS)


def test_averages():
    net = make_net()
    optimizer = GroupedAdamW(use_averages=True)
    train_thinc(optimizer, 3, net)
    assert optimizer.averages is not None
    assert {key[1] for key in optimizer.averages} == {name for name, _ in net.named_parameters()}
    assert GroupedAdamW().averages is None


def test_averages_of_other_types_are_float32():
    weights = numpy.array([[0.5, -2.0]], dtype="f8")
    optimizer = GroupedAdamW(0.1, use_averages=True)
    weights, _ = optimizer((1, "W"), weights, numpy.ones_like(weights))
    assert optimizer.averages[1, "W"].dtype == "f4"
    assert_close(optimizer.averages[1, "W"], weights * (1 - 2 / 11), OPERATIONS)


def test_a_pattern_without_parameters_is_reported_once_after_the_first_pass():
    groups = [*GROUPS, {"pattern": "nonsense", "weight_decay": 0.0}]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        train_thinc(GroupedAdamW(groups=groups), 1)
    with pytest.warns(
        UserWarning, match=r"pattern 'nonsense' of a parameter group matches none .* \(7 in all\)"
    ) as seen:
        train_thinc(GroupedAdamW(groups=groups), 4)
    assert len(seen) == 1


def test_an_optional_pattern_may_have_no_parameters():
    groups = [*GROUPS, {"pattern": "nonsense", "weight_decay": 0.0, "optional": True}]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        train_thinc(GroupedAdamW(groups=groups), 4)


def test_a_run_that_is_resumed_has_a_first_pass_too():
    optimizer = GroupedAdamW(groups=GROUPS)
    net = make_net()
    for name, _ in net.named_parameters():
        optimizer.nr_update[1, name] = 7
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            for name, parameter in net.named_parameters():
                weights = parameter.detach().numpy()
                optimizer((1, name), weights, numpy.ones_like(weights))


CONFIG = """
[training]

[training.optimizer]
@optimizers = "spacy-lexner.GroupedAdamW.v1"
max_grad_norm = 0.5

[training.optimizer.learn_rate]
@schedules = "spacy-lexner.warmup_linear.v1"
initial_rate = 0.1
total_steps = 10
warmup_steps = 2

[training.optimizer.groups]

[training.optimizer.groups.norm]
pattern = "^(b|G)$"
weight_decay = 0.0

[training.optimizer.groups.embedding]
pattern = "^E$"
learn_rate_factor = 0.5
"""


def test_from_the_config_of_a_pipeline():
    nlp = spacy.blank("en", config=spacy.util.load_config_from_str(CONFIG))
    ner = nlp.add_pipe("ner")
    ner.add_label("ORG")
    examples = [Example.from_dict(nlp.make_doc("I like Apple"), {"entities": [(7, 12, "ORG")]})]
    optimizer = nlp.initialize(lambda: examples)
    assert isinstance(optimizer, GroupedAdamW)
    assert [group.pattern.pattern for group in optimizer.groups] == ["^(b|G)$", "^E$"]
    assert (optimizer.max_grad_norm, optimizer.learn_rate) == (0.5, 0.05)
    losses = []
    for _ in range(8):
        losses.append(nlp.update(examples, sgd=optimizer)["ner"])
        optimizer.step_schedules()
    assert losses[-1] < losses[0] / 2


def test_registered():
    config = {"@optimizers": "spacy-lexner.GroupedAdamW.v1", "groups": GROUPS, "learn_rate": 0.01}
    optimizer = registry.resolve({"optimizer": config})["optimizer"]
    assert optimizer.groups == parse_groups(GROUPS)
