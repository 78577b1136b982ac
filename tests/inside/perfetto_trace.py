"""Reads a trace with Perfetto's own definitions and holds it against the report of the run.

    perfetto_trace.py run.pftrace report.json
"""

import json
import sys
from collections import defaultdict

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

STAGES = {"cipher", "staging", "submission", "link", "engine", "tag", "release"}


class Slices:
    """All slices and instants of a trace, by track."""

    def __init__(self, path):
        trace = Trace()
        with open(path, "rb") as file:
            trace.ParseFromString(file.read())
        self.tracks, self.parents, self.counters = {}, {}, set()
        self.slices, self.instants, self.values = defaultdict(list), defaultdict(list), defaultdict(list)
        self.names, self.arguments = {}, {}
        open_slices = defaultdict(list)
        for packet in trace.packet:
            self.intern(packet.interned_data)
            if packet.HasField("track_descriptor"):
                self.describe(packet.track_descriptor)
            if packet.HasField("track_event"):
                self.event(packet.timestamp, packet.track_event, open_slices)
        left = {self.tracks[track]: stack for track, stack in open_slices.items() if stack}
        assert not left, f"slices without an end: {left}"

    def intern(self, data):
        self.names.update({one.iid: one.name for one in data.event_names})
        self.arguments.update({one.iid: one.name for one in data.debug_annotation_names})

    def describe(self, descriptor):
        self.tracks[descriptor.uuid] = descriptor.name
        self.parents[descriptor.uuid] = descriptor.parent_uuid
        if descriptor.HasField("counter"):
            self.counters.add(descriptor.uuid)

    def event(self, time, event, open_slices):
        track = event.track_uuid
        assert track in self.tracks, f"an event on a track that is not described: {track}"
        name = event.name or self.names.get(event.name_iid)
        arguments = {self.arguments[one.name_iid]: getattr(one, one.WhichOneof("value")) for one in event.debug_annotations}
        if event.type == TrackEvent.TYPE_SLICE_BEGIN:
            assert arguments["start_ps"] // 1000 == time, "a slice begins in the ns of its start_ps"
            open_slices[track].append((name, arguments))
        elif event.type == TrackEvent.TYPE_SLICE_END:
            name, arguments = open_slices[track].pop()
            assert arguments["end_ps"] // 1000 == time, "a slice ends in the ns of its end_ps"
            self.slices[track].append((name, arguments))
        elif event.type == TrackEvent.TYPE_INSTANT:
            flows = list(event.flow_ids) + list(event.terminating_flow_ids)
            self.instants[track].append((name, arguments, flows, bool(event.terminating_flow_ids)))
        else:
            assert track in self.counters
            self.values[track].append((time, event.counter_value))

    def below(self, group):
        parent = next(uuid for uuid, name in self.tracks.items() if name == group and not self.parents[uuid])
        return {uuid: name for uuid, name in self.tracks.items() if self.parents[uuid] == parent}


def check_units(slices, report):
    tracks = {name: uuid for uuid, name in slices.below("units").items()}
    seen = 0
    for path, unit in report["units"].items():
        cycles = defaultdict(int)
        for name, arguments in slices.slices[tracks[path]]:
            cycles[name] += arguments["cycles"]
        expected = {"busy": unit["busy"], **unit["stalls"]}
        expected = {name: count for name, count in expected.items() if count}
        assert dict(cycles) == expected, f"{path}: {dict(cycles)} against {expected}"
        seen += sum(cycles.values())
    assert seen > 0, "no unit has done anything"
    return len(report["units"])


def check_messages(slices, report):
    expected = sum(copy["messages"] for copy in report["copies"])
    rows = [uuid for uuid, name in slices.below("messages").items() if "message" in name]
    assert len(rows) == expected, f"{len(rows)} messages against {expected}"
    arrows = defaultdict(list)
    for instants in slices.instants.values():
        for name, arguments, flows, ends in instants:
            if name in STAGES:
                assert flows == [arguments["message"] + 1]
                arrows[arguments["message"]].append(ends)
    for row in rows:
        cells = slices.slices[row]
        assert {name for name, _ in cells} <= STAGES and len(cells) >= 4, cells
        for (_, one), (_, next_one) in zip(cells, cells[1:]):
            assert one["end_ps"] == next_one["start_ps"], "stages follow each other"
        message = cells[0][1]["message"]
        assert len(arrows[message]) == len(cells) and sum(arrows[message]) == 1, "an arrow for each stage, one end"
    copies = [(copy["start_ps"], copy["end_ps"]) for copy in report["copies"]]
    for row in rows:
        cells = slices.slices[row]
        start, end = cells[0][1]["start_ps"], cells[-1][1]["end_ps"]
        assert any(low <= start <= end <= high for low, high in copies), "a message lies within its copy"
    return len(rows)


def check_streams(slices, report):
    spans = sorted((one["start_ps"], one["end_ps"]) for track in slices.below("streams") for _, one in slices.slices[track])
    expected = sorted((copy["start_ps"], copy["end_ps"]) for copy in report["copies"])
    assert spans == expected, f"{spans} against {expected}"


def main():
    slices = Slices(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as file:
        report = json.load(file)
    units, messages = check_units(slices, report), check_messages(slices, report)
    check_streams(slices, report)
    counters = {slices.tracks[track] for track in slices.values}
    assert len(counters) == len(slices.values), "no two counters have one name"
    for end in [".work", "tag_queue.entries", "posted_headers", ".quarantine", "hbm.exposed"]:
        assert any(name.endswith(end) for name in counters), f"no counter {end} among {sorted(counters)}"
    print(f"{units} units, {messages} messages, {len(counters)} counters: as the report says")


main()
