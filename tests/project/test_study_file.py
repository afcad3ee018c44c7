"""Studies: what they compare exists, and errors in them are reported."""

import pytest
from study_file import System, read_study


def test_the_studies_of_the_project(project_dir):
    files = sorted((project_dir / "studies").glob("*.yml"))
    assert files
    for file in files:
        study = read_study(file)
        assert study.systems and study.columns
        for system in study.systems.values():
            assert system.members or (project_dir.parent / "configs" / f"{system.config}.cfg").is_file()


@pytest.mark.parametrize(
    "text, fault",
    [
        ("description: x\ncolumns: {}\n", "systems: Field required"),
        ("description: x\ncolumns: {}\nsystems: {a: {title: A}}\n", "either a config or members"),
        ("description: x\ncolumns: {}\nsystems: {a: {title: A, config: flat, members: [b]}}\n", "either a config"),
        ("description: x\ncolumns: {}\nsystems: {a: {title: A, members: [b]}}\n", "'b', a member of 'a'"),
        ("description: x\ncolumns: {}\nsystems: {a: {title: A, config: flat, lexikon: b}}\n", "lexikon"),
        ("[", "not a study"),
    ],
)
def test_errors(tmp_path, capsys, text, fault):
    path = tmp_path / "study.yml"
    path.write_text(text, "utf8")
    with pytest.raises(SystemExit):
        read_study(path)
    assert fault in capsys.readouterr().out


def test_the_name_of_a_data_set_is_filled_in():
    system = System(title="x", config="flat", lexicon="lexicon/typed-{dataset}", arguments=["--a", "b-{dataset}.json"])
    filled = system.on("weibo")
    assert (filled.lexicon, filled.arguments) == ("lexicon/typed-weibo", ["--a", "b-weibo.json"])
    assert system.lexicon == "lexicon/typed-{dataset}" and System(title="x", config="flat").on("weibo").lexicon is None


def test_a_data_set_may_have_arguments_of_its_own():
    system = System(title="x", config="flat", arguments=["--a=1"], datasets={"msra": ["--a=2", "--b={dataset}"]})
    assert system.on("msra").arguments == ["--a=1", "--a=2", "--b=msra"] and system.on("weibo").arguments == ["--a=1"]
