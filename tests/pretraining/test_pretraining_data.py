"""Masking and sentence pairs together, against what the original script made of the same texts: exactly, where its
output is recorded (same generator of chance, same order of draws), and in the statistics of whole corpora.
"""

import json
import re
from pathlib import Path
from random import Random
from typing import Dict, List, NamedTuple

import numpy as np
import pytest
from tolerance import sampling_error
from transformers import BertTokenizerFast

from spacy_lexner.pretraining.masking import NO_WORD, MaskedPieces, Masking, mask_pieces, prediction_budget
from spacy_lexner.pretraining.sentence_pairs import SentencePair, sentence_pairs

Document = List[List[int]]


class Corpus(NamedTuple):
    documents: List[Document]  # wordpieces of sentences
    continues: List[bool]  # by wordpiece: written with ##
    cls_id: int
    sep_id: int
    mask_id: int


class Instance(NamedTuple):
    pieces: np.ndarray
    segments: List[int]
    masked: MaskedPieces
    pair: SentencePair


def synthetic_corpus(fixtures: Path) -> Corpus:
    documents = json.loads((fixtures / "bert_pretraining" / "synthetic_corpus.json").read_text("utf8"))["documents"]
    return Corpus(documents, [piece >= 405 for piece in range(505)], cls_id=2, sep_id=3, mask_id=4)


def weibo_corpus(data: Path, fixtures: Path, posts_per_document: int) -> Corpus:
    """Sentences of Weibo posts, by the recipe that the recorded statistics were made with."""
    tokenizer = BertTokenizerFast(str(fixtures / "bert_pretraining" / "vocab.txt"), do_lower_case=True)
    blocks = (data / "ner" / "weibo" / "train.conll").read_text("utf8").strip("\n").split("\n\n")
    posts: List[Document] = []
    n_sentences = 0
    for block in blocks:
        text = "".join(line.split()[0] for line in block.split("\n"))
        sentences = re.findall(r"[^。！？!?;；]+[。！？!?;；]*", text)
        ids = [tokenizer(sentence, add_special_tokens=False)["input_ids"] for sentence in sentences]
        posts.append([sentence for sentence in ids if sentence])
        n_sentences += len(sentences)
        if n_sentences >= 2000:
            break
    documents = [
        [sentence for post in posts[i : i + posts_per_document] for sentence in post]
        for i in range(0, len(posts), posts_per_document)
    ]
    pieces = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    return Corpus(
        [document for document in documents if document],
        [piece.startswith("##") for piece in pieces],
        tokenizer.cls_token_id,
        tokenizer.sep_token_id,
        tokenizer.mask_token_id,
    )


def word_numbers(pieces: np.ndarray, corpus: Corpus, *, whole_words: bool) -> np.ndarray:
    """Words by ##, with the original's quirk: a ## right after [SEP] belongs to the last word before it."""
    words, n = [], -1
    for piece in pieces.tolist():
        if piece in (corpus.cls_id, corpus.sep_id):
            words.append(NO_WORD)
        else:
            n += not (whole_words and n >= 0 and corpus.continues[piece])
            words.append(n)
    return np.array(words)


def make_instances(corpus: Corpus, params: Dict, seed: int) -> List[Instance]:
    """The original's loop: documents shuffled, cut and masked `dupe_factor` times, instances shuffled."""
    rng = Random(seed)
    documents = list(corpus.documents)
    rng.shuffle(documents)
    lengths = [[len(sentence) for sentence in document] for document in documents]
    flat = [[piece for sentence in document for piece in sentence] for document in documents]
    masking = Masking(
        "whole_word" if params["do_whole_word_mask"] else "piece",
        share=params["masked_lm_prob"],
        max_predictions=params["max_predictions_per_seq"],
    )
    instances = []
    for index in list(range(len(documents))) * params["dupe_factor"]:
        pairs = sentence_pairs(lengths, index, params["max_seq_length"], rng, short_share=params["short_seq_prob"])
        for pair in pairs:
            a, b = (flat[s.document][s.start : s.end] for s in (pair.a, pair.b))
            pieces = np.array([corpus.cls_id, *a, corpus.sep_id, *b, corpus.sep_id])
            words = word_numbers(pieces, corpus, whole_words=params["do_whole_word_mask"])
            masked = mask_pieces(pieces, words, masking, rng, mask_id=corpus.mask_id, vocab_size=len(corpus.continues))
            instances.append(Instance(pieces, [0] * (len(a) + 2) + [1] * (len(b) + 1), masked, pair))
    rng.shuffle(instances)
    return instances


