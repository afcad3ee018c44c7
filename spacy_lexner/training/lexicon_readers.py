"""Registered readers that build the lexicon of a pipeline, for `[initialize.components.lex_matcher.lexicon]`."""

from functools import partial
from pathlib import Path
from typing import Any, Callable, Dict, Optional, Union

from spacy.kb import InMemoryLookupKB
from spacy.language import Language

from ..lexicon.errors import LexiconError
from ..lexicon.lexicon import Dtype
from ..lexicon.readers import (
    read_entity_vectors,
    read_jieba_dictionary,
    read_knowledge_base,
    read_vocab_vectors,
    read_word_list,
    read_word_table,
    read_word_vectors,
)
from ..lexicon.stream import EntryStream
from .lexicon_callables import BuildOptions, FolderReader, LexiconReader, MergedReader, ReaderT


def create_folder_reader(path: Union[str, Path], verify: bool = False) -> ReaderT:
    """Open a lexicon that was saved with `Lexicon.save`.

    path (Union[str, Path]): The folder.
    verify (bool): Also check the SHA-256 of every part, which reads all of it.
    RETURNS (Callable[[Language], Lexicon]): The reader.
    """
    return FolderReader(Path(path), verify)


def create_vectors_reader(
    path: Union[str, Path],
    limit: Optional[int] = None,
    encoding: str = "utf8",
    errors: str = "strict",
    dtype: Dtype = "float32",
    normalise_case: bool = False,
    normalise_width: bool = False,
    max_word_length: int = 64,
    strict: bool = False,
) -> ReaderT:
    """Read word vectors in the text format of word2vec and fastText, see `read_word_vectors`.

    path (Union[str, Path]): The file, plain or compressed (.gz, .bz2, .xz), with or without a header.
    limit (Optional[int]): Read so many rows.
    encoding (str): Encoding of the file.
    errors (str): What happens to bytes that make no sense in it: "strict", "replace" or "ignore".
    dtype (str): "float32" or "float16", how vectors are stored.
    normalise_case (bool): Compare words and texts in lower case.
    normalise_width (bool): Compare words and texts with full-width forms made ordinary.
    max_word_length (int): Longer words are skipped.
    strict (bool): Raise LexiconError for an entry that would be skipped.
    RETURNS (Callable[[Language], Lexicon]): The reader.
    """
    read = partial(_read_file, read_word_vectors, Path(path), limit=limit, encoding=encoding, errors=errors)
    return LexiconReader(read, BuildOptions(dtype, normalise_case, normalise_width, max_word_length, strict))


def create_jieba_reader(
    path: Union[str, Path],
    limit: Optional[int] = None,
    encoding: str = "utf8",
    errors: str = "strict",
    normalise_case: bool = False,
    normalise_width: bool = False,
    max_word_length: int = 64,
    strict: bool = False,
) -> ReaderT:
    """Read a dictionary of jieba: word, frequency, part of speech; see `read_jieba_dictionary`.

    path (Union[str, Path]): The file, plain or compressed (.gz, .bz2, .xz).
    limit (Optional[int]): Read so many words.
    encoding, errors, normalise_case, normalise_width, max_word_length, strict: As in `create_vectors_reader`.
    RETURNS (Callable[[Language], Lexicon]): The reader.
    """
    read = partial(_read_file, read_jieba_dictionary, Path(path), limit=limit, encoding=encoding, errors=errors)
    return LexiconReader(read, BuildOptions("float32", normalise_case, normalise_width, max_word_length, strict))


def create_word_list_reader(
    path: Union[str, Path],
    limit: Optional[int] = None,
    comment: Optional[str] = None,
    encoding: str = "utf8",
    errors: str = "strict",
    normalise_case: bool = False,
    normalise_width: bool = False,
    max_word_length: int = 64,
    strict: bool = False,
) -> ReaderT:
    """Read a list with a word on each line, see `read_word_list`.

    path (Union[str, Path]): The file, plain or compressed (.gz, .bz2, .xz).
    limit (Optional[int]): Read so many words.
    comment (Optional[str]): Lines that begin with this hold no word.
    encoding, errors, normalise_case, normalise_width, max_word_length, strict: As in `create_vectors_reader`.
    RETURNS (Callable[[Language], Lexicon]): The reader.
    """
    read = partial(
        _read_file, read_word_list, Path(path), limit=limit, comment=comment, encoding=encoding, errors=errors
    )
    return LexiconReader(read, BuildOptions("float32", normalise_case, normalise_width, max_word_length, strict))


def create_table_reader(
    path: Union[str, Path],
    word: Union[int, str] = 0,
    weight: Optional[Union[int, str]] = None,
    label: Optional[Union[int, str]] = None,
    entity_id: Optional[Union[int, str]] = None,
    vector: Optional[Union[int, str]] = None,
    header: Optional[bool] = None,
    delimiter: Optional[str] = None,
    limit: Optional[int] = None,
    encoding: str = "utf8",
    errors: str = "strict",
    dtype: Dtype = "float32",
    normalise_case: bool = False,
    normalise_width: bool = False,
    max_word_length: int = 64,
    strict: bool = False,
) -> ReaderT:
    """Read a TSV or CSV file with chosen columns, see `read_word_table`.

    path (Union[str, Path]): The file, plain or compressed (.gz, .bz2, .xz).
    word, weight, label, entity_id, vector (Union[int, str]): Columns, by number from 0 or by name.
    header (Optional[bool]): Whether the first row holds names; by default, if a column is given by name.
    delimiter (Optional[str]): By default a comma for .csv, a tab for all others.
    limit (Optional[int]): Read so many rows.
    encoding, errors, dtype, normalise_case, normalise_width, max_word_length, strict: As in `create_vectors_reader`.
    RETURNS (Callable[[Language], Lexicon]): The reader.
    """
    read = partial(
        _read_file,
        read_word_table,
        Path(path),
        word=word,
        weight=weight,
        label=label,
        entity_id=entity_id,
        vector=vector,
        header=header,
        delimiter=delimiter,
        limit=limit,
        encoding=encoding,
        errors=errors,
    )
    return LexiconReader(read, BuildOptions(dtype, normalise_case, normalise_width, max_word_length, strict))


