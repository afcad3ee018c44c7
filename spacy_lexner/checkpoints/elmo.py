"""Import of the original ELMo's options.json and weights.hdf5 into a folder with JSON and safetensors."""

import json
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, NamedTuple, Sequence, Tuple, Union

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

from ..encoders.elmo.checkpoint import CONFIG, WEIGHTS
from ..encoders.shared.weights import find_mismatch
from ..integrity.folders import whole_folder
from .elmo_options import read_options

Array = NDArray[np.float32]


class Source(NamedTuple):
    """The origin of one of our weights: data sets of the original file, with their expected shapes, and a
    conversion."""

    name: str
    datasets: Sequence[Tuple[str, Tuple[int, ...]]]
    convert: Callable[..., Array]


def import_elmo(options: Union[str, Path], weights: Union[str, Path], output: Union[str, Path]) -> Dict[str, Any]:
    """Convert official files. This needs h5py (`pip install spacy-lexner[elmo]`); using the result does not.

    options (Union[str, Path]): The options.json.
    weights (Union[str, Path]): The weights.hdf5.
    output (Union[str, Path]): Folder to write; must not exist yet.
    RETURNS (Dict[str, Any]): The configuration of the checkpoint. Raises ValueError, and writes nothing, if the files
        are damaged or inconsistent.
    """
    with whole_folder(Path(output)) as folder:
        config = read_options(options)
        save_file(_read_hdf5(Path(weights), config), folder / WEIGHTS)
        (folder / CONFIG).write_text(json.dumps(config, indent=2) + "\n", "utf8")
    return config


def _read_hdf5(path: Path, config: Dict[str, Any]) -> Dict[str, Array]:
    try:
        import h5py
    except ImportError as error:
        raise ImportError("Reading official ELMo weights needs h5py: pip install 'spacy-lexner[elmo]'.") from error
    if not path.is_file():
        raise ValueError(f"{path} does not exist; expected the HDF5 file with the weights.")
    sources = list(_sources(config))
    try:
        with h5py.File(path, "r") as file:
            found: Dict[str, Tuple[int, ...]] = {}
            file.visititems(
                lambda name, item: found.update({name: item.shape}) if isinstance(item, h5py.Dataset) else None
            )
            expected = {name: shape for source in sources for name, shape in source.datasets}
            problem = find_mismatch(found, expected)
            if problem is not None:
                raise ValueError(f"{path} does not fit the options file: {problem}.")
            return {
                source.name: np.ascontiguousarray(
                    source.convert(*(_read_dataset(file[name], path) for name, _ in source.datasets))
                )
                for source in sources
            }
    except (OSError, KeyError, RuntimeError) as error:
        raise ValueError(f"{path} cannot be read as HDF5 ({error}): the file is truncated or damaged.") from error


def _read_dataset(dataset: Any, path: Path) -> Array:
    if dataset.dtype.kind not in "fiu":
        raise ValueError(f"{path}: {dataset.name} is made of {dataset.dtype}; expected numbers.")
    weights = np.asarray(dataset, dtype=np.float32)
    if not np.isfinite(weights).all():
        raise ValueError(f"{path}: {dataset.name} has values that are not finite: the file is damaged.")
    return weights


def _sources(config: Dict[str, Any]) -> Iterator[Source]:
    cnn, width = config["cnn"], config["bilm"]["projection_dim"]
    n_filters = sum(number for _, number in cnn["filters"])
    dim = cnn["embedding_dim"]
    # The file lacks row 0, which is for positions without a word.
    yield Source("characters.embedding.weight", [("char_embed", (261, dim))], lambda x: np.pad(x, ((1, 0), (0, 0))))
    for i, (size, number) in enumerate(cnn["filters"]):
        ours = f"characters.convolutions.{i}"
        yield Source(f"{ours}.weight", [(f"CNN/W_cnn_{i}", (1, size, dim, number))], lambda x: x[0].transpose(2, 1, 0))
        yield Source(f"{ours}.bias", [(f"CNN/b_cnn_{i}", (number,))], lambda x: x)
    for i in range(cnn["n_highway"]):
        ours, theirs = f"characters.highway.layers.{i}", f"CNN_high_{i}"
        square, row = (n_filters, n_filters), (n_filters,)
        # An open gate passes the transformed input in their code, the untransformed one in ours.
        yield Source(
            f"{ours}.weight",
            [(f"{theirs}/W_transform", square), (f"{theirs}/W_carry", square)],
            lambda transform, carry: np.concatenate([transform.T, -carry.T]),
        )
        yield Source(
            f"{ours}.bias",
            [(f"{theirs}/b_transform", row), (f"{theirs}/b_carry", row)],
            lambda transform, carry: np.concatenate([transform, -carry]),
        )
    if n_filters != width:
        yield Source("characters.projection.weight", [("CNN_proj/W_proj", (n_filters, width))], np.transpose)
        yield Source("characters.projection.bias", [("CNN_proj/b_proj", (width,))], lambda x: x)
    for layer in range(config["bilm"]["n_layers"]):
        yield from _lstm_sources(layer, width, config["bilm"]["cell_dim"])


def _lstm_sources(layer: int, width: int, cell: int) -> Iterator[Source]:
    cells = [f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell" for direction in (0, 1)]
    joined = [(f"{name}/W_0", (2 * width, 4 * cell)) for name in cells]
    ours = f"bilm.layers.{layer}"
    yield Source(f"{ours}.input_weight", joined, lambda *x: np.stack([_reorder(w.T, cell)[:, :width] for w in x]))
    yield Source(f"{ours}.recurrent_weight", joined, lambda *x: np.stack([_reorder(w.T, cell)[:, width:] for w in x]))
    biases = [(f"{name}/B", (4 * cell,)) for name in cells]
    yield Source(f"{ours}.bias", biases, lambda *x: np.stack([_forget_bias(_reorder(b, cell), cell) for b in x]))
    projections = [(f"{name}/W_P_0", (cell, width)) for name in cells]
    yield Source(f"{ours}.projection", projections, lambda *x: np.stack([w.T for w in x]))


def _reorder(gates: Array, cell: int) -> Array:
    """Reorder gates from TensorFlow's order (input, candidate, forget, output) to ours (input, forget, candidate,
    output)."""
    i, g, f, o = np.split(gates, [cell, 2 * cell, 3 * cell])
    return np.concatenate([i, f, g, o])


def _forget_bias(bias: Array, cell: int) -> Array:
    """Add the 1 that TensorFlow adds to the forget gate at run time."""
    bias[cell : 2 * cell] += 1.0
    return bias
