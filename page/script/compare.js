// Two runs beside each other: where they part.

// A run as facts in the order in which they become known: that an event is acknowledged, or that a
// wait ends, is one of its own, so that runs part where they do, not where the wait began.
const lateFacts = {
  arrives: "arrives", ends: "ends", fetched: "is fetched", acknowledged: "is acknowledged",
  polled: "is polled",
};

function factsOfRun(run) {
  const facts = [];
  for (const record of run.records) {
    const act = actOf(run, record);
    facts.push({ t: record.t, record, act, said: "" });
    for (const [member, said] of Object.entries(lateFacts)) {
      const t = record[member];
      if (t === undefined) continue;
      const outcome = member === "ends" ? record.result : member === "arrives" ? record.fate : "";
      facts.push({ t, record, act: `${said} ${outcome ?? ""}|${act}`, said });
    }
  }
  // Of what happens at one moment the order means nothing.
  return facts.sort((a, b) => a.t - b.t || (a.act < b.act ? -1 : Number(a.act > b.act)));
}

// What happened, without numbers that differ from run to run.
function actOf(run, r) {
  const where = [r.lane, r.to].filter((id) => id !== undefined).map((id) => actLane(run, id));
  const again = r.same === undefined ? "" : "again";
  const lost = r.arrives === undefined ? r.fate : "";
  return [r.is, ...where, r.name, r.status, lost, r.stream, r.effect, r.for, again].join("|");
}

// Queue pairs have numbers that chance draws.
function actLane(run, id) {
  return laneName(run, id).replace(/qp ?0x[0-9a-f]+/g, "qp");
}

// Everything that was recorded of it.
function wholeOf(run, { act, record }) {
  const { i, lane, to, about, bad, owed, ...rest } = record;
  return `${act}|${JSON.stringify(rest)}`;
}

function firstApart(left, right, textOfFact) {
  const count = Math.max(left.facts.length, right.facts.length);
  for (let i = 0; i < count; ++i) {
    const one = left.facts[i];
    const other = right.facts[i];
    if (!one || !other || textOfFact(left.run, one) !== textOfFact(right.run, other)) {
      return { left: one, right: other };
    }
  }
  return null;
}

// First what happens, then when and with which numbers.
function firstDifference(leftRun, rightRun) {
  const left = { run: leftRun, facts: factsOfRun(leftRun) };
  const right = { run: rightRun, facts: factsOfRun(rightRun) };
  const act = firstApart(left, right, (_run, fact) => fact.act);
  if (act) return { ...act, what: "what happens" };
  const detail = firstApart(left, right, wholeOf);
  return detail && { ...detail, what: detailOf(detail.left.record, detail.right.record) };
}

function detailOf(left, right) {
  const parts = [];
  for (const name of new Set([...Object.keys(left), ...Object.keys(right)])) {
    if (["i", "lane", "to", "about", "fields", "bad", "owed"].includes(name)) continue;
    const same = JSON.stringify(left[name]) === JSON.stringify(right[name]);
    if (!same) parts.push(timeNames[name] ?? name);
  }
  for (const name of new Set([...Object.keys(left.fields), ...Object.keys(right.fields)])) {
    if (left.fields[name] !== right.fields[name]) parts.push(name);
  }
  return `only ${parts.join(", ")}`;
}

function tellDifference(app) {
  const [left, right] = app.views;
  const difference = firstDifference(left.run, right.run);
  app.difference = difference;
  if (!difference) return [element("b", { textContent: "Both runs are the same." })];
  const side = (view, fact) => element("li", {
    textContent: fact ? sideText(view.run, fact) : "nothing more happens.",
  });
  const button = element("button", { textContent: "Show it" });
  button.addEventListener("click", () => showDifference(app));
  return [
    element("b", { textContent: `First difference: ${difference.what}. ` }), button,
    element("ol", { className: "sides" }, side(left, difference.left),
      side(right, difference.right)),
  ];
}

function sideText(run, { t, record, said }) {
  const what = said && t > record.t ? `${record.name} of #${record.n} ${said}. ` : "";
  return `${timeText(t - run.begin)}: ${what}${sentenceOf(run, record)}.`;
}

function showDifference(app) {
  const { difference, views } = app;
  if (!difference) return;
  app.aligning = true;
  views.forEach((view, i) => {
    const fact = i === 0 ? difference.left : difference.right;
    view.showTime(fact ?? { t: Infinity }, 0.45);
    view.lastTop = view.scroller.scrollTop;
  });
  const i = difference.left ? 0 : 1;
  app.select(views[i], (i === 0 ? difference.left : difference.right).record, false);
}

// The other run scrolls along, from wherever the two were put.
function scrollAlong(app, view) {
  const top = view.scroller.scrollTop;
  const by = top - (view.lastTop ?? top);
  view.lastTop = top;
  const other = app.views.find((one) => one !== view);
  if (!other || by === 0 || app.aligning) {
    requestAnimationFrame(() => { app.aligning = false; });
    return;
  }
  if (view.movedBy === by) {
    view.movedBy = 0;
    return;
  }
  const before = other.scroller.scrollTop;
  other.scroller.scrollTop = before + by;
  other.movedBy = other.scroller.scrollTop - before;
  other.lastTop = before;
}
