"""Reads a trace for Perfetto with Google's protobuf library and the part of the published schema that it uses
(protos/perfetto/trace), and prints how many tracks, slices, instants and flows it has."""

import sys

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

FIELD = descriptor_pb2.FieldDescriptorProto
SCHEMA = {
    "Trace": [("packet", 1, FIELD.TYPE_MESSAGE, True, "TracePacket")],
    "TracePacket": [
        ("timestamp", 8, FIELD.TYPE_UINT64, False, None),
        ("trusted_packet_sequence_id", 10, FIELD.TYPE_UINT32, False, None),
        ("track_event", 11, FIELD.TYPE_MESSAGE, False, "TrackEvent"),
        ("track_descriptor", 60, FIELD.TYPE_MESSAGE, False, "TrackDescriptor"),
    ],
    "TrackDescriptor": [
        ("uuid", 1, FIELD.TYPE_UINT64, False, None),
        ("name", 2, FIELD.TYPE_STRING, False, None),
        ("parent_uuid", 5, FIELD.TYPE_UINT64, False, None),
    ],
    "TrackEvent": [
        ("debug_annotations", 4, FIELD.TYPE_MESSAGE, True, "DebugAnnotation"),
        ("type", 9, FIELD.TYPE_INT32, False, None),
        ("track_uuid", 11, FIELD.TYPE_UINT64, False, None),
        ("categories", 22, FIELD.TYPE_STRING, True, None),
        ("name", 23, FIELD.TYPE_STRING, False, None),
        ("flow_ids", 47, FIELD.TYPE_FIXED64, True, None),
        ("terminating_flow_ids", 48, FIELD.TYPE_FIXED64, True, None),
    ],
    "DebugAnnotation": [
        ("string_value", 6, FIELD.TYPE_STRING, False, None),
        ("name", 10, FIELD.TYPE_STRING, False, None),
    ],
}
BEGIN, END, INSTANT = 1, 2, 3


def trace_class():
    file = descriptor_pb2.FileDescriptorProto(name="subset.proto", package="perfetto.protos", syntax="proto2")
    for name, fields in SCHEMA.items():
        message = file.message_type.add(name=name)
        for field, number, kind, repeated, of in fields:
            label = FIELD.LABEL_REPEATED if repeated else FIELD.LABEL_OPTIONAL
            added = message.field.add(name=field, number=number, type=kind, label=label)
            if of:
                added.type_name = ".perfetto.protos." + of
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.MessageFactory(pool).GetPrototype(pool.FindMessageTypeByName("perfetto.protos.Trace"))


def main(path):
    with open(path, "rb") as file:
        trace = trace_class().FromString(file.read())
    tracks, depth, slices, instants = {}, {}, 0, 0
    begun, ended, last = [], [], 0
    for packet in trace.packet:
        assert not packet.UnknownFields() if hasattr(packet, "UnknownFields") else True
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            assert not track.HasField("parent_uuid") or track.parent_uuid in tracks, "a parent comes first"
            tracks[track.uuid] = track.name
            continue
        event = packet.track_event
        assert packet.timestamp >= last, "in the order of time"
        last = packet.timestamp
        assert event.track_uuid in tracks, event.track_uuid
        begun += event.flow_ids
        ended += event.terminating_flow_ids
        instants += event.type == INSTANT
        if event.type == BEGIN:
            slices += 1
            depth[event.track_uuid] = depth.get(event.track_uuid, 0) + 1
        if event.type == END:
            depth[event.track_uuid] -= 1
            assert depth[event.track_uuid] >= 0, "a slice ends that has not begun"
    assert not any(depth.values()), "all slices end"
    assert len(set(begun)) == len(begun) and sorted(begun) == sorted(ended), "a flow has two ends"
    print(f"tracks {len(tracks)}\nslices {slices}\ninstants {instants}\nflows {len(begun)}")


main(sys.argv[1])
