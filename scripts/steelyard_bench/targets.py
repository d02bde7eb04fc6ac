"""What is wanted of each figure: the one place that says so."""

from __future__ import annotations

from dataclasses import dataclass

ANY_PEER = "best peer"  # Whichever peer of a line's contest did best.
MLP = "mlp:784-4096-256-10"


@dataclass(frozen=True)
class Target:
    """A bound on ours / peer; an `at_most` bound where the figure is a time, else a least."""

    value: float
    at_most: bool = False

    def text(self) -> str:
        return f"{'<=' if self.at_most else '>='} {self.value:g}"

    def met_by(self, ratio: float) -> bool:
        return ratio <= self.value if self.at_most else ratio >= self.value


TARGETS: dict[tuple[str, str, str], Target] = {
    ("train-one-rank", "lenet", "PyTorch"): Target(4.5),
    ("train-one-rank", MLP, "PyTorch"): Target(1.5),
    ("train-allreduce", "lenet x2", "torch DDP"): Target(8.0),
    ("train-allreduce", "lenet x2", "mpi4py"): Target(4.5),
    ("train-allreduce", "lenet x2", "ours x1"): Target(1.85),
    ("train-allreduce", f"{MLP} x2", "torch DDP"): Target(3.5),
    ("train-allreduce", f"{MLP} x2", "PyTorch, 2 threads"): Target(1.3),
    ("train-allreduce", f"{MLP} x2", "ours x1"): Target(1.85),
    ("train-ps", "lenet ps 1+1", ANY_PEER): Target(4.0),
    ("train-ps", "lenet ps 1+2", ANY_PEER): Target(5.0),
    ("train-ps", "lenet ps 2+2", ANY_PEER): Target(5.0),
    ("train-ps", f"{MLP} ps 1+1", ANY_PEER): Target(2.0),
    ("train-ps", f"{MLP} ps 1+2", ANY_PEER): Target(2.0),
    ("train-ps", f"{MLP} ps 2+2", ANY_PEER): Target(2.0),
    ("exposed", "mnist-fc allreduce x2", ANY_PEER): Target(0.5, at_most=True),
    ("exposed", "mnist-fc ps 2+2", ANY_PEER): Target(0.5, at_most=True),
    ("exposed", "googlenet allreduce x2", ANY_PEER): Target(0.5, at_most=True),
    ("exposed", "googlenet ps 2+2", ANY_PEER): Target(0.5, at_most=True),
    ("transport", "ps exchange 4 KiB", "ping-pong"): Target(1.5, at_most=True),
    ("transport", "ps exchange 64 MiB", "limit"): Target(0.6),
}
# `shared`: private buffers copied in and out; resident: data in the window, as training in place has it.
for ranks in (2, 4):
    for name in ("shared", "shared resident"):
        TARGETS["allreduce", f"{name} x{ranks}, 1 to 64 MiB", "best of Open MPI"] = Target(1.5)
        TARGETS["allreduce", f"{name} x{ranks}, 1 to 64 MiB", "gloo"] = Target(3.0)
        TARGETS["allreduce", f"{name} x{ranks}, 4 to 256 KiB", "Open MPI default"] = Target(1.0)
    for sizes in ("all sizes", "1 to 64 MiB", "4 to 256 KiB"):
        TARGETS["allreduce", f"ring x{ranks}, {sizes}", "Open MPI's ring"] = Target(1.0)
        TARGETS["allreduce", f"auto x{ranks}, {sizes}", "best other backend"] = Target(0.95)


def target_of(section: str, what: str, against: str) -> Target | None:
    return TARGETS.get((section, what, against))
