"""Registered readers `(nlp) -> Lexicon`, for `[initialize.components.lex_matcher.lexicon]`.

A registered reader takes the settings of a function that opens a stream of entries, and those of the lexicon built from
them (`build_lexicon`). `lexicon_reader` joins the two signatures, so that each default stands in one place.
"""

from functools import update_wrapper
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, Callable, Dict, Optional, Sequence, Union

from spacy.kb import InMemoryLookupKB
from spacy.language import Language

from ..lexicon.build import Dtype
from ..lexicon.entry import EntryStream
from ..lexicon.errors import LexiconError
from ..lexicon.lexicon import Lexicon
from ..lexicon.normalization import Normalization
from ..lexicon.readers import (
    read_char_trie,
    read_entity_vectors,
    read_jieba_dictionary,
    read_knowledge_base,
    read_vocab_vectors,
    read_word_list,
    read_word_table,
    read_word_vectors,
)
from ..lexicon.readers.merged_stream import MergedStream

ReaderT = Callable[[Language], Lexicon]


def build_lexicon(
    entries: EntryStream,
    merge: bool,
    dtype: Dtype = "float32",
    normalise_case: bool = False,
    normalise_width: bool = False,
    script: Optional[str] = None,
    max_word_length: int = 64,
    strict: bool = False,
) -> Lexicon:
    """Build a lexicon as `Lexicon.from_entries` does.

    normalise_case (bool): Lower-case words and texts before they are compared.
    normalise_width (bool): Replace full-width forms in words and texts before they are compared.
    script (Optional[str]): "simplified": map traditional characters and variants in words and texts to simplified ones,
        one to one, before they are compared. It needs the package `opencc`.
    merge, dtype, max_word_length, strict: As in `Lexicon.from_entries`.
    """
    normalization = Normalization(case=normalise_case, width=normalise_width, script=script)
    return Lexicon.from_entries(
        entries, dtype=dtype, normalization=normalization, max_word_length=max_word_length, strict=strict, merge=merge
    )


BUILD_SETTINGS = dict(list(signature(build_lexicon).parameters.items())[2:])


class LexiconReader:
    """Opens a stream of entries and builds a lexicon from it when called. Can be pickled. A plain class: the config
    system would turn a dataclass or a named tuple into a dict or a tuple."""

    def __init__(self, read: Callable[..., EntryStream], settings: Dict[str, Any], merge: bool) -> None:
        """read (Callable[..., EntryStream]): Opens the stream; gets the pipeline if it has an argument `nlp`.
        settings (Dict[str, Any]): The settings of `read` and `build_lexicon`.
        merge (bool): Merge equal words, see `Lexicon.from_entries`.
        """
        self._read = read
        self._reading = {name: value for name, value in settings.items() if name not in BUILD_SETTINGS}
        self._building = {name: value for name, value in settings.items() if name in BUILD_SETTINGS}
        self._merge = merge

    def entries(self, nlp: Language) -> EntryStream:
        pipeline = {"nlp": nlp} if "nlp" in signature(self._read).parameters else {}
        return self._read(**pipeline, **self._reading)

    def __call__(self, nlp: Language) -> Lexicon:
        return build_lexicon(self.entries(nlp), self._merge, **self._building)


def lexicon_reader(
    read: Callable[..., EntryStream], *, merge: bool = False, omit: Sequence[str] = ()
) -> Callable[..., LexiconReader]:
    """Make a function to register. It takes the settings of `read`, which opens the stream of entries, and those of
    `build_lexicon` except for `omit`, which do not apply. For `merge` see `Lexicon.from_entries`."""
    parameters = [parameter for name, parameter in signature(read).parameters.items() if name != "nlp"]
    parameters += [parameter for name, parameter in BUILD_SETTINGS.items() if name not in omit]
    joined = signature(read).replace(
        parameters=[parameter.replace(kind=Parameter.POSITIONAL_OR_KEYWORD) for parameter in parameters],
        return_annotation=LexiconReader,
    )

    def create(*args: Any, **kwargs: Any) -> LexiconReader:
        bound = joined.bind(*args, **kwargs)
        bound.apply_defaults()
        return LexiconReader(read, bound.arguments, merge)

    update_wrapper(create, read)
    create.__signature__ = joined  # type: ignore[attr-defined]
    return create


