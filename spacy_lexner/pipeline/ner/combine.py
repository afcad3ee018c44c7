"""Combining pipelines into one whose tagger is the ensemble of theirs."""

from copy import deepcopy
from typing import Any, Mapping, Sequence

from spacy.language import Language
from spacy.util import registry

from ..lexicon_pipe import find_lexicon
from .lex_ner import LexNER

ARCHITECTURE = "spacy-lexner.MixedEnsembleTagger.v1"


def combine(pipelines: Mapping[str, Language], component: str = "lex_ner") -> Language:
    """Combine trained pipelines: emissions and transitions are averaged (see `tagging.ensemble`). The models may differ
    in everything but their labels.

    pipelines (Mapping[str, Language]): The pipelines, by any names, with the same labels, units, tokenizer and lexicon.
    component (str): The name of their `lex_ner`.
    RETURNS (Language): The first pipeline, with its component replaced by the new one, which has the same settings. Its
        calibration, made for other scores, and the performance in its metadata are dropped. Raises ValueError, naming
        the pipeline and changing nothing, if one does not fit the others.
    """
    if len(pipelines) < 2:
        raise ValueError(f"Got {len(pipelines)} pipelines to combine; expected at least 2.")
    members = [_tagger(name, nlp, component) for name, nlp in pipelines.items()]
    _check_shared(pipelines, members)
    registry.architectures.get(ARCHITECTURE)(*(member.model for member in members))  # raises for models that do not fit
    nlp, *_ = pipelines.values()
    models = [pipeline.get_pipe_config(component)["model"] for pipeline in pipelines.values()]
    named = {f"member_{number}": model for number, model in enumerate(models, 1)}
    config = {**nlp.get_pipe_config(component), "model": {"@architectures": ARCHITECTURE, "*": named}}
    combined: Any = nlp.replace_pipe(component, config.pop("factory"), config=config)
    combined.cfg.update(deepcopy(members[0].cfg))
    combined.set_confidence(None, members[0].cfg["threshold"])
    combined.labels_changed()
    for layer, member in zip(combined.model.layers, members):
        layer.from_bytes(member.model.to_bytes())
    nlp.meta["performance"] = {}
    return nlp


def _tagger(name: str, nlp: Language, component: str) -> LexNER:
    pipe = nlp.get_pipe(component) if component in nlp.pipe_names else None
    if not isinstance(pipe, LexNER):
        raise ValueError(f"{name} has no lex_ner called {component!r}: {', '.join(nlp.pipe_names) or 'empty'}.")
    return pipe


def _check_shared(pipelines: Mapping[str, Language], members: Sequence[LexNER]) -> None:
    rows = []
    for nlp, member in zip(pipelines.values(), members):
        lexicon = find_lexicon(nlp)
        content = None if lexicon is None else (len(lexicon), lexicon.content)
        tokenizer = nlp.config["nlp"]["tokenizer"]
        rows.append({"labels": member.labels, "units": member.units, "tokenizers": tokenizer, "lexicons": content})
    first, expected = next(zip(pipelines, rows))
    for name, row in zip(pipelines, rows):
        for what, value in row.items():
            if value != expected[what]:
                raise ValueError(
                    f"{name} and {first} have different {what}: {value} and {expected[what]}. Train them with the same."
                )
