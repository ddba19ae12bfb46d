// What is printed: the diagram around the moment in pieces that fit on pages, then the records in
// words.

const printedRows = 240;
const pieceHeight = 600;
const firstPieceHeight = 470;  // below the heading
const printWidth = 1000;

function printedPart(view) {
  const { records } = view.rows;
  if (records.length <= printedRows) return records;
  const wanted = view.app.selectedIn(view);
  const row = wanted ? view.rowOf.get(wanted.i) ?? 0 : records.indexOf(view.middle().record);
  const first = Math.max(0, Math.min(row - printedRows / 2, records.length - printedRows));
  return records.slice(first, first + printedRows);
}

function printRun(app, view) {
  const records = printedPart(view);
  const columns = layColumns(view.run, view.state, gutter, printWidth);
  const rows = layRows(records, { rowHeight: 22, fold: true, scale: 0 });
  const nextState = nextStates(records);
  const paper = { run: view.run, app, rows, nextState, columns };
  const spans = laySpans(rows, (record, row) => lastOf(paper, record, row));
  const pieces = [];
  let height = view.number > 1 ? pieceHeight : firstPieceHeight;
  for (let top = 0; top < rows.total - 60; top += height) {
    if (top > 0) height = pieceHeight;
    height = pieceFrom(rows, top, height);
    const canvas = element("canvas", { width: columns.width * 2, height: height * 2 });
    const ctx = canvas.getContext("2d");
    ctx.scale(2, 2);
    paint({
      ctx, run: view.run, columns, rows, spans, nextState, lines: [], left: 0, top,
      right: columns.width, bottom: top + height, colors: app.readColors("light"), font: app.font,
      selected: app.selectedIn(view), found: null, dim: app.dimIn(view),
    });
    const title = top === 0 && app.views.length > 1 ? view.title.textContent : "";
    pieces.push(element("figure", {}, element("h2", { textContent: title }),
      printHeader(columns), canvas));
  }
  const left = view.rows.records.length - records.length;
  return [
    ...(left ? [element("p", { textContent: `Left out: ${countText(left, "record")}.` })] : []),
    ...pieces, printTable(view.run, records),
  ];
}

// A piece ends where a row ends.
function pieceFrom(rows, top, most) {
  if (rows.total - top <= most) return rows.total - top;
  const next = rows.yOf[rowAtY(rows, top + most - rows.rowHeight)];
  return next > top + most / 2 && next <= top + most ? next - top : most;
}

// Names of the columns over each piece.
function printHeader(columns) {
  const box = element("div", { className: "print-lanes" });
  for (const { lane, x, w } of spansOf(columns.columns, (column) => column.top)) {
    box.append(printName(columns, lane.label, x, w, 0));
  }
  for (const column of columns.columns) {
    if (column.lane === column.top) continue;
    box.append(printName(columns, column.lane.label, column.x, column.w, 16));
  }
  return box;
}

function printName(columns, textContent, x, w, top) {
  const name = element("span", { textContent });
  name.style.left = `${(100 * x) / columns.width}%`;
  name.style.width = `${(100 * w) / columns.width}%`;
  name.style.top = `${top}px`;
  return name;
}

function printTable(run, records) {
  const body = element("tbody");
  for (const record of records) {
    const mark = isBad(record) ? "! " : record.is === "fault" ? "⚡ " : "";
    const stack = (record.stack ?? []).map((frame) => ` ${frame.trim()};`).join("");
    body.append(element("tr", { className: mark ? "bad" : "" }, ...[`#${record.n}`,
      clockText(record.t - run.begin), mark + sentenceOf(run, record) + stack]
      .map((textContent) => element("td", { textContent }))));
  }
  return element("table", {}, element("thead", {}, element("tr", {},
    ...["#", "ms", "what happens"].map((textContent) => element("th", { textContent })))), body);
}

function preparePrint(app) {
  document.getElementById("print").replaceChildren(
    ...app.views.flatMap((view) => printRun(app, view)));
}
