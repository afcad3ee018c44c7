"""Wheels of tiny pipelines, built, installed into a fresh environment and run, all without a network."""

import package
import pytest
import release
from release import main, read_release
from trained_project import make_project

pytestmark = pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")  # spaCy's `package` leaves them open


@pytest.fixture
def project(tmp_path, monkeypatch):
    for module in (package, release):
        monkeypatch.setattr(module, "PROJECT", make_project(tmp_path) if module is package else tmp_path)
    return tmp_path


@pytest.mark.timeout(900)
def test_a_release(project, capsys):
    main("posts=weibo/flat words=udc/segmenter", project / "packages")
    wheels = sorted(path.name.split("-")[0] for path in (project / "packages" / "dist").glob("*.whl"))
    assert wheels == ["spacy_lexner", "zh_lexner_posts", "zh_lexner_words"]
    assert capsys.readouterr().out.count("installed into a fresh environment, gives the same results on") == 2


@pytest.mark.parametrize("text, message", [("posts", "NAME=DATASET/CONFIG"), ("a=msra/flat", "--vars.dataset msra")])
def test_errors(project, capsys, text, message):
    with pytest.raises(SystemExit):
        read_release(text)
    assert message in capsys.readouterr().out
