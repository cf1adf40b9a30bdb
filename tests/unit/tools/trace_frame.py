#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Traces of frames, from the first job of a process on:
trace_frame.py PUMICE-TRACE PUMICE-FRAME PUMICE-DEMO-PARTIAL PUMICE-DEMO-MODEL

The contents of each track are compared with the demo's own report, with the tiles' lists and control
stream that pumice-frame decodes from the captured memory, and with the other tracks. Output: TAP.
"""
import bisect
import collections
import functools
import os
import re
import subprocess
import sys

from tap import main, test
from trace_check import load

TRACE, FRAME, PARTIAL, MODEL = map(os.path.abspath, sys.argv[1:5])
CORES = 3
CHUNK = 1024    # primitives of a chunk of a draw at most
TILE = 32       # pixels
UNITS = {"tile": r"tile (\d+),(\d+)", "ISP": r"ISP (\d+),(\d+)", "PBE": r"PBE (\d+),(\d+)",
         "spans": r"objects|background|end-of-tile"}


class Slice:
    """A slice: its track, name, begin and end."""

    def __init__(self, track, begin, end):
        self.track = track
        self.name, self.args, self.end_args = begin["name"], begin["args"], end["args"]
        self.start, self.end = begin["ts"], end["ts"]

    def place(self):
        """Return the column and row of a tile."""
        return tuple(map(int, re.search(r"(\d+),(\d+)$", self.name).groups()))


class Frame:
    """A demo's trace by process and track, and what the demo printed."""

    def __init__(self, demo, capture=None):
        env = dict(os.environ, XDG_RUNTIME_DIR=os.getcwd())
        env.pop("PUMICE_DEVICE", None)
        if capture:
            env["PUMICE_CAPTURE"] = capture
        done = subprocess.run([TRACE, "-d", f"inproc:cores={CORES},threads=2", "-o", "t.json", demo,
                               "-o", "t.png"], env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert " 0 lost; " in done.stderr, done.stderr
        self.printed = done.stdout
        self.events, processes, tracks = load("t.json")
        self.names = {key: (processes[key[0]], name) for key, name in tracks.items()}
        self.slices = collections.defaultdict(list)
        opened = {}
        for event in self.events:
            key = event["pid"], event.get("tid")
            if event["ph"] == "B":
                opened[key] = event
            elif event["ph"] == "E":
                self.slices[self.names[key]].append(Slice(self.names[key], opened[key], event))

    def of(self, track, process=""):
        """Return the slices of all tracks whose names match."""
        return [s for (p, t), found in self.slices.items() for s in found
                if re.fullmatch(track, t) and re.match(process, p)]

    def instants(self, process, name):
        """Return the instants of a process with a name."""
        return [e for e in self.events if e["ph"] == "i" and e["name"] == name and
                self.names[e["pid"], e["tid"]][0] == process]

    def counter(self, name):
        """Return the values of a counter."""
        return [e["args"]["value"] for e in self.events if e["ph"] == "C" and e["name"] == name]


@functools.lru_cache(maxsize=None)
def partial():
    """Trace a frame with enough pages on one device, and the same with too few, on the next."""
    return Frame(PARTIAL)


@functools.lru_cache(maxsize=None)
def model():
    """Trace two frames on one device; the second is captured last."""
    return Frame(MODEL, "model.cap")


@functools.lru_cache(maxsize=None)
def decoded():
    """Return for the captured frame {tile: primitives in its list} and the triangles of each draw.
    """
    done = subprocess.run([FRAME, "-o", "shown", "model.cap"], check=False)
    assert done.returncode == 0
    with open("shown/lists.txt", encoding="ascii") as file:
        lists = {(int(x), int(y)): int(n) for x, y, n in
                 re.findall(r"^tile (\d+), (\d+): (\d+) primitives", file.read(), re.M)}
    with open("shown/streams.txt", encoding="ascii") as file:
        draws = re.findall(r"vdm_draw_indexed\n.*topology = 3\n(?:.*\n)*?.* count = (\d+) ",
                           file.read())
    return lists, [int(n) // 3 for n in draws]


def reported(frame):
    """Return the pages of the first frame and the partial renders of the second, as the demo counts
    them.
    """
    pages, renders = re.search(r"(\d+) pages: 0 partial renders; \d+ pages: (\d+);",
                               frame.printed).groups()
    return int(pages), int(renders)


def check_units(frame):
    """Check that a tile's units work within it, on tracks of their own, under their own names."""
    tiles = collections.defaultdict(list)
    for tile in frame.of(r"tile, slot [01]", "core "):
        assert re.fullmatch(UNITS["tile"], tile.name), tile.name
        tiles[tile.track[0], tile.track[1][-1]].append(tile)
    # Both slots of each core have tiles.
    assert len(tiles) == CORES * 2, tiles.keys()
    for unit in ("ISP", "PBE", "spans"):
        found = frame.of(rf"{unit}, slot [01]", "core ")
        for part in found:
            assert re.fullmatch(UNITS[unit], part.name), (unit, part.name)
            # At its begin the previous tile may have ended at the same time.
            slot = tiles[part.track[0], part.track[1][-1]]
            at = bisect.bisect_right(slot, part.start, key=lambda t: t.start)
            around = [t for t in slot[max(at - 2, 0):at] if part.end <= t.end]
            assert around, (part.track, part.name, part.start)
            assert unit == "spans" or part.place() in {t.place() for t in around}
            assert part.args["job"] in {t.args["job"] for t in around}


@test
def units_of_a_tile_work_within_it():
    check_units(partial())
    check_units(model())


@test
def every_tile_is_rendered_shaded_and_stored():
    # 640 x 480 pixels; every partial render visits all tiles, and the last render stores them.
    tiles = collections.Counter((x, y) for x in range(640 // TILE) for y in range(480 // TILE))
    _, renders = reported(partial())
    for unit, times in (("tile", 2 + renders), ("PBE", 2)):
        found = collections.Counter(s.place() for s in partial().of(rf"{unit}, slot .", "core "))
        assert found == collections.Counter({tile: times for tile in tiles}), (unit, found)
    lists, _ = decoded()
    for unit in ("tile", "PBE"):
        found = collections.Counter(s.place() for s in model().of(rf"{unit}, slot .", "core "))
        assert found == collections.Counter({tile: 2 for tile in lists}), (unit, found)
    # Only visible pixels are shaded: equally many of each tile, whatever the order of the draws.
    shaded = collections.defaultdict(list)
    for tile in model().of(r"tile, slot .", "core "):
        shaded[tile.place()].append(tile.end_args["pixels"])
    assert all(one == other for one, other in shaded.values()), shaded
    for tile, count in lists.items():
        assert count or not shaded[tile][0], tile
    passes = collections.Counter(s.name for s in model().of(r"spans, slot .", "core "))
    assert passes["background"] == passes["end-of-tile"] == 2 * len(lists), passes
    assert passes["objects"] >= len([tile for tile, n in lists.items() if n]), passes


@test
def the_isp_has_the_primitives_of_the_tiles_lists():
    lists, _ = decoded()
    last = max(s.args["job"] for s in model().of(r"tile, slot ."))
    drawn = {}
    for part in model().of(r"ISP, slot ."):
        if part.args["job"] == last:
            drawn[part.place()] = max(drawn.get(part.place(), 0), part.end_args["primitives"])
    assert drawn == lists, {k: (v, drawn.get(k)) for k, v in lists.items() if drawn.get(k) != v}


@test
def chunks_and_the_ta_have_the_primitives_of_the_draws():
    _, draws = decoded()
    assert len(draws) == 4 and sum(draws) > 50000, draws
    chunks = model().of("VDM chunks", "core ")
    assert len(chunks) == 2 * sum(-(-n // CHUNK) for n in draws), len(chunks)
    assert sum(s.end_args["primitives"] for s in chunks) == 2 * sum(draws)
    assert {re.sub(r"\d+", "N", s.name) for s in chunks} == {"chunk N"}
    # The pieces of a chunk that its core bins to their ends have all primitives of the chunk.
    bins, pieces = collections.defaultdict(list), []
    for part in model().of("TA", "core "):
        if part.name == "bin":
            bins[part.track[0]].append(part)
    for chunk in chunks:
        own = [b for b in bins[chunk.track[0]] if chunk.start <= b.start and b.end <= chunk.end]
        whole = [b.args["primitives"] for b in own
                 if b.end_args["primitives"] == b.args["primitives"]]
        assert own and sum(whole) == chunk.end_args["primitives"], chunk.name
        pieces.append(len(whole))
    assert max(pieces) > 1, pieces
    # Each core writes the region headers of each frame.
    headers = [s for s in model().of("TA", "core ") if s.name == "headers"]
    assert len(headers) == 2 * CORES, len(headers)


@test
def partial_renders_are_those_that_the_demo_counts():
    pages, renders = reported(partial())
    assert renders > 1
    jobs = partial().of(r"fragments \(PDM\)", "data masters")
    assert len([s for s in jobs if s.name.endswith(", partial render")]) == renders
    assert len(jobs) == renders + 2 and all(s.end_args["detail"] == "done" for s in jobs)
    assert len(partial().of(r"geometry \(VDM\)", "data masters")) == 2
    for name in ("pages stall", "partial", "pages resume"):
        assert len(partial().instants("firmware", name)) == renders, name
    assert len(partial().instants("PM", "empty")) >= renders
    # Pages that were in use when the first frame was complete; the next device begins with none.
    values = partial().counter("pages in use")
    allocated = values.index(1, 1) if 1 in values[1:] else len(values)
    assert values[:pages] == list(range(1, pages + 1)), values[:pages][-5:]
    assert max(values[allocated:]) <= pages // 10, (allocated, max(values[allocated:]))


@test
def transfers_are_the_levels_of_the_textures():
    commands = model().of(r"commands \(PTLA\)", "data masters")
    jobs = model().of(r"transfers \(TDM\)", "data masters")
    assert {s.name for s in commands} == {"downscale"}
    for command in commands:
        assert any(j.start <= command.start and command.end <= j.end for j in jobs)
    assert len({s.args["job"] for s in commands}) == len(jobs) == 3


@test
def texture_units_and_tasks_are_those_of_the_cores():
    frame = model()
    tasks = frame.of(r"USC \d+ / \d+", "USC ")
    assert {s.name for s in tasks} == {"vertices", "fragments"}
    assert {s.track[0] for s in tasks} == {f"USC {n}" for n in range(2 * CORES)}
    reads = collections.defaultdict(list)
    for event in frame.events:
        if event["ph"] == "C" and event["name"].startswith("TAG reads"):
            reads[event["pid"], event["name"]].append(event["args"]["value"])
    for key, values in reads.items():
        assert values == sorted(values) and values[-1] > 0, key
    assert {name for _, name in reads} >= {"TAG reads, pdm"}, reads.keys()


if __name__ == "__main__":
    main()
