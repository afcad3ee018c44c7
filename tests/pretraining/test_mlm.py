"""What the encoder sees of a batch, and what it has to predict."""

import numpy as np
import pytest
import torch
from spacy import util
from spacy.tokens import Doc
from spacy.training.pretrain import create_pretraining_model
from spacy.util import registry

from spacy_lexner.encoders.shared.wordpieces import load_wordpieces
from spacy_lexner.lexicon.entry import LexiconEntry
from spacy_lexner.lexicon.lexicon import Lexicon
from spacy_lexner.pretraining.heads import FIRST, MASKED
from spacy_lexner.pretraining.masked_task import MaskingOptions
from spacy_lexner.pretraining.masking import Masking, prediction_budget
from spacy_lexner.pretraining.mlm import MLMTask

TEXTS = ["南京市长江大桥很长。", "北京大学在北京。长江是中国的河流。", "河流"]
ALL_MASKED = Masking(mask_share=1.0, random_share=0.0)


@pytest.fixture
def encoder(pretraining_config):
    """The pipeline and the encoder's layer, initialised."""

    def make(overrides=None):
        nlp = util.load_model_from_config(pretraining_config(overrides))
        model = create_pretraining_model(nlp, registry.resolve(nlp.config.interpolate()["pretraining"]))
        return nlp, model.get_ref("node")

    return make


def wordpieces_of(node):
    return load_wordpieces(node.shims[0].settings["wordpieces"])


def rows(batch):
    """The pieces and the segments of each row of all padded batches."""
    for part in batch.inputs.args[0]:
        for i, mask in enumerate(part.attention_mask):
            yield part.input_ids[i][mask].tolist(), None if part.segments is None else part.segments[i][mask].tolist()


def document(nlp, *sentences):
    words = [character for sentence in sentences for character in sentence]
    starts = [i == 0 for sentence in sentences for i in range(len(sentence))]
    return Doc(nlp.vocab, words=words, spaces=[False] * len(words), sent_starts=starts)


def test_no_candidate_gives_a_masked_character_away(encoder):
    """Whatever was at a masked position, the encoder sees the same wordpieces, candidate words and vectors."""
    nlp, node = encoder()
    seen_words = hidden = 0
    for seed in range(20):
        task = MLMTask(MaskingOptions(ALL_MASKED._replace(share=0.2), seed=seed))
        batch = task.prepare(node, [nlp.make_doc(text) for text in TEXTS])
        pieces = wordpieces_of(node)
        expected = [part.input_ids for part in batch.inputs.args[0]]
        seen_words += sum(int((part.slots > 0).sum()) for part in batch.inputs.args[0])
        for i, text in enumerate(TEXTS):
            for j, character in enumerate(text):
                other = [*TEXTS[:i], f"{text[:j]}大{text[j + 1 :]}", *TEXTS[i + 1 :]]
                again = MLMTask(MaskingOptions(ALL_MASKED._replace(share=0.2), seed=seed)).prepare(
                    node, [nlp.make_doc(changed) for changed in other]
                )
                if not all(torch.equal(a, b.input_ids) for a, b in zip(expected, again.inputs.args[0])):
                    continue  # not a masked position
                hidden += character != "大"
                for before, after in zip(batch.inputs.args[0], again.inputs.args[0]):
                    assert torch.equal(before.slots, after.slots)
                    for a, b in zip(before.words, after.words):
                        assert a is b is None or torch.equal(a, b)
        assert pieces.mask in expected[0]
    assert hidden > 50 and seen_words > 200


