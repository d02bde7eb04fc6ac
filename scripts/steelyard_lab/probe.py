"""Loads and measures from inside a host; started by check.py, prints one JSON line.

usage: probe.py receive PORT SECONDS | send ADDRESS PORT | echo PORT | ping ADDRESS PORT COUNT | burn
"""

import json
import socket
import statistics
import sys
import time

CHUNK = 256 * 1024
SETTLE_S = 0.4  # TCP finds its rate, and the shaper's first burst is spent.


def listen(port: str) -> socket.socket:
    listener = socket.create_server(("", int(port)))
    print("ready", flush=True)
    return listener.accept()[0]


def receive(port: str, seconds: str) -> None:
    peer = listen(port)
    buffer = bytearray(CHUNK)
    begin = time.monotonic() + SETTLE_S
    end = begin + float(seconds)
    received = 0
    while (now := time.monotonic()) < end:
        count = peer.recv_into(buffer)
        if count == 0:
            break
        if now >= begin:
            received += count
    print(json.dumps({"bit_per_s": 8 * received / (time.monotonic() - begin)}), flush=True)


def send(address: str, port: str) -> None:
    peer = socket.create_connection((address, int(port)), timeout=10)
    peer.settimeout(None)
    buffer = bytes(CHUNK)
    try:
        while True:
            peer.sendall(buffer)
    except OSError:
        pass  # The receiver has what it wanted.


def echo(port: str) -> None:
    peer = listen(port)
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while byte := peer.recv(1):
        peer.sendall(byte)


def ping(address: str, port: str, count: str) -> None:
    peer = socket.create_connection((address, int(port)), timeout=10)
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    times = []
    for _ in range(int(count)):
        begin = time.perf_counter()
        peer.sendall(b"x")
        peer.recv(1)
        times.append(time.perf_counter() - begin)
    print(json.dumps({"one_way_us": 1e6 * statistics.median(times) / 2}), flush=True)


def burn() -> None:
    while True:
        pass


if __name__ == "__main__":
    {"receive": receive, "send": send, "echo": echo, "ping": ping, "burn": burn}[sys.argv[1]](*sys.argv[2:])
