import pytest
import spacy

from spacy_lexner.pipeline.doc_stream import annotate_stream

NLP = spacy.blank("zh")
BAD = "？"


def predict(docs):
    if any(BAD in doc.text for doc in docs):
        raise ValueError("a question")
    return [len(docs)] * len(docs)


def annotate(doc, prediction):
    if doc.text == "南":
        raise KeyError("no annotation")
    doc.user_data["batch"] = prediction
    return doc


def run(texts, handle_error):
    return list(annotate_stream(map(NLP.make_doc, texts), 2, predict, annotate, handle_error))


def test_batches_and_single_docs_where_one_fails():
    failed = []
    docs = run(["北京", "上海", "谁？", "武汉", "南", "长江", "京"], lambda docs, error: failed.append((docs, error)))
    assert [(doc.text, doc.user_data["batch"]) for doc in docs] == [
        *(("北京", 2), ("上海", 2)),
        *(("武汉", 1), ("长江", 2), ("京", 1)),
    ]
    assert [([doc.text for doc in docs], type(error)) for docs, error in failed] == [
        (["谁？"], ValueError),
        (["南"], KeyError),
    ]


def test_what_the_handler_raises_ends_the_stream():
    def handle(docs, error):
        raise error

    with pytest.raises(ValueError, match="a question"):
        run(["北京", "谁？"], handle)
