"""Where /dev/shm is too small for the window, --transport auto sends messages and says so; shared is refused."""
import os
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1]
# A window of about 50 MB in a /dev/shm of 40: container engines often give 64 MB.
TRAIN = "train --mode ps --model mlp:784-4096-256-10 --data synthetic --steps 2 --evaluate never --trace off"
MOUNT = 'mount -t tmpfs -o size=40m tmpfs /dev/shm && exec "$@"'


def train(transport: str, results: str) -> subprocess.CompletedProcess[str]:
    launch = ["mpirun", "--oversubscribe", "-n", "2", PROGRAM, *TRAIN.split(), "--transport", transport]
    command = ["unshare", "--mount", "sh", "-c", MOUNT, "sh", *launch, "--results", results, "--json", "-"]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, check=False, env=dict(os.environ))


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="steelyard-test-") as results:
        fallen_back = train("auto", results)
        assert fallen_back.returncode == 0 and '"transport": "message"' in fallen_back.stdout, fallen_back
        assert fallen_back.stderr.count("travel by messages: /dev/shm of node 0 has") == 1, fallen_back
        refused = train("shared", results)
        assert refused.returncode == 2, refused
        assert refused.stderr.count("steelyard: --transport shared: /dev/shm of node 0 has") == 1, refused
        asked = train("message", results)
        assert asked.returncode == 0 and "/dev/shm" not in asked.stderr, asked
    print("ok")


main()
