"""Sources of one target, compiled several at a time."""

load("//tests/planted:places.bzl", "PLACES")

# Larger ones save little more, keep a second processor idle, and have one changed line compile more anew.
_LARGEST = 12

def unity(name, srcs, apart = []):
    """The `srcs` of a target of many sources: with --define=unity=on some of them are one translation unit.

    Six tenths of g++'s time at -O3 go into parsing headers, the same ones for each source of a target. A unit has the
    texts of its sources behind each other, each under its own name and line numbers, for messages and debuggers. So what
    the anonymous namespaces of a target define has different names.

    Without the define, as editors, clang-tidy and whoever changes one source have it, each source is compiled by itself.

    Args:
      name: the target's name.
      srcs: sources, and headers.
      apart: those of the sources that are always compiled by themselves, since names of theirs mean something else in
        the others.

    Returns:
      The value of the target's attribute srcs.
    """
    for source in apart:
        if source not in srcs:
            fail("%s keeps %s apart, which is not among its sources" % (name, source))
    joined = [source for source in srcs if source.endswith(".cc") and source not in apart]

    # Copies with bugs stand in for whole units.
    planted = [stem + ".cc" for stem in PLACES.get(native.package_name(), [])]
    units = []
    for sources in [
        [source for source in joined if source in planted],
        [source for source in joined if source not in planted],
    ]:
        count = (len(sources) + _LARGEST - 1) // _LARGEST
        for i in range(count):
            unit = "%s_unity_%d.cc" % (name, len(units) + 1)
            units.append(unit)
            native.genrule(
                name = unit[:-len(".cc")],
                srcs = sources[i * len(sources) // count:(i + 1) * len(sources) // count],
                outs = [unit],
                cmd = "for source in $(SRCS); do echo \"#line 1 \\\"$$source\\\"\"; cat $$source; done >$@",
                tags = ["manual"],
                visibility = ["//visibility:private"],
            )
    return [source for source in srcs if source not in joined] + select({
        "//tools/build:unity": units,
        "//conditions:default": joined,
    })

def unity_of_rooms(rooms, apart = []):
    """Sources of several rooms, each room's compiled together.

    Args:
      rooms: names of sources, without .cc, by the room's folder.
      apart: as for unity(), names.

    Returns:
      The value of the target's attribute srcs.
    """
    all = []
    for room, names in rooms.items():
        label = {name: "//%s:%s.cc" % (room, name) for name in names}
        all = all + unity(room.replace("/", "_"), label.values(), [label[name] for name in apart if name in label])
    return all
