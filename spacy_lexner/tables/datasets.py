"""Hugging Face `datasets`, annotated in one of two ways: `text` and `entities`, or `tokens` and their `ner_tags`.

found = annotate_dataset(load_dataset("csv", data_files="news.csv", split="train"), nlp)
docs = read_dataset(load_from_disk("msra")["train"], nlp.make_doc)
"""

from functools import partial
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional

from spacy.language import Language
from spacy.tokens import Doc

from ..formats.docs import read_doc
from ..formats.mentions import Mentions
from ..formats.record import FormatError, ReadOptions, Record
from ..formats.report import Report
from ..lexicon.limits import quote
from ..pipeline.annotate_texts import number_results
from .entities import check_entities, check_text, list_entities, make_docs, warn_of_problems
from .tags import check_scheme, make_tags, read_tags, tag_names

try:
    from datasets import ClassLabel, Dataset, Features, Value
    from datasets import List as ListOf
except ImportError as error:
    raise ImportError("Data sets need the `data` extra: python -m pip install 'spacy-lexner[data]'.") from error

TEXT, ENTITIES, TOKENS, TAGS = "text", "entities", "tokens", "ner_tags"  # names of columns
TYPES = {"start": "int64", "end": "int64", "label": "string", "text": "string", "score": "float64"}
ENTITY_LIST = ListOf({name: Value(type) for name, type in TYPES.items()})


def annotate_dataset(dataset: "Dataset", nlp: Language, *, text: str = TEXT, entities: str = ENTITIES) -> "Dataset":
    """Add a column with the entities that a pipeline finds.

    text (str): The column of texts.
    entities (str): The column to add: for each text a list of `start`, `end` (exact characters, exclusive), `label`,
        `text` and `score`; null for a text that the pipeline's error handler has left out.
    RETURNS (Dataset): The data set with that column. Raises FormatError, before any text is annotated, if one is not a
        string, or if there is such a column.
    """
    _check_single(dataset)
    if not isinstance(dataset, Dataset):
        raise FormatError(f"Expected a Dataset, not {type(dataset).__name__}. Load it without streaming.")
    if entities in dataset.column_names:
        raise FormatError(f"The data set has a column {entities!r} already. Name another one: entities=...")
    texts = [check_text(value, f"row {i}", text) for i, value in enumerate(dataset.with_format(None)[text])]
    numbers = range(len(texts))
    rows = [(i, list_entities(doc)) for doc, i in nlp.pipe(zip(texts, numbers), as_tuples=True)]
    known = dict(number_results(rows, numbers))
    if None in known:
        raise FormatError(
            f"Of {len(texts)} texts, {len(texts) - len(rows)} failed, and it is unknown which, since a component "
            "of the pipeline makes new Docs. Do without the pipeline's error handler to see the first error."
        )
    return dataset.add_column(entities, [known.get(i) for i in numbers], feature=ENTITY_LIST)


def write_dataset(
    docs: Iterable[Doc], *, tags: bool = False, scheme: str = "bio", report: Optional[Report] = None
) -> "Dataset":
    """Convert annotated Docs to a data set in memory. Unannotated Docs have None instead of entities or tags.

    tags (bool): Write the columns `text`, `tokens` and `ner_tags` instead of `text` and `entities`. Tags give the
        tokens of an entity; `entities` keep its exact characters.
    scheme (str): The scheme of the tags: bio, bioes, ... Raises FormatError for an unknown one.
    report (Optional[Report]): Collects what a data set cannot represent. Without one, problems become warnings.
    """
    check_scheme(scheme)
    problems = Report() if report is None else report
    docs = list(docs)
    rows = [
        {TEXT: doc.text, TOKENS: [token.text for token in doc], TAGS: make_tags(doc, scheme)}
        if tags
        else {TEXT: doc.text, ENTITIES: list_entities(doc)}
        for doc in docs
    ]
    for i, doc in enumerate(docs, start=1):
        read_doc(doc, f"text {i}", problems)
    if report is None:
        warn_of_problems(problems)
    types: Dict[str, Any] = {TEXT: Value("string"), ENTITIES: ENTITY_LIST}
    if tags:
        names = tag_names((ent.label_ for doc in docs for ent in doc.ents), scheme)
        types = {TEXT: Value("string"), TOKENS: ListOf(Value("string")), TAGS: ListOf(ClassLabel(names=names))}
    return Dataset.from_dict({name: [row[name] for row in rows] for name in types}, features=Features(types))