CASES = [
    "weibo_20posts_128",
    "weibo_20posts_128_noshort",
    "weibo_20posts_128_allshort",
    "weibo_20posts_64_max10",
    "weibo_post_128",
    "weibo_20posts_128_wwm",
    "synthetic_128",
    "synthetic_128_wwm",
    "synthetic_32_wwm",
]


def statistics(instances: List[Instance], corpus: Corpus, params: Dict) -> Dict[str, float]:
    lengths = np.array([len(instance.pieces) for instance in instances])
    shown = np.concatenate([i.masked.input_ids[i.masked.positions] for i in instances])
    labels = np.concatenate([i.masked.labels for i in instances])
    masked, kept = shown == corpus.mask_id, shown == labels
    maximum = params["max_seq_length"]
    return {
        "n_instances": len(instances),
        "selected_over_all_tokens": len(labels) / lengths.sum(),
        "mask_frac": masked.mean(),
        "kept_frac": kept.mean(),
        "random_different_frac": (~masked & ~kept).mean(),
        "is_random_next": np.mean([i.pair.is_random for i in instances]),
        "len_mean": lengths.mean(),
        "len_eq_max": (lengths == maximum).mean(),
        "len_lt_half": (lengths < maximum / 2).mean(),
        "seg_a_mean": np.mean([i.pair.a.end - i.pair.a.start for i in instances]),
        "seg_b_mean": np.mean([i.pair.b.end - i.pair.b.start for i in instances]),
        "at_max_predictions": np.mean(
            [len(i.masked.positions) == params["max_predictions_per_seq"] for i in instances]
        ),
    }


@pytest.mark.parametrize("name", CASES)
def test_statistics_are_those_of_the_original(name, fixtures_dir, request):
    case = json.loads((fixtures_dir / "bert_pretraining" / "tolerances.json").read_text("utf8"))["per_case"][name]
    params = case["params"]
    if name.startswith("synthetic"):
        corpus = synthetic_corpus(fixtures_dir)
    else:
        data = request.getfixturevalue("data_dir")
        corpus = weibo_corpus(data, fixtures_dir, 1 if name.startswith("weibo_post_") else 20)
        assert sum(len(document) for document in corpus.documents) == 2000
    instances = make_instances(corpus, params, seed=99)
    found = statistics(instances, corpus, params)
    assert set(found) == set(case["metrics"])
    for metric, expected in case["metrics"].items():
        assert found[metric] == pytest.approx(expected["target"], abs=expected["tol"]), metric


@pytest.mark.parametrize("name", ["synthetic_128", "synthetic_128_wwm", "synthetic_32_wwm"])
def test_hard_properties_hold_in_every_instance(name, fixtures_dir):
    params = json.loads((fixtures_dir / "bert_pretraining" / "tolerances.json").read_text("utf8"))["per_case"][name][
        "params"
    ]
    corpus = synthetic_corpus(fixtures_dir)
    masking = Masking(max_predictions=params["max_predictions_per_seq"])
    for instance in make_instances(corpus, params, seed=7):
        pieces, masked, pair = instance.pieces, instance.masked, instance.pair
        budget = prediction_budget(len(pieces), masking)
        assert len(masked.positions) <= budget
        if not params["do_whole_word_mask"]:
            assert len(masked.positions) == budget
        assert not set(pieces[masked.positions].tolist()) & {corpus.cls_id, corpus.sep_id}
        assert (np.diff(masked.positions) > 0).all()
        assert (masked.labels == pieces[masked.positions]).all()
        unmasked = np.delete(np.arange(len(pieces)), masked.positions)
        assert (masked.input_ids[unmasked] == pieces[unmasked]).all()
        assert len(pieces) <= params["max_seq_length"]
        assert pair.a.start < pair.a.end and pair.b.start < pair.b.end
        if pair.is_random:
            assert pair.b.document != pair.a.document
        else:
            assert pair.b.document == pair.a.document
            assert pair.b.start >= pair.a.end


@pytest.mark.parametrize("whole_word", [False, True])
def test_the_recorded_instances_come_out_exactly(whole_word, fixtures_dir):
    recorded = json.loads((fixtures_dir / "bert_pretraining" / "exact_runs.json").read_text("utf8"))
    (run,) = [run for run in recorded["create_training_instances"] if run["whole_word"] == whole_word]
    params = {
        "max_seq_length": 128,
        "max_predictions_per_seq": 20,
        "do_whole_word_mask": whole_word,
        "dupe_factor": 1,
        "short_seq_prob": 0.1,
        "masked_lm_prob": 0.15,
    }
    instances = make_instances(synthetic_corpus(fixtures_dir), params, seed=12345)
    assert len(instances) == run["n"]
    for instance, expected in zip(instances, run["first"]):
        assert instance.masked.input_ids.tolist() == expected["tokens"]
        assert instance.segments == expected["segment_ids"]
        assert instance.masked.positions.tolist() == expected["positions"]
        assert instance.masked.labels.tolist() == expected["labels"]
        assert instance.pair.is_random == expected["is_random_next"]


