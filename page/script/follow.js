// What belongs together: a message with its repetitions, an id or a queue pair with all that is
// about it.

function withFaults(run, records) {
  const found = new Set();
  for (const record of records) {
    found.add(record.i);
    for (const fault of run.struckBy.get(record.n) ?? []) found.add(fault.i);
    for (const n of record.strikes ?? []) {
      const struck = run.byNumber.get(n);
      if (struck) found.add(struck.i);
    }
  }
  return found;
}

// A message: itself, whenever it was sent, and what came of the others with its number.
function followMessage(run, record) {
  const first = firstOf(run, record);
  const chain = [first, ...(run.repeats.get(first.n) ?? [])];
  const ends = new Set([record.lane, record.to]);
  const answers = record.psn === undefined ? [] : run.records.filter((other) =>
    other.is === "message" && other.psn === record.psn && ends.has(other.lane)
    && ends.has(other.to) && sharesLane(record, other));
  return withFaults(run, [...chain, ...answers]);
}

// Numbers of packets are counted for each queue pair; without one of both, they say nothing.
function sharesLane(one, other) {
  const about = one.about ?? [];
  return about.length === 0 || (other.about ?? []).length === 0
    || other.about.some((lane) => about.includes(lane)) || other.lane !== one.lane;
}

function followLane(run, id) {
  const inside = subtree(run.lanes.get(id)).map((lane) => lane.id);
  const records = inside.flatMap((lane) => run.byLane.get(lane) ?? []);
  return withFaults(run, records);
}

// What one can follow from a record: [title, function that gives the set].
function waysToFollow(run, record) {
  const ways = [];
  if (record.is === "message") {
    ways.push([`this ${record.name}`, () => followMessage(run, record)]);
  }
  const lanes = new Set([record.lane, ...(record.about ?? [])]);
  for (const id of lanes) {
    const lane = run.lanes.get(id);
    if (!lane) continue;
    const word = laneWords[lane.of] ?? lane.of;
    ways.push([`${word} ${lane.path}`, () => followLane(run, id)]);
  }
  return ways;
}