def test_candidates_are_hidden_by_masked_characters_and_by_no_others(encoder):
    nlp, node = encoder()
    text = "南京市长江大桥很长。"
    ((words, _),) = node.layers[0].predict([nlp.make_doc(text)])
    spans = set(zip(words.starts.tolist(), words.ends.tolist()))
    assert len(spans) == 6
    for seed in range(30):
        (batch,) = MLMTask(MaskingOptions(ALL_MASKED, seed=seed)).prepare(node, [nlp.make_doc(text)]).inputs.args[0]
        masked = {i for i, piece in enumerate(batch.input_ids[0, 1:-1].tolist()) if piece == wordpieces_of(node).mask}
        visible = {span for span in spans if not masked & set(range(*span))}
        for token in range(len(text)):
            n_words = sum(start <= token < end for start, end in visible)
            assert (batch.slots[0, token + 1] > 0).sum() == min(3, n_words)


def test_masked_positions_come_back_in_the_order_of_their_labels(encoder):
    nlp, node = encoder({"components.tok2vec.model.max_batch_tokens": 24})
    docs = [nlp.make_doc(text) for text in TEXTS * 2]
    wordpieces = wordpieces_of(node)
    batch = MLMTask(MaskingOptions(ALL_MASKED)).prepare(node, docs)
    assert len(batch.inputs.args[0]) > 1
    originals = {tuple(wordpieces.encode([doc])[0].tolist()) for doc in docs}
    labels = iter(batch.targets["labels"].tolist())
    for part in batch.inputs.args[0]:
        flat = part.input_ids.flatten()
        assert (flat[part.kept] == wordpieces.mask).all()
        flat[part.kept] = torch.tensor([next(labels) for _ in part.kept])
        for row, mask in zip(part.input_ids, part.attention_mask):
            assert tuple(row[mask].tolist()[1:-1]) in originals
    assert (batch.targets["roles"] == MASKED).all() and next(labels, None) is None


def test_every_epoch_masks_anew_and_the_seed_decides(encoder):
    nlp, node = encoder()
    task, twin = MLMTask(MaskingOptions(ALL_MASKED, seed=5)), MLMTask(MaskingOptions(ALL_MASKED, seed=5))
    docs = [nlp.make_doc(TEXTS[1])]
    epochs = [task.prepare(node, docs).inputs.args[0][0].input_ids.tolist() for _ in range(4)]
    assert len({str(epoch) for epoch in epochs}) > 1
    assert epochs == [twin.prepare(node, docs).inputs.args[0][0].input_ids.tolist() for _ in range(4)]


def test_whole_words_are_the_tokens_of_the_doc(encoder):
    nlp, node = encoder({"components.tok2vec.model.adapter_layers": []})
    words = ["南京市", "长江大桥", "很", "长", "。"] * 5
    doc = Doc(nlp.vocab, words=words, spaces=[False] * len(words))
    mask = wordpieces_of(node).mask
    for seed in range(20):
        options = MaskingOptions(ALL_MASKED._replace(unit="whole_word"), seed=seed)
        shown = MLMTask(options).prepare(node, [doc]).inputs.args[0][0].input_ids[0, 1:-1].tolist()
        at = 0
        for word in words:
            assert len({piece == mask for piece in shown[at : at + len(word)]}) == 1
            at += len(word)


@pytest.mark.parametrize("linked", [True, False])
def test_whole_words_are_the_longest_of_the_lexicon(encoder, tmp_path, linked):
    """The encoder's lexicon, or one from a folder if the encoder has none."""
    Lexicon.from_entries([LexiconEntry(word) for word in ("南京市", "长江", "长江大桥")]).save(tmp_path / "words")
    nlp, node = encoder({} if linked else {"components.tok2vec.model.adapter_layers": []})
    masking = ALL_MASKED._replace(unit="whole_word", share=0.3)
    lexicon = None if linked else str(tmp_path / "words")
    docs = [nlp.make_doc("南京市长江大桥很长。" * 3)]
    mask, seen = wordpieces_of(node).mask, set()
    for seed in range(20):
        task = MLMTask(MaskingOptions(masking, words="lexicon", lexicon=lexicon, seed=seed))
        shown = np.array(task.prepare(node, docs).inputs.args[0][0].input_ids[0, 1:-1].tolist()) == mask
        for start in range(0, 30, 10):
            for begin, end in ((0, 3), (3, 7)):
                assert len(set(shown[start + begin : start + end].tolist())) == 1
                seen.add(bool(shown[start + begin]))
    assert seen == {True, False}


