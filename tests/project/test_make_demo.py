"""What the project's README promises about the demo corpus."""

from collections import Counter, defaultdict
from random import Random

import pytest
from demo_templates import LABELS, Template, fill, read_templates
from make_demo import HELD_OUT, make_demo

SIZES = {"train": 2000, "dev": 250, "test": 400}
REGISTERS = {"news", "finance", "social", "cv"}


@pytest.fixture(scope="module")
def demo():
    return make_demo(0, raw=2000)


def mentions(sentences):
    return [(s.text[start:end], label) for s in sentences for start, end, label in s.spans]


def test_sizes(demo):
    assert {name: len(sentences) for name, sentences in demo.splits.items()} == SIZES
    assert len(demo.words) > 4000


def test_templates(project_dir):
    templates = read_templates(project_dir / "demo" / "templates")
    assert {template.register for template in templates} == REGISTERS
    counts = Counter(template.register for template in templates)
    assert sum(counts.values()) >= 120 and min(counts.values()) >= 20
    assert sum(template.held_out for template in templates) >= 15
    assert len({template.text for template in templates}) == len(templates)


def test_names_of_each_type(demo):
    names = defaultdict(set)
    for name in demo.names:
        names[name.label].add(name.text)
    assert set(names) == set(LABELS)
    assert all(len(texts) >= 150 for texts in names.values())


def test_texts_are_in_one_split_only(demo):
    texts = [s.text for sentences in demo.splits.values() for s in sentences]
    assert len(set(texts)) == len(texts)
    assert not set(demo.raw) & set(texts)


def test_spans_are_names_in_order_without_overlap(demo):
    names = {(name.text, name.label) for name in demo.names}
    for sentences in demo.splits.values():
        for sentence in sentences:
            end = 0
            for start, stop, label in sentence.spans:
                assert end <= start < stop <= len(sentence.text)
                assert (sentence.text[start:stop], label) in names
                end = stop


def test_every_entity_is_in_the_word_list_which_has_no_labels(demo):
    words = set(demo.words)
    assert len(words) == len(demo.words)
    for sentences in demo.splits.values():
        assert {text for text, _ in mentions(sentences)} <= words
    assert not any(label in word for word in words for label in LABELS)
    # Being in the list says little: most of it is no name.
    assert len({name.text for name in demo.names}) < 0.4 * len(words)


@pytest.mark.parametrize("split", ["dev", "test"])
def test_half_of_the_entities_are_unseen(demo, split):
    seen = {text for text, _ in mentions(demo.splits["train"])}
    found = mentions(demo.splits[split])
    assert 0.4 < sum(text not in seen for text, _ in found) / len(found) < 0.65
    unseen = {label: {text for text, found_label in found if found_label == label} - seen for label in LABELS}
    assert all(len(texts) >= 15 for texts in unseen.values())
    assert all(len({len(text) for text in texts}) >= 2 for texts in unseen.values())


def test_ambiguities(demo):
    def gold(text):
        return [
            (s.text[start:end], label)
            for sentences in (demo.splits["dev"], demo.splits["test"])
            for s in sentences
            if text in s.text
            for start, end, label in s.spans
            if s.text[start:end] in text
        ]

    assert {("南京市", "GPE"), ("长江大桥", "LOC")} <= set(gold("南京市长江大桥"))
    assert ("北京", "GPE") in gold("北京大学生前来应聘")
    seen = {text for text, _ in mentions(demo.splits["train"])}
    assert not seen & {"南京", "南京市", "北京", "北京市", "武汉市", "江大桥", "长江大桥", "中国银行", "中国人民银行"}
    # The same words as names and as ordinary words: the text must decide.
    outside = "".join(
        "".join(c if tag == "O" else "|" for c, tag in zip(s.text, s.tags())) for s in demo.splits["train"]
    )
    people = {name.text for name in demo.names if name.kind == "word"}
    assert len([name for name in people if name in outside]) >= 8
    types = defaultdict(set)
    for name in demo.names:
        types[name.text].add(name.label)
    assert sum(len(labels) > 1 for labels in types.values()) >= 15


def test_sentences_without_entities(demo):
    assert sum(not s.spans for s in demo.splits["train"]) >= 20


def test_same_seed_same_corpus(demo):
    again, other = make_demo(0, raw=2000), make_demo(1, raw=0)
    assert (again.splits, again.words, again.raw) == (demo.splits, demo.words, demo.raw)
    assert other.splits["train"] != demo.splits["train"]


def test_held_out_templates_never_reach_training(project_dir):
    held_out = [t for t in read_templates(project_dir / "demo" / "templates") if t.held_out]
    assert 0 < HELD_OUT < 0.5
    literals = {text for template in held_out for text, _ in template.literals}
    assert {"南京市", "长江大桥", "江大桥", "中国人民银行"} <= literals


def test_tags():
    sentence = fill(Template("{PER=王}[在]{LOC=外滩}{x}{GPE=南京市}", "", False), {"x": ["看"]}, str, Random(0))
    assert sentence.text == "王在外滩看南京市"
    assert sentence.tags() == ["S-PER", "O", "B-LOC", "E-LOC", "O", "B-GPE", "I-GPE", "E-GPE"]


@pytest.mark.parametrize("line, fault", [("[{PER}在", "brackets"), ("{ABC}在", "ABC"), ("在}", "brackets")])
def test_faulty_template(tmp_path, line, fault):
    (tmp_path / "news.txt").write_text(f"# comment\n{line}\n", "utf8")
    with pytest.raises(ValueError, match=f"line 2.*{fault}"):
        read_templates(tmp_path)
