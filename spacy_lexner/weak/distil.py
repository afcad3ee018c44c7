"""Training a small, fast student on the probabilities of a large teacher or an ensemble."""

from itertools import islice
from pathlib import Path
from typing import Iterable, List, Optional, Sequence, Union

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.util import load_model
from thinc.api import Config
from tqdm import tqdm

from ..candidates.doc_parts import copy_tokens
from ..formats.spacy_file import read_annotated, write_docs
from ..integrity.folders import whole_folder
from ..integrity.pipelines import save
from ..report.gold import to_gold
from ..report.predict import find_lex_ner
from ..training.digests import digest_files
from ..training.run_inputs import begin
from ..training.runs import set_values, train_once
from .annotated import drop_shared, protect, read_judges
from .judges import labels_of
from .rounds import LABELLED, find_component
from .settings import check_seed
from .teacher import calibrate
from .texts import choose_texts, draw_texts, write_shards

CALLBACK = "spacy-lexner.distil_from.v1"
TEXTS, TRAINING, MODEL = "texts", "training", "model"  # what a run writes
# Without annotated texts, the student is scored on texts annotated by the teacher: this share of all, at most MAX_DEV.
DEV_SHARE, MAX_DEV = 0.1, 1000


def distil(
    teacher: Union[str, Path],
    texts: Iterable[str],
    config: Config,
    output: Path,
    *,
    dev: Optional[Path] = None,
    labelled: Optional[Path] = None,
    limit: int = 50_000,
    weight: float = 1.0,
    skip_shared: bool = False,
    seed: int = 0,
    sources: Sequence[str] = (),
    use_gpu: int = -1,
) -> Path:
    """Train a student on the teacher's probabilities. After an interruption, the same call continues.

    teacher (Union[str, Path]): A pipeline with one `lex_ner`, which may be an ensemble, by folder or package name.
    texts (Iterable[str]): Raw texts, read once, as a stream.
    config (Config): A complete config for training the student, with one `lex_ner`, except for the corpus paths.
    output (Path): The output folder: `texts`, `training`, and `model`, the student.
    dev (Optional[Path]): Annotated texts to select and calibrate the student on. By default it is selected on a tenth
        of the texts, which it does not learn from and `labelled` lacks, with the teacher's entities.
    labelled (Optional[Path]): Annotated texts to learn from as well.
    limit (int): Most texts to learn from.
    weight (float): Weight of the teacher relative to annotations.
    skip_shared (bool): Leave out texts that are also in `dev`, instead of raising an error.
    seed (int): Random seed.
    sources (Sequence[str]): An identification of the texts and the teacher, such as file names and hashes, which must
        not change when an interrupted run is continued.
    use_gpu (int): The GPU, or -1 for the CPU.
    RETURNS (Path): The student's folder. Raises ValueError, with the reason, if it cannot be trained.
    """
    check_seed(config, seed)
    judges = [] if dev is None else read_judges(dev)
    name, nlp = find_component(config), load_model(str(teacher))
    ner = find_lex_ner(nlp)
    annotated = [] if labelled is None else list(read_annotated(labelled))
    _check_labels(labelled, annotated, ner.labels)
    _check_labels(dev, judges, ner.labels)
    annotated = drop_shared(annotated, judges, (str(labelled), str(dev)), skip_shared)
    parts = [str(teacher), sources, dev, labelled, limit, seed, digest_files(config), *["skip shared"] * skip_shared]
    begin(output, "teacher or lexicon", (TEXTS, TRAINING, MODEL), parts)
    folder = output / TEXTS
    if not folder.exists():
        chosen = choose_texts(texts, protect(judges) if judges else None, skip_shared=skip_shared)
        _write_texts(nlp, draw_texts(chosen, limit, seed), folder, annotated, dev is None)
    values = {
        "paths.train": str(folder / "train"),
        "paths.dev": str(dev or folder / "dev.spacy"),
        "training.seed": seed,
        f"initialize.components.{name}.labels": list(ner.labels),
        "training.before_update": {
            "@callbacks": CALLBACK,
            "path": str(teacher),
            "component": name,
            "source": ner.name,
            "weight": weight,
        },
    }
    student = load_model(train_once(set_values(config, values), output / TRAINING, use_gpu=use_gpu))
    if judges:
        calibrate(student, [to_gold(doc) for doc in judges])
    student.config["training"]["before_update"] = None  # the teacher may be gone
    save(student, output / MODEL)
    return output / MODEL


def _check_labels(path: Optional[Path], annotated: Sequence[Doc], labels: Sequence[str]) -> None:
    """Raise ValueError if annotated texts have labels that the teacher lacks."""
    if unknown := sorted(labels_of(annotated) - set(labels)):
        raise ValueError(
            f"{path} has the labels {', '.join(unknown)}, which the teacher lacks: it has {', '.join(labels)}. "
            "Rename labels, leave these texts out, or train the teacher on them first."
        )


def _write_texts(nlp: Language, texts: List[str], folder: Path, annotated: List[Doc], with_dev: bool) -> None:
    """Write texts without annotation, annotated ones and, `with_dev`, some texts annotated by the teacher."""
    if not texts:
        raise ValueError("There is no text to learn from: all are blank or skipped, or none was given.")
    n_dev = min(MAX_DEV, max(1, round(DEV_SHARE * len(texts)))) if with_dev else 0
    if n_dev == len(texts) and not annotated:
        raise ValueError(
            f"The only text, {texts[0][:40]!r}, would score the student, so none is left to learn from. Give more "
            "texts, or annotated ones to score it on (--dev)."
        )
    dev = _take_dev(texts, n_dev, annotated)
    held = set(dev)
    with whole_folder(folder) as temporary:
        if dev:
            bar = tqdm(nlp.pipe(dev), total=len(dev), desc="dev", unit=" texts", disable=None, leave=False)
            docs = [_plain(doc) for doc in bar]
            if not any(doc.ents for doc in docs):
                raise ValueError("The teacher finds no entity in the texts to score the student on. Give --dev.")
            write_docs(docs, temporary / "dev.spacy")
        write_shards((nlp.make_doc(text) for text in texts if text not in held), temporary / "train")
        if annotated:
            write_docs(annotated, temporary / "train" / LABELLED)


def _take_dev(texts: Sequence[str], n: int, annotated: Sequence[Doc]) -> List[str]:
    """RETURNS (List[str]): The first `n` texts that do not overlap the annotated ones, from which the student learns.
    Raises ValueError if all overlap them."""
    learned = protect(annotated)
    dev = list(islice((text for text in texts if next(learned.find([text]), None) is None), n))
    if n and not dev:
        raise ValueError(
            "All texts overlap the annotated ones to learn from, so none can score the student. Give more texts, or "
            "annotated ones to score it on (--dev)."
        )
    return dev


def _plain(doc: Doc) -> Doc:
    """Copy a Doc with its entities and nothing else."""
    plain = copy_tokens(doc)
    plain.set_ents([Span(plain, ent.start, ent.end, label=ent.label_) for ent in doc.ents])
    return plain
