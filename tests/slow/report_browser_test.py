"""The report in headless Chromium, without a network: no error, every figure drawn, hover speaks, it prints.

With --screenshots DIR after the usual arguments it keeps a picture of every figure."""
import base64
import importlib.util
import shutil
import sys
import time
from pathlib import Path
from typing import Any

ROOT, PROGRAM, SCREENSHOTS = Path(sys.argv[1]), sys.argv[2], None
if "--screenshots" in sys.argv:
    SCREENSHOTS = Path(sys.argv[sys.argv.index("--screenshots") + 1])
    del sys.argv[-2:]
del sys.argv[1]  # As tests/support/steelyard.py expects them.
sys.path.insert(0, str(ROOT))
from tests.support.report import report  # noqa: E402
from tests.support.steelyard import Workplace, run  # noqa: E402

SAMPLE = ("--data", "fashion-mnist-sample", "--model", "lenet", "--batch", "60")
WAIT_S = 120


def missing() -> str:
    for package, there in (("chromium", shutil.which("chromium")), ("chromium-driver", shutil.which("chromedriver")),
                           ("python3-selenium", importlib.util.find_spec("selenium"))):
        if not there:
            return package
    return ""


def make_runs(folder: Path) -> None:
    commands = [(6, "train", *SAMPLE, "--steps", "60", "--evaluate-every", "20", *mode) for mode in
                (("--mode", "ps", "--servers", "1"), ("--mode", "ps", "--servers", "2"), ("--mode", "ps", "--servers", "3"), ("--mode", "allreduce"))]
    commands.append((4, "compare", *SAMPLE, "--steps", "60", "--rounds", "6", "--confirm-rounds", "0", "--trial", "mode=ps servers=2",
                     "--trial", "mode=ps servers=2 consistency=asp"))
    for ranks, *command in commands:
        done = run(ranks, *command, "--results", str(folder))
        assert done.code == 0, (command, done)


def browser() -> Any:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1240,900", "--host-resolver-rules=MAP * ~NOTFOUND"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)


def until(what: str, condition: Any) -> Any:
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        if found := condition():
            return found
    raise AssertionError(f"{what}: not within {WAIT_S} s")


def check_drawn(driver: Any, identity: str) -> None:
    """Marks of every trace, inside the figure, axes with titles."""
    said = driver.execute_script("""
        const plot = document.getElementById(arguments[0]), box = plot.getBoundingClientRect();
        const inside = [...plot.querySelectorAll('.legendtext, .infolayer [class$="title"] text')].every(text => {
          const at = text.getBoundingClientRect();
          return at.left >= box.left - 1 && at.right <= box.right + 1 && at.top >= box.top - 1 && at.bottom <= box.bottom + 1;
        });
        return {traces: plot.data.length, drawn: plot.querySelectorAll('.trace').length, inside: inside,
                marks: plot.querySelectorAll('.trace path').length, titles: plot.querySelectorAll('[class^="g-x"][class$="title"] text').length,
                panels: plot.querySelectorAll('.subplot').length, width: box.width};""", identity)
    assert said["marks"] >= said["traces"] > 0, (identity, said)
    assert said["inside"], (identity, "a label or legend is cut", said)
    assert said["titles"] == said["panels"] > 0 and said["width"] > 600, (identity, said)


def check_hover(driver: Any, identity: str) -> None:
    """The mouse over the largest bar or marker of the figure, as a user's would be."""
    driver.execute_script("document.getElementById(arguments[0]).scrollIntoView({block: 'center'})", identity)
    place = driver.execute_script("""
        const marks = [...document.getElementById(arguments[0]).querySelectorAll('.bars .point path, .scatterlayer .point')];
        const boxes = marks.map(mark => mark.getBoundingClientRect());
        const size = box => Math.min(box.width, 40) * Math.min(box.height, 40);
        const box = boxes.reduce((best, one) => size(one) > size(best) ? one : best, boxes[0]);
        return box ? [box.left + box.width / 2, box.top + box.height / 2] : null;""", identity)
    if place is None:
        return  # Lines without markers: the learning figure with many steps.

    def said() -> str:
        for shift in (3, 0):
            driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": place[0] + shift, "y": place[1]})
        return driver.execute_script("return [...document.querySelectorAll('#' + arguments[0] + ' .hovertext')].map(one => one.textContent).join()", identity)

    assert len(until(f"hover over {identity}", said)) > 3


def picture(driver: Any, identity: str) -> None:
    box = driver.execute_script("""const box = document.getElementById(arguments[0]).getBoundingClientRect();
        return [box.left + scrollX, box.top + scrollY, box.width, box.height]""", identity)
    clip = dict(zip(("x", "y", "width", "height"), box), scale=1)
    shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png", "captureBeyondViewport": True, "clip": clip})
    assert SCREENSHOTS is not None
    (SCREENSHOTS / f"{identity}.png").write_bytes(base64.b64decode(shot["data"]))


def check_page(folder: Path) -> None:
    begin = time.monotonic()
    shown = report(folder / "r.html", folder)
    assert shown.code == 0, shown
    print(f"report: {time.monotonic() - begin:.1f} s, {(folder / 'r.html').stat().st_size / 1e6:.1f} MB")
    assert (folder / "r.html").stat().st_size < 12e6
    driver = browser()
    try:
        driver.set_page_load_timeout(600)
        driver.get((folder / "r.html").as_uri())
        figures = driver.execute_script("return [...document.querySelectorAll('.drawing')].map(plot => plot.id)")
        assert len(figures) == len(shown.titles()) - ("Not used, or not whole" in shown.titles()) > 12, figures
        for identity in figures:
            check_drawn(driver, identity)
            check_hover(driver, identity)
            if SCREENSHOTS:
                picture(driver, identity)
        paper = base64.b64decode(driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"])
        assert paper.startswith(b"%PDF") and len(paper) > 50_000, len(paper)
        assert not driver.get_log("browser"), "the console is silent"
    finally:
        driver.quit()


def main() -> None:
    if package := missing():
        print(f"SKIPPED: Debian's {package} is missing; scripts/packages_slow.txt lists it")
        return
    with Workplace() as folder:
        make_runs(folder)
        check_page(folder)
    print("ok")


main()
