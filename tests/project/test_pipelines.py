"""What the scripts share: a GPU that cannot be used is named before work begins."""

import pipelines
import pytest


@pytest.mark.parametrize("error", [ValueError("No GPU devices detected"), RuntimeError("invalid device ordinal")])
def test_a_gpu_that_cannot_be_used(monkeypatch, capsys, error):
    def fail(gpu_id):
        raise error

    monkeypatch.setattr(pipelines, "require_gpu", fail)
    pipelines.use_gpu(-1)
    with pytest.raises(SystemExit):
        pipelines.use_gpu(3)
    shown = capsys.readouterr().out
    assert f"GPU 3 cannot be used: {error}" in shown and "--gpu-id -1" in shown
