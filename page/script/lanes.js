// Which lanes are columns of the diagram, in which order and how wide.

const widths = {
  host: [34, 0.2], process: [110, 1.2], thread: [120, 2], device: [70, 1], channel: [70, 1],
  id: [78, 1.2], qp: [74, 1], link: [96, 1],
};
const gapBetweenHosts = 124;
// The last column of a host has nobody to its right whose room its texts could use.
const lastMore = 36;
const longTexts = 192;
const overWire = 40;
// From the outside in: what a program does, what it holds, what leaves it.
const ranks = { process: 0, thread: 1, channel: 2, id: 3, qp: 4, device: 5 };

function subtree(lane) {
  return [lane, ...lane.children.flatMap(subtree)];
}

function isUsed(lane) {
  return lane.own > 0 || lane.children.some(isUsed);
}

// Top lanes as they stand beside each other: a link is between the hosts it connects.
function topLanes(run) {
  const tops = [...run.lanes.values()].filter((lane) => !lane.parent && isUsed(lane));
  const links = tops.filter((lane) => lane.of === "link");
  const others = tops.filter((lane) => lane.of !== "link");
  return [...others.slice(0, 1), ...links, ...others.slice(1)];
}

// A lane's columns. `own` of a host faces the other hosts, so that arrows have nothing to cross.
function columnsOf(lane, state, mirrored) {
  if (state.hidden.has(lane.id) || !isUsed(lane)) return [];
  const inner = lane.children.filter(isUsed);
  if (inner.length === 0) return [{ lane, covers: subtree(lane), folded: false }];
  if (state.folded.has(lane.id)) return [{ lane, covers: subtree(lane), folded: true }];
  const sorted = inner.map((child, i) => [ranks[child.of] ?? 9, i, child])
    .sort((a, b) => a[0] - b[0] || a[1] - b[1]).map((entry) => entry[2]);
  if (mirrored) sorted.reverse();
  const columns = sorted.flatMap((child) => columnsOf(child, state, mirrored));
  if (lane.own === 0) return columns;
  const own = { lane, covers: [lane], folded: false };
  if (lane.of === "process" || lane.of === "thread") return mirrored ? [...columns, own]
    : [own, ...columns];
  return mirrored ? [own, ...columns] : [...columns, own];
}

// Where messages leave and arrive, and nothing else happens.
function isWire(column) {
  return column.lane.of === "host" && !column.folded && !column.lane.busy;
}

function wishedWidth(column, next) {
  const busyHost = column.lane.of === "host" && column.lane.busy;
  const [least, share] = widths[busyHost ? "thread" : column.lane.of] ?? [96, 1];
  const last = !next || next.top !== column.top || isWire(next);
  if (isWire(column) && (next?.top === column.top || column.lane.children.some(isUsed))) {
    return [least, share];
  }
  const long = column.folded || /^(thread|process|host)$/.test(column.lane.of);
  return !last && !column.folded ? [least, share]
    : [long ? longTexts : least + lastMore, share + 1];
}

// Texts may go on over the columns beside theirs, as no two records share a row: up to here.
function laySpill(columns) {
  let end = 0;
  columns.forEach((column, i) => {
    const before = columns[i - 1];
    const edge = !before || before.top !== column.top;
    column.begin = edge ? column.x : isWire(before) ? before.x - overWire : before.begin;
  });
  for (let i = columns.length - 1; i >= 0; --i) {
    const column = columns[i];
    const next = columns[i + 1];
    const edge = !next || next.top !== column.top;
    if (edge) end = column.x + column.w;
    else if (isWire(next)) end = next.x + next.w + overWire;
    column.end = end;
  }
}

// Where there are many columns they are narrow: texts go on over their neighbours anyway.
function squeeze(columns, wishes, room) {
  const sumOf = (some) => wishes.reduce((sum, wish, i) => sum + (some(i) ? wish[0] : 0), 0);
  const wires = sumOf((i) => isWire(columns[i]));
  const factor = Math.max(0.4, Math.min(1, (room - wires) / (sumOf(() => true) - wires)));
  wishes.forEach((wish, i) => {
    wish[0] = isWire(columns[i]) ? wish[0] : Math.max(46, wish[0] * factor);
  });
}

// All columns with x and width; `of` finds a lane's column. `room` is what there is to fill.
function layColumns(run, state, left, room) {
  const tops = topLanes(run);
  const columns = [];
  tops.forEach((top, i) => {
    const mirrored = i >= tops.length / 2 || (i > 0 && tops.length === 2);
    for (const column of columnsOf(top, state, mirrored)) columns.push({ ...column, top });
  });
  const gaps = columns.filter((column, i) => i > 0 && columns[i - 1].top !== column.top).length;
  const wishes = columns.map((column, i) => wishedWidth(column, columns[i + 1]));
  // Again for those that can still give, once some are as narrow as they may be.
  for (let i = 0; i < 3; ++i) squeeze(columns, wishes, room - left - gaps * gapBetweenHosts);
  const least = wishes.reduce((sum, wish) => sum + wish[0], 0);
  const shares = wishes.reduce((sum, wish) => sum + wish[1], gaps * 1.5);
  const spare = Math.max(0, room - left - least - gaps * gapBetweenHosts);
  let x = left;
  columns.forEach((column, i) => {
    if (i > 0 && columns[i - 1].top !== column.top) {
      x += gapBetweenHosts + (spare * 1.5) / shares;
    }
    const [min, share] = wishes[i];
    column.x = x;
    column.w = min + (spare * share) / shares;
    x += column.w;
  });
  laySpill(columns);
  const of = new Map();
  columns.forEach((column) => column.covers.forEach((lane) => of.set(lane.id, column)));
  return { columns, of, width: Math.max(x, room) };
}

// Too many columns to read: lanes begin folded into their process or host, the largest first, but
// for what the moment is about.
function foldAtFirst(run, state, room, wanted) {
  const fits = () => layColumns(run, state, gutter, 0).width <= room * 1.3;
  if (fits()) return;
  const keep = new Set();
  for (const id of wanted) {
    for (let lane = run.lanes.get(id); lane; lane = lane.parent) keep.add(lane);
  }
  const full = [...run.lanes.values()].filter((lane) => lane.children.length > 1)
    .sort((a, b) => b.children.length - a.children.length);
  const inner = full.filter((lane) => lane.of !== "host");
  const outer = full.filter((lane) => lane.of === "host");
  for (const lane of [...inner, ...outer].filter((one) => !keep.has(one))) {
    state.folded.add(lane.id);
    if (fits()) return;
  }
  for (const lane of inner) state.folded.add(lane.id);
  if (fits()) return;
  for (const lane of outer) state.folded.add(lane.id);
}
