import pytest
from small_training import save_docs

from spacy_lexner.weak.annotated import check_labels, read_annotated
from spacy_lexner.weak.dictionary import Dictionary

LONG = "昨天下午我们在南京市长江大桥边上看见了很多从各地来的游客他们都在拍照留念"
DEV = [("王伟来", [(0, 2, "PER")]), (LONG, [])]
OTHER = ("张伟去", [(0, 2, "PER")])


@pytest.fixture
def read(tmp_path):
    def read(labelled, dev, **options):
        files = [save_docs(tmp_path / "dev.spacy", dev), save_docs(tmp_path / "labelled.spacy", labelled)]
        return read_annotated(*files, ["PER"], seed=0, **{"skip_shared": False, **options})

    return read


@pytest.mark.parametrize("shared", [("王 伟来", [(0, 3, "PER")]), (f"据说{LONG}啊", [])])
def test_labelled_texts_that_score_models_are_refused_or_left_out(read, shared):
    with pytest.raises(ValueError, match=r"1 of the 2 texts of .*labelled\.spacy overlap .*dev\.spacy.*--skip-shared"):
        read([OTHER, shared], DEV)
    annotated = read([OTHER, shared], DEV, skip_shared=True)
    assert [doc.text for doc in annotated.labelled] == ["张伟去"] and len(annotated.dev) == 2
    with pytest.raises(ValueError, match="none is left to learn from"):
        read([shared], DEV, skip_shared=True)


def test_texts_that_score_models_are_protected_at_any_length(read):
    protected = read([OTHER], DEV).protected()
    assert [overlap.line for overlap in protected.find(["张伟去", "王伟来", "王伟来了"])] == [2]


def test_without_any():
    annotated = read_annotated(None, None, [], skip_shared=False, seed=0)
    assert annotated == ([], []) and annotated.protected() is None
    assert check_labels(Dictionary({"小米": ("FOOD", "BRAND")}), annotated) == ("BRAND", "FOOD")
