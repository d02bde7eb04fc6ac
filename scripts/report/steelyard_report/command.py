"""The command line of scripts/report/report."""

from __future__ import annotations

import argparse
import os
import pathlib
import sys

MISSING = 2
FAILED = 1
MOST_SPANS = 1500  # Of one timeline,
ALL_SPANS = 20_000  # and of all: about 3 MB.


def parser_of(description: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="report", description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", metavar="RESULTS", nargs="+", type=pathlib.Path, help="run directories, or folders that hold some at any depth")
    parser.add_argument("-o", "--output", metavar="FILE", type=pathlib.Path, default=pathlib.Path("report.html"), help="the page [report.html]")
    parser.add_argument("--figures", metavar="DIR", type=pathlib.Path, help="every figure as PNG and SVG too")
    parser.add_argument("--program", metavar="FILE", type=pathlib.Path,
                        help="steelyard, for runs that did not end [build/steelyard, or the one on PATH]")
    return parser


def refuse(text: str) -> int:
    print(f"report: {text}", file=sys.stderr)
    return MISSING


def bad_place(path: pathlib.Path, option: str) -> str:
    folder = path.parent if option == "-o" else path
    if option == "-o" and path.is_dir():
        return f"{option} '{path}' is a folder; give a file"
    while option != "-o" and not folder.exists():
        folder = folder.parent
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        return f"{option} '{path}' cannot be written: '{folder}' is no folder that one may write to"
    return ""


def main(description: str | None) -> int:
    options = parser_of(description).parse_args()
    for path, option in ((options.output, "-o"), (options.figures, "--figures")):
        if path is not None and (wrong := bad_place(path, option)):
            return refuse(wrong)
    try:
        from . import make  # After --help and the checks: plotly and matplotlib take a second.
    except ImportError as error:
        return refuse(f"Python's {error.name} is missing; scripts/packages.txt lists what is needed")
    return make.report(options)
