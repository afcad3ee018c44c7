import gzip

import pytest

from spacy_lexner.formats.detect import detect_format
from spacy_lexner.formats.record import FormatError, ReadOptions
from spacy_lexner.formats.source import Source


@pytest.fixture
def detect(tmp_path):
    def detect(text):
        (tmp_path / "file").write_text(text, "utf8")
        return detect_format(Source(tmp_path / "file"), ReadOptions())

    return detect


@pytest.mark.parametrize(
    "text, format",
    [
        ('\n{"text": "中"}\n', "clue"),
        ('{"text": "中", "label": {}}\n', "clue"),
        ('{"text": "中", "label": []}\n', "doccano"),
        ('{"text": "中", "entities": []}\n', "doccano"),
        ('{"text": "中", "entities": {}}\n', "spacy-llm"),
        ('[\n{"text": "中", "spans": [{"text": "中", "is_entity": true}]}\n]\n', "spacy-llm"),
        ('{"text": "中", "spans": []}\n', "prodigy"),
        ('{"text": "中", "answer": "accept"}\n', "prodigy"),
        ('{"text": "中", "label": "X", "spans": [{"start": 0}], "answer": "accept"}\n', "prodigy"),
        ('[{"data": {}}]\n', "label-studio"),
        ('[\n  {"data": {}}\n]\n', "label-studio"),
        ('[ {"data": {}} ]\n', "label-studio"),
        ('[{"text": "中", "annotation_id": 1}]\n', "label-studio"),
        ('[{"text": "中"}]\n', "clue"),
        ("[ O\n", "conll"),
        ("[] O\n", "conll"),
        ("中 O\n", "conll"),
        ("{ O\n", "conll"),
        ("{\tB-X\n", "conll"),
        ("# O\n1 O\n", "conll"),
        ("# text = 中\n\n1\t中\t_\tNOUN\tNN\t_\t0\troot\t_\t_\n", "conllu"),
        ("中国 人民\n", "conll"),
    ],
)
def test_formats(detect, text, format):
    assert detect(text) == format


@pytest.mark.parametrize("text", ['{\n"text": "中"\n}\n', '["中", {"entities": []}]\n', '{"text": "中"},\n'])
@pytest.mark.parametrize("name", ["file.json", "file.jsonl.gz"])
def test_other_json_is_not_taken_for_tags(tmp_path, text, name):
    data = text.encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    with pytest.raises(FormatError, match=r"expected a JSON object on each line, or a list of objects.* begins with '"):
        detect_format(Source(tmp_path / name), ReadOptions())


@pytest.mark.parametrize("first", ['"label": null', '"label": []', '"spans": []', '"id": 1'])
@pytest.mark.parametrize(
    "second, format",
    [
        ('"label": [[0, 1, "X"]]', "doccano"),
        ('"spans": [{"start": 0, "end": 1, "label": "X"}]', "prodigy"),
        ('"spans": [{"text": "国", "label": "X", "is_entity": true}]', "spacy-llm"),
        ('"label": {"X": {"国": [[0, 0]]}}', "clue"),
        ('"ents": [[0, 1, "X"]]', "clue"),
    ],
)
def test_the_first_object_that_tells_decides(detect, first, second, format):
    lines = f'{{"text": "中", {first}}}', f'{{"text": "国", {second}}}'
    assert detect("\n".join(lines)) == detect(f"[{', '.join(lines)}]") == format


@pytest.mark.parametrize(
    "text, message",
    [
        ("\n", "file: the file is empty"),
        ("[]\n", "file: the file has no text"),
        ("[{}, 3]", "file: item 2: expected an object, such as"),
        ('{"text": "中"}\n{"text"}', "file:2: not JSON"),
    ],
)
def test_errors(detect, text, message):
    with pytest.raises(FormatError, match=message):
        detect(text)


@pytest.mark.parametrize("name", ["file.yml", "file.YAML", "file.yaml.gz", "file.yml.GZ"])
def test_yaml_by_its_name(tmp_path, name):
    data = "- text: 南京\n  entities: {}\n".encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.lower().endswith("gz") else data)
    assert detect_format(Source(tmp_path / name), ReadOptions()) == "spacy-llm"


def test_what_convert_writes_is_no_input(tmp_path):
    (tmp_path / "train.spacy").write_bytes(b"x\x9c\xff")
    with pytest.raises(FormatError, match=r"train\.spacy: a \.spacy file is what convert writes"):
        detect_format(Source(tmp_path / "train.spacy"), ReadOptions())
