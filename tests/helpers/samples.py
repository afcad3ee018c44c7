"""Valid inputs of each kind, for fuzzing: annotated files, texts to annotate, lexicon sources, rules."""

import shutil
from itertools import islice
from pathlib import Path

from spacy_lexner.formats.read import list_inputs, read_records
from spacy_lexner.lexicon.readers import (
    read_jieba_dictionary,
    read_word_list,
    read_word_table,
    read_word_vectors,
)
from spacy_lexner.lexicon.readers.any_file import read_any

LINES = {  # one JSON object on each line
    "clue": ['{"text": "浙商银行信贷部", "label": {"company": {"浙商银行": [[0, 3]]}}}', '{"text": "无", "label": {}}'],
    "doccano": [
        '{"text": "😀我在南京", "label": [[4, 6, "GPE"]], "Comments": []}',
        '{"data": "南京", "entities": [{"start_offset": 0, "end_offset": 2, "label": "GPE"}]}',
    ],
    "prodigy": [
        '{"text": "我在南京", "tokens": [{"text": "我在", "start": 0, "end": 2, "id": 0, "ws": false}, '
        '{"text": "南京", "start": 2, "end": 4, "id": 1, "ws": false}], '
        '"spans": [{"start": 2, "end": 4, "label": "GPE"}], "answer": "accept"}',
        '{"text": "无", "answer": "reject"}',
    ],
}
LISTS = {  # one JSON value in a file
    "label-studio": [
        '[{"data": {"text": "我在南京"}, "annotations": [{"was_cancelled": false, "ground_truth": true, "result": '
        '[{"type": "labels", "value": {"start": 2, "end": 4, "text": "南京", "labels": ["GPE"]}}]}]}]',
        '[{"text": "我在南京", "label": [{"start": 2, "end": 4, "text": "南京", "labels": ["GPE"]}], "id": 1}]',
    ],
    "spacy-llm": [
        '[{"text": "我在南京", "entities": {"GPE": ["南京"]}}]',
        '[{"text": "我在南京", "spans": [{"text": "南京", "is_entity": true, "label": "GPE", "reason": "is a GPE"}]}]',
    ],
}
TEXTS = {
    "conll": [
        "我 O\n在 O\n南 B-GPE\n京 I-GPE\n\n好 S-X\n",
        "我0\tO\n南0\tB-GPE\n京0\tE-GPE\n",
        "-DOCSTART- O\n\n南 B\n京 I\n",
    ],
    "word-tags": ["南 B-NOUN\n京 E-NOUN\n好 S-ADJ\n", "南 B\n京 E\n"],
    "word-text": ["我 在 南京\nHello world 好\n"],
    "conllu": [
        "# text = 我在南京\n1\t我\t_\tPRON\tPN\t_\t_\t_\t_\tSpaceAfter=No\n2-3\t在南京\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "2\t在\t_\tADP\tP\t_\t_\t_\t_\tSpaceAfter=No\n3\t南京\t_\tPROPN\tNR\t_\t_\t_\t_\t_\n3.1\t_\t_\t_\t_\t_\t_\t_\t_\t_\n"
    ],
    "spacy-llm": ["- text: 我在南京\n  entities:\n    GPE:\n    - 南京\n", LISTS["spacy-llm"][0]],
}
TABLES = {
    "txt": ["我在南京\n\n好\n"],
    "jsonl": ['{"text": "我在南京", "id": 3}\n{"text": "好"}\n'],
    "csv": ['id,text\n1,我在南京\n2,"好,""的"\n'],
    "tsv": ["id\ttext\n1\t我在南京\n2\t好\n"],
}


VECTORS = ["南京 0.5 -1 2.5e-3\n北京 1 2 3\n上 海 1 2 3\n", "3 4\n南京 1 2 3 4\n北京 1 2 3 4\n上海 0 0 0 0\n"]
JIEBA = ["南京 3 ns\n云计算 5\n台 中\n大桥\n"]
TABLE = ['word,weight,label,vector\n南京,2,GPE,1 2 3\n"北,京",,GPE,\n', "南京\t2\tGPE\n北京\t\t\n"]
READERS = {
    "words": (read_word_list, ["南京\n北京\n# x\nNew York\n"]),
    "jieba": (read_jieba_dictionary, JIEBA),
    "vectors": (read_word_vectors, VECTORS),
    "table": (lambda path: read_word_table(path, weight=1, label=2, vector=3, header=False, delimiter=","), TABLE),
    "auto": (read_any, [*VECTORS, *JIEBA, *TABLE, "南京\n"]),
}


RULES = ["南京\tforce\tGPE\n北京\tprefer\tGPE\t2\n上海\n# x\n上海\tforbid\n大桥\thint\n"]


def write_input(folder: Path, format, data):
    """A file, or a brat folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    if format == "brat":
        (folder / "1.ann").write_bytes(data[0])
        (folder / "1.txt").write_bytes(data[1])
        return folder
    path = folder / ("input.yml" if format == "spacy-llm" and not data.lstrip().startswith((b"[", b"{")) else "input")
    path.write_bytes(data)
    return path


def read(path, format, options, report):
    [source] = list_inputs(path, format)
    return list(islice(read_records(source, format, options, report), 50))
