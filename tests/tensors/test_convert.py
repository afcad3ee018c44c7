"""Arrays to tensors and back, and that nothing else converts them."""

import ast
from pathlib import Path

import numpy as np
import pytest
import torch

import spacy_lexner
from spacy_lexner.tensors.convert import array_of, numpy_of, tensor_of

PACKAGE = Path(spacy_lexner.__file__).parent
CONVERSIONS = {
    "from_numpy",
    "from_dlpack",
    "to_dlpack",
    "as_tensor",
    "torch.asarray",
    "xp2torch",
    "torch2xp",
    "x.numpy()",
}
TYPES = ["f4", "f8", "i4", "i8", "u1", "?"]


class Stranger:
    """An array that is not NumPy's, like CuPy's: known only by the protocol."""

    def __init__(self, array):
        self.array, self.asked = array, 0

    def __dlpack__(self, **options):
        self.asked += 1
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def find_conversions(source):
    """RETURNS (List[str]): Direct conversions, with their lines: calls of `numpy`, and functions of torch and thinc."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            names = {name.name for name in node.names}
        elif isinstance(node, ast.Attribute):
            names = {node.attr, ast.unparse(node)}
        else:
            names = {"x.numpy()"} if ast.unparse(node).endswith(".numpy()") and isinstance(node, ast.Call) else set()
        if names & CONVERSIONS:
            found.append(f"{node.lineno}: {ast.unparse(node)}")
    return found


def test_nothing_else_converts():
    wrong = [
        f"{path.relative_to(PACKAGE)}:{found}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path != PACKAGE / "tensors" / "convert.py"
        for found in find_conversions(path.read_text("utf8"))
    ]
    assert not wrong, "use tensor_of, numpy_of or array_of of spacy_lexner/tensors/convert.py"


@pytest.mark.parametrize(
    "source",
    [
        "torch.from_numpy(rows)",
        "map(torch.from_numpy, arrays)",
        "rows.detach().cpu().numpy()",
        "torch.as_tensor(rows)",
        "torch.asarray(rows)",
        "torch.utils.dlpack.from_dlpack(rows)",
        "from thinc.util import xp2torch",
        "thinc.util.torch2xp(rows)",
    ],
)
def test_a_direct_conversion_is_found(source):
    assert find_conversions(source) and not find_conversions("import numpy\nnp.asarray(rows)")


@pytest.mark.parametrize("dtype", TYPES)
def test_memory_is_shared(dtype):
    array = np.array([[0, 1, 2], [1, 0, 1]], dtype)
    tensor = tensor_of(array)
    assert tensor.data_ptr() == array.ctypes.data and tensor.shape == array.shape
    for back in (numpy_of(tensor), array_of(tensor)):
        assert back.ctypes.data == array.ctypes.data and back.dtype == array.dtype
    assert tensor_of(array, "cpu").data_ptr() == array.ctypes.data


@pytest.mark.parametrize("dtype", TYPES[:-1])
def test_an_array_of_another_library(dtype):
    """What CuPy's arrays would do, apart from the device: no detour via NumPy, no copy."""
    stranger = Stranger(np.array([[0, 1, 2], [1, 0, 1]], dtype)[:, ::2])
    tensor = tensor_of(stranger)
    assert stranger.asked == 1 and tensor.data_ptr() == stranger.array.ctypes.data
    assert tensor.tolist() == stranger.array.tolist()
    tensor[0, 1] = 7
    assert stranger.array[0, 1] == 7


def test_gradients_stay_behind():
    weights = torch.ones(3, requires_grad=True)
    for array in (numpy_of(weights * 2), array_of(weights * 2), numpy_of(weights)):
        assert isinstance(array, np.ndarray)
    assert weights.requires_grad


def test_a_tensor_goes_to_the_device_that_is_asked_for():
    assert tensor_of(np.ones(3), "meta").device == torch.device("meta")
    assert tensor_of(Stranger(np.ones(3)), torch.device("meta")).device == torch.device("meta")


@pytest.mark.gpu
def test_cupy_shares_memory_too():
    cupy = pytest.importorskip("cupy")
    array = cupy.ones((2, 3), "f")
    tensor = tensor_of(array)
    assert tensor.is_cuda and tensor.data_ptr() == array.data.ptr
    assert array_of(tensor).data.ptr == array.data.ptr and numpy_of(tensor).tolist() == array.tolist()
