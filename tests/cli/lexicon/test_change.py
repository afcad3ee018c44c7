import pytest

from spacy_lexner.lexicon import Lexicon, Normalization


def test_add(run, folder, tmp_path):
    (tmp_path / "more.txt").write_text("长江 7 ns\n")
    code, output = run("add", folder, "紫峰", "南京", "--label", "LOC", "--file", tmp_path / "more.txt")
    assert code == 0 and "2 words added, 1 changed" in output and "2 of the new words have no vector" in output
    lexicon = Lexicon.open(folder)
    assert len(lexicon) == 5
    assert (lexicon.get("南京").label, lexicon.get("南京").entity_id) == ("LOC", "Q16666")
    assert (lexicon.get("长江").weight, lexicon.get("长江").label) == (7, "ns")


def test_a_weight_of_1_is_written_and_nothing_else_changes(run, folder):
    before = Lexicon.open(folder).get("南京")
    assert run("add", folder, "南京", "紫峰", "--weight", "3")[0] == 0
    assert [Lexicon.open(folder).get(word).weight for word in ("南京", "紫峰")] == [3, 3]
    assert run("add", folder, "南京", "--label", "LOC")[0] == 0
    assert Lexicon.open(folder).get("南京").weight == 3
    code, output = run("add", folder, "南京", "长江", "--weight", "1")
    assert code == 0 and "1 words added, 1 changed" in output
    lexicon = Lexicon.open(folder)
    after = lexicon.get("南京")
    assert [lexicon.get(word).weight for word in ("南京", "长江", "紫峰")] == [1, 1, 3]
    assert (after.labels, after.entity_id) == (("LOC",), before.entity_id)
    assert after.vector.tolist() == before.vector.tolist()


def test_a_file_as_build_reads_it(run, folder, tmp_path):
    (tmp_path / "more.txt").write_text("".join(f"词{i}\n" for i in range(20)) + "坏\t词\n air max \n")
    version = Lexicon.open(folder).version
    code, output = run("add", folder, "--file", tmp_path / "more.txt", "--strict")
    assert code == 1 and "more.txt:21: white space" in output and Lexicon.open(folder).version == version
    code, output = run("add", folder, "--file", tmp_path / "more.txt", "--label", "shoe")
    assert code == 0 and "21 words added" in output and "1 entries left out: white space" in output
    assert "more.txt:21" in output and Lexicon.open(folder).get("air max").label == "shoe"
    (tmp_path / "more.txt").write_text("坏\t词\n好词\n")
    code, output = run("add", folder, "--file", tmp_path / "more.txt", "--format", "words")
    assert code == 1 and "1 of 2 entries would be left out" in output
    assert run("add", folder, "--file", tmp_path / "more.txt", "--format", "words", "--max-dropped", "1")[0] == 0
    assert "好词" in Lexicon.open(folder)


def test_a_typed_table_through_a_lexicon(run, folder, tmp_path):
    (tmp_path / "typed.tsv").write_text("南京\tCITY\n紫峰\tLOC\n")
    code, output = run("add", folder, "--file", tmp_path / "typed.tsv")
    assert code == 0 and "only the first column, the words, is read" in output
    assert run("build", tmp_path / "typed", tmp_path / "typed.tsv", "--label", "1")[0] == 0
    assert run("add", folder, "--file", tmp_path / "typed")[0] == 0
    entry = Lexicon.open(folder).get("南京")
    assert entry.label == "CITY" and entry.vector is not None and Lexicon.open(folder).get("紫峰").label == "LOC"


def test_composed_vectors(run, folder):
    code, output = run("add", folder, "南京大桥", "的", "--compose")
    assert code == 0 and "1 composed from shorter words" in output and "1 without any known part" in output
    lexicon = Lexicon.open(folder)
    assert lexicon.get("南京大桥").vector.tolist() == [2, 2] and lexicon.get("的").vector.tolist() == [0, 0]


