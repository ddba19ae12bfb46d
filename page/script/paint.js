// Draws what of a diagram is visible. `p` holds all that a picture is made from: the context, the
// run, columns and rows, the visible part (left, top, right, bottom), colours, and what is marked.
// Each thing drawn leaves its place in p.places, for whoever clicks there.

const trackX = 9;
const markX = 27;
const labelX = 38;
const callLabelX = 24;
const layers = ["state", "call", "wait", "event", "completion", "note", "message", "fault",
  "finding"];

function paint(p) {
  const { ctx } = p;
  ctx.save();
  ctx.translate(-p.left, -p.top);
  ctx.textBaseline = "middle";
  p.places = [];
  p.later = [];
  p.small = p.rows.rowHeight < 9;
  paintLanes(p);
  for (const fold of p.rows.folds) paintFold(p, fold);
  const rows = visibleRows(p);
  p.crowded = new Set(rows.filter((row) => Math.abs(p.rows.yOf[row] - p.top) < 24)
    .map((row) => p.columns.of.get(p.rows.records[row].lane)?.top));
  for (const layer of layers) {
    if (layer === "fault") paintLater(p);
    for (const row of rows) {
      const record = p.rows.records[row];
      if ((kinds[record.is] ? record.is : "note") === layer) paintRecord(p, record, row);
    }
  }
  paintLater(p);
  p.above?.();
  if (p.apart) paintApart(p, p.apart);
  if (!p.small) paintTimes(p, rows);
  ctx.restore();
}

// Rows in view and what reaches into it from above; fewer where many share a pixel.
function visibleRows(p) {
  const { rows } = p;
  if (rows.yOf.length === 0) return [];
  const first = Math.max(0, rowAtY(rows, p.top - 40) - 1);
  const last = rowAtY(rows, p.bottom + 40);
  const block = Math.floor(first / blockRows);
  const found = (p.spans[block] ?? []).slice(-4000);
  for (let row = block * blockRows; row < first; ++row) found.push(row);
  const step = Math.max(1, Math.floor((last - first) / 4000));
  for (let row = first; row <= last; ++row) {
    const within = row % blockRows;
    if (within === 0 || row % step === 0 || isBad(rows.records[row])) found.push(row);
  }
  return [...new Set(found)];
}

function paintRecord(p, record, row) {
  const column = p.columns.of.get(record.lane);
  const y = p.rows.yOf[row] + p.rows.rowHeight / 2;
  if (!column && record.is !== "fault" && record.is !== "finding") return;
  p.ctx.globalAlpha = p.dim && !p.dim.has(record.i) ? 0.18 : 1;
  const painter = painters[record.is] ?? painters.note;
  painter(p, record, row, y, column);
  if (record === p.selected) outline(p, record, 2);
  else if (p.found?.has(record.i)) outline(p, record, 1);
  p.ctx.globalAlpha = 1;
}

function remember(p, record, x, y, w, h) {
  p.places.push({ record, x, y, w, h });
}

function outline(p, record, width) {
  const { ctx } = p;
  ctx.save();
  ctx.strokeStyle = width > 1 ? p.colors.select : p.colors.found;
  ctx.lineWidth = width * 1.5;
  for (const { x, y, w, h } of p.places.filter((place) => place.record === record)) {
    ctx.strokeRect(x - 2, y - 1, w + 4, h + 2);
  }
  ctx.restore();
}

// Text that fits, cut with dots; gives its width.
function paintText(p, text, x, y, room, color, font = "12px", halo = false) {
  const { ctx } = p;
  if (p.small || room < 14) return 0;
  ctx.font = `${font} ${p.font}`;
  ctx.fillStyle = color;
  let shown = text;
  let width = ctx.measureText(shown).width;
  if (width > room) {
    shown = `${text.slice(0, Math.max(1, Math.floor((text.length * room) / width) - 1))}…`;
    width = ctx.measureText(shown).width;
  }
  if (!halo) ctx.fillText(shown, x, y);
  else p.later.push({ shown, x, y, color, font, align: ctx.textAlign, alpha: ctx.globalAlpha });
  return width;
}

// Texts that may stand over what belongs to other rows come last, each with an edge of paper.
function paintLater(p) {
  const { ctx } = p;
  ctx.strokeStyle = p.colors.paper;
  ctx.lineWidth = 4;
  ctx.lineJoin = "round";
  for (const { shown, x, y, color, font, align, alpha } of p.later) {
    ctx.font = `${font} ${p.font}`;
    ctx.fillStyle = color;
    ctx.textAlign = align;
    ctx.globalAlpha = alpha;
    ctx.strokeText(shown, x, y);
    ctx.fillText(shown, x, y);
  }
  ctx.globalAlpha = 1;
  ctx.textAlign = "left";
  p.later = [];
}

// A record's label in its lane, in the colour of what is wrong where something is.
function paintLabel(p, record, column, y, text, from = labelX) {
  const bad = isBad(record);
  const mark = (bad ? "! " : "") + prefixOf(p, record, column);
  const calm = record.is === "wait" ? p.colors.dim : p.colors.text;
  const color = bad ? p.colors.bad : calm;
  const font = "12px";
  const room = column.end - column.x - from - 4;
  const toLeft = column.x - column.begin - 4;
  p.ctx.font = `${font} ${p.font}`;
  if (!p.small && toLeft > room && p.ctx.measureText(mark + text).width > room) {
    p.ctx.textAlign = "right";
    const width = paintText(p, mark + text, column.x + 1, y, toLeft, color, font, true);
    p.ctx.textAlign = "left";
    remember(p, record, column.x - width, y - 8, width + from - 6, 16);
    return;
  }
  const width = paintText(p, mark + text, column.x + from, y, room, color, font, true);
  remember(p, record, column.x + 3, y - 8, from + width, 16);
}

