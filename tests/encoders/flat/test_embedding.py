import pytest
import torch
from tolerance import assert_close

from spacy_lexner.encoders.flat.embedding import AbsolutePositions, LatticeEmbedding
from spacy_lexner.encoders.flat.options import Embedding, Positions
from spacy_lexner.encoders.flat.positions import sinusoids
from spacy_lexner.encoders.shared.character_tables import TokenVectors
from spacy_lexner.encoders.shared.vocab import UNKNOWN
from spacy_lexner.encoders.shared.words import Words

N_TERMS = 2 * 24  # layers, and their longest sum: a vector of 8 beside two encodings
CHARACTERS = torch.tensor([[2, 3, 4], [5, 0, 0]])
BIGRAMS = torch.tensor([[2, 3, 1], [4, 0, 0]])
WORD_IDS = torch.tensor([[1, 2], [2, 0]])
WORDS = Words(
    torch.tensor([[3.0, 4.0, 0.0], [0.0, 0.0, 0.0]]),
    torch.tensor([True, False]),
    torch.tensor([2, 3]),
    torch.tensor([-1, 1]),
)


def embedding(**options) -> LatticeEmbedding:
    torch.manual_seed(0)
    settings = {"n_characters": 6, "character_width": 5, "n_bigrams": 5, "bigram_width": 4, "word_width": 3}
    block = Embedding(**{name: options.pop(name) for name in Embedding.options() if name in options})
    return LatticeEmbedding(8, **{**settings, "n_tuned_words": 2, **options}, options=block)


def test_characters_and_words_side_by_side():
    made = embedding().eval()
    lattice = made(CHARACTERS, BIGRAMS, WORDS, WORD_IDS)
    characters = torch.cat((made.characters(CHARACTERS), made.bigrams(BIGRAMS)), dim=-1)
    assert_close(lattice[:, :3], made.project_characters(characters), N_TERMS)
    first, second = torch.tensor([0.6, 0.8, 0.0]), made.words.tuned[1]
    assert_close(lattice[0, 3:], made.project_words(torch.stack((first, second))), N_TERMS)
    assert_close(lattice[1, 3], made.project_words(second), N_TERMS)


@pytest.mark.parametrize("unit_length", [False, True])
def test_contextual_vectors_stand_beside_the_characters(unit_length):
    made = embedding(contextual_width=7, n_bigrams=0, normalize_contextual=unit_length).eval()
    context = torch.randn(2, 3, 7, requires_grad=True)
    lattice = made(CHARACTERS, None, WORDS, WORD_IDS, context)
    beside = context / context.norm(dim=-1, keepdim=True) if unit_length else context
    expected = made.project_characters(torch.cat((made.characters(CHARACTERS), beside), dim=-1))
    assert_close(lattice[:, :3], expected, N_TERMS)
    lattice.sum().backward()
    assert context.grad.any()
    for wrong in (None, torch.zeros(2, 3, 6)):
        with pytest.raises(ValueError, match="contextual vectors of 7 values"):
            made(CHARACTERS, None, WORDS, WORD_IDS, wrong)


def test_a_model_without_words():
    made = embedding(word_width=0).eval()
    assert made(CHARACTERS, BIGRAMS, WORDS, WORD_IDS).shape == (2, 3, 8)
    assert not any("words" in name for name, _ in made.named_parameters())


def test_rows_start_with_length_one_and_what_is_unknown_with_zero():
    made = embedding()
    made.characters.load(torch.tensor([2, 4]), torch.full((2, 5), 7.0))
    made.words.tuned.data.fill_(7.0)
    made.normalize_tables()
    for table in (made.characters, made.bigrams):
        assert_close(table.weight[2:].norm(dim=-1), torch.ones(len(table.weight) - 2), N_TERMS)
        assert (table.weight[:2] == 0).all()
    assert_close(made.words.tuned.norm(dim=-1), torch.ones(2), N_TERMS)
    assert (made.words.by_length == 0).all()
    assert_close(made.characters.weight[2], torch.full((5,), 5**-0.5), N_TERMS)
    plain = embedding(normalize=False)
    plain.characters.load(torch.tensor([2]), torch.full((1, 5), 7.0))
    plain.words.tuned.data.fill_(7.0)
    plain.normalize_tables()
    assert (plain.characters.weight[2] == 7.0).all()
    assert (plain.words.tuned == 7.0).all()


