#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Draws a trace of pumice-trace as a picture for Documentation:
trace.py TRACE.json PICTURE.png [FROM_MS TO_MS]

Run manually; needs python3-pil. The usual viewer is ui.perfetto.dev.
"""
import json
import sys

from PIL import Image, ImageDraw, ImageFont

WIDTH, LEFT, ROW, THIN = 1400, 190, 18, 5
DRIVER, FIRMWARE, JOBS, PM, MMU, CORES, USCS = 1, 2, 3, 4, 5, 10, 26
COLOURS = ["#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#e15759", "#76b7b2"]


class Picture:
    """Rows of bars and ticks over one time axis."""

    def __init__(self, start, end, height):
        self.start, self.end = start, end
        self.scale = (WIDTH - LEFT - 10) / (end - start)
        self.image = Image.new("RGB", (WIDTH, height), "white")
        self.draw = ImageDraw.Draw(self.image)
        self.font = ImageFont.load_default()
        self.y = 6

    def at(self, time):
        """Return the horizontal position of a time, us."""
        return LEFT + (time - self.start) * self.scale

    def label(self, text):
        """Draw the text before a row."""
        self.draw.text((6, self.y), text, fill="black", font=self.font)

    def bar(self, start, end, fill, height, text=""):
        """Draw a slice, which has a length."""
        if end < self.start or start > self.end:
            return
        left = max(self.at(start), LEFT)
        right = min(max(self.at(end), left + 1), WIDTH)
        self.draw.rectangle([left, self.y, right, self.y + height - 2], fill=fill)
        if text and self.draw.textlength(text, font=self.font) < right - left - 4:
            self.draw.text((left + 2, self.y + 2), text, fill="white", font=self.font)

    def tick(self, time, fill, height):
        """Draw an instant."""
        if self.start <= time <= self.end:
            self.draw.line([self.at(time), self.y, self.at(time), self.y + height - 2],
                           fill=fill)

    def heading(self, text):
        """Draw the heading of a block."""
        self.draw.line([0, self.y, WIDTH, self.y], fill="#cccccc")
        self.label(text)
        self.y += ROW


def slices_of(events):
    """Return {(process, track): [(start, end, begin event)]}."""
    opened, out = {}, {}
    for event in events:
        track = event["pid"], event["tid"]
        if event["ph"] == "B":
            opened[track] = event
        elif event["ph"] == "E":
            begin = opened.pop(track)
            out.setdefault(track, []).append((begin["ts"], event["ts"], begin))
    return out


def names_of(events, what):
    """Return the names that metadata give, by process and track."""
    return {(e["pid"], e["tid"]): e["args"]["name"] for e in events
            if e["ph"] == "M" and e["name"] == what}


def colours_of(slices):
    """Return a colour for each context, and for work of none."""
    contexts = sorted({s[2]["args"].get("context", 0) for row in slices.values() for s in row})
    return {context: COLOURS[i % len(COLOURS)] for i, context in enumerate(contexts)}


def draw_tracks(p, slices, names, colours, process):
    """Draw a row for each track of a process, and the names of slices where they fit."""
    thin = process >= USCS
    for track in sorted(t for t in slices if t[0] == process):
        height = THIN if thin else ROW
        if not thin:
            p.label("  " + names[track])
        for start, end, event in slices[track]:
            p.bar(start, end, colours[event["args"].get("context", 0)], height,
                  "" if thin else event["name"])
        p.y += height


def draw(events, path, window):
    """Draw the whole picture."""
    slices = slices_of(events)
    tracks, processes = names_of(events, "thread_name"), names_of(events, "process_name")
    colours = colours_of(slices)
    jobs = [s for track, row in slices.items() if track[0] == JOBS for s in row]
    start, end = min(s[0] for s in jobs), max(s[1] for s in jobs)
    if window:
        start, end = start + window[0] * 1000, start + window[1] * 1000
    p = Picture(start, end, 200 + ROW * (2 * len(slices) + len(processes)))
    p.heading("firmware: decisions")
    for event in events:
        if event["pid"] == FIRMWARE and event["ph"] == "i":
            p.tick(event["ts"], "#333333", ROW)
    p.y += ROW
    for process in sorted({track[0] for track in slices}):
        p.heading(processes[process, 0])
        draw_tracks(p, slices, tracks, colours, process)
        p.y += 3
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
        text = f"{(time - start) / 1000:.2f} ms"
        left = min(p.at(time) - 20, WIDTH - 4 - p.draw.textlength(text, font=p.font))
        p.draw.text((left, p.y + 6), text, fill="black", font=p.font)
    p.image.crop((0, 0, WIDTH, p.y + 24)).save(path)


def main():
    """Run the command."""
    with open(sys.argv[1], encoding="utf-8") as stream:
        draw(json.load(stream)["traceEvents"], sys.argv[2], [float(a) for a in sys.argv[3:5]])


if __name__ == "__main__":
    main()
