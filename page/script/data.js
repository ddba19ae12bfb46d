// What the page was made of: packed runs, which become records and lanes here.

// A record is an object with the members that the recording gave it; `i` is its place in the run.
function unpackRecords(packed) {
  const { texts, shapes, rows } = packed;
  const records = [];
  let n = -1;
  let t = 0;
  for (let at = 0; at < rows.length;) {
    const shape = shapes[rows[at++]];
    n += rows[at];
    t += rows[at + 1];
    at += 2;
    const record = { i: records.length, n, t, fields: {} };
    for (let m = 4; m < shape.length; m += 2) {
      const value = unpackValue(shape[m + 1], rows[at++], t, texts);
      if (shape[m].startsWith("fields/")) record.fields[shape[m].slice(7)] = value;
      else record[shape[m]] = value;
    }
    records.push(record);
  }
  return records;
}

function unpackValue(type, number, t, texts) {
  if (type === "d") return t + number;
  if (type === "s") return texts[number];
  return type === "j" ? JSON.parse(texts[number]) : number;
}

const onWires = new Set(["message", "fault", "finding", "note", "choice"]);

// Lanes by their number; one that a record names and nobody introduced gets a name of its own.
function unpackLanes(packed, records) {
  const lanes = new Map();
  const add = (line) => lanes.set(line.lane, {
    id: line.lane, of: line.of ?? "lane", name: String(line.name ?? line.lane), in: line.in,
    children: [], own: 0, busy: false,
  });
  packed.lanes.forEach(add);
  for (const record of records) {
    for (const id of [record.lane, record.to]) {
      if (id === undefined) continue;
      if (!lanes.has(id)) add({ lane: id, name: `lane ${id}` });
      lanes.get(id).own += 1;
    }
    // A host that does more than to send and to receive is more than a wire.
    if (!onWires.has(record.is)) lanes.get(record.lane).busy = true;
  }
  for (const lane of lanes.values()) {
    lane.parent = lanes.get(lane.in) ?? null;
    if (lane.parent) lane.parent.children.push(lane);
  }
  for (const lane of lanes.values()) nameLane(lane);
  return lanes;
}

// A lane's path has its parents' names, its label what its parent's path lacks:
// "server/rping[12]#3" in "server/rping[12]" is "id 3".
function nameLane(lane) {
  lane.path = pathOf(lane);
  lane.top = lane;
  while (lane.top.parent) lane.top = lane.top.parent;
  lane.label = lane.path;
  for (let up = lane.parent; up; up = up.parent) {
    if (!isBelow(lane.path, pathOf(up))) continue;
    lane.label = lane.path.slice(pathOf(up).length + 1);
    break;
  }
  if (/^\d+$/.test(lane.label)) lane.label = `${lane.of} ${lane.label}`;
}

function isBelow(name, path) {
  return name.startsWith(path) && /[/#]/.test(name[path.length] ?? "");
}

function pathOf(lane) {
  if (lane.path) return lane.path;
  if (!lane.parent) return lane.name;
  for (let up = lane.parent; up; up = up.parent) {
    if (isBelow(lane.name, pathOf(up))) return lane.name;
  }
  return `${pathOf(lane.parent)}/${lane.name}`;
}

// Indexes that following, details and searching use.
function indexRun(run) {
  run.byNumber = new Map(run.records.map((record) => [record.n, record]));
  run.struckBy = new Map();
  run.repeats = new Map();
  run.byLane = new Map();
  const push = (map, key, record) => {
    if (!map.has(key)) map.set(key, []);
    map.get(key).push(record);
  };
  for (const record of run.records) {
    for (const lane of new Set([record.lane, ...(record.about ?? [])])) {
      push(run.byLane, lane, record);
    }
    for (const n of record.strikes ?? []) push(run.struckBy, n, record);
    if (record.same !== undefined) push(run.repeats, firstOf(run, record).n, record);
  }
}

// Events of a connection manager have to be given back. Some recordings do not tell whether they
// were: nobody can be blamed there, but for what was not even fetched.
function markOwed(records) {
  const told = records.some((record) => record.acknowledged !== undefined);
  for (const record of records) {
    if (record.is !== "event" || record.acknowledged !== undefined) continue;
    if (/^IBV_/.test(record.name ?? "")) continue;
    record.owed = told || record.fetched === undefined;
  }
}

// Where nothing can happen any more, waits that last to the end of the run have none of their own.
function openWaits(run) {
  for (const record of run.records) {
    if (record.is === "wait" && record.ends === run.end) delete record.ends;
  }
}

function unpackRun(text) {
  const packed = JSON.parse(text);
  const records = unpackRecords(packed);
  const run = { header: packed.header, records, lanes: unpackLanes(packed, records) };
  markOwed(records);
  run.end = records.reduce((end, r) => Math.max(end, r.t, r.ends ?? 0, r.arrives ?? 0), 0);
  if (run.header.verdict === "hang") openWaits(run);
  run.begin = records.length ? records[0].t : 0;
  indexRun(run);
  return run;
}

// The first sending of what was sent again.
function firstOf(run, record) {
  let first = record;
  for (let steps = 0; first.same !== undefined && steps < 1000; ++steps) {
    const before = run.byNumber.get(first.same);
    if (!before || before === first) break;
    first = before;
  }
  return first;
}