def test_long_docs_are_cut_evenly_and_every_piece_is_read_once(encoder):
    nlp, node = encoder()
    text = "南京市长江大桥很长。" * 7
    batch = MLMTask(MaskingOptions(ALL_MASKED, max_length=32)).prepare(node, [nlp.make_doc(text)])
    lengths = [len(pieces) for pieces, _ in rows(batch)]
    assert sum(lengths) == 70 + 2 * 3 and max(lengths) - min(lengths) <= 1 and max(lengths) <= 32
    budget = sum(prediction_budget(length, ALL_MASKED) for length in lengths)
    assert len(batch.targets["labels"]) == budget


def test_white_space_is_never_predicted(encoder):
    nlp, node = encoder()
    words = ["南", "  ", "京", "\n", "市", "\t"] * 6
    doc = Doc(nlp.vocab, words=words, spaces=[False] * len(words))
    wordpieces = wordpieces_of(node)
    for seed in range(10):
        batch = MLMTask(MaskingOptions(ALL_MASKED._replace(share=0.4), seed=seed)).prepare(node, [doc])
        assert wordpieces.unk not in batch.targets["labels"]


def test_pairs_have_separators_segments_and_labels(encoder):
    nlp, node = encoder()
    wordpieces = wordpieces_of(node)
    docs = [
        document(nlp, "南京市长江大桥很长。", "大桥在南京。", "市长来了。"),
        document(nlp, "北京大学在北京。", "大学很大。"),
    ]
    seen = set()
    for seed in range(20):
        options = MaskingOptions(Masking(), next_sentence=True, max_length=20, seed=seed)
        batch = MLMTask(options).prepare(node, docs)
        assert (
            (batch.targets["roles"] == FIRST).sum()
            == len(batch.targets["next_labels"])
            == sum(len(p.input_ids) for p in batch.inputs.args[0])
        )
        seen |= set(batch.targets["next_labels"].tolist())
        at = 0
        for part in batch.inputs.args[0]:
            kept = part.kept[torch.from_numpy(batch.targets["roles"][at : at + len(part.kept)]) == FIRST]
            assert (kept % part.input_ids.shape[1] == 0).all() and len(kept) == len(part.input_ids)
            at += len(part.kept)
        for pieces, segments in rows(batch):
            assert len(pieces) <= 20
            middle = segments.index(1) - 1
            assert pieces[0] == wordpieces.cls and pieces[middle] == pieces[-1] == wordpieces.sep
            assert segments == [0] * (middle + 1) + [1] * (len(pieces) - middle - 1)
    assert seen == {0, 1}


def test_candidates_do_not_run_over_the_separator(encoder):
    nlp, node = encoder()
    docs = [document(nlp, "在长"), document(nlp, "江大")]
    for seed in range(20):
        options = MaskingOptions(Masking(share=0.01), next_sentence=True, seed=seed)
        for part in MLMTask(options).prepare(node, docs).inputs.args[0]:
            assert not part.slots.any()


def test_a_random_partner_from_the_same_document_has_no_label(encoder):
    nlp, node = encoder()
    docs = [document(nlp, "南京市长江大桥很长。")]
    batch = MLMTask(MaskingOptions(Masking(), next_sentence=True)).prepare(node, docs)
    assert len(batch.targets["next_labels"]) == 0 and not (batch.targets["roles"] == FIRST).any()
    assert len(batch.targets["labels"]) > 0


def test_documents_of_one_sentence_get_random_partners(encoder):
    nlp, node = encoder()
    docs = [document(nlp, "南京市长江大桥很长。"), document(nlp, "北京大学在北京。"), document(nlp, "河流很长。")]
    batch = MLMTask(MaskingOptions(Masking(), next_sentence=True)).prepare(node, docs)
    assert batch.targets["next_labels"].tolist() == [1, 1, 1]
