// The run as a table: the same records in words, for readers of text and of screens.

const lineHeight = 26;

class Table {
  constructor(app) {
    this.app = app;
    this.root = document.getElementById("table");
    this.root.tabIndex = 0;
    this.body = element("tbody");
    const names = ["#", "time (ms)", "where", "what", "happens"]
      .map((textContent) => element("th", { textContent, scope: "col" }));
    this.table = element("table", {},
      element("caption", {}, "All records that are shown, in order"),
      element("thead", {}, element("tr", {}, ...names)), this.body);
    this.before = element("div");
    this.after = element("div");
    this.root.append(this.before, this.table, this.after);
    this.root.addEventListener("scroll", () => this.draw());
  }

  get view() { return this.app.current; }

  open(on) {
    this.root.hidden = !on;
    document.getElementById("views").hidden = on;
    const button = document.getElementById("as-table");
    button.setAttribute("aria-pressed", String(on));
    button.textContent = on ? "Diagram" : "Table";
    if (on) this.show(this.app.selected?.record);
    else for (const view of this.app.views) view.layout();
  }

  show(record) {
    if (this.root.hidden) return;
    this.draw();
    const row = record ? this.view.rowOf.get(record.i) : undefined;
    if (row !== undefined) {
      const y = row * lineHeight;
      const { scrollTop, clientHeight } = this.root;
      if (y < scrollTop || y > scrollTop + clientHeight - 90) {
        this.root.scrollTop = y - clientHeight / 3;
      }
    }
    this.draw();
  }

  // Only what is seen has rows.
  draw() {
    if (this.root.hidden) return;
    const { records } = this.view.rows;
    const first = Math.max(0, Math.floor(this.root.scrollTop / lineHeight) - 10);
    const seen = Math.ceil(this.root.clientHeight / lineHeight) + 20;
    const last = Math.min(records.length, first + seen);
    this.table.setAttribute("aria-rowcount", String(records.length + 1));
    this.before.style.height = `${first * lineHeight}px`;
    this.after.style.height = `${(records.length - last) * lineHeight}px`;
    this.body.replaceChildren(...records.slice(first, last).map((record, i) =>
      this.lineOf(record, first + i)));
  }

  lineOf(record, row) {
    const { run } = this.view;
    const chosen = this.app.selected?.record === record;
    const bad = isBad(record) ? "! " : record.is === "fault" ? "⚡ " : "";
    const line = element("tr", { className: `${chosen ? "chosen " : ""}${bad ? "bad" : ""}`,
      "aria-rowindex": String(row + 2), "aria-selected": String(chosen) },
    ...[`${record.n}`, clockText(record.t - run.begin), laneName(run, record.lane), record.is,
      bad + sentenceOf(run, record)].map((textContent) => element("td", { textContent })));
    line.addEventListener("click", () => this.app.select(this.view, record, false));
    return line;
  }
}
