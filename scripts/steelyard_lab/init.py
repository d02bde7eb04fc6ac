"""The first process of a host: makes the host's name and private mounts, then collects orphans for ever.

usage: init.py HOST-NAME HOSTS-FILE; prints "ready" when others may enter.
"""

import os
import signal
import socket
import subprocess
import sys


def main() -> None:
    name, hosts_file = sys.argv[1:]
    socket.sethostname(name)
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/dev/shm"], check=True)
    subprocess.run(["mount", "--bind", hosts_file, "/etc/hosts"], check=True)
    signal.signal(signal.SIGCHLD, lambda *_: None)  # A caught signal ends pause().
    print("ready", flush=True)
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    while True:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            signal.pause()


if __name__ == "__main__":
    main()
