"""The switch in user space: frames arrive, none sooner than asked, and broadcasts find a host."""
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.lab import Before, lab, must  # noqa: E402


SWITCH = Path(sys.argv[1]).resolve().with_name("steelyard-lab-switch")


def main() -> None:
    before = Before()
    try:
        must("up", "3", "--link", "500mbit", "--latency", "2ms", "--switch", str(SWITCH))
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            done = lab("check", "--quick", "--seconds", "1", "--json", file.name)
            assert done.returncode in (0, 3), done
            report = json.loads(Path(file.name).read_text())
        assert report["ping_pong_us"] >= 2000, report
        for row in report["hosts"]:
            assert 0 < row["link_bit_per_s"] < 1.02 * 500e6, row
        hosts = must("run", "--no-check", "-n", "3", "--", "hostname").stdout.split()
        assert sorted(hosts) == ["lab1", "lab2", "lab3"], hosts
    finally:
        must("down")
    before.check("down")
    print("ok")


main()