class FolderReader:
    """Opens a saved lexicon, memory-mapped."""

    def __init__(self, path: Path, verify: bool) -> None:
        self._path = path
        self._verify = verify

    def entries(self, nlp: Language) -> EntryStream:
        return EntryStream(str(self._path), enumerate(self(nlp).entries(), 1))

    def __call__(self, nlp: Language) -> Lexicon:
        return Lexicon.open(self._path, verify=self._verify)


def create_folder_reader(path: Optional[Union[str, Path]], verify: bool = False) -> ReaderT:
    """Open a lexicon that was saved with `Lexicon.save`.

    path (Optional[Union[str, Path]]): The folder; None, as in configs before one is named, raises LexiconError.
    verify (bool): Also check the SHA-256 of every part, which reads all of it.
    """
    if path is None:
        raise LexiconError(
            "No lexicon folder is given. Give one, as in --paths.lexicon my_lexicon: `spacy lexner lexicon build "
            "my_lexicon words.txt` makes it, or an empty one with --empty instead of a file."
        )
    return FolderReader(Path(path), verify)


def _read_vocab(nlp: Language) -> EntryStream:
    """Read the word vectors of the pipeline's vocabulary (`[initialize] vectors`), see `read_vocab_vectors`."""
    return read_vocab_vectors(nlp.vocab)


def _read_kb(nlp: Language, path: Optional[Union[str, Path]] = None, component: str = "entity_linker") -> EntryStream:
    """Read the aliases of a knowledge base, with the ids and vectors of their entities, see `read_knowledge_base`.

    path (Optional[Union[str, Path]]): A knowledge base saved with `kb.to_disk`.
    component (str): Without a path, the component of the pipeline that holds the knowledge base.
    """
    if path is not None:
        if not Path(path).exists():
            raise LexiconError(f"{path}: no such knowledge base. Give a folder written by kb.to_disk.")
        kb = InMemoryLookupKB(nlp.vocab, entity_vector_length=1)
        kb.from_disk(path)
        return read_knowledge_base(kb)
    if component not in nlp.pipe_names:
        raise LexiconError(
            f"The pipeline has no component '{component}' with a knowledge base; it has "
            f"{', '.join(nlp.pipe_names) or 'none'}. Name another one, or give the path of a saved knowledge base."
        )
    return read_knowledge_base(getattr(nlp.get_pipe(component), "kb", None))


def _read_merged(nlp: Language, readers: Dict[str, Any]) -> EntryStream:
    """Read the entries of several readers. The first of equal words wins, with the labels of all and the first vector
    that any of them has.

    readers (Dict[str, Callable[[Language], Lexicon]]): The readers, as config blocks with any names, in order. Their
        own settings of `build_lexicon` have no effect.
    """
    return MergedStream(_entries_of(name, reader, nlp) for name, reader in readers.items())


def _entries_of(name: str, reader: Any, nlp: Language) -> EntryStream:
    if not callable(reader):
        raise LexiconError(
            f"'{name}' is not a lexicon reader: {reader!r:.80}. Each block under `readers` names one (@readers)."
        )
    return reader.entries(nlp) if hasattr(reader, "entries") else EntryStream(name, enumerate(reader(nlp).entries(), 1))


create_vectors_reader = lexicon_reader(read_word_vectors)
create_jieba_reader = lexicon_reader(read_jieba_dictionary, omit=["dtype"])
create_word_list_reader = lexicon_reader(read_word_list, omit=["dtype"])
create_table_reader = lexicon_reader(read_word_table)
create_vocab_reader = lexicon_reader(_read_vocab)
create_kb_reader = lexicon_reader(_read_kb)
create_entity_vectors_reader = lexicon_reader(read_entity_vectors)
create_pygtrie_reader = lexicon_reader(read_char_trie)
create_merged_reader = lexicon_reader(_read_merged, merge=True)
