// Puts the page together.

function showKinds(app) {
  const box = document.getElementById("kinds");
  const counts = new Map();
  for (const { run } of app.views) {
    for (const record of run.records) {
      const is = kindOf(record);
      counts.set(is, (counts.get(is) ?? 0) + 1);
    }
  }
  const used = Object.entries(kinds).filter(([is]) => counts.has(is));
  box.replaceChildren(...used.map(([is, title]) => {
    const button = element("button", {
      className: `kind is-${is}`, textContent: `${title} ${counts.get(is).toLocaleString("en")}`,
      "aria-pressed": String(!app.kindsOff.has(is)), title: `Show or hide ${title.toLowerCase()}`,
    });
    button.addEventListener("click", () => {
      if (!app.kindsOff.delete(is)) app.kindsOff.add(is);
      showKinds(app);
      app.relayout();
    });
    return button;
  }));
}

function listenToTools(app) {
  const on = (id, action) => document.getElementById(id).addEventListener("click", action);
  on("zoom-in", () => app.zoom(1.25));
  on("zoom-out", () => app.zoom(0.8));
  on("zoom-all", () => app.views.forEach((view) => view.zoomAll()));
  on("as-table", () => app.toggleTable());
  on("as-why", () => app.toggleWhy());
  on("theme", () => setTheme(app, app.theme === "dark" ? "light" : "dark"));
  on("help", () => app.select(app.current, null));
  on("lanes-all", () => {
    for (const view of app.views) {
      view.state.folded.clear();
      view.state.hidden.clear();
    }
    app.relayout();
  });
  for (const id of ["idle", "scale"]) {
    document.getElementById(id).addEventListener("change", (event) => {
      app[id === "idle" ? "fold" : "scale"] = event.target.checked;
      app.relayout();
    });
  }
  window.addEventListener("hashchange", () => app.openLink());
  window.addEventListener("beforeprint", () => preparePrint(app));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () =>
    setTheme(app, firstTheme()));
}

function tellTop(app) {
  const runs = app.views.map((view) => view.run);
  document.getElementById("head").append(...runs.map(tellRun));
  document.title = `${runs[0].header.program ?? "A run"}: ${runs[0].header.verdict ?? "anyrdma"}`;
  const moment = document.getElementById("moment");
  if (runs.length > 1) {
    app.views.forEach((view, i) => {
      const { seed, verdict } = view.run.header;
      const side = i === 0 ? "Left" : "Right";
      view.title.textContent = `${side}: seed ${seed ?? "unknown"}, ${verdict ?? ""}`;
    });
    moment.replaceChildren(...tellDifference(app));
    moment.hidden = false;
    moment.classList.add("difference");
    return;
  }
  app.moments = momentsToShow(runs[0]);
  if (app.moments.length === 0) return;
  moment.replaceChildren(...tellMoment(app));
  moment.hidden = false;
}

function wantedLanes(app, view) {
  const moment = app.moments[0]?.record;
  return moment ? [moment.lane, moment.to, ...(moment.about ?? [])] : [];
}

// Two runs beside each other have the same lanes folded.
function foldAlike(views) {
  const paths = new Set(views.flatMap(({ run, state }) =>
    [...state.folded].map((id) => laneName(run, id))));
  for (const { run, state } of views) {
    for (const lane of run.lanes.values()) {
      if (lane.children.length > 0 && paths.has(lane.path)) state.folded.add(lane.id);
    }
  }
}

function start() {
  const runs = [...document.querySelectorAll("script.run")]
    .map((one) => unpackRun(one.textContent));
  const app = new App(runs);
  const views = document.getElementById("views");
  for (const part of [views.parentNode, document.getElementById("head")]) {
    part.classList.toggle("comparing", runs.length > 1);
  }
  tellTop(app);
  setTheme(app, firstTheme());
  showKinds(app);
  showPanel(app, app.current, null);
  views.append(...app.views.map((view) => view.root));
  for (const view of app.views) {
    foldAtFirst(view.run, view.state, view.scroller.clientWidth, wantedLanes(app, view));
  }
  if (runs.length > 1) foldAlike(app.views);
  for (const view of app.views) view.layout();
  listenToTools(app);
  listenToKeys(app);
  if (!app.openLink()) {
    if (runs.length > 1) showDifference(app);
    else app.showMoment();
  }
  // For scripts: where a record is on the screen, and what is shown.
  window.anyrdma = {
    where: (n, run = 1) => app.views[run - 1].where(app.views[run - 1].run.byNumber.get(n)),
    shown: (run = 1) => app.views[run - 1].rows.records.length,
  };
}
