"""OntoNotes 4: its files, its four types, its splits; the files that others derive from it."""

import pytest
from convert_ontonotes import main, read_sentence, split_of
from spacy.tokens import DocBin
from spacy.vocab import Vocab

from spacy_lexner.formats.record import FormatError

GPE, PERSON = '<ENAMEX TYPE="GPE">', '<ENAMEX TYPE="PERSON">'
FILE = f"""<DOC DOCNO="nw/xinhua/00/chtb_0001@0001@xinhua@nw@ch@on">
{GPE}南京</ENAMEX> 的 {PERSON}张 三</ENAMEX> <ENAMEX TYPE="DATE">昨天</ENAMEX> 来 了 。
Q&amp;A ： 谁 ？

</DOC>
"""


@pytest.mark.parametrize(
    "line, text, names",
    [
        (f"{GPE}南京</ENAMEX> 很 美", "南京很美", [(0, 2, "GPE")]),
        (f"我 爱 {PERSON}张 三</ENAMEX>", "我爱张三", [(2, 4, "PER")]),
        ('<ENAMEX TYPE="ORG" S_OFF="1" E_OFF="2">原北大的人</ENAMEX>', "原北大的人", [(1, 3, "ORG")]),
        ('<ENAMEX TYPE="LOC">长江</ENAMEX>&lt;3 A B', "长江<3AB", [(0, 2, "LOC")]),
        ('<ENAMEX TYPE="NORP">汉族</ENAMEX>', "汉族", []),
    ],
)
def test_a_sentence(line, text, names):
    assert read_sentence(line) == (text, names)


@pytest.mark.parametrize(
    "line", ["<ENAMEX>南京</ENAMEX>", f"{GPE}南京", "南京</ENAMEX>", f"{GPE}南{GPE}京</ENAMEX></ENAMEX>"]
)
def test_broken_names(line):
    with pytest.raises(FormatError, match="南"):
        read_sentence(line)


@pytest.mark.parametrize("offset", ['S_OFF="x"', 'E_OFF="-1"', 'S_OFF=""'])
def test_broken_offsets(offset):
    with pytest.raises(FormatError, match=offset):
        read_sentence(f'<ENAMEX TYPE="ORG" {offset}>北大</ENAMEX>')


def test_the_splits_of_the_papers():
    numbers = {1: "dev", 2: "test", 325: "dev", 326: "train", 1000: "train", 1001: "dev", 1078: "test", 1079: "train"}
    assert {number: split_of(f"chtb_{number:04}.name") for number in numbers} == numbers
    assert split_of("ch_cctv_0001.name") == "train"


def write(folder, number, text=FILE, language="chinese"):
    place = folder / "data" / "files" / "data" / language / "annotations" / "nw" / f"chtb_{number:04}.name"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(text if isinstance(text, bytes) else text.encode())


def read(corpus):
    return {
        split: list(DocBin().from_disk(corpus / "ontonotes" / f"{split}.spacy").get_docs(Vocab()))
        for split in ("train", "dev", "test")
    }


def test_the_release(tmp_path, capsys):
    for number in (1, 2, 400, 401):
        write(tmp_path, number)
    write(tmp_path, 402, language="english")
    main(str(tmp_path), tmp_path / "corpus")
    docs = read(tmp_path / "corpus")
    assert {split: len(each) for split, each in docs.items()} == {"train": 4, "dev": 2, "test": 2}
    first, second = docs["dev"]
    assert first.text == "南京的张三昨天来了。" and second.text == "Q&A：谁？"
    assert [(ent.text, ent.label_) for ent in first.ents] == [("南京", "GPE"), ("张三", "PER")]
    assert "in the papers: 15.7 k" in capsys.readouterr().out


def test_a_byte_order_mark_is_no_text(tmp_path):
    for number in (1, 2, 400):
        write(tmp_path, number, "\ufeff" + FILE)
    main(str(tmp_path), tmp_path / "corpus")
    assert [[doc.text[:2] for doc in docs] for docs in read(tmp_path / "corpus").values()] == [["南京", "Q&"]] * 3


def test_the_release_may_be_below_a_folder_named_like_a_language(tmp_path):
    release = tmp_path / "english" / "ontonotes"
    for number in (1, 2, 400):
        write(release, number)
        write(release, number + 2, language="arabic")
    main(str(release), tmp_path / "corpus")
    assert [len(docs) for docs in read(tmp_path / "corpus").values()] == [2, 2, 2]


def test_the_files_that_others_make_of_it(tmp_path):
    for split in ("train", "dev", "test"):
        (tmp_path / f"{split}.char.bmes").write_text("南 B-GPE\n京 E-GPE\n美 O\n\n", "utf8")
    main(str(tmp_path), tmp_path / "corpus")
    assert all([ent.label_ for ent in doc.ents] == ["GPE"] for [doc] in read(tmp_path / "corpus").values())


def test_without_a_folder_it_is_left_out(tmp_path, capsys):
    main("", tmp_path)
    assert not (tmp_path / "ontonotes").exists() and "LDC2011T03" in capsys.readouterr().out


def test_a_misspelt_folder(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(str(tmp_path / "typo"), tmp_path / "corpus")
    printed = capsys.readouterr().out
    assert str(tmp_path / "typo") in printed and "--vars.ontonotes FOLDER" in printed


@pytest.mark.parametrize(
    "text, message",
    [
        (FILE, "no texts for dev, test"),
        (f"{GPE}南京", "chtb_0400.name, line 1"),
        ('\n<ENAMEX TYPE="ORG" S_OFF="x">北大</ENAMEX>', "chtb_0400.name, line 2"),
        (FILE.encode("gb18030"), "chtb_0400.name: byte"),
    ],
)
def test_errors_name_the_file_or_what_is_missing(tmp_path, capsys, text, message):
    write(tmp_path, 400, text)
    with pytest.raises(SystemExit):
        main(str(tmp_path), tmp_path / "corpus")
    assert message in capsys.readouterr().out
