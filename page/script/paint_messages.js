// Messages: arrows from lane to lane.

function messageColor(p, record) {
  if (/NAK|^REJ/.test(record.name ?? "")) return p.colors.bad;
  if (/^(REQ|REP|RTU|REJ|MRA|DREQ|DREP|SIDR|LAP|APR)/.test(record.name ?? "")) {
    return p.colors.message;
  }
  return /^(ACK|.*ACK$|.*ACKNOWLEDGE)/i.test(record.name ?? "") ? p.colors.dim : p.colors.data;
}

// Where an arrow touches a column: in the middle of a bare wire, at the near edge of a wide one.
function anchorOf(column, other) {
  if (isWire(column)) return column.x + column.w / 2;
  return other.x > column.x ? column.x + column.w - 6 : column.x + 6;
}

function paintMessage(p, record, row, y, column) {
  const target = p.columns.of.get(record.to);
  const color = messageColor(p, record);
  if (!target || target === column) return paintLoop(p, record, y, column, color);
  const lost = isLost(record);
  const from = anchorOf(column, target);
  const to = anchorOf(target, column);
  const reach = !lost ? 1 : reachOf(p, record, Math.abs(to - from));
  const end = {
    x: from + (to - from) * reach,
    y: record.arrives === undefined ? y + p.rows.rowHeight * 0.45 * reach
      : arrivalY(p, row, record),
  };
  const width = color === p.colors.message || lost ? 2 : 1.3;
  line(p, lost ? p.colors.bad : color, width, lost ? [7, 4] : [], [[from, y], [end.x, end.y]]);
  if (record.same !== undefined) {
    line(p, p.colors.paper, 0.9, [], [[from, y], [end.x, end.y]]);
  }
  if (lost) cross(p, end.x, end.y, p.small ? 3 : 6, p.colors.bad);
  else arrowHead(p, from, y, end, color);
  p.lines.push({ record, x1: from, y1: y, x2: end.x, y2: end.y });
  if (!p.small) paintMessageLabel(p, record, from, y, to, end, lost ? p.colors.bad : color);
  else remember(p, record, from - 3, y - 3, 6, 6);
}

// How far a message came: almost there where the receiver refused it, else half the way.
function reachOf(p, record, way) {
  if (/^drop/.test(record.fate ?? "")) return 0.93;
  p.ctx.font = `bold 12px ${p.font}`;
  const label = p.small ? 0 : p.ctx.measureText(messageText(p, record)).width + 34;
  return Math.min(0.9, Math.max(0.55, label / way));
}

function messageText(p, record) {
  return labelOf(record) + (p.run.struckBy.has(record.n) ? " ⚡" : "");
}

function arrivalY(p, row, record) {
  const end = endY(p.rows, row, record.arrives);
  const begin = p.rows.yOf[row];
  return end <= begin ? begin + p.rows.rowHeight * 0.75 : end + p.rows.rowHeight * 0.2;
}

function arrowHead(p, x1, y1, end, color) {
  const angle = Math.atan2(end.y - y1, end.x - x1);
  const size = p.small ? 4 : 8;
  const { ctx } = p;
  ctx.fillStyle = color;
  ctx.beginPath();
  ctx.moveTo(end.x, end.y);
  for (const turn of [-0.4, 0.4]) {
    ctx.lineTo(end.x - size * Math.cos(angle + turn), end.y - size * Math.sin(angle + turn));
  }
  ctx.fill();
}

// Beside the sender, where each message has a row to itself; what became of it beyond its end.
function paintMessageLabel(p, record, from, y, to, end, color) {
  const { ctx } = p;
  const text = messageText(p, record);
  ctx.font = `bold 12px ${p.font}`;
  const room = Math.abs(end.x - from) - (isLost(record) ? 24 : -30);
  const width = Math.min(ctx.measureText(text).width, room);
  const right = to > from;
  const x = right ? from + 12 : from - 12 - width;
  const slope = (end.y - y) / Math.max(1, Math.abs(end.x - from));
  const middle = y + Math.min(slope * (12 + width / 2), p.rows.rowHeight * 0.5);
  ctx.fillStyle = p.colors.paper;
  ctx.fillRect(x - 2, middle - 7, width + 4, 14);
  paintText(p, text, x, middle, room, color, "bold 12px");
  remember(p, record, x - 3, middle - 8, width + 6, 16);
  if (isLost(record)) paintFate(p, record, end, right, color);
}

function paintFate(p, record, end, right, color) {
  const text = record.fate ?? "never arrives";
  const x = end.x + (right ? 12 : -12);
  p.ctx.textAlign = right ? "left" : "right";
  paintText(p, text, x, end.y, right ? p.right - x : x - p.left - gutter, color, "12px", true);
  p.ctx.textAlign = "left";
}

// A message that comes back to the lane it left.
function paintLoop(p, record, y, column, color) {
  const x = anchorOf(column, column);
  const { ctx } = p;
  const lost = isLost(record);
  ctx.strokeStyle = lost ? p.colors.bad : color;
  ctx.lineWidth = 2;
  ctx.setLineDash(lost ? [4, 3] : []);
  ctx.beginPath();
  ctx.arc(x + 8, y, 6, Math.PI, 2.6 * Math.PI);
  ctx.stroke();
  ctx.setLineDash([]);
  if (lost) cross(p, x + 14, y + 4, 4, p.colors.bad);
  const fate = lost ? ` ${record.fate ?? "never arrives"}` : "";
  const width = paintText(p, labelOf(record) + fate, x + 22, y, 200, lost ? p.colors.bad : color,
    "bold 12px");
  remember(p, record, x, y - 8, 24 + width, 16);
}
