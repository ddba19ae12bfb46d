// Keys: every way through the run without a mouse.

function listenToKeys(app) {
  const actions = {
    "/": () => document.getElementById("search").focus(),
    "+": () => app.zoom(1.25),
    "=": () => app.zoom(1.25),
    "-": () => app.zoom(0.8),
    0: () => app.current.zoomAll(),
    t: () => app.toggleTable(),
    w: () => app.toggleWhy(),
    m: () => app.stepMoment(1),
    n: () => app.search.step(1),
    N: () => app.search.step(-1),
    f: () => app.followSelected(),
    "?": () => app.select(app.current, null),
    ArrowDown: () => app.step(1),
    ArrowUp: () => app.step(-1),
    ArrowRight: () => app.stepInLane(1),
    ArrowLeft: () => app.stepInLane(-1),
    Home: () => app.stepTo(0),
    End: () => app.stepTo(-1),
    Escape: () => app.back(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (/^(INPUT|SELECT)$/.test(event.target.tagName) && event.target.type !== "checkbox") return;
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}
