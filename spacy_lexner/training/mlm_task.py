"""The masked language model as a task of `spacy pretrain`: from Docs to what a LEBERT reads and has to predict."""

from dataclasses import dataclass
from random import Random
from typing import Any, Dict, List, Optional, Sequence, cast

import numpy as np
import torch
from spacy.tokens import Doc
from thinc.api import Model

from ..layers.candidates import find_candidates, token_spans
from ..layers.lebert import place_candidates
from ..layers.lebert_batches import pad_windows
from ..layers.lexicon_node import DocCandidates
from ..layers.padding import batch_by_padding
from ..layers.piece_encoder import N_SPECIAL, piece_borders, shim_of, wordpieces_of
from ..layers.windows import Windows
from ..layers.wordpieces import Wordpieces
from ..lexicon.lexicon import Lexicon
from ..lexicon.matcher import Matcher, MatchOptions
from ..modules.bert_shaped import max_length
from ..modules.lebert import LEBERT, LEBERTBatch
from ..modules.pretraining_heads import FIRST, MASKED
from .masked_docs import WORD_SOURCES, even_windows, hide_masked, mask_docs, word_numbers
from .masking import Masking, check_masking
from .paired_docs import UNLABELLED, PairedDoc, pair_docs, separator_pieces
from .pretraining_objective import PretrainingBatch, PretrainingTask, join
from .sentence_pairs import DEFAULT_SHORT_SHARE, MIN_LENGTH

MAX_UNKNOWN = 0.5


@dataclass(frozen=True)
class MLMOptions:
    """The settings of the task; see `create_pretrain_mlm`."""

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
            raise ValueError(f"words is {self.words!r}. Known: {', '.join(WORD_SOURCES)}.")
        if not 0 <= self.short_share <= 1:
            raise ValueError(f"short_share is {self.short_share}: it must lie between 0 and 1.")
        if self.max_length is not None and self.max_length < MIN_LENGTH:
            raise ValueError(f"max_length is {self.max_length}: a sequence has at least {MIN_LENGTH} wordpieces.")


