import pytest
import srsly
from small_training import make_docs, make_texts
from thinc.api import Config

from spacy_lexner.annotation import cross_fit as module
from spacy_lexner.annotation.cross_fit import cross_fit
from spacy_lexner.report.gold import to_gold


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Cross-fits in one folder without training. RETURNS (int): The number of texts scored anew."""
    fresh = []

    def score(nlp, gold, asked, held, file, failed):
        fresh.extend(held)
        file.parent.mkdir(parents=True)
        srsly.write_jsonl(file, [{"number": number, "asked": asked[number], "likely": []} for number in held])

    monkeypatch.setattr(module, "train_fold", lambda *arguments, **settings: None)
    monkeypatch.setattr(module, "score_part", score)

    def run(texts, config=None, **settings):
        fresh.clear()
        docs = make_docs(texts)
        scored = cross_fit(docs, list(map(to_gold, docs)), Config(config or {}), tmp_path, failed={}, **settings)
        assert None not in scored
        return len(fresh)

    return run


def test_scores_are_kept_for_the_same_texts_and_settings(run, tmp_path):
    texts = make_texts(60)
    assert run(texts, n_folds=2) == 60 and run(texts, n_folds=2) == 0
    number = next(i for i, (_, entities) in enumerate(texts) if entities)
    corrected = [(text, entities if i != number else []) for i, (text, entities) in enumerate(texts)]
    others = [(corrected, {}), (make_texts(50), {}), (texts, {"seed": 1}), (texts, {"n_folds": 3})]
    for given, settings in [*others, (texts, {"config": {"training": {"dropout": 0.5}}})]:
        with pytest.raises(ValueError, match=r"scores of other texts, or with other .* Choose another folder"):
            run(given, **{"n_folds": 2, **settings})
    (tmp_path / "settings.json").unlink()
    with pytest.raises(ValueError, match="Choose another folder"):
        run(texts, n_folds=2)
