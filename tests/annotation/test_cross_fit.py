import pytest
import spacy
from small_training import make_docs, make_texts
from spacy.tokens import Doc, Span
from thinc.api import Config

from spacy_lexner.annotation import cross_fit as module
from spacy_lexner.annotation.cross_fit import cross_fit
from spacy_lexner.report.gold import to_gold
from spacy_lexner.visualize.lattice import Mark

BAD = "没有人来"


@spacy.Language.factory("test_cross_fit_judge", assigns=["doc.ents"])
class Judge:
    """Finds the first character of a text, and fails for one of them."""

    labels = ("LOC",)

    def __init__(self, nlp: spacy.Language, name: str) -> None: ...

    def __call__(self, doc: Doc) -> Doc:
        if doc.text == BAD:
            raise ValueError("no one")
        doc.ents = [Span(doc, 0, 1, "LOC")]
        return doc


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Cross-fits in one folder without training. RETURNS (Tuple[List[Optional[ScoredText]], Dict[int, str], int]): The
    scores, the failures and the number of texts scored anew."""
    fresh = []

    def train(docs, fold, config, folder, **settings):
        fresh.extend(fold.held)
        nlp = spacy.blank("zh")
        nlp.add_pipe("test_cross_fit_judge")
        return nlp

    monkeypatch.setattr(module, "train_fold", train)

    def run(texts, config=None, **settings):
        fresh.clear()
        failed, docs = {}, make_docs(texts)
        scored = cross_fit(docs, list(map(to_gold, docs)), Config(config or {}), tmp_path, failed=failed, **settings)
        return scored, failed, len(fresh)

    return run


def test_scores_and_failures_are_kept_for_the_same_texts_and_settings(run, tmp_path):
    texts = make_texts(60)
    bad = {i for i, (text, _) in enumerate(texts) if text == BAD}
    scored, failed, n_fresh = run(texts, n_folds=2)
    assert n_fresh == 60 and bad and set(failed) == bad == {i for i, own in enumerate(scored) if own is None}
    assert run(texts, n_folds=2) == (scored, failed, 0)
    number = next(i for i, (_, entities) in enumerate(texts) if entities)
    corrected = [(text, entities if i != number else []) for i, (text, entities) in enumerate(texts)]
    others = [(corrected, {}), (make_texts(50), {}), (texts, {"seed": 1}), (texts, {"n_folds": 3})]
    for given, settings in [*others, (texts, {"config": {"training": {"dropout": 0.5}}})]:
        with pytest.raises(ValueError, match=r"another config, other texts or other settings\. Choose another folder"):
            run(given, **{"n_folds": 2, **settings})
    (tmp_path / "settings.json").unlink()
    with pytest.raises(ValueError, match="Choose another folder"):
        run(texts, n_folds=2)


def test_scores_survive_the_file(run):
    scored, _, _ = run([("王伟去南山市了", [(0, 2, "PER"), (3, 6, "LOC")])] * 3 + make_texts(20), n_folds=2)
    assert scored[0].asked == [Mark(0, 2, "PER"), Mark(3, 6, "LOC", 0.0)] and scored[0].likely == [
        Mark(0, 1, "LOC", 1.0)
    ]


@pytest.mark.parametrize("name", ["settings.json", "fold-2/scores.jsonl"])
def test_a_damaged_file_is_named(run, tmp_path, name):
    run(make_texts(30), n_folds=2)
    file = tmp_path / name
    file.write_bytes(file.read_bytes()[:20])
    with pytest.raises(ValueError, match=rf"{name}.*damaged"):
        run(make_texts(30), n_folds=2)


def test_files_are_written_as_a_whole(run, tmp_path, monkeypatch):
    class Stopped(Exception):
        pass

    def stop(*names):
        raise Stopped

    with monkeypatch.context() as patched:
        patched.setattr("os.replace", stop)
        with pytest.raises(Stopped):
            run(make_texts(30), n_folds=2)
    assert not (tmp_path / "settings.json").exists()
    assert run(make_texts(30), n_folds=2)[2] == 30