// In a lane that others are folded into: whose this is.
function prefixOf(p, record, column) {
  if (!column.folded || record.lane === column.lane.id) return "";
  const lane = p.run.lanes.get(record.lane);
  return lane.of === "thread" ? "" : `${lane.label} · `;
}

function line(p, color, width, dash, points) {
  const { ctx } = p;
  ctx.strokeStyle = color;
  ctx.lineWidth = width;
  ctx.setLineDash(dash);
  ctx.beginPath();
  points.forEach(([x, y], i) => (i ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
  ctx.stroke();
  ctx.setLineDash([]);
}

function cross(p, x, y, size, color) {
  line(p, color, 2.5, [], [[x - size, y - size], [x + size, y + size]]);
  line(p, color, 2.5, [], [[x - size, y + size], [x + size, y - size]]);
}

function disc(p, x, y, radius, color, full) {
  const { ctx } = p;
  ctx.beginPath();
  ctx.arc(x, y, radius, 0, 2 * Math.PI);
  ctx.lineWidth = 1.5;
  ctx.strokeStyle = color;
  ctx.fillStyle = full ? color : p.colors.paper;
  ctx.fill();
  ctx.stroke();
}

function paintLanes(p) {
  const { ctx } = p;
  ctx.fillStyle = p.colors.paper;
  ctx.fillRect(p.left, p.top, p.right - p.left, p.bottom - p.top);
  let top = null;
  let odd = false;
  for (const column of p.columns.columns) {
    if (column.top !== top) odd = !odd;
    top = column.top;
    if (column.x + column.w < p.left || column.x > p.right) continue;
    ctx.fillStyle = odd ? p.colors.band : p.colors.band2;
    ctx.fillRect(column.x, p.top, column.w, p.bottom - p.top);
    line(p, p.colors.grid, 1, [], [[column.x + 0.5, p.top], [column.x + 0.5, p.bottom]]);
    if (isWire(column)) {
      const x = column.x + column.w / 2;
      line(p, p.colors.wire, 3, [], [[x, p.top], [x, p.bottom]]);
    }
  }
}

function paintFold(p, fold) {
  if (fold.y > p.bottom || fold.y + fold.h < p.top) return;
  const { ctx } = p;
  ctx.fillStyle = p.colors.fold;
  ctx.fillRect(p.left, fold.y, p.right - p.left, fold.h);
  if (p.small) return;
  for (const y of [fold.y, fold.y + fold.h]) {
    line(p, p.colors.dim, 1, [2, 4], [[p.left, y], [p.right, y]]);
  }
  ctx.textAlign = "center";
  paintText(p, `≈ ${spanText(fold.length)} in which nothing happens ≈`,
    (p.left + Math.min(p.right, p.columns.width)) / 2, fold.y + fold.h / 2, 400, p.colors.dim,
    "italic 12px", true);
  ctx.textAlign = "left";
}

// Where this run and the one beside it part.
function paintApart(p, y) {
  line(p, p.colors.select, 2, [10, 3], [[p.left, y], [p.right, y]]);
  p.ctx.textAlign = "right";
  paintText(p, "≠ from here on", p.right - 8, y - 9, 200, p.colors.select, "bold 12px", true);
  paintLater(p);
}

// The time of a row, where it differs from the one above.
function paintTimes(p, rows) {
  const { ctx } = p;
  ctx.fillStyle = p.colors.paper;
  ctx.fillRect(p.left, p.top, gutter - 6, p.bottom - p.top);
  let last = null;
  for (const row of [...rows].sort((a, b) => a - b)) {
    const y = p.rows.yOf[row] + p.rows.rowHeight / 2;
    if (y < p.top - 20 || y > p.bottom + 20) continue;
    const { t } = p.rows.records[row];
    if (t === last) continue;
    ctx.textAlign = "right";
    const text = marginText(p.run, t - p.run.begin);
    paintText(p, text, p.left + gutter - 12, y, gutter, p.colors.dim, "11px");
    ctx.textAlign = "left";
    last = t;
  }
}

const gutter = 110;

// Long runs have seconds on the margin, down to microseconds; details say the rest.
function isLong(run) {
  return run.end - run.begin >= 1e11;
}

function marginText(run, ns) {
  if (!isLong(run)) return clockText(ns);
  const [whole, rest] = (ns / 1e9).toFixed(6).split(".");
  return `${whole}.${rest.slice(0, 3)} ${rest.slice(3)}`;
}

// Milliseconds with all digits, in groups.
function clockText(ns) {
  const sign = ns < 0 ? "-" : "";
  const whole = Math.floor(Math.abs(ns) / 1e6);
  const rest = String(Math.abs(ns) % 1e6).padStart(6, "0");
  const tail = rest === "000000" ? ".000" : `.${rest.slice(0, 3)} ${rest.slice(3)}`;
  return `${sign}${whole.toLocaleString("en").replaceAll(",", " ")}${tail.replace(/ 000$/, "")}`;
}
