// How each kind of record looks. Shapes, dashes and letters say it; colours only repeat it.

const painters = {
  state(p, record, row, y, column) {
    const next = p.nextState[row];
    const last = next < 0 ? p.rows.total : p.rows.yOf[next] + p.rows.rowHeight / 2 - 1;
    const end = column.folded ? y + p.rows.rowHeight / 2 : last;
    const x = column.x + trackX - 6;
    const top = Math.max(y, p.top - 4);
    const height = Math.min(end, p.bottom + 4) - top;
    if (height <= 0) return;
    if (/^destroyed$/i.test(record.name)) {
      cap(p, record, column, y);
      return;
    }
    const { ctx } = p;
    const look = lookOf(p, record.name);
    ctx.fillStyle = p.colors.states[look % p.colors.states.length];
    ctx.fillRect(x, top, 12, height);
    ctx.strokeStyle = p.colors.text;
    ctx.lineWidth = 1;
    ctx.strokeRect(x + 0.5, top + 0.5, 11, height - 1);
    paintPattern(p, look % 4, x, top, height);
    remember(p, record, x, top, 12, height);
    remember(p, record, column.x, y - 8, column.w, 16);
    const stays = y < p.top && height > 30;
    if (stays && (p.crowded.has(column.top) || p.selected?.is === "wait")) return;
    const room = (stays ? column.w : column.end - column.x) - callLabelX - 2;
    const text = prefixOf(p, record, column) + record.name;
    paintText(p, text, column.x + callLabelX, stays ? p.top + 9 : y, room,
      stays ? p.colors.dim : p.colors.text, stays ? "italic 11px" : "bold 11px", true);
  },
  call(p, record, row, y, column) {
    bar(p, record, column, y, endY(p.rows, row, record.ends), isBad(record) ? p.colors.bad
      : p.colors.call, false);
    paintLabel(p, record, column, y, labelOf(record), callLabelX);
  },
  wait(p, record, row, y, column) {
    const end = endY(p.rows, row, record.ends);
    bar(p, record, column, y, end, isBad(record) ? p.colors.bad : p.colors.wait, true);
    const text = labelOf(record);
    if (record.ends === undefined) {
      paintOpenWait(p, record, y, column, `! ${text}`);
      return;
    }
    paintLabel(p, record, column, y, text, callLabelX + 4);
  },
  event(p, record, row, y, column) {
    const x = column.x + markX;
    const color = isBad(record) ? p.colors.bad : p.colors.event;
    const place = (time) => (time === undefined ? null : Math.max(y, endY(p.rows, row, time)));
    const fetched = record.fetched === undefined && !record.owed ? y : place(record.fetched);
    const done = record.acknowledged === undefined && !record.owed ? fetched
      : place(record.acknowledged);
    const tail = (from) => Math.min(from + 2.2 * p.rows.rowHeight, p.rows.total);
    if (fetched === null) line(p, color, 1.5, [2, 3], [[x, y], [x, tail(y)]]);
    else {
      line(p, color, 1.5, [], [[x, y], [x, fetched]]);
      line(p, color, 3, done === null ? [3, 3] : [], [[x, fetched], [x, done ?? tail(fetched)]]);
    }
    if (done !== null && done > y + 3) line(p, color, 3, [], [[x - 4, done], [x + 4, done]]);
    if (fetched !== null && fetched > y + 6) disc(p, x, fetched, 3, color, true);
    disc(p, x, y, 4.5, color, fetched !== null && fetched <= y + 6);
    const lack = !record.owed ? ""
      : fetched === null ? ", never fetched" : ", never acknowledged";
    paintLabel(p, record, column, y, labelOf(record) + lack);
  },
  completion(p, record, row, y, column) {
    const x = column.x + markX;
    const color = isBad(record) ? p.colors.bad : p.colors.completion;
    if (record.polled !== undefined) {
      const polled = Math.max(y, endY(p.rows, row, record.polled));
      line(p, color, 1.5, [], [[x, y], [x, polled]]);
    }
    p.ctx.fillStyle = record.polled === undefined ? p.colors.paper : color;
    p.ctx.strokeStyle = color;
    p.ctx.lineWidth = 1.5;
    p.ctx.fillRect(x - 4, y - 4, 8, 8);
    p.ctx.strokeRect(x - 4, y - 4, 8, 8);
    paintLabel(p, record, column, y,
      `${isBad(record) ? "" : "✓ "}${labelOf(record).replace(" SUCCESS", "")}`);
  },
  note(p, record, _row, y, column) {
    const quote = record.stream ? (record.stream === "err" ? "err> " : "> ") : "✎ ";
    if (isWire(column)) {
      paintPill(p, record, y, column.x, quote + record.name, p.colors.dim, false);
      return;
    }
    paintLabel(p, record, column, y, quote + (record.name ?? record.is), callLabelX);
  },
  fault(p, record, _row, y, column) {
    flag(p, record, y, column, `⚡ ${record.name}${record.effect ? ` — ${record.effect}` : ""}`,
      p.colors.fault);
  },
  finding(p, record, _row, y, column) {
    flag(p, record, y, column, `✖ ${record.name}`, p.colors.bad);
  },
  message: (p, record, row, y, column) => paintMessage(p, record, row, y, column),
};

