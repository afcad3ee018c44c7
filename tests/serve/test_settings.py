import pytest

from spacy_lexner.serve.settings import Settings, read_token


def test_a_token_is_read_and_never_shown(tmp_path):
    (tmp_path / "token").write_text("0123456789abcdef\n")
    token = read_token(tmp_path / "token")
    assert token == "0123456789abcdef" and token not in repr(Settings("model", token=token))


@pytest.mark.parametrize("data", [b"", b"short", b"0123456789 abcdef", "令牌".encode() * 20, b"0123456789abcdef\xff"])
def test_what_is_no_token(tmp_path, data):
    (tmp_path / "token").write_bytes(data)
    with pytest.raises(ValueError, match="openssl rand"):
        read_token(tmp_path / "token")
