import spacy

from spacy_lexner.candidates.breaks import CLAUSE, LINE, SENTENCE, before_space, break_strengths, end_signs, line_ends

NLP = spacy.blank("zh")


def test_strengths_of_breaks():
    doc = NLP.make_doc("好。”南，京 市\n")
    expected = [0, 0, SENTENCE, 0, CLAUSE, CLAUSE, 0, LINE]
    assert break_strengths(doc).tolist() == expected


def test_a_sentence_ends_once():
    doc = NLP.make_doc("什么？！”。。）好”啊…")
    signs = "".join(chr(sign) if sign else "-" for sign in end_signs(doc))
    assert signs == "-------。---…"  # a quotation mark without a sentence is no end


def test_white_space_and_lines():
    doc = NLP.make_doc("南 京  市\u3000好\n\n长")
    assert [doc[i].text for i in before_space(doc).nonzero()[0]] == ["南", "京", " ", "\u3000", "\n\n"]
    assert [doc[i].text for i in line_ends(doc)] == ["\n\n"]


def test_an_empty_doc():
    doc = NLP.make_doc("")
    assert not len(break_strengths(doc)) and not len(end_signs(doc)) and not len(line_ends(doc))
