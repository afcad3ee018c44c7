"""The base of tasks with masked wordpieces: from Docs to sequences in which some wordpieces are to be predicted."""

from dataclasses import dataclass
from random import Random
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, TypeVar, cast

import numpy as np
import torch
from spacy.tokens import Doc
from thinc.api import ArgsKwargs, Model

from ..candidates.batch_words import BatchWords, DocWords, place_words
from ..candidates.lexicon_node import find_lexicon_node
from ..candidates.storage import find_candidates
from ..encoders.shared.bert_shaped import config_settings, max_length
from ..encoders.shared.shim import shim_of
from ..encoders.shared.windows import Windows, batch_by_padding
from ..encoders.shared.wordpiece_encoder import N_SPECIAL, piece_borders, wordpieces_of
from ..encoders.shared.wordpieces import Wordpieces
from ..lexicon.lexicon import Lexicon
from ..lexicon.matcher import Matcher, MatchOptions
from ..tensors.convert import numpy_of, tensor_of
from .heads import FIRST, MASKED, MENTION, build_pretraining_heads
from .masked_docs import WORD_SOURCES, even_windows, mask_docs, word_numbers
from .masking import Masking, check_masking
from .objective import PretrainingBatch, PretrainingTask
from .sentence_pairs import DEFAULT_SHORT_SHARE, MIN_LENGTH, UNLABELLED, PairedDoc, pair_docs, separator_pieces

MAX_UNKNOWN = 0.5
BatchT = TypeVar("BatchT", bound=Any)


@dataclass(frozen=True)
class MaskingOptions:
    """The settings of a task with masked wordpieces; see `create_pretrain_mlm`."""

    masking: Masking
    words: str = "tokens"
    lexicon: Optional[str] = None
    next_sentence: bool = False
    short_share: float = DEFAULT_SHORT_SHARE
    max_length: Optional[int] = None
    seed: int = 0

    def __post_init__(self) -> None:
        check_masking(self.masking)
        if self.words not in WORD_SOURCES:
            raise ValueError(f"words is {self.words!r}; expected one of {', '.join(WORD_SOURCES)}.")
        if not 0 <= self.short_share <= 1:
            raise ValueError(f"short_share is {self.short_share}; expected a number from 0 to 1.")
        if self.max_length is not None and self.max_length < MIN_LENGTH:
            raise ValueError(f"max_length is {self.max_length}; expected at least {MIN_LENGTH} wordpieces.")


class Sequences(NamedTuple):
    """The wordpieces of a batch, concatenated, and the sequences in which they are read."""

    docs: List[Doc]  # the Docs, or one Doc for each pair of segments
    pairs: Optional[List[PairedDoc]]  # None without next sentence prediction
    counts: np.ndarray  # int64[n_tokens], wordpieces of each token
    separators: np.ndarray  # int64[n_pairs], the position of [SEP] in each pair, from its first wordpiece
    ids: np.ndarray  # int64[n_pieces], the wordpieces
    shown: np.ndarray  # int64[n_pieces], the wordpieces as the encoder sees them, some masked
    selected: np.ndarray  # bool[n_pieces], the wordpieces to predict
    windows: Windows  # the sequences

    def batches(self, max_tokens: int) -> Iterator[Tuple[np.ndarray, Windows]]:
        """Batches of sequences of similar length, at most `max_tokens` with padding: their numbers and windows."""
        for index in batch_by_padding(self.windows.lengths + N_SPECIAL, max_tokens):
            yield index, self.windows.take(index)


class Targets(NamedTuple):
    """The targets that heads predict from the vectors that a padded batch keeps."""

    roles: np.ndarray  # int64[n], the role of each vector: MASKED, FIRST or MENTION
    labels: np.ndarray  # int64[m], the masked wordpieces
    next_labels: np.ndarray  # int64[p], IS_NEXT or IS_RANDOM for each pair
    entity_labels: np.ndarray  # int64[q], rows of the candidate entities


