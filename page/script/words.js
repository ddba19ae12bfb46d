// Times, labels and sentences: a run in plain words.

// What one can show and hide.
const kinds = {
  message: "Messages",
  call: "Calls",
  state: "States",
  event: "Events",
  completion: "Completions",
  wait: "Waits",
  short: "Short waits",
  fault: "Faults",
  note: "Notes",
  finding: "Findings",
  choice: "Choices",
};

// Waits that tell little, such as those that a system call takes: they are hidden at first.
const shortWait = 1000;

function kindOf(record) {
  return record.is === "wait" && record.ends - record.t < shortWait ? "short" : record.is;
}

const units = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

// A length of time in three digits.
function spanText(ns) {
  const size = Math.abs(ns);
  if (size === 0) return "no time";
  for (const [unit, name] of units) {
    const rounded = Number((ns / unit).toPrecision(3));
    if (Math.abs(rounded) >= 1) return `${rounded} ${name}`;
  }
  return `${ns} ns`;
}

// A moment, exact to the nanosecond.
function timeText(ns) {
  const size = Math.abs(ns);
  const [unit, name] = units.find(([one]) => size >= one) ?? units[3];
  const digits = Math.round(Math.log10(unit));
  return `${Number((ns / unit).toFixed(digits))} ${name}`;
}

function laterText(ns) {
  return ns === 0 ? "at once" : `after ${spanText(ns)}`;
}

function countText(count, one, many = `${one}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

function laneName(run, id) {
  return run.lanes.get(id)?.path ?? `lane ${id}`;
}

// Names without what all of their kind begin with.
function shortName(name) {
  return String(name ?? "").replace(/^(RDMA_CM_EVENT_|IBV_EVENT_|IBV_WC_)/, "");
}

function isLost(record) {
  return record.is === "message" && (record.fate !== undefined || record.arrives === undefined);
}

// What a reader who looks for a mistake should see first.
function isBad(record) {
  record.bad ??= looksBad(record);
  return record.bad;
}

function looksBad(record) {
  switch (record.is) {
    case "message": return isLost(record) || /^(REJ|.*NAK)/.test(record.name ?? "");
    case "call": return /^(-\d|NULL|.*\bE[A-Z]{2,})/.test(record.result ?? "")
      && !/EAGAIN/.test(record.result);
    case "event": return record.owed || (record.status ?? 0) !== 0
      || /_ERR|ERROR|UNREACHABLE|REJECTED|REMOVAL|FATAL/.test(record.name ?? "");
    case "completion": return (record.status ?? "IBV_WC_SUCCESS") !== "IBV_WC_SUCCESS";
    case "wait": return record.ends === undefined;
    default: return record.is === "finding";
  }
}

// Few words, for the diagram.
function labelOf(record) {
  const name = shortName(record.name);
  switch (record.is) {
    case "message": {
      const again = record.same !== undefined ? " ↻ again" : "";
      return name.replace(/^RC /, "") + again;
    }
    case "call": return `${name} → ${record.result ?? (record.ends === undefined ? "…" : "")}`;
    case "completion": return `${name} ${shortName(record.status)}`;
    case "wait": return waitLabel(record);
    case "event": return record.status ? `${name} (${record.status})` : name;
    default: return name;
  }
}

function waitLabel(record) {
  const length = record.ends === undefined ? "for ever" : spanText(record.ends - record.t);
  return `waits ${length} for ${record.for ?? record.name}`;
}

const sentences = {
  message(run, r) {
    const again = r.same === undefined ? "" : ` again, as #${firstOf(run, r).n}`;
    const begin = `${laneName(run, r.lane)} sends ${r.name}${again} to ${laneName(run, r.to)}`;
    if (r.fate) return `${begin}; ${r.fate}`;
    if (r.arrives === undefined) return `${begin}; it never arrives`;
    return `${begin}; it arrives ${laterText(r.arrives - r.t)}`;
  },
  call(run, r) {
    const begin = `${laneName(run, r.lane)} calls ${r.name}`;
    if (r.ends === undefined) return `${begin}, which does not return`;
    const length = r.ends === r.t ? "" : ` after ${spanText(r.ends - r.t)}`;
    return `${begin}: ${r.result ?? "it returns"}${length}`;
  },
  state: (run, r) => `${laneName(run, r.lane)} is now ${r.name}`,
  event(run, r) {
    const status = r.status ? ` with status ${r.status}` : "";
    return `${laneName(run, r.lane)} gets ${r.name}${status}; ${eventFate(r)}`;
  },
  completion(run, r) {
    const polled = r.polled === undefined ? "it is never polled"
      : `polled ${laterText(r.polled - r.t)}`;
    return `${laneName(run, r.lane)} completes ${r.name}: ${r.status ?? ""}; ${polled}`;
  },
  wait(run, r) {
    const length = r.ends === undefined ? "for ever" : spanText(r.ends - r.t);
    const where = r.name && r.name !== "waits" ? ` in ${r.name}` : "";
    return `${laneName(run, r.lane)} waits ${length}${where} for ${r.for ?? "something"}`;
  },
  fault: (_run, r) => `Fault of the plan: ${r.name}${r.effect ? `; ${r.effect}` : ""}`,
  note(run, r) {
    const who = laneName(run, r.lane);
    return r.stream ? `${who} prints: ${r.name}` : `${who}: ${r.name}`;
  },
  finding: (_run, r) => `Found: ${r.name}`,
  choice(run, r) {
    const who = r.fields["goes-on"] ?? laneName(run, r.lane);
    return `The schedule lets ${who} go on before what was ready first (choice ${r.name})`;
  },
};

function eventFate(r) {
  if (r.fetched === undefined && !r.owed) return "an asynchronous event";
  if (r.fetched === undefined) return "it is never fetched";
  const fetched = `fetched ${laterText(r.fetched - (r.queued ?? r.t))}`;
  if (r.owed) return `${fetched}, never acknowledged`;
  if (r.acknowledged === undefined) return fetched;
  return `${fetched}, acknowledged ${laterText(r.acknowledged - r.fetched)}`;
}

// One sentence that says what happened.
function sentenceOf(run, record) {
  const made = sentences[record.is]?.(run, record);
  return made ?? `${laneName(run, record.lane)}: ${record.is} ${record.name ?? ""}`;
}

// Everything that a search looks at.
function searchText(run, record) {
  const fields = Object.entries(record.fields).map(([name, value]) => `${name}=${value}`);
  const about = (record.about ?? []).map((lane) => laneName(run, lane));
  return `#${record.n} ${sentenceOf(run, record)} ${fields.join(" ")} ${about.join(" ")}`
    .toLowerCase();
}
