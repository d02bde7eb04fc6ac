"""A cluster to submit scripts/slurm to, with a folder for logs and results; CTest gives the repository and the program."""
from __future__ import annotations

import json
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.slurm import Cluster, missing

SKIPPED = 77  # What CTest takes for skipped.
SCRIPTS = Path("scripts/slurm")
TINY = ("--data", "fashion-mnist-sample", "--steps", "10", "--evaluate", "end")
ENDLESS = ("--data", "fashion-mnist-sample", "--steps", "1000000", "--evaluate", "end")


class Site:
    """A cluster at whose shared file system lie the repository, and a folder for everything that is written."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.cluster, self.results, self.logs = cluster, folder / "results", folder / "logs"
        self.logs.mkdir()
        self.root, program = Path(sys.argv[1]), sys.argv[2]
        cluster.environment.update(PROGRAM=program, RESULTS=str(self.results))

    def submit(self, script: str, *words: str, options: tuple[str, ...] = (), log: str = "%x-%A_%a.out", **variables: str) -> str:
        """@param words for the script. @return the job's number."""
        return self.cluster.submit(f"--chdir={self.root}", f"--output={self.logs}/{log}", *options,
                                   str(self.root / SCRIPTS / script), *words, STEELYARD_HOME=str(self.root), **variables)

    def wait_for_all(self, seconds: float = 600) -> None:
        self.cluster.wait_until(lambda: not self.cluster.jobs(), "all jobs have ended", seconds)

    def text(self) -> str:
        """Everything that jobs said."""
        return "\n".join(f"{path.name}: {path.read_text()}" for path in sorted(self.logs.iterdir()))

    def manifest(self, run: str) -> dict:
        """Of a run that must be complete."""
        directory = self.results / run
        assert (directory / "done").exists(), (run, self.text())
        return json.loads((directory / "manifest.json").read_text())


@contextmanager
def site(nodes: int = 4, requeue_exit: bool = False) -> Iterator[Site]:
    """Ends the test as skipped where there can be no cluster."""
    if why := missing():
        print(f"SKIPPED: {why} (scripts/packages_slow.txt; scripts/test --slow installs it)")
        sys.exit(SKIPPED)
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # So that the folder goes too.
    with tempfile.TemporaryDirectory(prefix="steelyard-slurm-") as name, \
            Cluster(Path(name) / "cluster", nodes, requeue_exit) as cluster:
        yield Site(cluster, Path(name))
