"""`spacy lexner import elmo`: the original's options.json and weights.hdf5 as a checkpoint of ELMo.v1."""

from pathlib import Path
from typing import Annotated

import typer
from wasabi import msg

OptionsArgument = Annotated[Path, typer.Argument(metavar="OPTIONS", help="The options file (JSON)")]
WeightsArgument = Annotated[Path, typer.Argument(metavar="WEIGHTS", help="The weight file (HDF5)")]
TargetArgument = Annotated[Path, typer.Argument(metavar="OUT", help="The folder to write")]


def import_elmo_cli(options: OptionsArgument, weights: WeightsArgument, target: TargetArgument) -> None:
    """Convert official ELMo files to a folder with config.json and model.safetensors, for `checkpoint` of ELMo.v1.

    Needs h5py (pip install "spacy-lexner[elmo]"); nothing that uses the folder does.

    \b
    Example:
      python -m spacy lexner import elmo options.json weights.hdf5 checkpoints/elmo
    """
    from ...checkpoints.elmo import import_elmo  # torch: only where it is wanted

    try:
        config = import_elmo(options, weights, target)
    except (ValueError, OSError, ImportError) as error:
        msg.fail("Nothing was written", str(error), exits=1)
    bilm = config["bilm"]
    msg.good(
        f"{target}: {bilm['n_layers']} layers of {bilm['cell_dim']}, projected to {bilm['projection_dim']}",
        f"Token vectors are {2 * bilm['projection_dim']} wide.",
    )
