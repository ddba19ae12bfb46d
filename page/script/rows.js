// Where time is on the paper: each record has a row; what ends between two rows has a place there.

// What an idle time takes when it is folded; less where everything is small.
function foldHeight(rowHeight) {
  return Math.min(30, rowHeight * 1.4);
}

const mostHeight = 2e7;

// Times at which something ends that are nobody's beginning.
function endTimes(records) {
  const starts = new Set();
  for (const { t } of records) starts.add(t);
  const ends = new Set();
  const add = (time) => {
    if (time !== undefined && !starts.has(time)) ends.add(time);
  };
  for (const r of records) {
    add(r.arrives);
    add(r.ends);
    add(r.fetched);
    add(r.acknowledged);
    add(r.polled);
  }
  return Float64Array.from(ends).sort();
}

// How long nothing must happen to be called idle: much longer than what is usual here.
function idleLength(times) {
  const gaps = new Float64Array(times.length);
  let count = 0;
  for (let i = 1; i < times.length; ++i) {
    if (times[i] > times[i - 1]) gaps[count++] = times[i] - times[i - 1];
  }
  gaps.subarray(0, count).sort();
  const usual = gaps[Math.floor(count / 2)] ?? 0;
  return Math.max(20 * usual, 1000);
}

// The slots of a layout, in order of time: (time, record or -1).
function slotsOf(records) {
  const ends = endTimes(records);
  const count = records.length + ends.length;
  const times = new Float64Array(count);
  const rows = new Int32Array(count);
  for (let slot = 0, r = 0, e = 0; slot < count; ++slot) {
    const record = r < records.length && (e >= ends.length || records[r].t <= ends[e]);
    times[slot] = record ? records[r].t : ends[e];
    rows[slot] = record ? r : -1;
    if (record) ++r; else ++e;
  }
  return { times, rows };
}

// options: rowHeight, fold (idle time), scale (to scale: pixels per nanosecond, or 0).
function layRows(records, options) {
  const { times, rows } = slotsOf(records);
  const idle = idleLength(times);
  let height = layOut(records.length, times, rows, idle, options);
  if (height.total > mostHeight) {
    const shrink = mostHeight / height.total;
    height = layOut(records.length, times, rows, idle, {
      ...options, rowHeight: options.rowHeight * shrink, scale: options.scale * shrink,
    });
  }
  return { ...height, records, times, idle };
}

function layOut(count, times, rows, idle, options) {
  const tops = new Float64Array(times.length);
  const yOf = new Float64Array(count);
  const folds = [];
  const folded = foldHeight(options.rowHeight);
  let y = 8;
  for (let slot = 0; slot < times.length; ++slot) {
    const length = slot > 0 ? times[slot] - times[slot - 1] : 0;
    if (length > idle && options.fold) {
      folds.push({ y: y + folded / 10, h: folded * 0.8, length });
      y += folded;
    } else if (options.scale > 0) {
      y += Math.min(length, 1e15) * options.scale;
    }
    tops[slot] = y;
    if (rows[slot] >= 0) yOf[rows[slot]] = y;
    y += options.rowHeight * (rows[slot] >= 0 ? 1 : 0.35);
  }
  return { tops, yOf, folds, total: y + 60, rowHeight: options.rowHeight };
}

function firstAtLeast(sorted, value) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1; else high = middle;
  }
  return low;
}

// Where a time is: the first place of all that happens then, or the end of the paper.
function yAt(rows, time) {
  const slot = firstAtLeast(rows.times, time);
  return slot < rows.tops.length ? rows.tops[slot] : rows.total - 40;
}

// The end of what begins in a row: not above that row, whatever happens at the same time.
function endY(rows, row, time) {
  const begin = rows.yOf[row];
  if (time === undefined) return rows.total;
  if (time <= rows.records[row].t) return begin;
  return Math.max(begin, yAt(rows, time));
}

// For each block of rows, what began above it and still lasts: only what is seen is drawn.
const blockRows = 128;

function laySpans(rows, lastOf) {
  const blocks = Array.from({ length: Math.ceil(rows.records.length / blockRows) }, () => []);
  rows.records.forEach((record, row) => {
    const last = lastOf(record, row);
    if (last === null) return;
    const end = Math.min(blocks.length - 1, Math.floor(rowAtY(rows, last) / blockRows));
    for (let block = Math.floor(row / blockRows) + 1; block <= end; ++block) {
      blocks[block].push(row);
    }
  });
  return blocks;
}

function rowAtY(rows, y) {
  return Math.max(0, Math.min(rows.yOf.length - 1, firstAtLeast(rows.yOf, y)));
}
