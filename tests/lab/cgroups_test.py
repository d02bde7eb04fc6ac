"""Control groups of version 2 and refusals, on folders that look like them; the other tests use the machine's own."""
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from steelyard_lab import cgroups  # noqa: E402


def version_2(mount: Path) -> None:
    (mount / "cgroup.subtree_control").write_text("memory\n")
    groups = cgroups.Groups({"unified": str(mount / "lab")})
    made: list[Path] = []

    class Kernel(type(mount)):  # The kernel fills a new group with files.
        def mkdir(self, *arguments: object, **options: object) -> None:
            super().mkdir(*arguments, **options)
            made.append(self)
            for name, text in {"cgroup.subtree_control": "", "cgroup.procs": "", "cpu.max": "max 100000", "cpu.weight": "100",
                               "cpu.stat": "usage_usec 12\nthrottled_usec 3\n"}.items():
                (self / name).write_text(text)

    groups.roots = {"unified": Kernel(mount / "lab")}
    groups.make(["head", "lab1"])
    assert [p.name for p in made] == ["lab", "head", "lab1"], made
    assert (mount / "cgroup.subtree_control").read_text() == "+cpu"
    assert (mount / "lab" / "cgroup.subtree_control").read_text() == "+cpu"
    groups.limit("lab1", 0.2)
    assert (mount / "lab" / "lab1" / "cpu.max").read_text() == "2000 10000"
    groups.limit("lab1", 0.02)
    assert (mount / "lab" / "lab1" / "cpu.max").read_text() == "1000 50000"
    groups.favour("head")
    assert (mount / "lab" / "head" / "cpu.weight").read_text() == "10000"
    assert groups.usage_ns("lab1") == 12000 and groups.throttled_ns("lab1") == 3000
    assert groups.joins("lab1") == [str(mount / "lab" / "lab1" / "cgroup.procs")]
    again = cgroups.Groups(groups.as_dict())
    assert again.joins("head") == groups.joins("head")
    assert [d.name for d in again.directories()][-1] == "lab" and not again.processes()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        version_2(Path(folder))
    print("ok")


main()
