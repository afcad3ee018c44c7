import pytest
import spacy
from small_ner import TEXTS, blank, train
from spacy.tokens import Span, SpanGroup

from spacy_lexner.pipeline.ner.entity_writer import UNCERTAIN_KEY
from spacy_lexner.scale.annotator import Annotator
from spacy_lexner.scale.results import Wanted


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    nlp, folder = blank(), tmp_path_factory.mktemp("ner")
    train(nlp, steps=1)  # so that it is unsure
    nlp.to_disk(folder)
    return folder


def test_uncertain_spans_have_their_own_probabilities(trained):
    text = TEXTS[0][0]
    bounds = (1e-3, 1.0)
    [result] = Annotator(str(trained), Wanted(uncertain=bounds)).annotate([text])
    nlp = spacy.load(trained)
    nlp.get_pipe("lex_ner").uncertain = bounds
    doc = nlp(text)
    group = doc.spans[UNCERTAIN_KEY]
    places = {(ent["start"], ent["end"]): ent["label"] for ent in result.row["entities"]}
    found = {(row["start"], row["end"], row["label"]): row["score"] for row in result.row["uncertain"]}
    assert any((start, end) not in places for start, end, _ in found)
    assert any(places.get((start, end), label) != label for start, end, label in found)
    expected = [(span.start_char, span.end_char, span.label_) for span in group]
    assert list(found) == expected and list(found.values()) == pytest.approx(group.attrs["scores"])
    assert [row["text"] for row in result.row["uncertain"]] == [span.text for span in group]


@spacy.Language.component("test_annotator_exact")
def write_exact(doc):
    attrs = {"scores": [0.25], "offsets": [[1, 2]]}
    doc.spans[UNCERTAIN_KEY] = SpanGroup(doc, name=UNCERTAIN_KEY, attrs=attrs, spans=[Span(doc, 0, 1, "GPE")])
    return doc


def test_uncertain_spans_inside_tokens(trained, tmp_path):
    nlp = spacy.load(trained)
    nlp.add_pipe("test_annotator_exact")
    nlp.to_disk(tmp_path)
    [result] = Annotator(str(tmp_path), Wanted(uncertain=(0.1, 0.9))).annotate(["看南京"])
    assert result.row["uncertain"] == [{"start": 1, "end": 2, "text": "南", "label": "GPE", "score": 0.25}]


def test_the_text_of_a_doc_is_joined_once(model):
    annotator, texts = Annotator(model, Wanted()), []
    found = annotator.nlp("南京" * 50)

    class Watched:  # a Doc whose `text` is counted: joining it for each entity takes quadratic time
        ents, spans = found.ents, found.spans

        @property
        def text(self):
            texts.append(found.text)
            return found.text

    assert len(annotator._row(Watched())["entities"]) == 50 and len(texts) == 1


def test_entities_without_scores(model):
    [result] = Annotator(model, Wanted()).annotate(["南京"])
    assert [ent["text"] for ent in result.row["entities"]] == ["南京"] and result.row["entities"][0]["score"] is None


@pytest.mark.parametrize(
    "wanted, message",
    [
        (Wanted(alternatives=2), "alternatives need a lex_ner, but the pipeline has only entity_ruler, lex_matcher"),
        (Wanted(words=True, uncertain=(0.1, 0.9)), "uncertain need a lex_ner"),
    ],
)
def test_what_a_pipeline_does_not_have(model, wanted, message):
    with pytest.raises(ValueError, match=message):
        Annotator(model, wanted)


def test_words_need_a_matcher(trained):
    with pytest.raises(ValueError, match="words and lex_version need a lex_matcher"):
        Annotator(str(trained), Wanted(words=True, version=True))
