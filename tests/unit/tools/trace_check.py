#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Check of a trace for Perfetto: trace_check.py FILE.json

By the schema, and for rules that a schema cannot express: slices of a track begin and end
alternately and in the order of time, asynchronous ones have one begin and one end, and each
process and track that has events is named, once. Perfetto's own trace_processor is not
packaged by Debian.
"""
import collections
import json
import os
import re
import sys

import jsonschema

HERE = os.path.dirname(os.path.abspath(__file__))


class TraceError(Exception):
    """The trace breaks a rule."""


def require(condition, text):
    """Raise TraceError."""
    if not condition:
        raise TraceError(text)


def check_slices(events):
    """Check that slices of a track do not overlap, and times never decrease."""
    opened, times = {}, collections.defaultdict(float)
    for event in events:
        if event["ph"] not in "BE":
            continue
        track = event["pid"], event["tid"]
        require(event["ts"] >= times[track], f"time decreases: {event}")
        times[track] = event["ts"]
        if event["ph"] == "B":
            require(track not in opened, f"begins in {opened.get(track)}: {event}")
            opened[track] = event
        else:
            require(opened.pop(track, None), f"ends nothing: {event}")
    require(not opened, f"without end: {list(opened.values())[:1]}")


def check_async(events):
    """Check that each asynchronous slice has a begin and a later end."""
    begins, ends = {}, {}
    for event in events:
        where = {"b": begins, "e": ends}.get(event["ph"])
        if where is None:
            continue
        key = event["pid"], event["cat"], event["id"]
        require(key not in where, f"twice: {event}")
        where[key] = event
    require(begins.keys() == ends.keys(), "asynchronous begins and ends differ")
    for key, event in begins.items():
        require(event["ts"] <= ends[key]["ts"], f"ends before it begins: {event}")


def names(events, what):
    """Return the names that metadata give, by process or by track."""
    found = {}
    for event in events:
        if event["ph"] != "M" or event["name"] != what:
            continue
        key = event["pid"] if what == "process_name" else (event["pid"], event["tid"])
        require(key not in found, f"named twice: {event}")
        found[key] = event["args"]["name"]
    return found


def signature(value):
    """Return the properties of an event that the schema can distinguish: types, keys, texts without
    their numbers, and whether a number is negative, zero, or more than 32 bits.
    """
    if isinstance(value, dict):
        return tuple((key, signature(item)) for key, item in value.items())
    if isinstance(value, str):
        return re.sub(r"[0-9]+", "0", value)
    if type(value) in (int, float):
        return type(value), value < 0, value == 0, value > 0xffffffff
    return repr(value)


def check_schema(trace):
    """Validate the events by the schema; those that it cannot distinguish only once, as validation
    is slow.
    """
    with open(os.path.join(HERE, "trace.schema.json"), encoding="ascii") as file:
        schema = json.load(file)
    events = trace.get("traceEvents") if isinstance(trace, dict) else None
    if isinstance(events, list):
        trace = {**trace, "traceEvents": list({signature(e): e for e in events}.values())}
    try:
        jsonschema.Draft7Validator(schema).validate(trace)
    except jsonschema.ValidationError as err:
        raise TraceError(f"schema: {err.message[:500]}") from err


def load(path):
    """Return the events of a trace that keeps all rules, names of processes, of tracks."""
    with open(path, encoding="ascii") as file:
        trace = json.load(file)
    check_schema(trace)
    events = trace["traceEvents"]
    check_slices(events)
    check_async(events)
    processes, tracks = names(events, "process_name"), names(events, "thread_name")
    for event in events:
        require(event["pid"] in processes, f"of a process without name: {event}")
        if event["ph"] in "BEibe":
            require((event["pid"], event["tid"]) in tracks, f"of a track without name: {event}")
    return events, processes, tracks


def main():
    """Check one file."""
    events, processes, tracks = load(sys.argv[1])
    print(f"{sys.argv[1]}: {len(events)} events, {len(processes)} processes, {len(tracks)} tracks")


if __name__ == "__main__":
    try:
        main()
    except (TraceError, OSError, ValueError) as error:
        print(f"trace_check.py: {error}", file=sys.stderr)
        sys.exit(1)
