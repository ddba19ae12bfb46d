// The names above the columns: hosts, processes, lanes; each can be folded or hidden.

function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role") made.setAttribute(name, value);
    else made[name] = value;
  }
  made.append(...children);
  return made;
}

const laneWords = {
  host: "host", process: "process", thread: "thread", device: "device", qp: "queue pair",
  id: "id", channel: "channel", link: "link",
};

const headerMargin = 600;

// Only names near what is seen are there, as there may be thousands.
function keepHeader(view) {
  const moved = Math.abs(view.scroller.scrollLeft - (view.headerAt ?? -headerMargin));
  if (moved >= headerMargin / 2) layHeader(view);
}

function layHeader(view) {
  view.headerAt = view.scroller.scrollLeft;
  const first = view.headerAt - headerMargin;
  const last = view.headerAt + view.scroller.clientWidth + headerMargin;
  const strip = element("div", { className: "strip" });
  strip.style.width = `${view.columns.width}px`;
  for (const { lane, x, w } of spansOf(view.columns.columns, (column) => column.top)) {
    strip.append(laneBox(view, lane, x, w, "tier-host"));
  }
  const processOf = (column) => {
    for (let lane = column.lane; lane; lane = lane.parent) if (lane.of === "process") return lane;
    return null;
  };
  for (const { lane, x, w } of spansOf(view.columns.columns, processOf)) {
    if (lane) strip.append(laneBox(view, lane, x, w, "tier-process"));
  }
  for (const column of view.columns.columns) {
    if (column.lane === column.top && column.folded) continue;
    if (column.x + column.w < first || column.x > last) continue;
    strip.append(laneBox(view, column.lane, column.x, column.w, "tier-lane"));
  }
  const textContent = isLong(view.run) ? "s" : "ms";
  view.lanes.replaceChildren(strip, element("div", { className: "unit", textContent }));
}

// Neighbouring columns that share a lane above them.
function spansOf(columns, laneOf) {
  const spans = [];
  for (const column of columns) {
    const lane = laneOf(column);
    const last = spans.at(-1);
    if (last && last.lane === lane) last.w = column.x + column.w - last.x;
    else spans.push({ lane, x: column.x, w: column.w });
  }
  return spans;
}

function laneBox(view, lane, x, w, tier) {
  const word = laneWords[lane.of] ?? lane.of;
  const className = `lane ${tier} of-${lane.of}`;
  const box = element("div", { className, title: `${word} ${lane.path}` });
  box.style.left = `${x}px`;
  box.style.width = `${w}px`;
  const bare = tier === "tier-lane" && lane.of === "host" && !lane.busy;
  if (tier !== "tier-lane" || !bare) {
    if (lane.children.some(isUsed) && tier !== "tier-lane") box.append(foldButton(view, lane));
    const name = tier === "tier-host" ? `${word} ${lane.label}` : nameIn(lane, w);
    box.append(element("span", { className: "lane-name", textContent: name }));
    if (tier === "tier-lane") {
      box.append(element("small", { className: "lane-of", textContent: word }));
    }
  } else {
    box.append(element("span", { className: "lane-name", textContent: "wire" }));
  }
  if (!bare) box.append(hideButton(view, lane));
  return box;
}

// Of threads of one program the last part tells them apart.
function nameIn(lane, width) {
  return lane.of === "thread" && width < 70 ? lane.label.replace(/^.*(?=\/)/, "") : lane.label;
}

function foldButton(view, lane) {
  const folded = view.state.folded.has(lane.id);
  const button = element("button", {
    className: "fold", textContent: folded ? "▸" : "▾",
    title: folded ? `Unfold ${lane.path}` : `Fold ${lane.path} into one lane`,
    "aria-expanded": String(!folded), "aria-label": `Fold ${lane.path}`,
  });
  button.addEventListener("click", () => {
    if (!view.state.folded.delete(lane.id)) view.state.folded.add(lane.id);
    view.layout();
  });
  return button;
}

function hideButton(view, lane) {
  const button = element("button", {
    className: "hide", textContent: "×", title: `Hide ${lane.path}`,
    "aria-label": `Hide ${lane.path}`,
  });
  button.addEventListener("click", () => {
    view.state.hidden.add(lane.id);
    view.layout();
  });
  return button;
}