def read_dataset(
    dataset: "Dataset",
    make_doc: Callable[[str], Doc],
    *,
    text: str = TEXT,
    entities: str = ENTITIES,
    tokens: str = TOKENS,
    tags: str = TAGS,
    separator: str = "",
    repair: bool = False,
    report: Optional[Report] = None,
) -> Iterator[Doc]:
    """Make Docs with the entities of a data set, from the column `entities` if present, otherwise from `ner_tags`.

    make_doc (Callable[[str], Doc]): The tokenizer, such as `nlp.make_doc`. Its tokens may differ from the data set's.
    text, entities, tokens, tags (str): Column names. Tags are strings or a `ClassLabel`, in any scheme of
        `lexner convert`.
    separator (str): Joins tokens if there is no text column: "" for Chinese, a space for English.
    repair (bool): Repair wrong offsets and illegal tags, and report it, instead of raising an error.
    report (Optional[Report]): Collects what was repaired or left out. Without one, problems become warnings after the
        last Doc.
    YIELDS (Doc): A Doc for each row; unannotated where the row has None. Raises FormatError for any other error.
    """
    _check_single(dataset)
    if dataset.column_names is None:
        raise FormatError("The columns of the data set are not known yet. Load it without streaming.")
    dataset = dataset.with_format(None)  # plain Python values, not arrays or tensors
    columns = set(dataset.column_names)
    options = ReadOptions(repair=repair)
    if {text, entities} <= columns:
        read = partial(_read_entities, dataset, text, entities, options)
    elif {tokens, tags} <= columns:
        read = partial(read_tags, dataset, text if text in columns else None, tokens, tags, separator, options)
    else:
        names = ", ".join(map(repr, dataset.column_names))
        raise FormatError(f"Expected columns {text!r} and {entities!r}, or {tokens!r} and {tags!r}; there are {names}.")
    yield from make_docs(read, make_doc, report)


def _check_single(dataset: Any) -> None:
    """Raise FormatError for the dictionary of data sets that `load_dataset` returns without a split."""
    if isinstance(dataset, dict):
        names = ", ".join(map(repr, dataset))
        raise FormatError(f"Expected one data set, not a dictionary of {names}. Choose one, such as dataset[...].")


def _read_entities(
    dataset: "Dataset", text: str, entities: str, options: ReadOptions, report: Report
) -> Iterator[Record]:
    label_name = _label_names(dataset.features[entities])
    for i, row in enumerate(dataset.select_columns([text, entities])):
        place = f"row {i}"
        content = check_text(row[text], place, text)
        if row[entities] is None:
            yield Record(content, None, None, place)
            continue
        given = [{**entity, "label": label_name(entity.get("label"))} for entity in _as_dicts(row[entities], place)]
        yield Record(content, None, check_entities(Mentions(content, place, options, report), given), place)


def _label_names(feature: Any) -> Callable[[Any], Any]:
    """RETURNS (Callable[[Any], Any]): A function from the label values of a column of entities to names; a ClassLabel
    stores numbers."""
    feature = getattr(feature, "feature", feature)  # a list of dicts, or a dict of lists
    label = feature.get("label") if isinstance(feature, dict) else None
    label = getattr(label, "feature", label)
    if not isinstance(label, ClassLabel):
        return lambda value: value
    names = dict(enumerate(label.names))
    return lambda value: names.get(value, value)


def _as_dicts(entities: Any, place: str) -> List[Dict[str, Any]]:
    """RETURNS (List[Dict[str, Any]]): Entities as a list of dicts, from a list of dicts or from the dict of lists that
    older versions of `datasets` make of one. Raises FormatError for anything else."""
    found = entities
    if isinstance(entities, dict) and all(isinstance(values, list) for values in entities.values()):
        n_values = {len(values) for values in entities.values()}
        if len(n_values) > 1:
            raise FormatError(
                f"{place}: the lists of the entities {quote(entities)} differ in length; expected equal ones."
            )
        found = [dict(zip(entities, values)) for values in zip(*entities.values())]
    if not isinstance(found, list) or not all(isinstance(entity, dict) for entity in found):
        raise FormatError(
            f"{place}: the entities are {quote(entities)}; expected a list of dicts with start, end and label, or None."
        )
    return found
