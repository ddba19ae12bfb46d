// One run's diagram: headers of lanes, a canvas that shows the part one has scrolled to.

class View {
  constructor(run, number, app) {
    this.run = run;
    this.number = number;
    this.app = app;
    this.state = { folded: new Set(), hidden: new Set() };
    this.rowHeight = 22;
    this.root = element("section", { className: "view", "aria-label": `Run ${number}` });
    this.title = element("h2", { className: "run-title" });
    this.lanes = element("div", { className: "lanes" });
    this.scroller = element("div", {
      className: "scroller", tabIndex: 0, role: "application",
      "aria-label": "Diagram of the run. Arrow keys go from record to record; t shows a table.",
    });
    this.canvas = element("canvas");
    this.spacer = element("div", { className: "spacer" });
    this.overview = makeOverview();
    this.scroller.append(this.canvas, this.spacer);
    const body = element("div", { className: "view-body" });
    body.append(this.scroller, this.overview);
    this.root.append(this.title, this.lanes, body);
    this.listen();
  }

  listen() {
    this.scroller.addEventListener("scroll", () => {
      this.app.scrolled(this);
      keepHeader(this);
      this.draw();
    });
    this.canvas.addEventListener("click", (event) => this.click(event));
    this.scroller.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      this.zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, event.offsetY);
    }, { passive: false });
    this.canvas.addEventListener("pointermove", (event) => {
      if (event.buttons || !this.picture) return;
      const record = this.recordAt(event.offsetX, event.offsetY);
      this.canvas.title = record ? sentenceOf(this.run, record) : "";
      this.canvas.style.cursor = record ? "pointer" : "grab";
    });
    this.drag();
    this.overview.addEventListener("click", (event) => {
      const part = event.offsetY / this.overview.clientHeight;
      this.scroller.scrollTop = part * this.rows.total - this.scroller.clientHeight / 2;
    });
    new ResizeObserver(() => {
      const { clientWidth, clientHeight } = this.scroller;
      if (clientWidth !== this.laidOut?.[0] || clientHeight !== this.laidOut[1]) this.layout();
    }).observe(this.scroller);
  }

  // Pan with the mouse.
  drag() {
    let from = null;
    this.canvas.addEventListener("pointerdown", (event) => {
      from = { x: event.clientX, y: event.clientY, moved: false };
    });
    window.addEventListener("pointermove", (event) => {
      if (!from || event.buttons !== 1) return;
      const dx = event.clientX - from.x;
      const dy = event.clientY - from.y;
      if (!from.moved && Math.hypot(dx, dy) < 5) return;
      this.scroller.scrollBy(-dx, -dy);
      from = { x: event.clientX, y: event.clientY, moved: true };
      this.dragged = true;
    });
    window.addEventListener("pointerup", () => { from = null; });
  }

  // Everything again: other records, other lanes, another size.
  layout() {
    const { app } = this;
    const anchor = this.rows ? this.middle() : null;
    const room = this.scroller.clientWidth || 800;
    this.laidOut = [this.scroller.clientWidth, this.scroller.clientHeight];
    this.columns = layColumns(this.run, this.state, gutter, room);
    const records = this.run.records.filter((record) => app.shows(this, record));
    this.rows = layRows(records, {
      rowHeight: this.rowHeight, fold: app.fold, scale: app.scale ? this.scaleOf(records) : 0,
    });
    this.rowOf = new Map(records.map((record, row) => [record.i, row]));
    this.nextState = nextStates(records);
    this.spans = laySpans(this.rows, (record, row) => lastOf(this, record, row));
    const beyond = app.views.length > 1 ? this.scroller.clientHeight : 0;
    this.spacer.style.height = `${this.rows.total + beyond}px`;
    this.spacer.style.width = `${this.columns.width}px`;
    layHeader(this);
    if (anchor) this.hold(anchor);
    this.draw();
    drawOverview(this);
  }

  // Pixels for a nanosecond, such that what is not idle takes about two rows a record.
  scaleOf(records) {
    const times = records.map((record) => record.t);
    const idle = idleLength(times);
    let busy = 0;
    for (let i = 1; i < times.length; ++i) {
      const length = times[i] - times[i - 1];
      if (length <= idle || !this.app.fold) busy += length;
    }
    return busy ? (records.length * this.rowHeight * 2) / busy : 0;
  }

  // The record in the middle of what is seen, and where, so that a new layout keeps it there.
  middle() {
    const selected = this.rowOf.get(this.app.selectedIn(this)?.i);
    const top = this.scroller.scrollTop;
    const within = (row) => row !== undefined && this.rows.yOf[row] > top
      && this.rows.yOf[row] < top + this.scroller.clientHeight;
    const row = within(selected) ? selected
      : rowAtY(this.rows, top + this.scroller.clientHeight / 2);
    return { record: this.rows.records[row], at: this.rows.yOf[row] - top };
  }

  hold({ record, at }) {
    if (!record || this.rows.records.length === 0) return;
    const row = this.rowOf.get(record.i)
      ?? Math.min(this.rows.records.length - 1, firstAfter(this.rows.records, record.i));
    this.scroller.scrollTop = this.rows.yOf[row] - at;
  }

  zoom(factor) {
    const least = this.scroller.clientHeight / (this.rows.records.length * 2 + 1);
    this.rowHeight = Math.max(Math.min(4, least), Math.min(48, this.rowHeight * factor));
    this.layout();
  }

  zoomAll() {
    const folds = this.rows.folds.length;
    const paper = this.rows.total - 70 - folds * foldHeight(this.rows.rowHeight);
    const rows = paper / this.rows.rowHeight + folds * foldHeight(1);
    this.rowHeight = Math.min(21, (this.scroller.clientHeight - 75) / rows);
    this.layout();
    this.scroller.scrollTop = 0;
  }

  // Brings a record into view; `part` is how far down.
  show(record, part = 0.4) {
    const row = this.rowOf.get(record.i);
    if (row === undefined) return;
    const y = this.rows.yOf[row];
    const { scrollTop, clientHeight, scrollLeft, clientWidth } = this.scroller;
    if (part !== 0.4 || y < scrollTop + 20 || y > scrollTop + clientHeight - 40) {
      this.scroller.scrollTop = y - clientHeight * part;
    }
    const column = this.columns.of.get(record.lane);
    const seen = !column || (column.x >= scrollLeft + gutter
      && column.x + column.w <= scrollLeft + clientWidth);
    if (!seen) this.scroller.scrollLeft = column.x - gutter - 20;
    this.draw();
  }

  // The place of a fact: its record's row, or where the time is at which more became known.
  yOfFact({ t, record }) {
    const row = record ? this.rowOf.get(record.i) : undefined;
    return row !== undefined && t === record.t ? this.rows.yOf[row] : yAt(this.rows, t);
  }

  // The end of the paper, if a wait without end goes on until there.
  showEnd(record) {
    if (record.ends !== undefined || !this.rowOf.has(record.i)) return;
    this.scroller.scrollTop = this.rows.total - this.scroller.clientHeight;
    this.draw();
  }

  apartY() {
    const fact = this.app.apartIn(this);
    return fact ? this.yOfFact(fact) - 2 : null;
  }

  showTime(fact, part) {
    this.scroller.scrollTop = this.yOfFact(fact) - this.scroller.clientHeight * part;
    const column = fact.record && this.columns.of.get(fact.record.lane);
    if (column) this.scroller.scrollLeft = column.x + column.w - this.scroller.clientWidth;
    this.draw();
  }

  draw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.drawNow();
    });
  }

  drawNow() {
    const width = this.scroller.clientWidth;
    const height = this.scroller.clientHeight;
    if (!width || !height || !this.rows) return;
    const ctx = sizeCanvas(this.canvas, width, height);
    const { scrollLeft, scrollTop } = this.scroller;
    this.picture = this.pictureOf(ctx, scrollLeft, scrollTop, width, height);
    paint(this.picture);
    this.lanes.firstChild.style.transform = `translateX(${-this.scroller.scrollLeft}px)`;
    drawWindow(this);
  }

  pictureOf(ctx, left, top, width, height) {
    return {
      ctx, run: this.run, columns: this.columns, rows: this.rows, spans: this.spans, lines: [],
      nextState: this.nextState, left, top, right: left + width, bottom: top + height,
      colors: this.app.colors, font: this.app.font, selected: this.app.selectedIn(this),
      found: this.app.foundIn(this), dim: this.app.dimIn(this), apart: this.apartY(),
    };
  }

  // The record at a point of the diagram: labels before lines, what is on top before what is below.
  recordAt(x, y) {
    const px = x + this.picture.left;
    const py = y + this.picture.top;
    const hit = this.picture.places.findLast((o) => px >= o.x - 2 && px <= o.x + o.w + 2
      && py >= o.y - 2 && py <= o.y + o.h + 2);
    if (hit) return hit.record;
    const near = this.picture.lines.find((l) => distance(px, py, l) < 5);
    return near?.record ?? null;
  }

  click(event) {
    this.scroller.focus({ preventScroll: true });
    if (this.dragged) {
      this.dragged = false;
      return;
    }
    const record = this.recordAt(event.offsetX, event.offsetY);
    if (record) this.app.select(this, record, false);
  }

  // Where a record's label is on the screen, for scripts.
  where(record) {
    this.drawNow();
    const place = this.picture.places.findLast((one) => one.record === record);
    const box = this.canvas.getBoundingClientRect();
    if (!place) return null;
    return {
      x: box.left + place.x + Math.min(place.w / 2, 40) - this.picture.left,
      y: box.top + place.y + place.h / 2 - this.picture.top,
    };
  }
}