@pytest.mark.parametrize("unit_length", [False, True])
def test_vectors_of_the_lexicon_have_length_one_and_trained_ones_may_grow(unit_length):
    made = embedding(normalize=unit_length).eval()
    made.words.tuned.data.fill_(3.0)
    lattice = made(CHARACTERS, BIGRAMS, WORDS, WORD_IDS)
    given = torch.tensor([0.6, 0.8, 0.0]) if unit_length else torch.tensor([3.0, 4.0, 0.0])
    assert_close(lattice[0, 3:], made.project_words(torch.stack((given, torch.full((3,), 3.0)))), N_TERMS)


def test_rows_behind_the_trained_ones_are_fixed():
    table = TokenVectors(3, 4, n_fixed=2)
    vectors = torch.randn(3, 4)
    table.load(torch.tensor([4, 2, 3]), vectors)
    ids = torch.tensor([[2, 3], [4, 1]])
    assert torch.equal(table(ids), torch.stack((vectors[1], vectors[2], vectors[0], table.weight[1])).view(2, 2, 4))
    table(ids).sum().backward()
    assert table.weight.grad.sum() == 8
    assert {name for name, _ in table.named_parameters()} == {"weight"}
    table.normalize()
    assert_close(table.fixed.norm(dim=-1), torch.ones(2), N_TERMS)


def test_tokens_become_unknown_in_training_only():
    made = embedding(token_dropout=1.0)
    dropped = made._drop(CHARACTERS)
    assert torch.equal(dropped, (CHARACTERS != 0) * UNKNOWN)
    words = made._drop_words(WORDS)
    assert not words.known.any()
    assert (words.tuned == -1).all()
    made.eval()
    assert torch.equal(made._drop(CHARACTERS), CHARACTERS)
    assert made._drop_words(WORDS) is WORDS


@pytest.mark.parametrize("place", ["before_projection", "after_projection", "after_positions"])
def test_dropout_has_its_place(place):
    made = embedding(dropout_place=place, character_dropout=0.999, word_dropout=0.999, token_dropout=0.0)
    projected = made(CHARACTERS, BIGRAMS, WORDS, WORD_IDS)
    biases = torch.cat((made.project_characters.bias.expand(2, 3, 8), made.project_words.bias.expand(2, 2, 8)), dim=1)
    assert bool((projected == biases).float().mean() > 0.9) == (place == "before_projection")
    assert bool((projected == 0).float().mean() > 0.9) == (place == "after_projection")
    later = made.drop("after_positions", projected, made.character_dropout)
    assert bool((later == 0).float().mean() > 0.9) == (place != "before_projection")


STARTS, ENDS = torch.tensor([[0, 1, 0]]), torch.tensor([[1, 2, 7001]])


FUSIONS = ["add", "concat", "nonlinear_add", "nonlinear_concat", "add_nonlinear", "concat_nonlinear"]


@pytest.mark.parametrize("fusion", FUSIONS)
def test_absolute_positions_by_the_formula(fusion):
    torch.manual_seed(0)
    x = torch.randn(1, 3, 8)
    s, e = sinusoids(STARTS, 8), sinusoids(ENDS - 1, 8)
    layer = AbsolutePositions(8, Positions(absolute=fusion))
    both = torch.cat((s, e), dim=-1)
    expected = {
        "add": lambda: x + s + e,
        "concat": lambda: layer.output(torch.cat((x, both), dim=-1)),
        "nonlinear_add": lambda: x + layer.position(both),
        "nonlinear_concat": lambda: layer.output(torch.cat((x, layer.position(both)), dim=-1)),
        "add_nonlinear": lambda: layer.output(x + s + e),
        "concat_nonlinear": lambda: layer.output(torch.cat((x, both), dim=-1)),
    }[fusion]()
    assert_close(layer(x, STARTS, ENDS), expected, N_TERMS)
    for part in (layer.position, layer.output):
        n_layers = sum(isinstance(module, torch.nn.Linear) for module in part.modules())
        wanted = part is (layer.output if fusion.endswith("_nonlinear") else layer.position) and "nonlinear" in fusion
        assert n_layers == (2 if wanted else int(part is layer.output and "concat" in fusion))


def test_learned_absolute_positions():
    layer = AbsolutePositions(8, Positions(absolute="add", learned=True, max_distance=10))
    x = torch.zeros(1, 3, 8)
    assert_close(layer(x, STARTS, ENDS), sinusoids(STARTS, 8) + sinusoids((ENDS - 1).clamp(max=10), 8), N_TERMS)
    layer(x, STARTS, ENDS).sum().backward()
    assert all(table.grad.any() for table in layer.encoding.tables)


def test_normalized_absolute_positions():
    layer = AbsolutePositions(8, Positions(absolute="add", normalize=True))
    encoded = layer(torch.zeros(1, 3, 8), STARTS, ENDS)
    assert_close(encoded.sum(-1), torch.full((1, 3), 2.0), N_TERMS, scale=encoded)
