from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.scale.records import TextRecord
from spacy_lexner.scale.shards import cut_shards


@given(st.lists(st.integers(0, 30)), st.integers(1, 6), st.integers(1, 40), st.integers(1, 20))
def test_every_record_is_in_one_shard_and_every_text_in_one_batch(lengths, max_texts, max_characters, batch):
    records = [TextRecord(str(i), "字" * n, {}, None if n else "empty") for i, n in enumerate(lengths)]
    shards = list(cut_shards(iter(records), max_texts, max_characters))
    assert [record for shard in shards for record in shard.records] == records
    assert [shard.number for shard in shards] == list(range(len(shards)))
    for shard in shards:
        assert len(shard.records) <= max_texts
        assert (
            sum(len(record.text) for record in shard.records) <= max_characters
            or len(shard.records) == 1
            or (sum(bool(record.text) for record in shard.records) == 1)
        )
        batches = list(shard.batches(batch))
        assert [i for part in batches for i in part] == [i for i, record in enumerate(shard.records) if record.text]
        assert all(sum(len(shard.records[i].text) for i in part) <= batch or len(part) == 1 for part in batches)


def test_content_depends_on_texts_columns_and_places():
    def content(*arguments):
        [shard] = cut_shards([TextRecord(*arguments)], 1, 1)
        return shard.content()

    base = content("a:1", "南京", {"n": 1})
    assert content("a:1", "南京", {"n": 1}) == base
    assert (
        len({base, content("a:2", "南京", {"n": 1}), content("a:1", "南", {"n": 1}), content("a:1", "南京", {})}) == 4
    )
