"""A cluster to submit scripts/slurm to, with a folder for logs and results; CTest gives the repository and the program."""
from __future__ import annotations

import json
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.slurm import Cluster, StillWaiting, missing

SKIPPED = 77  # What CTest takes for skipped.
STOPPED = 85
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

    def is_queued(self, job: str) -> bool:
        """Heterogeneous jobs have a line for each component, as 7+0."""
        return any(name.partition("+")[0] == job for name in self.cluster.jobs())

    def restarts(self, job: str) -> int:
        words = self.cluster.call("scontrol", "show", "job", job).stdout.split()
        return int(next(word for word in words if word.startswith("Restarts=")).partition("=")[2])

    def wait_until_trains(self, run: str, job: str) -> None:
        """Slurm starts heterogeneous jobs by backfill alone, which looks at them only where something has changed; on a
        cluster in use something always has."""
        def trains() -> bool:
            self.cluster.call("scontrol", "update", f"jobid={job}", "comment=look")
            return (self.results / run / "run.h5").exists()
        self.cluster.wait_until(trains, f"{run} trains")

    @contextmanager
    def node_down(self, node: str) -> Iterator[None]:
        self.cluster.call("scontrol", "update", f"nodename={node}", "state=down", "reason=test")
        try:
            yield
        finally:
            self.cluster.call("scontrol", "update", f"nodename={node}", "state=resume")

    def text(self) -> str:
        """Everything that jobs said."""
        return "\n".join(f"{path.name}: {path.read_text()}" for path in sorted(self.logs.iterdir()))

    def manifest(self, run: str) -> dict:
        """Of a run that must be complete."""
        directory = self.results / run
        assert (directory / "done").exists(), (run, self.text())
        return json.loads((directory / "manifest.json").read_text())


def check_heterogeneous(at: Site, check: Callable[[], None]) -> None:
    """Now and then srun 22.05 neither starts nor ends a heterogeneous job (README, On a cluster): then another one is made,
    at most twice, and said."""
    for left in (2, 1, 0):
        try:
            return check()
        except StillWaiting as error:
            if left == 0:
                raise
            print(f"srun has left a heterogeneous job hanging: {error}\n{at.text()}")
            at.cluster.call("scancel", "--user=root")
            at.wait_for_all()


def check_stopped(at: Site, run: str) -> None:
    """A run that was stopped has ended in order, and is not done."""
    directory = at.results / run
    assert not (directory / "done").exists(), run
    assert json.loads((directory / "manifest.json").read_text())["exit_status"] == STOPPED, (run, at.text())
    assert "stopped" in (directory / "summary.csv").read_text(), run


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
