import spacy

from spacy_lexner.lexicon.normalization import Normalization
from spacy_lexner.pipeline.extensions import add_score_extension
from spacy_lexner.weak.dictionary import Dictionary
from spacy_lexner.weak.doubt import Reading
from spacy_lexner.weak.report import find_new_names, find_parts


def test_names_in_the_dictionary_are_not_new_however_they_are_spelled():
    add_score_extension()
    nlp = spacy.blank("zh")
    names = ["iPhone", "ＩＰＨＯＮＥ", "小米"]
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "BRAND", "pattern": name} for name in names])
    words = Dictionary({"iPhone": ("BRAND",), "小米": ("FOOD",)}, (), Normalization(case=True, width=True))
    found = find_new_names(nlp, names, words)
    assert [(label, row["name"]) for label, rows in found.items() for row in rows] == [("BRAND", "小米")]


def test_words_inside_longer_entities_come_with_the_most_frequent_ones():
    places = [("公司", "长江公司"), ("大学", "北京大学"), ("公司", "远山公司"), ("公司", "远山公司")]
    parts = [Reading(0, 2, 4, word, 0.1, 0.8, entity) for word, entity in places]
    assert find_parts(parts) == [
        {"word": "公司", "count": 3, "entities": ["远山公司", "长江公司"]},
        {"word": "大学", "count": 1, "entities": ["北京大学"]},
    ]