// As large as its place on the screen, in the screen's own pixels.
function sizeCanvas(canvas, width, height) {
  const dpr = window.devicePixelRatio || 1;
  const size = [Math.round(width * dpr), Math.round(height * dpr)];
  if (canvas.width !== size[0] || canvas.height !== size[1]) {
    [canvas.width, canvas.height] = size;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const ctx = canvas.getContext("2d");
  ctx.setTransform(dpr, 0, 0, dpr, 0, 0);
  return ctx;
}

function distance(x, y, { x1, y1, x2, y2 }) {
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const along = ((x - x1) * (x2 - x1) + (y - y1) * (y2 - y1)) / length ** 2;
  const part = Math.max(0, Math.min(1, along));
  return Math.hypot(x - x1 - part * (x2 - x1), y - y1 - part * (y2 - y1));
}

// The first row whose record comes at or after a place in the run.
function firstAfter(records, i) {
  let low = 0;
  let high = records.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (records[middle].i < i) low = middle + 1; else high = middle;
  }
  return low;
}

// For each row that is a state: the row of the next state of the same lane, or -1.
function nextStates(records) {
  const next = new Int32Array(records.length).fill(-1);
  const last = new Map();
  for (let row = records.length - 1; row >= 0; --row) {
    const record = records[row];
    if (record.is !== "state") continue;
    next[row] = last.get(record.lane) ?? -1;
    last.set(record.lane, row);
  }
  return next;
}

// How far down a record is drawn, or null if its own row is all.
function lastOf(view, record, row) {
  const { rows } = view;
  if (record.is === "state") {
    // Where many share a lane, their states would hide each other.
    if (view.columns.of.get(record.lane)?.folded) return null;
    const next = view.nextState[row];
    return next < 0 ? rows.total : rows.yOf[next];
  }
  if (record.is === "wait" || record.is === "call") return endY(rows, row, record.ends);
  const ends = [record.arrives, record.fetched, record.acknowledged, record.polled]
    .filter((time) => time !== undefined && time > record.t);
  return ends.length ? endY(rows, row, Math.max(...ends)) : null;
}
