#!/usr/bin/env python3
"""Read what compare_page wrote as others would: CSV, SVG as XML, HTML and the JSON and base64 in it.

    read_pages.py COMPARE_PAGE    with the program made from compare_page.c

Where a chromium is installed, it also opens the pages and must find nothing to complain about.
"""

import base64
import csv
import html.parser
import json
import math
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

NAMES = ["pendulum", "long", "one", "empty", "nasty", "solid"]
VOID = {"meta", "link", "input", "br", "hr", "img"}
SVG = "{http://www.w3.org/2000/svg}"


class Page(html.parser.HTMLParser):
    """Elements are closed in order, and the texts of those with a name are kept."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.texts, self.keep = [], {}, []

    def handle_starttag(self, tag, attributes):
        if tag not in VOID:
            self.open.append(tag)
            name = dict(attributes).get("id", tag)
            self.keep.append(name)
            self.texts.setdefault(name, "")

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-1:]}"
        self.open.pop()
        self.keep.pop()

    def handle_data(self, data):
        if self.keep:
            self.texts[self.keep[-1]] += data


def read_csv(path):
    with open(path, newline="", encoding="utf-8", errors="surrogateescape") as file:
        rows = list(csv.reader(file))
    head, rows = rows[0] if rows else [], rows[1:]
    for row in rows:
        assert len(row) == len(head), f"{path}: a row of {len(row)} under {len(head)} names"
    return head, [[float(v) for v in row] for row in rows]


def check_svg(path):
    root = xml.etree.ElementTree.parse(path).getroot()
    assert root.tag == SVG + "svg", root.tag
    assert os.path.getsize(path) < 1_000_000, f"{path} is too large"
    for element in root.iter(SVG + "path"):
        assert re.fullmatch(r"[MLlh0-9.\- ]+", element.get("d")), element.get("d")[:80]


def numbers(channel, samples):
    if "data" not in channel:
        return [math.nan if channel["constant"] is None else channel["constant"]] * samples
    raw = base64.b64decode(channel["data"], validate=True)
    return [channel["offset"] + v for v in struct.unpack(f"<{samples}f", raw)]


def check_html(path, head, rows):
    with open(path, encoding="utf-8") as file:
        page = Page()
        page.feed(file.read())
        page.close()
    assert not page.open, f"{path}: {page.open} are left open"
    data = json.loads(page.texts["recording"])
    samples = data["samples"]
    assert data["rows"] == len(rows) and samples == len(rows), (path, samples)
    time = struct.unpack(f"<{samples}d", base64.b64decode(data["time"]))
    assert samples < 2 or (time[0], time[-1]) == (rows[0][0], rows[-1][0]), path

    # Each sample is a row, and the channel has what the row has, to the digits of a float.
    at = [round(i * (len(rows) - 1) / max(1, samples - 1)) for i in range(samples)]
    drift = {y for chart in data["charts"] if chart["title"].startswith("Change of") for y in chart["y"]}
    compared = 0
    for number, channel in enumerate(data["channels"]):
        values = numbers(channel, samples)
        if channel["name"] not in head or number in drift or samples < len(rows):
            continue
        column = [rows[r][head.index(channel["name"])] for r in at]
        size = max((abs(v) for v in column if math.isfinite(v)), default=0)
        every = max(1, len(rows) // 5000)  # of long ones some rows are enough
        for got, wanted in zip(values[::every], column[::every]):
            if math.isfinite(wanted) and abs(wanted) < 3e38:
                assert abs(got - wanted) <= 1e-7 * size + 1e-44, (path, channel["name"], got, wanted)
                compared += 1
            elif not math.isfinite(wanted):
                assert math.isnan(got), (path, channel["name"], got)
    for chart in data["charts"]:
        assert all(0 <= y < len(data["channels"]) for y in chart["y"]), path
    return page, compared


def complaints(pages, folder):
    """What chromium's console says about the pages, which it opens in the frames of one; None when it cannot be asked."""
    browser = shutil.which("chromium")
    if not browser or os.environ.get("ZW_CAMPAIGN") == "small":  # the bytes of the pages are those of the other builds
        return None
    frames = os.path.join(folder, "frames.html")
    with open(frames, "w", encoding="utf-8") as file:
        file.write("<!DOCTYPE html>" + "".join(f'<iframe src="{page}" width="900" height="600"></iframe>' for page in pages))
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader", "--disable-quic", "--no-first-run",
               "--disable-background-networking", "--disable-component-update", "--disable-sync",
               f"--user-data-dir={folder}/chromium", "--enable-logging=stderr",
               "--virtual-time-budget=1500", "--dump-dom", "file://" + frames]
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=120, errors="replace")
    except (subprocess.TimeoutExpired, OSError):
        return None
    if said.returncode != 0 or "<iframe" not in said.stdout:
        return None
    # what a driver says about its own speed is none of ours
    return [line for line in said.stderr.splitlines() if "CONSOLE" in line and "GL Driver Message (OpenGL, Performance" not in line]


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, folder], check=True)
        for name in NAMES:
            path = os.path.join(folder, name)
            head, rows = read_csv(path + ".csv")
            check_svg(path + ".svg")
            page, compared = check_html(path + ".html", head, rows)
            print(f"{name}: {len(rows)} rows, {compared} numbers of the page compared")
            if name == "pendulum":
                assert compared > 20000
                assert page.texts["h1"] == "Double pendulum"
                assert "constraint rod1: |p1| = l1" in page.texts["code"]
            if name == "nasty":
                assert head[2] == 'a,b "c"\n&' and "</script><b>&\"'\n\t" in page.texts["h1"]
        said = complaints([name + ".html" for name in NAMES], folder)
        assert not said, said
        print("the pages were not opened in chromium" if said is None else f"chromium opened {len(NAMES)} pages")


if __name__ == "__main__":
    main(sys.argv[1])
