import json

import pytest

from spacy_lexner.encoders.shared.read_as import choose_normalization, load_normalization, save_normalization
from spacy_lexner.lexicon import Lexicon, Normalization

AS_LEXICON = Normalization(case=True, script="simplified")


@pytest.mark.parametrize(
    "read_as, expected",
    [("written", Normalization()), ("lexicon", AS_LEXICON), ("simplified", Normalization(script="simplified"))],
)
def test_each_choice(read_as, expected):
    lexicon = Lexicon.from_entries([], normalization=AS_LEXICON)
    assert choose_normalization(read_as, lexicon) == expected
    if read_as == "lexicon":
        with pytest.raises(ValueError, match=r'reads no words\. Choose "written" or "simplified"'):
            choose_normalization(read_as, None)
    else:
        assert choose_normalization(read_as, None) == expected


@pytest.mark.parametrize("normalization", [Normalization(), Normalization(width=True), AS_LEXICON])
def test_settings_of_a_module(normalization):
    settings = json.loads(json.dumps({"other": 1, **save_normalization(normalization)}))
    assert load_normalization(settings) == normalization
    assert len(settings) == (2 if any(normalization) else 1)  # models saved before have none