// One without end that is looked at stays in view.
function paintOpenWait(p, record, y, column, text) {
  const x = column.x + callLabelX;
  if (y >= p.top + 10) {
    paintPill(p, record, y, x, text, p.colors.bad, false);
  } else if (record === p.selected) {
    const since = ` since ${timeText(record.t - p.run.begin)}`;
    p.above = () => paintPill(p, record, p.top + 12, x, text + since, p.colors.bad, false);
  }
}

// The end of an id or a queue pair.
function cap(p, record, column, y) {
  const x = column.x + trackX;
  line(p, p.colors.text, 2.5, [], [[x - 8, y], [x + 8, y]]);
  paintText(p, record.name, column.x + callLabelX, y, column.end - column.x - callLabelX,
    p.colors.dim, "bold 11px", true);
  remember(p, record, column.x, y - 8, column.w, 16);
}

// Each state's own colour and pattern, in the order in which a run comes to them.
function lookOf(p, name) {
  p.run.looks ??= new Map();
  if (!p.run.looks.has(name)) p.run.looks.set(name, p.run.looks.size);
  return p.run.looks.get(name);
}

function paintPattern(p, pattern, x, top, height) {
  if (pattern === 0) return;
  const { ctx } = p;
  ctx.save();
  ctx.beginPath();
  ctx.rect(x, top, 12, height);
  ctx.clip();
  ctx.strokeStyle = p.colors.text;
  ctx.globalAlpha *= 0.35;
  ctx.lineWidth = 1;
  ctx.beginPath();
  const first = Math.floor(top / 8) * 8;
  for (let y = first - 12; y < top + height + 12; y += 8) {
    ctx.moveTo(x, pattern === 1 ? y + 12 : y);
    ctx.lineTo(x + 12, pattern === 2 ? y + 12 : y);
  }
  ctx.stroke();
  ctx.restore();
}

// A call or a wait, as long as it lasts; a wait is dashed and open, and one without end has no
// floor. Waits stand beside the call that they are in.
function bar(p, record, column, y, end, color, open) {
  const { ctx } = p;
  const x = column.x + trackX - (open ? -6 : 4);
  const top = y - Math.min(6, p.rows.rowHeight / 3);
  const low = Math.min(Math.max(end, y + Math.min(6, p.rows.rowHeight / 3)), p.bottom + 8);
  const high = Math.max(top, p.top - 8);
  if (low <= high) return;
  if (open) {
    ctx.fillStyle = p.colors.paper;
    ctx.fillRect(x + 1, high, 6, low - high);
    const edges = [[x + 0.5, low], [x + 0.5, high], [x + 7.5, high], [x + 7.5, low]];
    line(p, color, record.ends === undefined ? 2.5 : 1.5, [4, 3],
      record.ends === undefined ? edges : [...edges, edges[0]]);
  } else {
    ctx.fillStyle = color;
    ctx.fillRect(x, high, 8, low - high);
  }
  remember(p, record, x, high, 8, low - high);
}

// A mark across the whole diagram, with its text beside the lane that it is about.
function flag(p, record, y, column, text, color) {
  const { ctx } = p;
  line(p, color, 1, [8, 4], [[p.left + gutter, y], [p.right, y]]);
  if (p.small) {
    ctx.fillStyle = color;
    ctx.fillRect(p.left + gutter - 4, y - 3, 10, 6);
    remember(p, record, p.left + gutter - 4, y - 3, 10, 6);
    return;
  }
  paintPill(p, record, y, column ? column.x + 4 : p.left + gutter + 4, text, color, true);
}

// A text in a box that is moved to where it can be read, whatever is there.
function paintPill(p, record, y, wished, text, color, full) {
  if (p.small) return;
  const { ctx } = p;
  ctx.font = `bold 12px ${p.font}`;
  const room = p.right - p.left - gutter - 10;
  const width = Math.min(ctx.measureText(text).width + 14, room);
  const x = Math.max(p.left + gutter + 4, Math.min(wished, p.right - width - 6));
  ctx.fillStyle = full ? color : p.colors.paper;
  ctx.fillRect(x, y - 9, width, 18);
  ctx.strokeStyle = color;
  ctx.lineWidth = 1.5;
  ctx.strokeRect(x, y - 9, width, 18);
  paintText(p, text, x + 7, y, width - 12, full ? p.colors.paper : color, "bold 12px");
  remember(p, record, x, y - 9, width, 18);
}
