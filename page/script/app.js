// What the page shows now: which record is chosen, what is filtered, followed and searched for.

class App {
  constructor(runs) {
    this.views = [];
    this.kindsOff = new Set(["short", "choice"]);
    this.fold = true;
    this.scale = false;
    this.followed = null;
    this.selected = null;
    this.moments = [];
    this.momentAt = 0;
    this.readColors = readColors;
    this.font = "system-ui, 'DejaVu Sans', sans-serif";
    this.colors = readColors(firstTheme());
    this.views = runs.map((run, i) => new View(run, i + 1, this));
    this.current = this.views[0];
    this.search = new Search(this);
    this.table = new Table(this);
    this.why = new Why(this);
  }

  // --- What views ask ---------------------------------------------------------------------------

  shows(view, record) {
    if (this.kindsOff.has(kindOf(record))) return false;
    if (this.followed?.only && this.followed.view === view) return this.followed.set.has(record.i);
    const column = view.columns.of.has(record.lane);
    return column || record.is === "fault" || record.is === "finding";
  }

  selectedIn(view) { return this.selected?.view === view ? this.selected.record : null; }

  foundIn(view) { return this.search?.found.get(view) ?? null; }

  dimIn(view) { return this.followed?.view === view ? this.followed.set : null; }

  apartIn(view) {
    return view === this.views[0] ? this.difference?.left : this.difference?.right;
  }

  scrolled(view) {
    if (this.views.length > 1) scrollAlong(this, view);
  }

  // --- Choosing ---------------------------------------------------------------------------------

  select(view, record, move = true) {
    this.current = view;
    this.selected = record ? { view, record } : null;
    if (record && move) {
      this.reveal(view, record);
      view.show(record);
    }
    showPanel(this, view, record);
    if (record) history.replaceState(null, "", this.linkTo(view, record));
    this.table.show(record);
    this.redraw();
  }

  // Whatever hides a record that somebody wants to see is taken back.
  reveal(view, record) {
    if (view.rowOf.has(record.i)) return;
    this.kindsOff.delete(kindOf(record));
    if (this.followed && !this.followed.set.has(record.i)) this.followed = null;
    for (let lane = view.run.lanes.get(record.lane); lane; lane = lane.parent) {
      view.state.hidden.delete(lane.id);
    }
    showKinds(this);
    this.tellFollowing();
    this.relayout();
  }

  linkTo(view, record) {
    return this.views.length > 1 ? `#run=${view.number}&n=${record.n}` : `#n=${record.n}`;
  }

  openLink() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    const view = this.views[Number(wanted.get("run") ?? 1) - 1];
    const record = wanted.has("n") && view?.run.byNumber.get(Number(wanted.get("n")));
    if (record && record !== this.selected?.record) {
      this.select(view, record);
      view.show(record, 0.45);
    }
    return Boolean(record);
  }

  stepTo(row) {
    const record = this.current.rows.records.at(row);
    if (record) this.select(this.current, record);
  }

  step(by) {
    const { records } = this.current.rows;
    const chosen = this.selectedIn(this.current);
    const row = chosen ? (this.current.rowOf.get(chosen.i) ?? -1) + by
      : records.indexOf(this.current.middle().record);
    if (row >= 0 && row < records.length) this.stepTo(row);
  }

  stepInLane(by) {
    const chosen = this.selectedIn(this.current);
    if (!chosen) return this.step(by);
    const column = this.current.columns.of.get(chosen.lane);
    const { records } = this.current.rows;
    for (let row = this.current.rowOf.get(chosen.i) + by; records[row]; row += by) {
      if (this.current.columns.of.get(records[row].lane) === column) return this.stepTo(row);
    }
    return undefined;
  }

  // --- Moments ----------------------------------------------------------------------------------

  // A wait that lasts is shown where the run ends, and where it began if asked for again.
  showMoment() {
    const moment = this.moments[this.momentAt];
    if (!moment) return;
    const again = this.selected?.record === moment.record;
    this.select(this.views[0], moment.record);
    this.views[0].show(moment.record, 0.6);
    if (moment.record.is === "wait" && !again) this.views[0].showEnd(moment.record);
  }

  stepMoment(by) {
    if (this.moments.length === 0) return;
    this.momentAt = (this.momentAt + by + this.moments.length) % this.moments.length;
    document.getElementById("moment").replaceChildren(...tellMoment(this));
    this.showMoment();
  }

  // --- Following, filters, zoom -----------------------------------------------------------------

  follow(view, title, set) {
    this.followed = { view, title, set, only: this.followed?.only ?? false };
    this.tellFollowing();
    this.relayout();
  }

  followSelected() {
    const chosen = this.selected;
    if (!chosen) return;
    const [title, find] = waysToFollow(chosen.view.run, chosen.record)[0] ?? [];
    if (title) this.follow(chosen.view, title, find());
  }

  tellFollowing() {
    const bar = document.getElementById("following");
    bar.hidden = !this.followed;
    if (!this.followed) return;
    const only = element("input", { type: "checkbox", checked: this.followed.only, id: "only" });
    only.addEventListener("change", () => {
      this.followed.only = only.checked;
      this.relayout();
    });
    const stop = element("button", { id: "unfollow", textContent: "Stop following" });
    stop.addEventListener("click", () => this.unfollow());
    const { title, set } = this.followed;
    bar.replaceChildren(`Following ${title}: ${countText(set.size, "record")}. `,
      element("label", {}, only, " hide the rest"), " ", stop);
  }

  unfollow() {
    this.followed = null;
    this.tellFollowing();
    this.relayout();
  }

  back() {
    if (this.followed) this.unfollow();
    else if (this.search.hits.length) this.search.clear();
    else this.select(this.current, null);
  }

  toggleTable() {
    this.why.open(false);
    this.table.open(this.table.root.hidden);
  }

  toggleWhy() {
    const on = !this.why.isOpen;
    if (on) this.table.open(false);
    this.why.open(on);
  }

  zoom(factor) { for (const view of this.views) view.zoom(factor); }

  relayout() {
    for (const view of this.views) view.layout();
    this.table.draw();
  }

  redraw() { for (const view of this.views) view.draw(); }
}
