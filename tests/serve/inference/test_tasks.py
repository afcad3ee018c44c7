import pytest
import spacy
from small_service import TEXT, places
from spacy.language import Language

from spacy_lexner.lexicon import LexiconEntry
from spacy_lexner.lexicon.matcher import Matcher
from spacy_lexner.serve.inference.model import ServedModel, load_served
from spacy_lexner.serve.inference.tasks import Annotation, Drawing, TextError
from spacy_lexner.serve.wanted import Wanted


@Language.component("fails_on_x")
def fails_on_x(doc):
    if "x" in doc.text:
        raise ValueError("it has an x")
    return doc


@pytest.fixture(scope="module")
def model(model_folder):
    return load_served(str(model_folder))


def test_a_text_that_fails_affects_no_other(model_folder):
    nlp = spacy.load(model_folder)
    nlp.add_pipe("fails_on_x")
    model = ServedModel(nlp, "test")
    results = Annotation(model, model.matcher, Wanted())([TEXT, "x", TEXT])
    assert isinstance(results[1], TextError) and "it has an x" in str(results[1])
    assert places(results[0]["entities"]) == places(results[2]["entities"]) == [(0, 3, "GPE"), (3, 7, "LOC")]


def test_a_text_is_annotated_by_the_state_that_its_task_has(model):
    before = model.matcher
    other = Matcher(before.lexicon.with_words([LexiconEntry("京市长", labels="X")]), model.pipe.options)
    wanted = Wanted(words=True)
    [now], [then] = Annotation(model, before, wanted)([TEXT]), Annotation(model, other, wanted)([TEXT])
    assert "京市长" not in [word["word"] for word in now["words"]]
    assert {"start": 1, "end": 4, "word": "京市长", "labels": ["X"], "rules": []} in then["words"]
    assert model.matcher is before
    assert Annotation(model, other, wanted).version == f"{other.version:016x}"
    assert "京市长" in Drawing(model, other)([TEXT])[0] and Drawing(model, before)([TEXT])[0].startswith("<svg")


def test_options_of_a_task_do_not_stay(model):
    ner = model.nlp.get_pipe("lex_ner")
    ner.n_alternatives = 7
    Annotation(model, model.matcher, Wanted(alternatives=2, uncertain=(0.1, 0.9)))([TEXT])
    assert (ner.n_alternatives, ner.uncertain) == (7, None)
    ner.n_alternatives = 0


def test_nothing_is_remembered_of_texts(model):
    task = Annotation(model, model.matcher, Wanted(words=True))
    task([TEXT])
    before = set(model.nlp.vocab.strings), {word.orth for word in model.nlp.vocab}
    task([f"词{chr(0x5000 + i)}" for i in range(200)])
    assert (set(model.nlp.vocab.strings), {word.orth for word in model.nlp.vocab}) == before
