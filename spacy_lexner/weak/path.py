"""The whole path from a dictionary and raw texts to a trained pipeline."""

from functools import partial
from pathlib import Path
from typing import Iterable, List, Optional, Sequence

from spacy.language import Language
from spacy.util import load_model, load_model_from_config
from thinc.api import Config

from ..formats.spacy_file import read_all, write_docs
from ..integrity.folders import remove_folder
from ..integrity.pipelines import save
from ..lexicon.entry import LexiconEntry
from ..report.gold import GoldText, to_gold
from ..training.digests import digest_files
from ..training.run_inputs import begin
from .annotated import Annotated, check_labels, read_annotated
from .correct import correct
from .dictionary import Dictionary
from .doubt import Judgement, WordTrial
from .judges import labels_of
from .label import Labeller
from .matching import score_matching
from .report import JSON, PAGE, write_report
from .rounds import Round, SelfTraining, best
from .settings import Settings, prepare_config
from .teacher import calibrate
from .texts import Labels, choose_texts, hold_out, label_texts

LABELS, WORDS, DEV, MODEL = "labels", "words", "dev.spacy", "model"
STEPS = (LABELS, WORDS, "round-0", DEV, MODEL, JSON, PAGE)  # what a run writes
NO_JUDGES = "so models cannot be scored. Give annotated texts (--dev), or hold out more words (--held-out)."
NO_LESSONS = (
    "there is nothing to learn from: words that are held out, and those that begin or end inside a token, teach "
    "nothing. Give more words or texts (--limit), hold out fewer words (--held-out), or give annotated texts (--dev)."
)


def learn(
    dictionary: Dictionary,
    texts: Iterable[str],
    config: Config,
    output: Path,
    *,
    dev: Optional[Path] = None,
    labelled: Optional[Path] = None,
    other_words: Optional[Iterable[LexiconEntry]] = None,
    settings: Optional[Settings] = None,
    sources: Sequence[str] = (),
    use_gpu: int = -1,
) -> List[Round]:
    """Train a pipeline on a dictionary and raw texts. Every step leaves its files in the output folder; after an
    interruption, the same call continues.

    dictionary (Dictionary): Words with labels.
    texts (Iterable[str]): Raw texts, read once, as a stream.
    config (Config): A complete config for training, with one `lex_ner`, except for the corpus paths.
    output (Path): The output folder. `labels` has the texts labelled by the dictionary, `words` what models think of
        its words, `round-N` the training texts of model N and the model; `model` is the best model, `report.html`
        summarises the run.
    dev (Optional[Path]): Annotated texts to select and calibrate models on. By default a fifth of `labelled` or,
        without any, dictionary words that are held out of training.
    labelled (Optional[Path]): Annotated texts to learn from; they also correct the dictionary.
    other_words (Optional[Iterable[LexiconEntry]]): See `Labeller`.
    settings (Optional[Settings]): The settings; the defaults if None.
    sources (Sequence[str]): An identification of the texts and other words, such as file names and hashes, which
        must not change when an interrupted run is continued.
    use_gpu (int): The GPU, or -1 for the CPU.
    RETURNS (List[Round]): The rounds of training. Raises ValueError, with the reason, if they cannot start.
    """
    settings = settings or Settings()
    settings.bounds.check()
    known, skip_shared, seed = dictionary.label_names, settings.skip_shared, settings.seed
    annotated = read_annotated(dev, labelled, known, skip_shared=skip_shared, seed=seed)
    prepared = prepare_config(config, check_labels(dictionary, annotated), settings)
    make_doc = load_model_from_config(prepared, auto_fill=True, validate=False).tokenizer
    inputs = [dictionary.content(), settings, sources, dev, labelled, config.to_str(), digest_files(config)]
    begin(output, "dictionary or lexicon", STEPS, inputs)
    learned_from = correct(dictionary, annotated.labelled)
    held = frozenset() if annotated.dev else hold_out(learned_from, settings.held_out, seed)
    labeller = Labeller(learned_from, other_words)
    label = partial(label_texts, labeller, make_doc=make_doc, held=held, limit=settings.limit, seed=seed)
    chosen = choose_texts(texts, annotated.protected(), skip_shared=skip_shared)
    found = checked = label(chosen, folder=output / LABELS)
    if not (annotated.dev or found.held_words()):
        remove_folder(found.folder)  # so that the run may start again with other settings
        raise ValueError(f"None of the held-out words occurs in the texts, {NO_JUDGES}")
    if not _teaches(found, annotated):
        remove_folder(found.folder)
        raise ValueError(f"No text to learn from has a known entity of the dictionary, so {NO_LESSONS}")
    judged = Judgement([], [])
    if settings.folds:
        words = output / WORDS
        trial = WordTrial(prepared, labeller, found.train, make_doc, words, held, annotated.labelled, seed, use_gpu)
        judged = trial.run(settings.folds)
    if judged.improbable or judged.parts:
        labeller.doubt(each.word for each in judged.improbable)
        labeller.doubt_places(each.place for each in judged.parts)
        checked = label((doc.text for doc in read_all(found.train)), folder=words / LABELS)
        if not (annotated.dev or checked.held_words()):
            raise ValueError(f"No held-out word in the texts is a probable entity (see {words}), {NO_JUDGES}")
        if not _teaches(checked, annotated):
            raise ValueError(f"No known word in the texts is a probable entity (see {words}), so {NO_LESSONS}")
    training = SelfTraining(
        prepared,
        output,
        checked.train,
        _dev_file(output, checked, annotated),
        annotated.labelled,
        [to_gold(doc) for doc in annotated.dev] or None,
        settings.bounds,
        settings.average,
        use_gpu,
    )
    rounds = training.run(settings.rounds)
    nlp = finish(rounds, training.gold, output / MODEL)
    matching = score_matching(labeller, training.gold) if training.gold else None
    write_report(output, nlp, learned_from, found, judged, rounds, matching)
    return rounds


def finish(rounds: Sequence[Round], gold: Optional[Sequence[GoldText]], folder: Path) -> Language:
    """Save the best model, calibrated if there are annotated texts, and return it."""
    nlp = load_model(best(rounds).model)
    if gold is not None:
        calibrate(nlp, gold)
    save(nlp, folder)
    return nlp


def _teaches(labels: Labels, annotated: Annotated) -> bool:
    """Whether any text to learn from has an entity."""
    return bool(labels_of(annotated.labelled)) or any(doc.ents for doc in read_all(labels.train))


def _dev_file(output: Path, labels: Labels, annotated: Annotated) -> Path:
    """The file on which models are scored."""
    if not annotated.dev:
        return labels.held
    file = output / DEV
    write_docs(annotated.dev, file)
    return file
