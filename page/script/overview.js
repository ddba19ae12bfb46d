// The narrow strip beside a diagram: the whole run, where it is busy, what went wrong where.

function makeOverview() {
  const overview = element("div", { className: "overview", title: "The whole run" });
  overview.append(element("canvas"), element("div", { className: "window" }));
  return overview;
}

function drawOverview(view) {
  const { rows } = view;
  const canvas = view.overview.firstChild;
  const width = 18;
  const height = view.scroller.clientHeight;
  if (!height) return;
  const ctx = sizeCanvas(canvas, width, height);
  const { colors } = view.app;
  ctx.fillStyle = colors.band;
  ctx.fillRect(0, 0, width, height);
  rows.records.forEach((record, row) => {
    const bad = isBad(record) || record.is === "fault";
    const y = (rows.yOf[row] / rows.total) * height;
    ctx.fillStyle = record.is === "fault" ? colors.fault : bad ? colors.bad : colors.dim;
    if (bad) ctx.fillRect(9, y - 1, 9, 2.5);
    else if (row % 8 === 0 || rows.records.length < 2000) ctx.fillRect(2, y, 5, 0.7);
  });
  drawWindow(view);
}

// The part that is seen now.
function drawWindow(view) {
  const seen = view.overview.lastChild;
  const part = view.overview.clientHeight / view.rows.total;
  seen.style.height = `${Math.min(1, part) * view.scroller.clientHeight}px`;
  seen.style.top = `${view.scroller.scrollTop * part}px`;
}
