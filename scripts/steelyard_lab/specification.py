"""What a lab is asked to be: hosts, their links and their slices of CPU."""

from __future__ import annotations

import dataclasses
import re

MOST_HOSTS = 64
LEAST_CPU, MOST_CPU = 0.02, 1024.0
LEAST_LINK, MOST_LINK = 1e6, 100e9
MOST_LATENCY_US = 1_000_000.0
UNITS = {"kbit": 1e3, "mbit": 1e6, "gbit": 1e9}


class BadInput(Exception):
    """Something the user can mend; the text says the value, the reason and what is allowed."""


@dataclasses.dataclass
class Host:
    """One host. `link` in bit/s each way, None: unshaped; `cpu` in cores, None: no limit."""

    number: int
    link: float | None = None
    cpu: float | None = None

    @property
    def name(self) -> str:
        return f"lab{self.number}"

    @property
    def address(self) -> str:
        return f"10.77.0.{self.number}"


@dataclasses.dataclass
class Specification:
    hosts: list[Host]
    latency_us: float = 0.0

    def as_dict(self) -> dict:
        return {"latency_us": self.latency_us, "hosts": [dataclasses.asdict(h) for h in self.hosts]}

    @staticmethod
    def from_dict(data: dict) -> Specification:
        return Specification([Host(**h) for h in data["hosts"]], data["latency_us"])


def parse_hosts(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MOST_HOSTS:
        raise BadInput(f"'{text}' is no number of hosts; choose 1 to {MOST_HOSTS}")
    return int(text)


def parse_link(text: str) -> float:
    """@return bit/s."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(kbit|mbit|gbit)", text.lower())
    rate = float(match[1]) * UNITS[match[2]] if match else 0.0
    if not LEAST_LINK <= rate <= MOST_LINK:
        raise BadInput(f"link '{text}' is no bandwidth; give 1mbit to 100gbit, such as 500mbit")
    return rate


def parse_cpu(text: str) -> float:
    """@return cores."""
    share = float(text) if re.fullmatch(r"\d+(\.\d+)?|\.\d+", text) else 0.0
    if not LEAST_CPU <= share <= MOST_CPU:
        raise BadInput(f"cpu '{text}' is no share of cores; give {LEAST_CPU} to {MOST_CPU:g}, such as 0.2")
    return share


def parse_latency(text: str) -> float:
    """@return microseconds."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(us|ms)", text.lower())
    latency = float(match[1]) * (1.0 if match[2] == "us" else 1e3) if match else -1.0
    if not 0.0 <= latency <= MOST_LATENCY_US:
        raise BadInput(f"latency '{text}' is no time; give 0us to 1000ms, such as 200us")
    return latency


def apply_override(hosts: list[Host], text: str) -> None:
    """`3:link=100mbit,cpu=0.1` changes host 3."""
    number, colon, settings = text.partition(":")
    if not colon or not number.isdecimal() or not 1 <= int(number) <= len(hosts):
        raise BadInput(f"--host '{text}': begin with a host from 1 to {len(hosts)} and a colon, "
                       "such as 3:link=100mbit,cpu=0.1")
    for setting in settings.split(","):
        key, _, value = setting.partition("=")
        if key == "link":
            hosts[int(number) - 1].link = parse_link(value)
        elif key == "cpu":
            hosts[int(number) - 1].cpu = parse_cpu(value)
        else:
            raise BadInput(f"--host '{text}': '{setting}' is unknown; choose among link=RATE and cpu=CORES")


def specify(hosts: str, link: str | None, cpu: str | None, latency: str | None,
            overrides: list[str]) -> Specification:
    rate = parse_link(link) if link else None
    share = parse_cpu(cpu) if cpu else None
    made = [Host(i + 1, rate, share) for i in range(parse_hosts(hosts))]
    for text in overrides:
        apply_override(made, text)
    return Specification(made, parse_latency(latency) if latency else 0.0)


def link_text(rate: float | None) -> str:
    return "unshaped" if rate is None else f"{rate / 1e6:g} Mbit/s"