class MLMTask(PretrainingTask):
    """Masks the Docs of a batch, cut into windows or into pairs of segments."""

    name = "pretrain_mlm"

    def __init__(self, options: MLMOptions) -> None:
        """Create the task.

        options (MLMOptions): The settings.
        """
        self.options = options
        self.rng = Random(options.seed)
        self._matcher: Optional[Matcher] = None
        self._vocabulary_checked = False

    def check(self, node: Model) -> None:
        encoder: Any = shim_of(node).module.encoder
        kind, config = encoder.config.model_type, encoder.config
        width = encoder.get_input_embeddings().weight.shape[1]
        if width != config.hidden_size:
            raise ValueError(
                f"The wordpiece embeddings of this {kind!r} have {width} dimensions, its output {config.hidden_size}: "
                "the decoder cannot be tied to them. Choose an encoder in which they are equal."
            )
        if self.options.next_sentence and getattr(config, "type_vocab_size", 0) < 2:
            raise ValueError(f"A {kind!r} of this config knows no second segment: set next_sentence = false.")
        limit, wanted = max_length(encoder), self.options.max_length
        if wanted is not None and wanted > limit:
            raise ValueError(f"max_length is {wanted}, but the encoder reads at most {limit} wordpieces at once.")
        from_lexicon = self.options.words == "lexicon" and self.options.masking.unit != "piece"
        if from_lexicon and not node.layers and self.options.lexicon is None:
            raise ValueError(
                'words = "lexicon" needs a lexicon: name the folder of one (`lexicon` of the objective), or pretrain '
                "an encoder with adapters, which has one."
            )

    def head_settings(self, module: LEBERT) -> Dict[str, Any]:
        return {"next_sentence": self.options.next_sentence}

    def text_model(self, module: LEBERT) -> Any:
        return module.encoder

    def prepare(self, node: Model, docs: Sequence[Doc]) -> PretrainingBatch:
        shim, wordpieces = shim_of(node), wordpieces_of(node)
        module = cast(LEBERT, shim.module)
        length = self.options.max_length or max_length(module.encoder)
        pairs = self._pairs(docs, wordpieces, length)
        docs = list(docs) if pairs is None else [pair.doc for pair in pairs]
        ids, counts = wordpieces.encode(docs)
        self._check_vocabulary(ids, wordpieces)
        borders = piece_borders(docs, counts)
        separators = None if pairs is None else separator_pieces(pairs, counts)
        ids[np.zeros(0, "i8") if separators is None else separators] = wordpieces.sep
        candidates = node.layers[0].predict(docs) if node.layers else None
        words = word_numbers(docs, counts, self._whole_words(docs, candidates))
        windows = even_windows(np.diff(borders), length - N_SPECIAL)
        shown, selected = mask_docs(ids, words, windows, self.options.masking, self.rng, wordpieces)
        placed, table = None, None
        if candidates is not None:
            placed, table = place_candidates(node, docs, hide_masked(docs, candidates, counts, selected), counts)
        inputs, roles, labels, next_labels = [], [], [], []
        for index in batch_by_padding(windows.ends - windows.starts, node.attrs["options"].max_batch_tokens):
            chosen = Windows(*(field[index] for field in windows))
            batch, pieces = pad_windows(chosen, shown, wordpieces, placed, table, shim.device)
            masked = selected[pieces]
            kept = [batch.kept[torch.from_numpy(masked).to(shim.device)]]
            labels.append(ids[pieces[masked]])
            roles.append(np.full(len(labels[-1]), MASKED))
            if pairs is not None and separators is not None:
                batch = _with_segments(batch, (separators - borders[:-1])[index])
                answers = np.array([pairs[i].label for i in index])
                rows = np.flatnonzero(answers != UNLABELLED)
                kept.append(torch.from_numpy(rows * batch.input_ids.shape[1]).to(shim.device))
                next_labels.append(answers[rows])
                roles.append(np.full(len(rows), FIRST))
            inputs.append(batch._replace(kept=torch.cat(kept)))
        return PretrainingBatch(inputs, join(roles), join(labels), join(next_labels))

    def _pairs(self, docs: Sequence[Doc], wordpieces: Wordpieces, length: int) -> Optional[List[PairedDoc]]:
        if not self.options.next_sentence:
            return None
        _, counts = wordpieces.encode(docs)
        return pair_docs(docs, counts, length, self.rng, short_share=self.options.short_share)

    def _whole_words(
        self, docs: Sequence[Doc], candidates: Optional[Sequence[DocCandidates]]
    ) -> Optional[Sequence[DocCandidates]]:
        """The lexicon words that cut the Docs into words; None where tokens are words."""
        if self.options.masking.unit == "piece" or self.options.words == "tokens":
            return None
        if self.options.lexicon is None:
            return candidates
        if self._matcher is None:
            self._matcher = Matcher(Lexicon.open(self.options.lexicon), MatchOptions())
        found = []
        for doc, words in zip(docs, find_candidates(self._matcher, docs)):
            first, last, keep = token_spans(doc, words)
            found.append(DocCandidates(first[keep], last[keep], words.hashes[keep], self._matcher.lexicon))
        return found

    def _check_vocabulary(self, ids: np.ndarray, wordpieces: Wordpieces) -> None:
        """A vocabulary made of another text, or of none, is the commonest way to pretrain in vain."""
        if self._vocabulary_checked or not len(ids):
            return
        unknown = float((ids == wordpieces.unk).mean())
        if unknown > MAX_UNKNOWN:
            raise ValueError(
                f"{unknown:.0%} of the first batch's wordpieces are unknown to the vocabulary of {len(wordpieces)} "
                "pieces: it was not made for this text. Set `vocab` of the encoder to the path of a vocab.txt."
            )
        self._vocabulary_checked = True


def _with_segments(batch: LEBERTBatch, separators: np.ndarray) -> LEBERTBatch:
    """Everything behind the separator, the last [SEP] as well, is the second segment."""
    columns = torch.arange(batch.input_ids.shape[1], device=batch.input_ids.device)
    begins = torch.from_numpy(separators + 2).to(columns.device)  # [CLS] stands before the first wordpiece
    return batch._replace(segments=((columns >= begins[:, None]) & batch.attention_mask).long())
