// Finds words in everything that is known of the records.

class Search {
  constructor(app) {
    this.app = app;
    this.box = document.getElementById("search");
    this.count = document.getElementById("search-count");
    this.found = new Map();
    this.hits = [];
    this.at = -1;
    this.box.addEventListener("input", () => this.run());
    this.box.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.step(event.shiftKey ? -1 : 1);
      if (event.key === "Escape") {
        this.clear();
        this.box.blur();
      }
      event.stopPropagation();
    });
    document.getElementById("search-on").addEventListener("click", () => this.step(1));
    document.getElementById("search-back").addEventListener("click", () => this.step(-1));
  }

  clear() {
    this.box.value = "";
    this.run();
  }

  // All words have to be there, in any order.
  run() {
    const words = this.box.value.toLowerCase().split(/\s+/).filter(Boolean);
    this.hits = [];
    this.found = new Map();
    this.at = -1;
    for (const view of words.length ? this.app.views : []) {
      const texts = this.textsOf(view.run);
      const found = new Set();
      for (const record of view.rows.records) {
        if (words.every((word) => texts[record.i].includes(word))) found.add(record.i);
      }
      this.found.set(view, found);
      for (const i of found) this.hits.push({ view, record: view.run.records[i] });
    }
    this.tell();
    this.app.redraw();
  }

  textsOf(run) {
    run.texts ??= run.records.map((record) => searchText(run, record));
    return run.texts;
  }

  step(by) {
    if (this.hits.length === 0) return;
    this.at = this.at < 0 ? (by > 0 ? 0 : this.hits.length - 1)
      : (this.at + by + this.hits.length) % this.hits.length;
    this.tell();
    const { view, record } = this.hits[this.at];
    this.app.select(view, record);
  }

  tell() {
    const words = this.box.value.trim();
    this.count.textContent = !words ? "" : this.hits.length === 0 ? "nothing found"
      : this.at < 0 ? `${this.hits.length} found` : `${this.at + 1} of ${this.hits.length}`;
  }
}
