// Everything known of one record, in words, with what one can do from there.

const titles = {
  message: "Message", call: "Call", state: "State", event: "Event", completion: "Completion",
  wait: "Wait", fault: "Fault of the plan", note: "Note", finding: "Finding",
};
const timeNames = {
  t: "time", arrives: "arrives", ends: "ends", queued: "queued", fetched: "fetched",
  acknowledged: "acknowledged", polled: "polled",
};
const plainWords = { of: "", is: "", n: "", i: "", fields: "", lane: "", name: "" };

function showPanel(app, view, record) {
  const panel = document.getElementById("panel");
  if (!record) {
    panel.replaceChildren(...legend());
    return;
  }
  const { run } = view;
  const facts = element("dl", { className: "facts" });
  for (const [name, value] of factsOf(run, record)) {
    facts.append(element("dt", { textContent: name }), valueOf(app, view, value));
  }
  panel.replaceChildren(
    element("h2", { textContent: titleOf(record) }),
    element("p", { className: isBad(record) ? "says bad" : "says",
      textContent: `${sentenceOf(run, record)}.` }),
    ...momentsOf(run, record), ...linksOf(app, view, record), facts,
    followButtons(app, view, record), steps(app, view, record));
}

function titleOf(record) {
  const kind = titles[record.is] ?? record.is;
  const said = record.is === "finding" || (record.is === "wait" && record.name === "waits");
  return said ? kind : `${kind} ${record.name ?? ""}`;  // the sentence below has it
}

function momentsOf(run, record) {
  return (run.header.moments ?? [])
    .filter((moment) => moment.at === record.n && moment.why !== record.name)
    .map((moment) => element("p", { className: "why", textContent: moment.why }));
}

// [name, value]: a text, or a record or lane to go to.
function factsOf(run, record) {
  const facts = [["record", `#${record.n}`], ["where", { lane: record.lane }]];
  if (record.to !== undefined) facts.push(["to", { lane: record.to }]);
  for (const [member, name] of Object.entries(timeNames)) {
    const time = record[member];
    if (time === undefined || (member === "queued" && time === record.t)) continue;
    const since = member === "t" ? "" : ` (${laterText(time - record.t)})`;
    facts.push([name, timeText(time - run.begin) + since]);
  }
  facts.push(...missingOf(record));
  for (const lane of record.about ?? []) facts.push(["belongs to", { lane }]);
  const shown = new Set([...Object.keys(timeNames), ...Object.keys(plainWords), "to", "about",
    "same", "strikes", "stack", "bad", "owed"]);
  for (const [name, value] of Object.entries(record)) {
    if (!shown.has(name)) facts.push([name, textOf(value)]);
  }
  for (const [name, value] of Object.entries(record.fields)) facts.push([name, textOf(value)]);
  const command = debugCommand(run, record);
  if (command) facts.push(["in gdb", command]);
  if (record.stack) facts.push(["details", record.stack.join("\n")]);
  return facts;
}

// The command that opens gdb at the record. Fibers and runs in real time have none.
function debugCommand(run, record) {
  const { clock, command, program } = run.header;
  if (clock === "real" || !command || !/^anyrdma (sim|explore)\b/.test(program ?? "")) return "";
  return / --gdb\b/.test(command) ? "" : `${command} --gdb --goto 'record ${record.n}'`;
}

// What one would look for in vain.
function missingOf(record) {
  const lacks = { message: ["arrives"], call: ["ends"], wait: ["ends"],
    event: ["fetched", "acknowledged"], completion: ["polled"] }[record.is] ?? [];
  if (record.is === "event" && !record.owed) return [];
  return lacks.filter((name) => record[name] === undefined).map((name) => [name, "never"]);
}

function textOf(value) {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function valueOf(app, view, value) {
  if (value.lane === undefined) return element("dd", { textContent: value });
  const name = laneName(view.run, value.lane);
  const word = laneWords[view.run.lanes.get(value.lane)?.of] ?? "";
  return element("dd", { textContent: `${word} ${name}` });
}

// Repetitions and faults, each a button that goes there.
function linksOf(app, view, record) {
  const { run } = view;
  const list = element("ul", { className: "links" });
  const add = (text, target) => {
    if (!target || target === record) return;
    const button = element("button", { textContent: `#${target.n}` });
    button.addEventListener("click", () => app.select(view, target));
    list.append(element("li", {}, `${text} `, button, ` at ${timeText(target.t - run.begin)}`));
  };
  const first = firstOf(run, record);
  if (record.same !== undefined) add("repeats", first);
  for (const again of (run.repeats.get(first.n) ?? []).slice(0, 20)) add("sent again as", again);
  for (const fault of run.struckBy.get(record.n) ?? []) add(`struck by “${fault.name}”`, fault);
  for (const n of (record.strikes ?? []).slice(0, 50)) {
    const struck = run.byNumber.get(n);
    add(`strikes ${struck?.name ?? ""}`, struck);
  }
  return list.children.length ? [list] : [];
}

function followButtons(app, view, record) {
  const box = element("p", { className: "follow" }, "Follow: ");
  for (const [title, find] of waysToFollow(view.run, record)) {
    const button = element("button", { textContent: title });
    button.addEventListener("click", () => app.follow(view, title, find()));
    box.append(button, " ");
  }
  return box;
}

function steps(app, view, record) {
  const box = element("p", { className: "steps" });
  for (const [text, by] of [["← before", -1], ["after →", 1]]) {
    const button = element("button", { textContent: text, title: "In the same lane" });
    button.addEventListener("click", () => app.stepInLane(by));
    box.append(button, " ");
  }
  const href = app.linkTo(view, record);
  box.append(element("a", { textContent: `link to #${record.n}`, href }));
  return box;
}

const signs = [
  ["→", "A message, from its sender to its receiver, named beside the sender"],
  ["╌ ✕", "A message that was lost on the way, and why"],
  ["═ ↻", "A message that is sent again (hollow line)"],
  ["⚡", "A fault that the plan of this run asked for, and what it struck"],
  ["▮", "A call: as long as it lasts, with its result"],
  ["┆┆", "A wait: a dashed box; one without end has no floor"],
  ["○ ● ┬", "An event: queued, fetched by the program, acknowledged"],
  ["■", "A completion: filled once it was polled"],
  ["▨", "The state of an id or a queue pair, until the next one"],
  ["✖ !", "Something wrong: a finding, an error, something that was never fetched or polled"],
  ["≈ 2 s ≈", "Time in which nothing happens, left out"],
];
const keysHelp = [
  ["↑ ↓", "the record before, after"], ["← →", "the same, in this lane"], ["/", "search"],
  ["+ − 0", "larger, smaller, the whole run"], ["m", "what went wrong"], ["f", "follow"],
  ["t", "table"], ["Esc", "stop following, searching, looking"], ["Ctrl+wheel", "zoom"],
];

function legend() {
  const rows = (pairs) => element("dl", { className: "legend" }, ...pairs.flatMap(([a, b]) => [
    element("dt", { textContent: a }), element("dd", { textContent: b })]));
  return [
    element("h2", { textContent: "How to read this" }),
    element("p", { textContent: "Time goes down; each column is a thread, an id, a queue pair, "
      + "or the wire of a host. Click anything to see all that is known of it." }),
    rows(signs), element("h2", { textContent: "Keys" }), rows(keysHelp),
  ];
}