def test_the_recorded_maskings_come_out_exactly(fixtures_dir):
    recorded = json.loads((fixtures_dir / "bert_pretraining" / "exact_runs.json").read_text("utf8"))
    corpus = synthetic_corpus(fixtures_dir)
    for run in recorded["create_masked_lm_predictions"]:
        pieces = np.array(run["tokens"])
        words = word_numbers(pieces, corpus, whole_words=run["whole_word"])
        masking = Masking(
            "whole_word" if run["whole_word"] else "piece", max_predictions=run["max_predictions_per_seq"]
        )
        masked = mask_pieces(pieces, words, masking, Random(run["rng_seed"]), mask_id=4, vocab_size=505)
        assert masked.input_ids.tolist() == run["output"]
        assert masked.positions.tolist() == run["positions"]
        assert masked.labels.tolist() == run["labels"]


def test_the_recorded_quirks_are_reproduced(fixtures_dir):
    """A ## after [SEP] belongs to the word before it, and a short text of long words has nothing to predict."""
    quirks = json.loads((fixtures_dir / "bert_pretraining" / "tolerances.json").read_text("utf8"))["quirk_cases"]
    for quirk in quirks:
        ids = {"[CLS]": 2, "[SEP]": 3}
        pieces = np.array([ids.get(t, 405 + i if t.startswith("##") else 5 + i) for i, t in enumerate(quirk["tokens"])])
        corpus = Corpus([], [piece >= 405 for piece in range(505)], cls_id=2, sep_id=3, mask_id=4)
        words = word_numbers(pieces, corpus, whole_words=True)
        masking = Masking("whole_word", share=quirk["masked_lm_prob"])
        assert prediction_budget(len(pieces), masking) == quirk["num_to_predict"]
        seen = {
            tuple(mask_pieces(pieces, words, masking, Random(seed), mask_id=4, vocab_size=505).positions.tolist())
            for seed in range(400)
        }
        key = next(key for key in quirk if key.startswith("selections_seen"))
        assert seen == {tuple(selection) for selection in quirk[key]}


def test_ngram_runs_are_those_of_albert(fixtures_dir):
    """Lengths of the runs of masked pieces, for n-grams up to 3 with p(n) proportional to 1/n."""
    recorded = json.loads((fixtures_dir / "bert_pretraining" / "stats_ngram_and_transformers.json").read_text("utf8"))[
        "albert_ngram"
    ]
    corpus = synthetic_corpus(fixtures_dir)
    flat = [piece for document in corpus.documents for sentence in document for piece in sentence]
    for case in recorded["cases"]:
        shares = [1 / n for n in range(1, case["ngram"] + 1)]
        shares = shares if case["favor_shorter"] else shares[::-1]
        runs: List[int] = []
        n_selected = n_pieces = n_masked = 0
        rng = Random(1)
        for i in range(case["n_sequences"]):
            at = i * 125 % (len(flat) - 125)
            pieces = np.array([2, *flat[at : at + 60], 3, *flat[at + 60 : at + 125], 3])
            words = word_numbers(pieces, corpus, whole_words=case["whole_word"])
            masking = Masking("ngram", max_predictions=20, ngram_shares=tuple(shares))
            masked = mask_pieces(pieces, words, masking, rng, mask_id=4, vocab_size=505)
            assert len(masked.positions) == prediction_budget(len(pieces), masking)
            runs += [len(run) for run in np.split(masked.positions, np.flatnonzero(np.diff(masked.positions) > 1) + 1)]
            n_selected += len(masked.positions)
            n_pieces += len(pieces)
            n_masked += (masked.input_ids[masked.positions] == 4).sum()
        assert n_selected / n_pieces == pytest.approx(case["selected_over_all"], abs=1 / n_selected)
        # Both are samples of the same size.
        mask = case["mask"]
        assert n_masked / n_selected == pytest.approx(mask, abs=2**0.5 * sampling_error(mask, n_selected))
        n_runs = len(runs)
        assert np.mean(runs) == pytest.approx(case["mean_run"], abs=2**0.5 * 4 * np.std(runs) / n_runs**0.5)
        for length, share in case["maximal_run_length_distribution"].items():
            found = np.mean(np.array(runs) == int(length))
            assert found == pytest.approx(share, abs=2**0.5 * sampling_error(share, n_runs))
