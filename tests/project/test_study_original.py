import gzip

from study_original import read_conll, read_spans, to_bmes, write_files


def test_only_well_formed_spans_count():
    assert read_spans(["B-ORG", "M-ORG", "E-ORG", "O", "S-LOC"]) == {(0, 2, "ORG"), (4, 4, "LOC")}
    assert read_spans(["b-org", "e-org"]) == {(0, 1, "ORG")}
    for broken in (["B-ORG", "O", "E-ORG"], ["M-ORG", "E-ORG"], ["B-ORG", "E-LOC"], ["B-ORG", "M-ORG"], ["E-ORG"]):
        assert read_spans(broken) == set()
    assert read_spans(["B-ORG", "B-ORG", "E-ORG", "E-ORG"]) == {(1, 2, "ORG")}


def test_tags_of_the_original():
    assert list(to_bmes(["C B-T", "# I-T", "I E-T", "", "I O"])) == ["C B-T", "# M-T", "I E-T", "", "I O"]


def test_files_of_the_original(tmp_path):
    for split in ("train", "dev", "test"):
        (tmp_path / f"{split}.conll").write_text("C B-T\n# I-T\n员 E-T\n\n人 O\n\n", encoding="utf8")
    for kind, keys in {"words": ["北", "北京"], "chars": ["北"], "bigrams": ["北京"]}.items():
        with gzip.open(tmp_path / f"{kind}_50d.vec.gz", "wt", encoding="utf8") as file:
            file.write("".join([f"{len(keys)} 1\n", *(f"{key} 0.5\n" for key in keys)]))
    folder = tmp_path / "made"
    folder.mkdir()
    write_files(folder, tmp_path, tmp_path)
    sentences = [columns for _, columns in read_conll(str(folder / "dev.char.bmes"))]
    assert sentences == [[["C", "#", "员"], ["B-T", "M-T", "E-T"]], [["人"], ["O"]]]
    assert (folder / "mix.vec").read_text(encoding="utf8") == "北京 0.5\n北 0.5\n"
    assert (folder / "words.vec").read_text(encoding="utf8") == "北京 0.5\n"
