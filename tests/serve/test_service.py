import asyncio
import shutil

import pytest
import spacy
from small_service import TEXT, TOKEN, WORDS, serving

from spacy_lexner.serve.dictionary.errors import StateError
from spacy_lexner.serve.dictionary.state import StateDirectory
from spacy_lexner.serve.inference.tasks import Annotation
from spacy_lexner.serve.service import Service
from spacy_lexner.serve.settings import Limits, Settings
from spacy_lexner.serve.wanted import Wanted


def test_a_service_that_cannot_start_frees_the_directory(tmp_path, model_folder):
    with pytest.raises(OSError):
        Service(Settings(str(tmp_path / "nothing"), tmp_path / "state", TOKEN))
    spacy.blank("zh").to_disk(tmp_path / "blank")
    with pytest.raises(StateError, match="no lex_matcher"):
        Service(Settings(str(tmp_path / "blank"), tmp_path / "state", TOKEN))
    StateDirectory(tmp_path / "state").close()


def test_two_services_on_one_directory(tmp_path, model_folder):
    first = Service(Settings(str(model_folder), tmp_path, TOKEN))
    with pytest.raises(StateError, match="another service"):
        Service(Settings(str(model_folder), tmp_path, TOKEN))
    first.close()
    Service(Settings(str(model_folder), tmp_path, TOKEN)).close()


def test_a_pipeline_without_a_dictionary(tmp_path):
    nlp = spacy.blank("zh")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "GPE", "pattern": "南京"}])
    nlp.to_disk(tmp_path / "model")
    service = Service(Settings(str(tmp_path / "model")))
    task = Annotation(service.model, service.model.matcher, Wanted(words=True))
    [answer] = asyncio.run(service.run(task, ["南京"]))
    assert answer["words"] == [] and task.version is None and service.version is None and not service.can_change
    service.close()


def test_a_dictionary_that_comes_with_the_new_model(tmp_path, model_folder):
    folder = tmp_path / "model"
    spacy.blank("zh").to_disk(folder)
    with serving(folder) as client:
        assert client.get("/words").status_code == 404
        shutil.rmtree(folder)
        shutil.copytree(model_folder, folder)
        asyncio.run(client.service.reload())
        assert client.get("/words").json()["total"] == client.get("/version").json()["words"] == len(WORDS)
        assert f"lexner_dictionary_words {len(WORDS)}.0" in client.get("/metrics").text


def test_a_request_in_the_old_model_is_answered_by_it(model_folder):
    service = Service(Settings(str(model_folder)))

    async def main():
        old = Annotation(service.model, service.model.matcher, Wanted())
        new = await service.reload()
        assert service.model is new is not old.model
        return await asyncio.gather(
            service.run(old, [TEXT]), service.run(Annotation(new, new.matcher, Wanted()), [TEXT])
        )

    first, second = asyncio.run(main())
    assert first == second
    service.close()


def test_what_takes_too_long_is_given_up(model_folder):
    service = Service(Settings(str(model_folder), limits=Limits(seconds=0.0)))
    with pytest.raises((asyncio.TimeoutError, TimeoutError)):
        asyncio.run(service.run(Annotation(service.model, service.model.matcher, Wanted()), [TEXT]))
    service.close()
    assert service.fault == "The service is stopping."
