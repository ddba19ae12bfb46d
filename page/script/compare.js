// Two runs beside each other: where they part.

// What happened, without numbers that differ from run to run.
function actOf(run, r) {
  const where = [r.lane, r.to].filter((id) => id !== undefined).map((id) => laneName(run, id));
  const again = r.same === undefined ? "" : "again";
  const taken = ["arrives", "ends", "fetched", "acknowledged", "polled"]
    .map((name) => (r[name] === undefined ? "-" : "+")).join("");
  return [r.is, ...where, r.name, r.result, r.status, r.fate, r.stream, r.effect, again, taken]
    .join("|");
}

// Everything that was recorded of it.
function wholeOf(run, r) {
  const { i, lane, to, about, bad, ...rest } = r;
  return `${actOf(run, r)}|${JSON.stringify(rest)}`;
}

function firstApart(left, right, textOfRecord) {
  const count = Math.max(left.records.length, right.records.length);
  for (let i = 0; i < count; ++i) {
    const one = left.records[i];
    const other = right.records[i];
    if (!one || !other || textOfRecord(left, one) !== textOfRecord(right, other)) {
      return { left: one, right: other };
    }
  }
  return null;
}

// First what happens, then when and with which numbers.
function firstDifference(left, right) {
  const act = firstApart(left, right, actOf);
  if (act) return { ...act, what: "what happens" };
  const detail = firstApart(left, right, wholeOf);
  return detail && { ...detail, what: detailOf(detail) };
}

function detailOf({ left, right }) {
  const parts = [];
  for (const name of new Set([...Object.keys(left), ...Object.keys(right)])) {
    if (["i", "lane", "to", "about", "fields", "bad"].includes(name)) continue;
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
  const side = (view, record) => element("li", {
    textContent: record ? `${timeText(record.t - view.run.begin)}: ${sentenceOf(view.run, record)}.`
      : "nothing more happens.",
  });
  const button = element("button", { textContent: "Show it" });
  button.addEventListener("click", () => showDifference(app));
  return [
    element("b", { textContent: `First difference: ${difference.what}. ` }), button,
    element("ol", { className: "sides" }, side(left, difference.left),
      side(right, difference.right)),
  ];
}

function showDifference(app) {
  const { difference, views } = app;
  if (!difference) return;
  app.aligning = true;
  views.forEach((view, i) => {
    const record = i === 0 ? difference.left : difference.right;
    const last = view.rows.records.at(-1);
    if (record ?? last) view.show(record ?? last, 0.45);
    view.lastTop = view.scroller.scrollTop;
  });
  const i = difference.left ? 0 : 1;
  app.select(views[i], i === 0 ? difference.left : difference.right, false);
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
