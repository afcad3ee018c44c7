import asyncio
import socket

import uvicorn

from spacy_lexner.serve.front.process import PatientProtocol


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def test_a_connection_on_which_nothing_is_sent_is_closed():
    async def main():
        config = uvicorn.Config(
            None, port=free_port(), http=PatientProtocol, lifespan="off", log_config=None, timeout_keep_alive=0.05
        )
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve())
        while not server.started:
            await asyncio.sleep(0.01)
        reader, writer = await asyncio.open_connection("127.0.0.1", config.port)
        closed = await asyncio.wait_for(reader.read(), 60)
        writer.close()
        server.should_exit = True
        await serving
        return closed

    assert asyncio.run(main()) == b""
