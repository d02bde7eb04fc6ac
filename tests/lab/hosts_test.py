"""Two hosts: own names, networks, memory and limits; a run on them says so in everything it writes."""
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.lab import NAME, Before, lab, must  # noqa: E402

PROGRAM = sys.argv[1]


def hosts_are_apart() -> None:
    names = [must("exec", str(host), "--", "hostname").stdout.strip() for host in (1, 2)]
    assert names == ["lab1", "lab2"], names
    must("exec", "1", "--", "touch /dev/shm/mine")
    assert "mine" in must("exec", "1", "--", "ls /dev/shm").stdout
    assert "mine" not in must("exec", "lab2", "--", "ls /dev/shm").stdout
    assert "10.77.0.2" in must("exec", "2", "--", "ip -4 addr show eth0").stdout
    assert "10.77.0.1" in must("exec", "2", "--", "getent hosts lab1").stdout
    shaped = must("exec", "2", "--", "tc qdisc show dev eth0").stdout
    assert "tbf" in shaped and "100Mbit" in shaped, shaped
    assert "500Mbit" in must("exec", "1", "--", "tc qdisc show dev eth0").stdout
    own = must("exec", "1", "--", "ls -d /proc/[0-9]*").stdout.split()
    assert len(own) < 10, own  # Its own processes alone.


def ranks_are_in_blocks() -> None:
    ranks = must("run", "--no-check", "-n", "4", "--tag-output", "--", "hostname").stdout
    where = sorted(line.split(">")[0].split(",")[1] + line.split(":")[-1].strip()[-4:] for line in ranks.splitlines())
    assert [w[-4:] for w in where] == ["lab1", "lab1", "lab2", "lab2"], ranks


def limits_hold() -> None:
    """A slow machine makes a host slower than asked; nothing may make it faster."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        done = lab("check", "--quick", "--seconds", "1", "--json", file.name)
        assert done.returncode in (0, 3), done
        report = json.loads(Path(file.name).read_text())
    asked = {"lab1": (100e6, 0.3), "lab2": (100e6, 0.1)}  # lab1 to lab2 and back: the narrower link counts.
    for row in report["hosts"]:
        link, cpu = asked[row["host"]]
        assert row["link_asked_bit_per_s"] == link and row["cpu_asked"] == cpu, row
        assert 0 < row["link_bit_per_s"] < 1.02 * link, row
        assert 0 < row["cpu"] < 1.25 * cpu, row
    assert report["ping_pong_us"] > 0
    assert (done.returncode == 3) == bool(report["findings"]), report


def a_run_says_where_it_was() -> None:
    with tempfile.TemporaryDirectory(prefix="steelyard-test-") as folder:
        done = must("run", "-n", "3", "--", PROGRAM, "train", "--model", "replay:lenet", "--compute-ms", "1", "--steps", "20",
                    "--results", folder, "--name", "run", "--json", f"{folder}/run.json")
        result = json.loads(Path(f"{folder}/run.json").read_text())
        manifest = json.loads(Path(f"{folder}/run/manifest.json").read_text())
    assert "every value received was checked bit for bit" in done.stdout, done.stdout
    assert result["validity"] == "emulated_compute,shaped_links", result["validity"]
    assert manifest["validity"] == result["validity"]
    assert manifest["machines"] == 1 and manifest["node_of_rank"] == [0, 0, 1], manifest
    assert manifest["lab"]["name"] == NAME and len(manifest["lab"]["hosts"]) == 2
    assert manifest["lab"]["fidelity"]["hosts"][0]["link_bit_per_s"] > 0
    assert result["lab"] == manifest["lab"]
    assert "lab        2 hosts; links 100 to 500 Mbit/s; cpu 0.1 to 0.3 cores each" in done.stdout, done.stdout


def main() -> None:
    before = Before()
    try:
        must("up", "2", "--link", "500mbit", "--cpu", "0.3", "--host", "2:link=100mbit,cpu=0.1")
        hosts_are_apart()
        ranks_are_in_blocks()
        limits_hold()
        a_run_says_where_it_was()
        code = lab("run", "--no-check", "-n", "2", "--", "sh", "-c", "exit 7").returncode
        assert code == 7, code
    finally:
        must("down")
    before.check("down")
    print("ok")


main()
