"""Importing this module makes forked processes compute with one thread.

The threads of OpenMP do not survive a fork. If torch has computed with several before, the forked process, such as a
worker of `nlp.pipe(n_process=2)`, would wait for them forever. With one thread it needs none. A process that is forked
before torch has computed anything may call `torch.set_num_threads` itself.
"""

import os

import torch

if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=lambda: torch.set_num_threads(1))
