import sys

import pytest

from spacy_lexner.lexicon.errors import LexiconError
from spacy_lexner.lexicon.script import read_table

TABLE = read_table("simplified")
CHANGES = dict(zip(TABLE[::2], TABLE[1::2]))


@pytest.mark.parametrize(
    "written, simplified",
    [
        ("裏裡里", "里里里"),
        ("臺台颱", "台台台"),
        ("為爲说説說", "为为说说说"),
        ("峯羣牀啟啓", "峰群床启启"),
        ("衞敍粧", "卫叙妆"),  # Hong Kong
        ("苧薴苎", "苎苎苎"),  # a chain
        ("乾幹干後后發髮发", "干干干后后发发发"),  # several become one
        ("著着什么幺瞭", "著着什么幺瞭"),  # what simplified text tells apart stays apart
        ("\uf9fe\U0002f8a6", "茶慈"),  # compatibility ideographs
        ("iPhone，１００％。かな한국𠮷", "iPhone，１００％。かな한국𠮷"),
    ],
)
def test_what_characters_become(written, simplified):
    assert "".join(CHANGES.get(character, character) for character in written) == simplified


def test_no_character_is_both_changed_and_a_result():
    assert len(TABLE) == 2 * len(CHANGES) > 6000
    assert not CHANGES.keys() & set(CHANGES.values())


def test_an_unknown_script_names_the_known_ones():
    with pytest.raises(LexiconError, match="'traditional'; expected one of simplified"):
        read_table("traditional")


def test_without_the_package_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "opencc", None)
    with pytest.raises(LexiconError, match=r'pip install "spacy-lexner\[zh\]"'):
        read_table.__wrapped__("simplified")
