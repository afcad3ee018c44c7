"""`spacy-lexner.CharTokenizer.v1`: one token per character, in linear time."""

import re
import weakref
from typing import Any, Callable, Dict, Iterable, List, NoReturn, Optional

from spacy.language import Language
from spacy.scorer import Scorer
from spacy.tokens import Doc
from spacy.training import Example, validate_examples
from spacy.util import DummyTokenizer
from spacy.vocab import Vocab

from ..candidates.unit_docs import split_characters

LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def create_char_tokenizer() -> Callable[[Language], "CharTokenizer"]:
    """RETURNS (Callable[[Language], CharTokenizer]): The function `make_char_tokenizer`."""
    return make_char_tokenizer


def make_char_tokenizer(nlp: Language) -> "CharTokenizer":
    """RETURNS (CharTokenizer): A tokenizer that reports to the pipeline's error handler."""
    return CharTokenizer(nlp.vocab, nlp=nlp)


class CharTokenizer(DummyTokenizer):
    """Split a text into its characters: exactly the tokens of spaCy's own Chinese tokenizer with `segmenter = "char"`,
    which takes quadratic time.

    Every code point that is not white space is a token. One space after it becomes its `whitespace_`; the rest of a run
    of white space is one token. `doc.text` is always the text.
    """

    segmenter = "char"  # as `spacy.zh.ChineseTokenizer` calls it

    def __init__(self, vocab: Vocab, *, nlp: Optional[Language] = None) -> None:
        """vocab (Vocab): The vocabulary of the Docs.
        nlp (Optional[Language]): The pipeline, weakly referenced, whose error handler is called for texts that cannot
            be encoded. Without one, such a text raises UnicodeEncodeError.
        """
        self.vocab = vocab
        self._nlp = None if nlp is None else weakref.ref(nlp)

    def __call__(self, text: str) -> Doc:
        """RETURNS (Doc): The characters of a text. A text with a lone surrogate has no UTF-8 form and cannot become a
        Doc, so the pipeline's error handler is called. The default handler raises UnicodeEncodeError; if the handler
        returns, the Doc has U+FFFD for each surrogate, so that streams and offsets keep their lengths."""
        words, spaces = split_characters(text)
        try:
            return Doc(self.vocab, words=words, spaces=spaces)
        except UnicodeEncodeError:
            words, spaces = split_characters(LONE_SURROGATE.sub("\ufffd", text))
            doc = Doc(self.vocab, words=words, spaces=spaces)
            nlp = self._nlp() if self._nlp is not None else None
            handler = raise_error if nlp is None else nlp.default_error_handler
            handler("tokenizer", self, [doc], surrogate_error(text))
            return doc

    def score(self, examples: Iterable[Example]) -> Dict[str, Any]:
        """RETURNS (Dict[str, Any]): The scores of `Scorer.score_tokenization`."""
        examples = list(examples)
        validate_examples(examples, "CharTokenizer.score")
        return Scorer.score_tokenization(examples)

    def __getstate__(self) -> Dict[str, Any]:
        return {"vocab": self.vocab, "nlp": self._nlp() if self._nlp is not None else None}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__init__(state["vocab"], nlp=state["nlp"])  # type: ignore[misc]


def surrogate_error(text: str) -> UnicodeEncodeError:
    """Make the error for a text with a lone surrogate, with its position and the remedy."""
    match = LONE_SURROGATE.search(text)
    start, end = match.span() if match is not None else (0, len(text))
    reason = (
        "a lone surrogate is half of a character and not text; decode the source with the right encoding, "
        "or replace it: text.encode('utf-8', 'replace').decode('utf-8')"
    )
    return UnicodeEncodeError("utf-8", text, start, end, reason)


def raise_error(name: str, tokenizer: DummyTokenizer, docs: List[Doc], error: Exception) -> NoReturn:
    """The error handler for tokenizers without a pipeline."""
    raise error