def create_vocab_reader(
    dtype: Dtype = "float32",
    normalise_case: bool = False,
    normalise_width: bool = False,
    max_word_length: int = 64,
    strict: bool = False,
) -> ReaderT:
    """Read the word vectors of the pipeline's vocabulary (`[initialize] vectors`), see `read_vocab_vectors`.

    dtype, normalise_case, normalise_width, max_word_length, strict: As in `create_vectors_reader`.
    RETURNS (Callable[[Language], Lexicon]): The reader.
    """
    return LexiconReader(_read_vocab, BuildOptions(dtype, normalise_case, normalise_width, max_word_length, strict))


def create_kb_reader(
    path: Optional[Union[str, Path]] = None,
    component: str = "entity_linker",
    dtype: Dtype = "float32",
    normalise_case: bool = False,
    normalise_width: bool = False,
    max_word_length: int = 64,
    strict: bool = False,
) -> ReaderT:
    """Read the aliases of a knowledge base, with the ids and vectors of their entities, see `read_knowledge_base`.

    path (Optional[Union[str, Path]]): A knowledge base saved with `kb.to_disk`.
    component (str): Without a path, the component of the pipeline that holds the knowledge base.
    dtype, normalise_case, normalise_width, max_word_length, strict: As in `create_vectors_reader`.
    RETURNS (Callable[[Language], Lexicon]): The reader.
    """
    read = partial(_read_kb, None if path is None else Path(path), component)
    return LexiconReader(read, BuildOptions(dtype, normalise_case, normalise_width, max_word_length, strict))


def create_entity_vectors_reader(
    vectors: Union[str, Path],
    names: Optional[Union[str, Path]] = None,
    ids: Optional[Union[str, Path]] = None,
    encoding: str = "utf8",
    dtype: Dtype = "float32",
    normalise_case: bool = False,
    normalise_width: bool = False,
    max_word_length: int = 64,
    strict: bool = False,
) -> ReaderT:
    """Read entity vectors and the names of the entities, see `read_entity_vectors`.

    vectors (Union[str, Path]): The vectors, as text or .npy.
    names (Optional[Union[str, Path]]): A table of names and entity ids.
    ids (Optional[Union[str, Path]]): The ids of the rows, where the vectors have none themselves.
    encoding (str): Encoding of the text files.
    dtype, normalise_case, normalise_width, max_word_length, strict: As in `create_vectors_reader`.
    RETURNS (Callable[[Language], Lexicon]): The reader.
    """
    read = partial(_read_entities, Path(vectors), names=names, ids=ids, encoding=encoding)
    return LexiconReader(read, BuildOptions(dtype, normalise_case, normalise_width, max_word_length, strict))


def create_merged_reader(
    readers: Dict[str, Any],
    dtype: Dtype = "float32",
    normalise_case: bool = False,
    normalise_width: bool = False,
    max_word_length: int = 64,
    strict: bool = False,
) -> ReaderT:
    """Merge the entries of several readers into one lexicon. The first of equal words wins; its vector is the first
    that any of them has.

    readers (Dict[str, Callable[[Language], Lexicon]]): The readers, as blocks of the config with names of their own;
        they are read in the order in which they stand there.
    dtype, normalise_case, normalise_width, max_word_length, strict: As in `create_vectors_reader`.
    RETURNS (Callable[[Language], Lexicon]): The reader.
    """
    return MergedReader(readers, BuildOptions(dtype, normalise_case, normalise_width, max_word_length, strict))


def _read_file(reader: Callable[..., EntryStream], path: Path, nlp: Language, **settings: Any) -> EntryStream:
    return reader(path, **settings)


def _read_entities(path: Path, nlp: Language, **settings: Any) -> EntryStream:
    return read_entity_vectors(path, **settings)


def _read_vocab(nlp: Language) -> EntryStream:
    return read_vocab_vectors(nlp.vocab)


def _read_kb(path: Optional[Path], component: str, nlp: Language) -> EntryStream:
    if path is not None:
        if not path.exists():
            raise LexiconError(f"{path}: no such knowledge base. It is what kb.to_disk writes.")
        kb = InMemoryLookupKB(nlp.vocab, entity_vector_length=1)
        kb.from_disk(path)
        return read_knowledge_base(kb)
    if component not in nlp.pipe_names:
        raise LexiconError(
            f"The pipeline has no component '{component}' to take the knowledge base from; it has "
            f"{', '.join(nlp.pipe_names) or 'none'}. Name another one, or give the path of a saved knowledge base."
        )
    return read_knowledge_base(getattr(nlp.get_pipe(component), "kb", None))
