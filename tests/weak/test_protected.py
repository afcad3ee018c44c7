from spacy_lexner.weak.protected import ProtectedTexts, squeeze

LONG = "昨天下午我们在南京市长江大桥边上看见了很多从各地来的游客他们都在拍照留念。"
SHORT = "转发微博"


def found(texts, **options):
    protected = ProtectedTexts([("dev", LONG), ("dev", SHORT), ("test", " ")], **options)
    return protected.n_texts, [overlap.line for overlap in protected.find(texts)]


def test_short_texts_are_found_where_they_are_the_whole_text():
    texts = ["转发 微博\n", "请转发微博", "转发", LONG, f"前言{LONG}", ""]
    assert found(texts, equal=True) == (2, [1, 4, 5])
    assert found(texts) == (1, [4, 5])


def test_white_space_is_removed():
    assert squeeze(" 南京\u3000市\n长江 ") == "南京市长江"
