"""Programs that are run, and peers that stay up between rounds. All have a time limit."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent.parent.parent
RUN_LIMIT_S = 240.0
START_LIMIT_S = 240.0  # A peer that trains 120 steps, on a busy machine.
ANSWER_LIMIT_S = 120.0
END_LIMIT_S = 5.0  # Of a program that has been told to end.
PR_SET_PDEATHSIG = 1


class Failed(Exception):
    """What one section could not do; the others go on."""


def refuse(text: str) -> NoReturn:
    print(f"steelyard bench: {text}", file=sys.stderr)
    sys.exit(2)


@contextlib.contextmanager
def ending(process: subprocess.Popen) -> Iterator[subprocess.Popen]:
    """Afterwards nothing of its process group is left."""
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(END_LIMIT_S)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def run(command: list[str], environment: dict[str, str]) -> str:
    """Standard output of a command that must succeed."""
    pipe = subprocess.PIPE
    started = subprocess.Popen(command, env=environment, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe,
                               text=True, start_new_session=True)
    with ending(started) as process:
        try:
            output, errors = process.communicate(timeout=RUN_LIMIT_S)
        except subprocess.TimeoutExpired:
            raise Failed(f"{' '.join(command)}\nhas not ended after {RUN_LIMIT_S:.0f} s") from None
    if process.returncode != 0:
        raise Failed(f"{' '.join(command)}\nended with {process.returncode}:\n{output}{errors}")
    return output


def end_with_parent(libc: ctypes.CDLL) -> None:
    """Of a child that is about to become a peer: stopped, it would not see that its questions have ended."""
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Peer:
    """A program of tests/bench/peers/: started once, then asked for figures (turns.py says how).

    All its processes are stopped except in its turn. Those of torch.distributed.rpc spin while they are idle: they
    would use the cores in the turns of others, and others that yield while they wait would give them whole slices.
    """

    def __init__(self, name: str, command: list[str], environment: dict[str, str]) -> None:
        self.name, self.command = name, command
        self.info: dict = {}
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115  It lives as long as the peer.
        pipe, libc = subprocess.PIPE, ctypes.CDLL(None)
        self.process = subprocess.Popen(command, env=environment, cwd=ROOT, stdin=pipe, stdout=pipe,
                                        stderr=self.errors, text=True, bufsize=1, start_new_session=True,
                                        preexec_fn=lambda: end_with_parent(libc))
        assert self.process.stdin and self.process.stdout
        self.questions, self.answers = self.process.stdin, self.process.stdout
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.answers, selectors.EVENT_READ)

    def get_ready(self) -> None:
        """@post it has shown that it trains, and is stopped."""
        self.info = self.answer(START_LIMIT_S)
        self.signal(signal.SIGSTOP)

    def signal(self, number: signal.Signals) -> None:
        """To all processes of its session: mpirun gives each rank a process group of its own."""
        for pid in (int(name) for name in os.listdir("/proc") if name.isdigit()):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if os.getsid(pid) == self.process.pid:
                    os.kill(pid, number)

    def answer(self, limit_s: float) -> dict:
        """The next line. A peer writes one at a time."""
        line = self.answers.readline() if self.selector.select(limit_s) else ""
        if not line.startswith("{"):
            self.complain(line or f"no answer within {limit_s:.0f} s, or ended")
        answer = json.loads(line)
        if answer.get("error") or answer.get("wrong"):
            self.complain(answer.get("error") or answer["wrong"])
        return answer

    def complain(self, text: str) -> NoReturn:
        self.errors.seek(0)
        raise Failed(f"peer {self.name}: {text}\n{' '.join(self.command)}\n{self.errors.read()[-4000:]}")

    def measure(self, seconds: float) -> dict[str, float]:
        self.signal(signal.SIGCONT)
        self.questions.write(f"{seconds}\n")
        figures = self.answer(ANSWER_LIMIT_S)
        self.signal(signal.SIGSTOP)
        return figures

    def finish(self) -> None:
        """It says whether its ranks agree at the end."""
        self.signal(signal.SIGCONT)
        self.questions.close()
        self.answer(ANSWER_LIMIT_S)


@contextlib.contextmanager
def peers(commands: dict[str, tuple[list[str], dict[str, str]]]) -> Iterator[dict[str, Peer]]:
    """Started one after the other, all up at once, stopped when not asked."""
    with contextlib.ExitStack() as stack:
        started = {}
        for name, (command, environment) in commands.items():
            peer = started[name] = Peer(name, command, environment)
            stack.enter_context(ending(peer.process))
            stack.callback(peer.signal, signal.SIGCONT)  # A stopped program does not end.
            peer.get_ready()
        yield started
        for peer in started.values():
            peer.finish()
