"""`spacy lexner serve`: a pipeline and its dictionary over HTTP."""

from pathlib import Path
from typing import Annotated, List, Optional

import typer

from ..shared import GpuOption, failing


def serve_cli(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A pipeline, by folder or name")],
    host: Annotated[str, typer.Option(help="The address to listen on")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on; 0: any free one", min=0, max=65535)] = 8080,
    state: Annotated[
        Optional[Path], typer.Option(help="The folder that keeps changes to the dictionary", metavar="DIR")
    ] = None,
    token_file: Annotated[
        Optional[Path],
        typer.Option(help="A file with the token that allows changing the dictionary", metavar="FILE"),
    ] = None,
    allowed_host: Annotated[
        Optional[List[str]],
        typer.Option(help="A host name by which clients reach the service; repeatable", metavar="NAME"),
    ] = None,
    max_wait_ms: Annotated[
        float, typer.Option(help="Longest time that an idle model waits for more texts, in milliseconds", min=0.0)
    ] = 5.0,
    max_batch_tokens: Annotated[
        int, typer.Option(help="Most characters in a batch, padding included; 0: one text at a time", min=0)
    ] = 8192,
    max_texts: Annotated[int, typer.Option(help="Most texts per request", min=1)] = 256,
    max_characters: Annotated[int, typer.Option(help="Most characters per request", min=1)] = 100_000,
    max_seconds: Annotated[float, typer.Option(help="Seconds before a request times out", min=0.1)] = 60.0,
    gpu_id: GpuOption = -1,
) -> None:
    """Serve a pipeline over HTTP, with a page at / and the API described at /docs.

    Changing the dictionary needs a token, and a folder that keeps the changes. SIGTERM stops the service once it has
    answered pending requests; SIGHUP reloads the model.

    \b
    Examples:
      python -m spacy lexner serve training/model-best
      python -m spacy lexner serve training/model-best --state state --token-file token
    """
    with failing("The service cannot start"):
        from ...serve.dictionary.errors import StateError
        from ...serve.front.guard import known_hosts
        from ...serve.run import run_service
        from ...serve.settings import Batching, Limits, Settings, read_token

        if (state is None) != (token_file is None):
            raise ValueError("To change the dictionary, give both --state and --token-file; to only read it, neither.")
        settings = Settings(
            model,
            state,
            None if token_file is None else read_token(token_file),
            known_hosts(host, tuple(allowed_host or ())),
            gpu_id,
            Limits(texts=max_texts, characters=max_characters, seconds=max_seconds),
            Batching(max_batch_tokens, max_wait_ms / 1000),
        )
        try:
            run_service(settings, host, port)
        except StateError as error:
            raise ValueError(str(error)) from None