def test_spellings_of_one_word_share_their_rules(run, tmp_path):
    Lexicon.from_entries([], normalization=Normalization(case=True)).save(tmp_path / "lexicon")
    (tmp_path / "rules.tsv").write_text("iPhone\tforce\tLOC\nIPHONE\tforbid\tPER\n", "utf8")
    code, output = run("add", tmp_path / "lexicon", "--rules", tmp_path / "rules.tsv")
    assert code == 0 and "1 words added" in output
    rules = Lexicon.open(tmp_path / "lexicon").get("iphone").rules
    assert [str(rule) for rule in rules] == ["forbid PER", "force LOC"]


def test_rules(run, folder, tmp_path):
    (tmp_path / "rules.tsv").write_text("南京\tforbid\n紫峰\tforce\tLOC\n大桥\thint\n", "utf8")
    code, output = run("add", folder, "--rules", tmp_path / "rules.tsv")
    assert code == 0 and "1 words added, 1 changed" in output
    lexicon = Lexicon.open(folder)
    rules = {word: [str(rule) for rule in lexicon.get(word).rules] for word in ("南京", "紫峰", "大桥")}
    assert rules == {"南京": ["forbid"], "紫峰": ["force LOC"], "大桥": []}
    assert lexicon.get("南京").entity_id == "Q16666" and lexicon.get("南京").vector is not None
    (tmp_path / "rules.tsv").write_text("南京\tmust\n", "utf8")
    code, output = run("add", folder, "--rules", tmp_path / "rules.tsv")
    assert code == 1 and "rules.tsv:1: the mode is 'must'" in output


def test_another_folder(run, folder, tmp_path):
    version = Lexicon.open(folder).version
    assert run("add", folder, "长江", "--output", tmp_path / "new")[0] == 0
    assert Lexicon.open(folder).version == version and "长江" in Lexicon.open(tmp_path / "new")
    code, output = run("add", folder, "长江", "--output", tmp_path / "new")
    assert code == 1 and "Replace it (--force)" in output
    assert run("remove", folder, "大桥", "--output", tmp_path / "new", "--force")[0] == 0
    assert "长江" not in Lexicon.open(tmp_path / "new") and "大桥" in Lexicon.open(folder)


def test_remove(run, folder, tmp_path):
    (tmp_path / "more.txt").write_text("大桥\n北京\n")
    code, output = run("remove", folder, "南京", "--file", tmp_path / "more.txt")
    assert code == 0 and "2 words removed" in output and "1 words were not in the lexicon 北京" in output
    assert list(Lexicon.open(folder)) == ["南京市"]


def test_options_of_words_that_are_not_given(run, folder, tmp_path):
    (tmp_path / "more.txt").write_text("长江\n")
    version = Lexicon.open(folder).version
    code, output = run("add", folder, "--file", tmp_path / "more.txt", "--weight", "3", "--entity-id", "Q1")
    assert code == 1 and "--weight, --entity-id: for the words given here" in output
    (tmp_path / "rules.tsv").write_text("长江\tforce\tLOC\n")
    code, output = run("add", folder, "--rules", tmp_path / "rules.tsv", "--label", "LOC")
    assert code == 1 and "--label: for the words given here" in output and Lexicon.open(folder).version == version


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["add"], "Give words to add"),
        (["remove"], "Give words to remove"),
        (["remove", "北京"], "None of the 1 words is in the lexicon: 北京"),
        (["add", "北\t京"], "'北\\t京' cannot be added: white space"),
    ],
)
def test_refused(run, folder, arguments, message):
    version = Lexicon.open(folder).version
    code, output = run(arguments[0], folder, *arguments[1:])
    assert code == 1 and message in output and Lexicon.open(folder).version == version


def test_nothing_to_compose_of(run, tmp_path):
    assert run("build", tmp_path / "empty", "--empty")[0] == 0
    code, output = run("add", tmp_path / "empty", "南京", "--compose")
    assert code == 1 and "has no vectors to compose others from" in output
