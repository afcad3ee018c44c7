import numpy as np
import pytest
import spacy
from small_encoders import ENCODERS
from small_ner import TEXTS, blank, examples, train
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import fix_random_seed
from thinc.api import Adam

from spacy_lexner.pipeline.distillation import Teacher, open_labels
from spacy_lexner.tagging.spans.tag_scheme import TagScheme

RAW = [text for text, _ in TEXTS]
NEW = [("我们在金色大厅", [(3, 7, "HALL")]), ("大家去音乐厅", [(3, 6, "HALL")])]


def raw(nlp):
    return [Example(nlp.make_doc(text), nlp.make_doc(text)) for text in RAW]


@pytest.fixture
def trained():
    nlp = blank()
    train(nlp)
    return nlp


def divergence(nlp, before):
    """How far the probabilities of the old tags have moved."""
    _, search = nlp.get_pipe("lex_ner").search([nlp.make_doc(text) for text in RAW])
    return sum(abs(own[:, 1 : old.shape[1]] - old[:, 1:]).sum() for own, old in zip(search.tag_scores(), before))


def learn_a_label(nlp, rehearse):
    """Texts where only the new label is annotated and everything else counts as outside."""
    fix_random_seed(0)
    ner = nlp.get_pipe("lex_ner")
    _, search = ner.search([nlp.make_doc(text) for text in RAW])
    before = search.tag_scores()
    nlp.resume_training()
    ner.add_label("HALL")
    sgd = Adam(0.01)
    for _ in range(15):
        nlp.update(examples(nlp, NEW), sgd=sgd)
        if rehearse:
            ner.rehearse(raw(nlp), sgd=sgd)
    return divergence(nlp, before)


def test_rehearsal_keeps_what_was_known_while_a_label_is_learned(trained):
    data = trained.to_bytes()
    without = learn_a_label(trained, rehearse=False)
    other = blank().from_bytes(data)
    kept = learn_a_label(other, rehearse=True)
    assert kept < without / 2
    assert [ent.label_ for ent in other(NEW[1][0]).ents if ent.text == "音乐厅"] == ["HALL"]


def test_rehearsal_in_the_pipeline_that_a_component_was_sourced_into():
    nlp = blank(tok2vec={"@architectures": "spacy-lexner.LEBERT.v1", **ENCODERS["LEBERT"]})
    nlp.add_pipe("lex_matcher", first=True).add_words(["张三", "北京大学"])
    train(nlp, steps=1)
    app = spacy.blank("zh")
    for name in nlp.pipe_names:
        app.add_pipe(name, source=nlp)
    losses = []
    for pipeline in (nlp, app):
        fix_random_seed(0)
        pipeline.resume_training()
        losses.append(pipeline.get_pipe("lex_ner").rehearse(raw(pipeline)))
    assert losses[0] == losses[1]


def test_at_the_start_there_is_nothing_to_correct(trained):
    trained.resume_training()
    losses = trained.get_pipe("lex_ner").rehearse(raw(trained))
    assert losses["lex_ner"] == pytest.approx(0, abs=1e-6)


def test_the_pipeline_rehearses_too(trained):
    optimizer = trained.resume_training()
    trained.update(examples(trained, [(TEXTS[0][0], [])]), sgd=optimizer)
    output = trained.get_pipe("lex_ner").model.get_ref("output_layer")
    weights = output.get_param("emission_W").copy()
    losses = trained.rehearse(raw(trained), sgd=optimizer)
    assert losses["lex_ner"] > 0
    assert not np.array_equal(
        weights, trained.get_pipe("lex_ner").model.get_ref("output_layer").get_param("emission_W")
    )


@pytest.mark.parametrize("texts", [[], [""]])
def test_nothing_to_read(trained, texts):
    trained.resume_training()
    pairs = [Example(trained.make_doc(text), trained.make_doc(text)) for text in texts]
    assert trained.get_pipe("lex_ner").rehearse(pairs) == {"lex_ner": 0.0}


def test_a_student_without_annotation_learns_what_its_teacher_knows(trained):
    student = blank()
    student.get_pipe("lex_ner").add_label("ORG")  # in another order
    gold = raw(student)
    fix_random_seed(1)
    student.get_pipe("lex_ner").initialize(lambda: gold, nlp=student, labels=["LOC", "PER", "ORG"])
    student.get_pipe("lex_ner").teacher = Teacher(trained, "lex_ner")
    sgd = Adam(0.01)
    losses = [student.update(gold, sgd=sgd)["lex_ner"] for _ in range(40)]
    assert losses[-1] < losses[0] / 10
    for text in RAW:
        expected = [(ent.text, ent.label_) for ent in trained(text).ents]
        assert [(ent.text, ent.label_) for ent in student(text).ents] == expected


def test_a_teacher_with_other_labels(trained):
    with pytest.raises(ValueError, match="The teacher has the labels LOC, ORG, PER, the student begins with X"):
        Teacher(trained, "lex_ner").tag_scores([trained.make_doc("张三")], ["X"])


def test_a_teacher_with_other_units(trained):
    words = Doc(trained.vocab, words=["张三", "在"], spaces=[False, False])
    with pytest.raises(ValueError, match="as 3 units, the student as 2"):
        Teacher(trained, "lex_ner").tag_scores([words], ["LOC", "ORG", "PER"])


def test_labels_that_are_not_annotated_are_open():
    scheme = TagScheme(["PER", "ORG"])
    gold = scheme.gold(["O", "B-ORG", "L-ORG", None])
    opened = open_labels(gold, scheme.labels, ["ORG"])
    assert opened[0].tolist() == [True] * 5 + [False] * 4  # outside, or a person
    assert opened[1:].tolist() == gold[1:].tolist()


def test_annotation_of_one_label_says_nothing_of_others(trained):
    ner = trained.get_pipe("lex_ner")
    ner.annotated_labels = ["ORG"]
    text = TEXTS[1][0]
    pair = Example.from_dict(trained.make_doc(text), {"entities": []})
    open_loss = trained.update([pair])["lex_ner"]
    ner.annotated_labels = None
    assert open_loss < 0.5 < trained.update([pair])["lex_ner"]
