import pytest
from small_service import changing, serving, train_small


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served") / "model"
    train_small().to_disk(folder)
    return folder


@pytest.fixture
def client(model_folder, tmp_path):
    """A client of a service whose dictionary can be changed."""
    with serving(model_folder, **changing(tmp_path)) as client:
        yield client
