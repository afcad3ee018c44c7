import asyncio
import socket

from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.serve.front.frames import FrameProtocol, to_frame

FRAMES = st.lists(st.tuples(st.dictionaries(st.text(), st.integers()), st.binary()), max_size=5)


@given(FRAMES, st.integers(1, 40))
def test_frames_survive_however_they_are_cut(frames, size):
    taken = []
    protocol = FrameProtocol(lambda *frame: taken.append(frame), lambda: None)
    data = b"".join(to_frame(*frame) for frame in frames)
    for i in range(0, len(data), size):
        protocol.data_received(data[i : i + size])
    assert taken == frames


def test_both_ways_and_the_end():
    async def main():
        loop, ends, taken = asyncio.get_running_loop(), [asyncio.Event(), asyncio.Event()], []
        sides = [FrameProtocol(lambda *frame, i=i: taken.append((i, *frame)), ends[i].set) for i in (0, 1)]
        for side, one in zip(sides, socket.socketpair()):
            await loop.create_connection(lambda own=side: own, sock=one)
        sides[0].send({"number": 1}, b"x" * 1_000_000)
        sides[0].close()
        await ends[1].wait()
        sides[1].send({"number": 2})  # no receiver
        return taken

    assert asyncio.run(main()) == [(1, {"number": 1}, b"x" * 1_000_000)]