class MaskedTask(PretrainingTask):
    """Masks the Docs of a batch, cut into windows or into pairs of segments."""

    def __init__(self, options: MaskingOptions) -> None:
        self.options = options
        self.rng = Random(options.seed)
        self._matcher: Optional[Matcher] = None
        self._vocabulary_checked = False
        self.build_heads = build_pretraining_heads

    def tied_weight(self, module: Any) -> torch.nn.Parameter:
        return module.text_model.get_input_embeddings().weight

    def head_settings(self, node: Model) -> Dict[str, Any]:
        encoder = cast(Any, shim_of(node).module).text_model
        kind, config = encoder.config.model_type, encoder.config
        width = encoder.get_input_embeddings().weight.shape[1]
        if width != config.hidden_size:
            raise ValueError(
                f"The wordpiece embeddings of this {kind!r} have {width} dimensions, its output {config.hidden_size}: "
                "the decoder cannot be tied to them. Choose an encoder in which they are equal."
            )
        if self.options.next_sentence and getattr(config, "type_vocab_size", 0) < 2:
            raise ValueError(f"The {kind!r} with this config has no second segment: set next_sentence = false.")
        limit, wanted = max_length(encoder), self.options.max_length
        if wanted is not None and wanted > limit:
            raise ValueError(f"max_length is {wanted}; expected at most {limit} wordpieces, the encoder's limit.")
        from_lexicon = self.options.words == "lexicon" and self.options.masking.unit != "piece"
        if from_lexicon and not node.layers and self.options.lexicon is None:
            raise ValueError(
                'words = "lexicon" needs a lexicon: give its folder (`lexicon` of the objective), or pretrain an '
                "encoder with adapters, which has one."
            )
        return {"encoder": config_settings(config), "heads": {"next_sentence": self.options.next_sentence}}

    def read(self, node: Model, docs: Sequence[Doc]) -> Tuple[Sequences, Optional[List[DocWords]]]:
        """Cut Docs into sequences and mask them. Also returns the candidate words of the encoder's lexicon in them;
        None if it has no lexicon."""
        wordpieces = wordpieces_of(node)
        length = self.options.max_length or max_length(cast(Any, shim_of(node).module).text_model)
        pairs, separators = None, np.zeros(0, "i8")
        if self.options.next_sentence:
            _, counts = wordpieces.encode(docs)
            pairs = pair_docs(docs, counts, length, self.rng, short_share=self.options.short_share)
        read = list(docs) if pairs is None else [pair.doc for pair in pairs]
        ids, counts = wordpieces.encode(read)
        self._check_vocabulary(ids, wordpieces)
        borders = piece_borders(read, counts)
        if pairs is not None:
            places = separator_pieces(pairs, counts)
            ids[places] = wordpieces.sep
            separators = places - borders[:-1]
        lexicon = find_lexicon_node(node)
        found = None if lexicon is None else lexicon.predict(read)
        words = word_numbers(read, counts, self._whole_words(read, found))
        windows = even_windows(np.diff(borders), length - N_SPECIAL)
        shown, selected = mask_docs(ids, words, windows, self.options.masking, self.rng, wordpieces)
        return Sequences(read, pairs, counts, separators, ids, shown, selected, windows), found

    def target(
        self,
        sequences: Sequences,
        index: np.ndarray,
        batch: BatchT,
        pieces: np.ndarray,
        entities: Optional[np.ndarray] = None,
    ) -> Tuple[BatchT, Targets]:
        """Keep only the vectors of masked wordpieces, of mentions, and the first vector of each pair.

        sequences (Sequences): All sequences.
        index (numpy.ndarray): int64[B], the numbers of the sequences in the batch.
        batch (Any): The batch, with `input_ids`, `attention_mask`, `kept` and `segments`.
        pieces (numpy.ndarray): int64[n], the wordpiece of each vector that the batch keeps.
        entities (Optional[numpy.ndarray]): int64[n_pieces], the row of the entity at each wordpiece; 0 for none.
        RETURNS (Tuple[Any, Targets]): The batch, which keeps these vectors and has segments if it holds pairs, and the
            targets.
        """
        kept, masked = numpy_of(batch.kept), sequences.selected[pieces]
        firsts = next_labels = np.zeros(0, "i8")
        if sequences.pairs is not None:
            answers = np.array([sequences.pairs[i].label for i in index], "i8")
            rows = np.flatnonzero(answers != UNLABELLED)
            firsts, next_labels = rows * batch.input_ids.shape[1], answers[rows]
            batch = _with_segments(batch, sequences.separators[index])
        entity_labels = np.zeros(len(pieces), "i8") if entities is None else entities[pieces]
        mentioned = entity_labels > 0
        places = (kept[masked], firsts, kept[mentioned])
        roles = np.repeat([MASKED, FIRST, MENTION], [len(part) for part in places])
        batch = batch._replace(kept=tensor_of(np.concatenate(places), batch.kept.device))
        return batch, Targets(roles, sequences.ids[pieces[masked]], next_labels, entity_labels[mentioned])

    def _whole_words(self, docs: Sequence[Doc], found: Optional[Sequence[DocWords]]) -> Optional[BatchWords]:
        """The lexicon words, on tokens, that segment the Docs into words; None if tokens are words."""
        if self.options.masking.unit == "piece" or self.options.words == "tokens":
            return None
        if self.options.lexicon is not None:
            if self._matcher is None:
                self._matcher = Matcher(Lexicon.open(self.options.lexicon), MatchOptions())
            found = [(words, self._matcher.lexicon) for words in find_candidates(self._matcher, docs)]
        return None if found is None else place_words(docs, found, np.ones(sum(map(len, docs)), "i8"))

    def _check_vocabulary(self, ids: np.ndarray, wordpieces: Wordpieces) -> None:
        """Raise ValueError if most wordpieces of the first batch are unknown: the vocabulary was made for another
        text."""
        if self._vocabulary_checked or not len(ids):
            return
        unknown = float((ids == wordpieces.unk).mean())
        if unknown > MAX_UNKNOWN:
            raise ValueError(
                f"{unknown:.0%} of the first batch's wordpieces are unknown to the vocabulary of {len(wordpieces)} "
                "pieces: it was not made for this text. Set `vocab` of the encoder to the path of a vocab.txt."
            )
        self._vocabulary_checked = True


def collect(
    batches: List[Any], targets: List[Targets], candidates: Optional[torch.Tensor] = None
) -> Optional[PretrainingBatch]:
    """Join padded batches, their targets and the candidate entities' vectors; None if there is nothing to predict."""
    joined = Targets(*map(np.concatenate, zip(*targets))) if targets else None
    if joined is None or not len(joined.roles):
        return None
    return PretrainingBatch(ArgsKwargs((batches,), {}), {**joined._asdict(), "candidates": candidates})


def _with_segments(batch: BatchT, separators: np.ndarray) -> BatchT:
    """Mark the second segment of each pair: everything after the separator, including the last [SEP]."""
    columns = torch.arange(batch.input_ids.shape[1], device=batch.input_ids.device)
    begins = tensor_of(separators + 2, columns.device)  # [CLS] precedes the first wordpiece
    return batch._replace(segments=((columns >= begins[:, None]) & batch.attention_mask).long())
