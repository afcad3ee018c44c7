import pytest
import spacy
from small_ner import blank, train
from spacy.tokens import Doc

from spacy_lexner.annotation.judged_labels import judged_labels, last_lex_ner

PATTERNS = [{"label": "GPE", "pattern": "南京市"}, {"label": "LOC", "pattern": "长江大桥"}]


@spacy.Language.component("test_judged_labels_foreign")
def foreign(doc: Doc) -> Doc:
    return doc


@spacy.Language.component("test_judged_labels_tags", assigns=["token.tag"])
def set_tags(doc: Doc) -> Doc:
    return doc


@spacy.Language.factory("test_judged_labels_labelled", assigns=["doc.spans"])
class Labelled:
    labels = ("DATE",)

    def __init__(self, nlp: spacy.Language, name: str) -> None: ...

    def __call__(self, doc: Doc) -> Doc:
        return doc


def pipeline(*names):
    """RETURNS (Language): A pipeline of components, each with labels if it can have some; NAME=LABEL adds others."""
    nlp = spacy.blank("zh")
    for name in names:
        factory, _, label = name.partition("=")
        pipe = nlp.add_pipe(factory, name=name)
        if "ruler" in factory and factory != "attribute_ruler":
            pipe.add_patterns(PATTERNS)
        elif label:
            pipe.add_label(label)
    return nlp


@pytest.mark.parametrize(
    "names, labels",
    [
        (["ner=PER"], {"PER"}),
        (["ner=PER", "tagger=NN", "attribute_ruler", "merge_entities", "doc_cleaner"], {"PER"}),
        (["entity_ruler", "ner=PER"], {"GPE", "LOC", "PER"}),
        (["future_entity_ruler"], {"GPE", "LOC"}),
        (["span_ruler", "ner=PER"], {"PER"}),
        (["ner=PER", "spancat=ORG", "spancat_singlelabel=LOC"], {"ORG", "LOC"}),
        (["ner=PER", "test_judged_labels_labelled"], {"PER", "DATE"}),
        (["ner=PER", "test_judged_labels_tags"], {"PER"}),
        (["ner=PER", "test_judged_labels_foreign"], None),
        (["spancat=ORG", "test_judged_labels_foreign"], None),
        (["test_judged_labels_foreign"], None),
    ],
)
def test_labels_of_the_components_that_set_spans(names, labels):
    assert judged_labels(pipeline(*names)) == labels


def test_lex_ner_judges_alone():
    nlp = blank()
    train(nlp, steps=1)
    nlp.add_pipe("entity_ruler", first=True).add_patterns(PATTERNS)
    nlp.add_pipe("test_judged_labels_foreign")
    assert judged_labels(nlp) == {"PER", "ORG", "LOC"} and last_lex_ner(nlp) is nlp.get_pipe("lex_ner")


def test_a_tokenizer_of_another_library_may_set_entities():
    nlp = pipeline("tagger=NN")
    nlp.tokenizer = lambda text: Doc(nlp.vocab, list(text))
    assert judged_labels(nlp) is None


@pytest.mark.parametrize("names", [[], ["tagger=NN", "attribute_ruler"], ["span_ruler"], ["ner"], ["lex_ner"]])
def test_a_pipeline_that_cannot_judge(names):
    with pytest.raises(ValueError, match=r"No component .*has labels .* Use one with a trained lex_ner"):
        judged_labels(pipeline(*names))
