#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Draws a trace of pumice-trace as a picture for Documentation: trace.py TRACE.json PICTURE.png

Run manually; needs python3-pil. The usual viewer is ui.perfetto.dev.
"""
import json
import sys

from PIL import Image, ImageDraw, ImageFont

WIDTH, LEFT, ROW, THIN = 1400, 190, 18, 5
DRIVER, FIRMWARE, CDM, USC, MMU = 1, 2, 3, 4, 5
COLOURS = ["#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#e15759", "#76b7b2"]


def colour(name):
    """A colour for a context."""
    digits = "".join(c if c.isdigit() else " " for c in name).split()
    return COLOURS[int(digits[0]) % len(COLOURS)] if digits else COLOURS[0]


class Picture:
    """Rows of bars and ticks over one time axis."""

    def __init__(self, start, end, height):
        self.start, self.scale = start, (WIDTH - LEFT - 10) / (end - start)
        self.image = Image.new("RGB", (WIDTH, height), "white")
        self.draw = ImageDraw.Draw(self.image)
        self.font = ImageFont.load_default()
        self.y = 6

    def at(self, time):
        """Horizontal place of a time, us."""
        return LEFT + (time - self.start) * self.scale

    def label(self, text):
        """Text before a row."""
        self.draw.text((6, self.y + 2), text, fill="black", font=self.font)

    def bar(self, start, length, fill, height, text=""):
        """Something with a length."""
        left = max(self.at(start), LEFT)
        right = min(max(self.at(start + length), left + 1), WIDTH)
        self.draw.rectangle([left, self.y, right, self.y + height - 2], fill=fill)
        if text and self.draw.textlength(text, font=self.font) < right - left - 4:
            self.draw.text((left + 2, self.y + 2), text, fill="white", font=self.font)

    def tick(self, time, fill, height):
        """A moment."""
        if self.at(time) < LEFT:
            return
        self.draw.line([self.at(time), self.y, self.at(time), self.y + height - 2], fill=fill)

    def heading(self, text):
        """Where a block begins."""
        self.draw.line([0, self.y, WIDTH, self.y], fill="#cccccc")
        self.label(text)
        self.y += ROW


def jobs_of(events):
    """{track: [(start, length, name)]} of the driver's jobs."""
    open_jobs, out = {}, {}
    for event in events:
        if event["pid"] == DRIVER and event["ph"] == "b":
            open_jobs[event["id"]] = event
        elif event["pid"] == DRIVER and event["ph"] == "e":
            begin = open_jobs.pop(event["id"])
            out.setdefault(event["tid"], []).append(
                (begin["ts"], event["ts"] - begin["ts"], event["name"]))
    return out


def draw(events, path):
    """The whole picture."""
    slices = [e for e in events if e["ph"] == "X"]
    start = min(e["ts"] for e in slices if e["pid"] == CDM)
    end = max(e["ts"] + e["dur"] for e in slices if e["pid"] == CDM)
    margin = (end - start) / 50
    lanes = sorted({e["tid"] for e in slices if e["pid"] == USC})
    jobs = jobs_of(events)
    height = 130 + ROW * (len(jobs) + 7) + THIN * len(lanes) + 3 * len({t // 48 for t in lanes})
    p = Picture(start - margin, end + margin, height)
    p.heading("driver: jobs that the firmware has")
    for track in sorted(jobs):
        p.label(f"context {track}")
        for begin, length, name in jobs[track]:
            p.bar(begin, length, colour(f"{track}"), ROW, name.split(" ", 2)[2])
        p.y += ROW
    p.heading("firmware: log")
    for event in events:
        if event["pid"] == FIRMWARE and event["ph"] == "i":
            p.tick(event["ts"], "#333333", ROW)
    p.y += ROW
    p.heading("compute data master: slices of jobs")
    for event in slices:
        if event["pid"] == CDM:
            p.bar(event["ts"], event["dur"], colour(event["name"]), ROW, event["name"])
    p.y += ROW
    p.heading("USCs: work-groups, a line for each at a time")
    usc = None
    for track in lanes:
        if track // 48 != usc:
            usc = track // 48
            p.y += 3
            p.draw.text((120, p.y - 2), f"USC {usc}", fill="black", font=p.font)
        for event in slices:
            if event["pid"] == USC and event["tid"] == track:
                p.bar(event["ts"], event["dur"], colour(event["args"]["detail"]), THIN)
        p.y += THIN
    p.y += 8
    p.heading("MMU: table walks")
    for event in events:
        if event["pid"] == MMU and event["ph"] == "C":
            p.tick(event["ts"], "#999999", ROW)
        elif event["pid"] == MMU and event["ph"] == "i":
            p.tick(event["ts"], "#e15759", ROW)
    p.y += ROW + 4
    for i in range(9):
        time = start + (end - start) * i / 8
        p.tick(time, "black", 6)
        p.draw.text((p.at(time) - 20, p.y + 6), f"{(time - start) / 1000:.1f} ms", fill="black",
                    font=p.font)
    p.image.crop((0, 0, WIDTH, p.y + 24)).save(path)


def main():
    """The command."""
    with open(sys.argv[1], encoding="utf-8") as stream:
        draw(json.load(stream)["traceEvents"], sys.argv[2])


if __name__ == "__main__":
    main()
