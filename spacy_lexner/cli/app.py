"""The command group `python -m spacy lexner`, which spaCy finds through its entry point `spacy_cli`."""

from typing import Callable, Dict

from spacy.cli._util import app

from .data.convert import convert_cli
from .data.count_words import count_words_cli
from .data.debug_data import debug_data_cli
from .data.errors import errors_cli
from .data.export import export_cli
from .data.vectors import vectors_cli
from .importing import importing
from .lexicon.app import lexicon
from .model.annotate import annotate_cli
from .model.calibrate import calibrate_cli
from .model.combine import combine_cli
from .model.distil import distil_cli
from .model.export_hf import export_hf_cli
from .model.export_onnx import export_onnx_cli
from .model.init_config import init_config_cli
from .model.lattice import lattice_cli
from .model.perplexity import perplexity_cli
from .model.pretrain import pretrain_cli
from .model.quantize import quantize_cli
from .model.report import report_cli
from .model.seal import seal_cli
from .model.serve import serve_cli
from .model.train import train_cli
from .model.uncertain import uncertain_cli
from .model.verify import verify_cli
from .model.weak import weak_cli
from .rules.app import rules
from .rules.suggest import words
from .sections import make_group

HELP = "Commands of spacy-lexner: entities of Chinese texts with a lexicon."
OVERRIDES = {"allow_extra_args": True, "ignore_unknown_options": True}
OVERRIDABLE = ("perplexity", "debug-data", "errors", "train", "pretrain")  # commands that take a config's settings
LEXICONS, EXCHANGE = "Lexicons and rules", "Other formats"
SECTIONS: Dict[str, Dict[str, Callable[..., None]]] = {  # in the order of the help
    "Data": {
        "convert": convert_cli,
        "export": export_cli,
        "count-words": count_words_cli,
        "vectors": vectors_cli,
        "debug-data": debug_data_cli,
        "errors": errors_cli,
    },
    "Training": {
        "init-config": init_config_cli,
        "train": train_cli,
        "pretrain": pretrain_cli,
        "weak": weak_cli,
        "distil": distil_cli,
        "combine": combine_cli,
        "calibrate": calibrate_cli,
    },
    "Trained pipelines": {
        "annotate": annotate_cli,
        "serve": serve_cli,
        "report": report_cli,
        "lattice": lattice_cli,
        "uncertain": uncertain_cli,
        "perplexity": perplexity_cli,
        "quantize": quantize_cli,
        "verify": verify_cli,
        "seal": seal_cli,
    },
    EXCHANGE: {"export-hf": export_hf_cli, "export-onnx": export_onnx_cli},
}

lexner = make_group("lexner", HELP)
for section, commands in SECTIONS.items():
    for name, command in commands.items():
        settings = OVERRIDES if name in OVERRIDABLE else None
        lexner.command(name, no_args_is_help=True, context_settings=settings, rich_help_panel=section)(command)
lexner.add_typer(importing, rich_help_panel=EXCHANGE)
for group in (lexicon, rules, words):
    lexner.add_typer(group, rich_help_panel=LEXICONS)
app.add_typer(lexner)
