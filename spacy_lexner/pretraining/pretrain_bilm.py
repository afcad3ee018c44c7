"""`spacy-lexner.PretrainBiLM.v1`: ELMo's own pretraining, for `spacy pretrain`."""

from functools import partial
from typing import Any, Callable, Dict, Optional, Sequence, Tuple

from spacy.vocab import Vocab
from thinc.api import Model

from .bilm_log import BiLMLog
from .bilm_objective import BiLMObjective
from .word_vocabulary import WordVocabulary

# The sizes of the clusters grow about tenfold, as Grave et al. 2017 recommend.
DEFAULT_CUTOFFS: Tuple[int, ...] = (2000, 20000)


def create_pretrain_bilm(
    words: Optional[str] = None,
    max_words: int = 0,
    softmax: str = "full",
    n_samples: int = 8192,
    cutoffs: Sequence[int] = DEFAULT_CUTOFFS,
    dropout: float = 0.1,
    resumable: bool = True,
    log_every: int = 100,
    log_path: Optional[str] = None,
    progress_bar: bool = True,
    total_updates: int = 0,
) -> Callable[[Vocab, Model], Model]:
    """Create the objective: predict the next word, and the word before, from the last layer of either direction by one
    softmax (Peters et al. 2018). Begin and end of a Doc are words as well.

    words (Optional[str]): File of counted words, as `spacy lexner count-words` writes it with the tokenizer of the
        pipeline. Must be given.
    max_words (int): Most words of the file to predict; others are one unknown word. 0 for all.
    softmax (str): "full"; "sampled", by a log-uniform sample with correction, as in the original; "adaptive", with
        clusters of rare words.
    n_samples (int): Distinct words of a sample.
    cutoffs (Sequence[int]): Where the clusters of the adaptive softmax begin; those beyond the vocabulary are left out.
    dropout (float): Dropout of the language model's output.
    resumable (bool): Save the softmax, the moments of the optimiser and the state of chance together with the
        encoder, so that `--resume-path model7.bin` continues exactly, and `spacy lexner perplexity` knows the softmax.
    log_every (int): Updates between two lines of losses and perplexity; 0 for none.
    log_path (Optional[str]): A file that gets these as JSON lines.
    progress_bar (bool): Show a progress bar on a terminal.
    total_updates (int): Updates of the whole run, for the bar, if known.
    RETURNS (Callable[[Vocab, Model], Model]): Makes the objective of an encoder.
    """
    head = {"softmax": softmax, "n_samples": n_samples, "cutoffs": list(cutoffs), "dropout": dropout}
    log = {"every": log_every, "path": log_path, "progress_bar": progress_bar, "total": total_updates}
    return partial(build_objective, words=words, max_words=max_words, head=head, log=log, resumable=resumable)


def build_objective(
    vocab: Vocab,
    tok2vec: Model,
    *,
    words: Optional[str],
    max_words: int,
    head: Dict[str, Any],
    log: Dict[str, Any],
    resumable: bool,
) -> BiLMObjective:
    """Build the model that `spacy pretrain` trains.

    vocab (Vocab): Not used.
    tok2vec (Model[List[Doc], List[Floats2d]]): An ELMo, or a model with one in it.
    words (Optional[str]): File of counted words.
    max_words (int): Most words of it.
    head (Dict[str, Any]): Arguments of BiLMHead, without the sizes.
    log (Dict[str, Any]): Arguments of BiLMLog.
    resumable (bool): See `create_pretrain_bilm`.
    RETURNS (BiLMObjective): The model.
    """
    nodes = [node for node in tok2vec.walk() if node.name == "elmo"]
    if len(nodes) != 1:
        raise ValueError(
            f"spacy-lexner.PretrainBiLM.v1 pretrains spacy-lexner.ELMo.v1, but the model that [pretraining] component "
            f"and layer name ({tok2vec.name!r}) holds {len(nodes)} of them."
        )
    if words is None:
        raise ValueError(
            "There are no words to predict: set [pretraining.objective] words to a file that 'spacy lexner "
            "count-words' wrote with the tokenizer of this pipeline."
        )
    vocabulary = WordVocabulary.read(words, max_words)
    bilm_log = BiLMLog(sampled=head["softmax"] == "sampled", **log)
    return BiLMObjective(tok2vec, nodes[0], vocabulary, head, bilm_log, resumable=resumable)
