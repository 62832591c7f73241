"use strict";
// The timeline's page. Times are nanoseconds on the program's clock. Everything is drawn on one canvas, only what is in
// view, and what is narrower than a pixel together with its neighbours.
const $ = (id) => document.getElementById(id);
function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value);
  }
  node.append(...children.filter((c) => c !== null && c !== undefined));
  return node;
}
const say = (text) => { $("said").textContent = text; };
const UNITS = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]];
function timeText(ns, digits = 4) {
  const [name, size] = UNITS.find(([, s]) => Math.abs(ns) >= s) || UNITS[3];
  return `${+(ns / size).toPrecision(digits)} ${name}`;
}
const BYTES = [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10], ["B", 1]];
function bytesText(n) {
  const [name, size] = BYTES.find(([, s]) => Math.abs(n) >= s) || BYTES[3];
  return `${+(n / size).toPrecision(4)} ${name}`;
}
const rate = (bytes, ns) => (ns > 0 ? `${+(bytes / ns).toPrecision(4)} GB/s` : "");
const COLUMNS = ["id", "kind", "name", "device", "stream", "call", "begin", "end", "waited", "behind", "bytes", "from", "to", "queue", "engine", "share",
  "read", "written", "graph", "gx", "gy", "gz", "bx", "by", "bz", "registers", "staticShared", "dynamicShared", "linkRead", "linkWritten", "migrated", "populated", "parent"];
const KINDS = ["kernel", "copy", "fill", "record", "wait", "host function", "internal", "library"];
const SHOWN_KINDS = new Set(["kernel", "copy", "fill", "host function", "library"]);

// --- a run, from what the page holds
function readRun(data, label) {
  const run = { label, processes: [], operations: [], calls: [], ranges: [], byId: new Map(), device: data[0].device };
  data.forEach((d, process) => {
    const words = d.words;
    const threads = new Map();
    const thread = (id) => threads.get(id) || threads.set(id, { id, process, calls: [], ranges: [] }).get(id);
    const calls = new Map();
    for (const [name, tid, id, begin, end] of d.calls) {
      const call = { is: "call", name: words[name], thread: thread(tid), id, begin, end, operations: [], process };
      call.thread.calls.push(call), calls.set(id, call), run.calls.push(call);
    }
    for (const [text, tid, begin, end] of d.ranges) {
      const range = { is: "range", name: words[text].replace(/^:/, ""), thread: thread(tid), begin, end, process };
      range.thread.ranges.push(range), run.ranges.push(range);
    }
    const byId = new Map();
    for (const row of d.operations) {
      const o = { is: "operation", process, waits: [] };
      COLUMNS.forEach((c, k) => { o[c] = row[k] ?? 0; });
      o.kind = KINDS[o.kind], o.name = words[o.name], o.from = words[o.from], o.to = words[o.to], o.waited = d.waits[o.waited];
      o.title = o.kind === "kernel" || o.kind === "library" ? o.name : o.kind === "copy" ? `copy ${o.from} to ${o.to}` : o.kind;
      byId.set(o.id, o);
      o.call = calls.get(o.call) || null;
      if (o.call) o.call.operations.push(o);
      run.operations.push(o);
    }
    for (const o of byId.values()) {
      if ((o.behind = byId.get(o.behind) || null)) o.behind.waits.push(o);
      if ((o.parent = byId.get(o.parent) || null)) (o.parent.children ||= []).push(o);
    }
    for (const t of threads.values()) t.calls.sort(byBegin).forEach((call, k) => { call.place = k; }), t.ranges.sort((a, b) => a.begin - b.begin || b.end - a.end);
    const name = d.program.split("/").pop();
    run.processes.push({ name: data.length > 1 && !/^rank /.test(name) ? `${name} (${d.process})` : name, id: d.process, threads: [...threads.values()].sort((a, b) => a.id - b.id), memory: d.memory, left_out: d.left_out });
  });
  run.operations.sort(byBegin), run.calls.sort(byBegin);
  const all = [...run.operations, ...run.calls, ...run.ranges];
  // Making a context takes a long time that nobody wants to look at first: the view begins with the first operation.
  run.begin = all.reduce((least, o) => Math.min(least, o.begin), Infinity);
  run.end = all.reduce((most, o) => Math.max(most, o.end), -Infinity);
  if (!all.length) run.begin = 0, run.end = 1;
  return run;
}
const byBegin = (a, b) => a.begin - b.begin || a.end - b.end;

// --- rows
const show = { threads: true, streams: true, queues: false, engines: true, areas: true, gaps: true, arrows: true, critical: false };
const LABELS = { threads: "Host threads", streams: "Streams", queues: "Hardware queues", engines: "Copy engines", areas: "Device in use", gaps: "Name gaps", arrows: "Arrows", critical: "Critical path" };
const ROW = 20, AREA = 34, HEAD = 22, GUTTER = 190;
let runs = [], rows = [], height = 0, layout = 0;
const levelOf = (item, row) => item.levels?.get(row.items) || 0;

// Items that overlap (kernels of one stream never do; those of a queue or an engine might) go below each other.
function levels(items) {
  const ends = [];
  for (const item of items) {
    let k = ends.findIndex((e) => e <= item.begin);
    if (k < 0) k = ends.length;
    ends[k] = item.end;
    if (k > 0) (item.levels ||= new Map()).set(items, k);
  }
  return Math.max(1, ends.length);
}
function bars(label, items, run, extra = {}) {
  if (!items.length) return;
  const depth = levels(items);
  const row = { kind: "bars", label, items, run, depth, y: height, height: depth * ROW, ...extra };
  rows.push(row);
  for (const item of items) if (item.layout !== layout) item.layout = layout, item.home = row;
  height += depth * ROW;
}
function heading(label, run) {
  rows.push({ kind: "heading", label, run, items: [], y: height, height: HEAD });
  height += HEAD;
}
// Steps: [time, value], each until the next.
function area(label, steps, most, unit, run) {
  if (steps.length < 2) return;
  rows.push({ kind: "area", label, steps, most, unit, run, items: [], y: height, height: AREA });
  height += AREA;
}
function sumOf(operations, value) {
  const changes = [];
  for (const o of operations) {
    const v = value(o);
    if (v > 0 && o.end > o.begin) changes.push([o.begin, v], [o.end, -v]);
  }
  changes.sort((a, b) => a[0] - b[0]);
  const steps = [];
  let now = 0;
  for (const [t, v] of changes) {
    now += v;
    if (steps.length && steps[steps.length - 1][0] === t) steps[steps.length - 1][1] = now;
    else steps.push([t, now]);
  }
  return steps.map(([t, v]) => [t, Math.max(0, v)]);
}
const group = (items, key) => {
  const groups = new Map();
  for (const item of items) (groups.get(key(item)) || groups.set(key(item), []).get(key(item))).push(item);
  return [...groups].sort(([a], [b]) => a - b);
};
const homeOf = (item) => (item && item.layout === layout ? item.home : null);
function layOut() {
  rows = [], height = 0, ++layout;
  for (const run of runs) {
    if (runs.length > 1) heading(run.label, run);
    if (show.threads)
      run.processes.forEach((p) => {
        for (const t of p.threads) {
          const name = `${p.name} thread ${t.id}`;
          bars(`${name}: ranges`, t.ranges, run);
          bars(`${name}: calls`, t.calls, run);
        }
      });
    for (const [device, operations] of group(run.operations.filter((o) => SHOWN_KINDS.has(o.kind)), (o) => o.device)) {
      heading(`${run.device.name}${device ? ` (${device})` : ""}`, run);
      const several = run.processes.length > 1;
      if (show.streams)
        for (const [process, own] of group(operations, (o) => o.process)) {
          const whose = several ? `${run.processes[process].name} ` : "";
          for (const [stream, items] of group(own.filter((o) => !o.parent), (o) => o.stream)) bars(whose + (stream < 2 ** 40 ? `stream ${stream}` : "branch of a graph"), items, run, { gaps: true });
          bars(`${whose}launched by kernels`, own.filter((o) => o.parent), run);
        }
      if (show.engines) for (const [engine, items] of group(operations.filter((o) => o.engine >= 0), (o) => o.engine)) bars(`copy engine ${engine}`, items, run);
      if (show.queues) for (const [queue, items] of group(operations.filter((o) => o.queue >= 0), (o) => o.queue)) bars(`hardware queue ${queue}`, items, run);
      if (!show.areas) continue;
      area("multiprocessors", sumOf(operations, (o) => o.share / 1000).map(([t, v]) => [t, 100 * Math.min(1, v)]), 100, "%", run);
      const speed = run.device.memory_bytes_per_second / 1e9;
      const moved = (o) => (o.end > o.begin ? (o.kind === "copy" ? (o.engine < 0 ? 2 : 1) * o.bytes : o.kind === "fill" ? o.bytes : o.read + o.written) / (o.end - o.begin) : 0);
      area("memory", sumOf(operations, moved).map(([t, v]) => [t, Math.min(speed, v)]), speed, "GB/s", run);
      const up = (o) => (o.kind === "copy" && o.to === "Device" && o.engine >= 0 ? o.bytes : o.linkRead + o.migrated) / (o.end - o.begin);
      const down = (o) => (o.kind === "copy" && o.from === "Device" && o.engine >= 0 ? o.bytes : o.linkWritten) / (o.end - o.begin);
      const links = [["to the device", sumOf(operations, up)], ["from the device", sumOf(operations, down)]];
      const most = Math.max(1, ...links.flatMap(([, steps]) => steps.map((s) => s[1])));
      for (const [label, steps] of links) area(label, steps, most, "GB/s", run);
      let bytes = 0;
      const given = [];
      for (const p of run.processes) for (const [t, d, change] of p.memory) if (d === device) given.push([t, change]);
      given.sort((a, b) => a[0] - b[0]);
      const steps = given.map(([t, change]) => [t, (bytes += change) / 2 ** 20]);
      if (steps.length) steps.push([run.end, steps[steps.length - 1][1]]);
      area("memory allocated", steps, Math.max(1, ...steps.map((s) => s[1])), "MiB", run);
    }
  }
}

// --- the view
const canvas = $("canvas"), ruler = $("ruler"), chart = $("chart"), tip = $("tip");
const view = { from: 0, to: 1 };
let chosen = null, path = new Set(), scheduled = false, width = 0;
const at = (time, run) => GUTTER + ((time - run.begin - view.from) / (view.to - view.from)) * (width - GUTTER);
const timeAt = (x) => view.from + ((x - GUTTER) / (width - GUTTER)) * (view.to - view.from);
const whole = () => Math.max(...runs.map((r) => r.end - r.begin), 1);
function look(from, to) {
  const span = Math.min(Math.max(to - from, 20), whole() * 1.2);
  const most = whole() * 1.1 - span;
  view.from = Math.min(Math.max(from, -whole() * 0.1), Math.max(most, -whole() * 0.1)), view.to = view.from + span;
  draw();
}
function zoom(factor, time = (view.from + view.to) / 2) { look(time - (time - view.from) * factor, time + (view.to - time) * factor); }
function pan(share) { const d = (view.to - view.from) * share; look(view.from + d, view.to + d); }
// All but the long calls before the first operation.
function overview() {
  const first = Math.min(...runs.map((r) => (r.operations.length ? r.operations[0].begin - r.begin : 0)));
  const end = whole();
  const from = first > 0.3 * end ? Math.max(0, first - 0.05 * (end - first)) : 0;
  look(from, from + (end - from) * 1.02);
}

function colours() {
  const s = getComputedStyle(document.documentElement), v = (name) => s.getPropertyValue(name).trim();
  return { ink: v("--ink"), paper: v("--paper"), soft: v("--soft"), line: v("--line"), mute: v("--mute"), accent: v("--accent"), hot: v("--hot"), cool: v("--cool"), focus: v("--focus"), moved: v("--moved") };
}
const hue = (text) => { let h = 7; for (const c of text) h = (h * 31 + c.charCodeAt(0)) | 0; return Math.abs(h) % 360; };
const hues = new Map();
function colourOf(item, c) {
  if (item.is === "range") return c.moved;
  if (item.is === "call") return waits(item) ? c.line : c.soft;
  if (item.kind === "copy") return c.cool;
  if (item.kind === "fill") return c.mute;
  if (item.kind === "host function") return c.focus;
  const name = item.name.replace(/[(<].*$/, "");
  if (!hues.has(name)) hues.set(name, hues.size ? `hsl(${hue(name)} 45% 55%)` : c.accent);
  return hues.get(name);
}
const waits = (call) => /Synchronize|^cu(da)?Memcpy(?!.*Async)|^cudaFree$/.test(call.name);

// The first for which it is no longer true.
function firstPast(items, before) {
  let low = 0, high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (before(items[middle])) low = middle + 1;
    else high = middle;
  }
  return low;
}
// The first item that ends after the time; ends rise enough for that within a row of one level.
function firstAfter(items, time) {
  let low = firstPast(items, (item) => item.begin < time);
  while (low > 0 && items[low - 1].end > time) --low;
  return Math.max(0, low - 8);
}

const movesPageable = (call) => call.operations.some((o) => o.kind === "copy" && (o.from === "Pageable" || o.to === "Pageable"));
// What kept the host from asking earlier: the call before, if it waited.
function hostText(o) {
  const before = o.call && o.call.thread.calls[o.call.place - 1];
  if (!before || !waits(before) || o.call.begin - before.end > before.end - before.begin) return "the host asks for it only then";
  return movesPageable(before) ? "pageable copy blocks the host" : `the host waits in ${before.name}`;
}
const GAPS = {
  host: hostText,
  stream: (o) => (o.behind ? `behind ${o.behind.title}` : "behind the stream's last"),
  "other stream": (o) => (o.behind ? `waits for stream ${o.behind.stream}` : "waits for another stream"),
  "hardware queue": (o) => `false dependency: same hardware queue${o.behind ? ` as stream ${o.behind.stream}` : ""}`,
  "copy engine": () => "copy engine busy",
  multiprocessors: () => "multiprocessors busy",
  front: () => "the device begins one kernel after the other",
};
const gapText = (o) => (GAPS[o.waited] || (() => o.waited))(o);

function drawBars(g, row, c) {
  const first = row.run.begin + view.from, last = row.run.begin + view.to;
  g.font = "11px ui-monospace, monospace";
  const painted = new Array(row.depth).fill(GUTTER - 1), skips = row.depth === 1 && !show.critical && homeOf(chosen) !== row;
  for (let k = firstAfter(row.items, first); k < row.items.length; ++k) {
    const item = row.items[k];
    if (item.begin > last) break;
    if (item.end < first) continue;
    const level = levelOf(item, row);
    const x0 = Math.max(GUTTER, at(item.begin, row.run)), x1 = Math.min(width, at(item.end, row.run));
    const y = row.y + level * ROW + 2, h = ROW - 4;
    const marked = item === chosen || (show.critical && path.has(item));
    if (x1 <= painted[level] && !marked) {  // there is something already; where nothing overlaps, up to there in one step
      if (skips) k = Math.max(k, firstPast(row.items, (other) => at(other.end, row.run) <= painted[0]) - 1);
      continue;
    }
    const from = Math.max(x0, Math.min(painted[level], x1 - 1)), w = Math.max(1, x1 - from);
    painted[level] = Math.max(painted[level], Math.ceil(from + w));
    g.fillStyle = colourOf(item, c);
    g.fillRect(from, y, w, h);
    if (marked) {
      g.strokeStyle = item === chosen ? c.focus : c.hot;
      g.lineWidth = 2;
      g.strokeRect(x0 + 1, y + 1, Math.max(1, x1 - x0 - 2), h - 2);
    } else if (w > 3) {
      g.strokeStyle = c.paper;
      g.lineWidth = 1;
      g.strokeRect(from + 0.5, y + 0.5, w - 1, h - 1);
    }
    if (w > 34) {
      g.save();
      g.beginPath();
      g.rect(from, y, w - 2, h);
      g.clip();
      g.fillStyle = item.is === "operation" ? "#fff" : c.ink;
      g.fillText((item.title || item.name).replace(/\(.*$/, ""), from + 4, y + h - 4);
      g.restore();
    }
    if (!row.gaps || !show.gaps || k === 0) continue;
    const before = row.items[k - 1], room = x0 - Math.max(GUTTER, at(before.end, row.run));
    if (room < 46 || item.begin <= before.end) continue;
    g.save();
    g.beginPath();
    g.rect(x0 - room + 2, y, room - 4, h);
    g.clip();
    g.fillStyle = item.waited === "hardware queue" ? c.hot : c.mute;
    g.fillText(gapText(item), x0 - room + 4, y + h - 4);
    g.restore();
  }
}

function drawArea(g, row, c) {
  const base = row.y + row.height - 3, room = row.height - 8;
  g.fillStyle = c.accent;
  g.globalAlpha = 0.55;
  let column = -1, most = 0;
  const flush = () => { if (column >= GUTTER && most > 0) g.fillRect(column, base - (most / row.most) * room, 1, (most / row.most) * room); };
  const steps = row.steps, zero = row.run.begin + view.from, scale = (width - GUTTER) / (view.to - view.from);
  for (let k = Math.max(0, firstPast(steps, ([t]) => t < zero) - 1); k + 1 < steps.length; ++k) {
    const v = steps[k][1];
    if (v <= 0) continue;
    const x0 = Math.max(GUTTER, GUTTER + (steps[k][0] - zero) * scale), x1 = Math.min(width, GUTTER + (steps[k + 1][0] - zero) * scale);
    if (x1 < GUTTER) continue;
    if (x0 > width) break;
    const h = (v / row.most) * room;
    if (Math.floor(x0) === Math.floor(x1)) {
      if (Math.floor(x0) !== column) flush(), column = Math.floor(x0), most = 0;
      most = Math.max(most, v);
    } else {
      g.fillRect(x0, base - h, x1 - x0, h);
    }
  }
  flush();
  g.globalAlpha = 1;
}

function drawArrows(g, c) {
  if (!show.arrows || !chosen) return;
  const place = (item) => {
    const row = homeOf(item);
    return row && { row, y: row.y + levelOf(item, row) * ROW + ROW / 2 };
  };
  const arrow = (from, to, fromEnd, colour) => {
    const a = place(from), b = place(to);
    if (!a || !b) return;
    const x0 = Math.max(GUTTER, Math.min(width, at(fromEnd ? from.end : from.begin, a.row.run))), x1 = Math.max(GUTTER, Math.min(width, at(to.begin, b.row.run)));
    g.strokeStyle = g.fillStyle = colour;
    g.lineWidth = 1.5;
    g.beginPath();
    g.moveTo(x0, a.y);
    g.bezierCurveTo(x0 + 20, a.y, x1 - 20, b.y, x1 - 5, b.y);
    g.stroke();
    g.beginPath();
    g.moveTo(x1, b.y), g.lineTo(x1 - 7, b.y - 4), g.lineTo(x1 - 7, b.y + 4);
    g.fill();
  };
  if (chosen.is === "operation") {
    if (chosen.parent) arrow(chosen.parent, chosen, false, c.ink);
    else if (chosen.call) arrow(chosen.call, chosen, false, c.ink);
    for (const o of (chosen.children || []).slice(0, 50)) arrow(chosen, o, false, c.ink);
    if (chosen.behind) arrow(chosen.behind, chosen, true, c.hot);
    for (const o of chosen.waits.slice(0, 50)) arrow(chosen, o, true, c.hot);
  } else if (chosen.is === "call") {
    for (const o of chosen.operations.slice(0, 50)) arrow(chosen, o, false, c.ink);
  }
}

function sized(element, w, h) {
  const scale = window.devicePixelRatio || 1;
  if (element.width !== Math.round(w * scale) || element.height !== Math.round(h * scale)) element.width = Math.round(w * scale), element.height = Math.round(h * scale);
  element.style.height = h + "px";
  const g = element.getContext("2d");
  g.setTransform(scale, 0, 0, scale, 0, 0);
  g.clearRect(0, 0, w, h);
  return g;
}

function drawRuler(c) {
  const g = sized(ruler, width, 26);
  g.font = "11px ui-monospace, monospace";
  const span = view.to - view.from, raw = span / Math.max(1, (width - GUTTER) / 110), power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw);
  g.fillStyle = c.mute, g.strokeStyle = c.line;
  for (let t = Math.ceil(view.from / step) * step; t <= view.to; t += step) {
    const x = GUTTER + ((t - view.from) / span) * (width - GUTTER);
    g.beginPath(), g.moveTo(x, 16), g.lineTo(x, 26), g.stroke();
    g.fillText(timeText(t, 6), x + 3, 14);
  }
  g.fillText(`${timeText(span)} in view`, 6, 14);
}

function paint() {
  scheduled = false;
  width = $("rows").clientWidth;
  const c = colours(), g = sized(canvas, width, height);
  drawRuler(c);
  const top = $("rows").scrollTop, bottom = top + $("rows").clientHeight;
  g.font = "12px system-ui, sans-serif";
  for (const row of rows) {
    if (row.y > bottom || row.y + row.height < top) continue;
    g.strokeStyle = c.line, g.lineWidth = 1;
    g.beginPath(), g.moveTo(0, row.y + row.height - 0.5), g.lineTo(width, row.y + row.height - 0.5), g.stroke();
    if (row.kind === "bars") drawBars(g, row, c);
    if (row.kind === "area") drawArea(g, row, c);
    g.fillStyle = row.kind === "heading" ? c.ink : c.mute;
    g.font = `${row.kind === "heading" ? "600 13px" : "12px"} system-ui, sans-serif`;
    g.save();
    g.beginPath(), g.rect(0, row.y, row.kind === "heading" ? width : GUTTER - 8, row.height), g.clip();
    g.fillText(row.label, 6, row.y + (row.kind === "area" ? 14 : row.kind === "heading" ? 15 : 14));
    if (row.kind === "area") g.fillText(`up to ${+row.most.toPrecision(4)} ${row.unit}`, 6, row.y + 28);
    g.restore();
  }
  drawArrows(g, c);
}
function draw() {
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(paint);
}

// --- what an item is
function facts(item, start) {
  const f = [["begins", timeText(item.begin - start, 7)], ["takes", timeText(item.end - item.begin)]];
  const add = (name, value) => { if (value) f.push([name, value]); };
  if (item.is === "call") {
    if (movesPageable(item)) add("blocks", "pageable copy: the host has to move every byte itself");
    add("asked for", item.operations.filter((o) => SHOWN_KINDS.has(o.kind)).map((o) => o.title.replace(/\(.*$/, "")).slice(0, 6).join(", "));
    add("thread", String(item.thread.id));
    return f;
  }
  if (item.is === "range") return [...f, ["thread", String(item.thread.id)]];
  if (item.kind === "kernel") {
    add("grid", `${item.gx} × ${item.gy} × ${item.gz} blocks of ${item.bx} × ${item.by} × ${item.bz}`);
    add("registers", String(item.registers));
    if (item.staticShared + item.dynamicShared) add("shared memory", `${bytesText(item.staticShared + item.dynamicShared)} a block`);
    add("multiprocessors", `${+(item.share / 10).toPrecision(3)} % at most`);
    if (item.read + item.written) add("device memory", `${bytesText(item.read)} read, ${bytesText(item.written)} written, ${rate(item.read + item.written, item.end - item.begin)}`);
    if (item.linkRead + item.linkWritten) add("over the link", `${bytesText(item.linkRead)} read, ${bytesText(item.linkWritten)} written`);
    if (item.migrated) add("pages migrated", bytesText(item.migrated));
    if (item.populated) add("pages made", bytesText(item.populated));
  }
  if (item.bytes && item.kind !== "kernel") add("moves", `${bytesText(item.bytes)}, ${rate(item.bytes, item.end - item.begin)}`);
  add("stream", item.stream < 2 ** 40 ? String(item.stream) : "branch of a graph");
  if (item.queue >= 0) add("hardware queue", String(item.queue));
  if (item.engine >= 0) add("copy engine", String(item.engine));
  if (item.call) add("after its call", timeText(item.begin - item.call.begin));
  if (item.parent) add("launched by", item.parent.title);
  else add("not earlier, because", gapText(item));
  if (item.children) add("launched", `${item.children.length} kernel${item.children.length > 1 ? "s" : ""}`);
  return f;
}
function factsOf(item) {
  return facts(item, homeOf(item)?.run.begin ?? runs[0].begin);
}

function choose(item, reveal = false) {
  chosen = item;
  const box = $("details");
  if (!item) {
    box.replaceChildren(make("h2", {}, "Nothing chosen"), make("p", {}, "Click an operation, a call or a range. Drag to move, Ctrl and the wheel to zoom, Shift and drag to zoom into a part."));
    return draw();
  }
  const go = (label, to) => to && make("button", { type: "button", onclick: () => choose(to, true) }, label);
  const row = homeOf(item), k = row ? row.items.indexOf(item) : -1;
  box.replaceChildren(make("h2", {}, item.title || item.name), make("dl", {}, ...factsOf(item).flatMap(([n, v]) => [make("dt", {}, n), make("dd", {}, v)])),
    make("div", { class: "row" }, go("Its call", item.call), go("What it waited for", item.behind), go("What launched it", item.parent), go("What it launched", item.children && item.children[0]), go("What it asked for", item.operations && item.operations.find((o) => SHOWN_KINDS.has(o.kind))),
      go("The one before", row && row.items[k - 1]), go("The next", row && row.items[k + 1])));
  if (reveal && row) {
    const run = row.run, span = view.to - view.from, begin = item.begin - run.begin, end = item.end - run.begin;
    if (begin < view.from || end > view.to || end - begin < span / 400) {
      const wanted = Math.min(Math.max((end - begin) * 20, 20), span);
      look((begin + end) / 2 - wanted / 2, (begin + end) / 2 + wanted / 2);
    }
    if (row.y < $("rows").scrollTop || row.y + row.height > $("rows").scrollTop + $("rows").clientHeight) $("rows").scrollTop = row.y - 40;
  }
  draw();
}

function itemAt(event) {
  const box = canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
  if (x < GUTTER) return null;
  const row = rows.find((r) => r.kind === "bars" && y >= r.y && y < r.y + r.height);
  if (!row) return null;
  const time = row.run.begin + timeAt(x), slack = ((view.to - view.from) / (width - GUTTER)) * 2, level = Math.floor((y - row.y) / ROW);
  let best = null;
  for (let k = firstAfter(row.items, time - slack); k < row.items.length && row.items[k].begin <= time + slack; ++k) {
    const item = row.items[k];
    if (levelOf(item, row) !== level || item.end < time - slack) continue;
    const off = time < item.begin ? item.begin - time : time > item.end ? time - item.end : 0;
    if (!best || off < best.off) best = { item, off };
  }
  return best && best.item;
}
function areaAt(event) {
  const box = canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
  const row = rows.find((r) => r.kind === "area" && y >= r.y && y < r.y + r.height);
  if (!row || x < GUTTER) return null;
  const time = row.run.begin + timeAt(x);
  let value = 0;
  for (const [t, v] of row.steps) { if (t > time) break; value = v; }
  return `${row.label}: ${+value.toPrecision(4)} ${row.unit}`;
}

// --- the critical path: from the last operation back over what each waited for, and over the host where it waited for nothing
function criticalPath(run) {
  const found = new Set();
  const ends = run.operations.filter((o) => SHOWN_KINDS.has(o.kind) && !o.parent).sort((a, b) => a.end - b.end);
  let now = ends[ends.length - 1] || null;
  while (now && !found.has(now)) {
    found.add(now);
    if (now.behind) { now = now.behind; continue; }
    const call = now.call;
    if (!call) break;
    found.add(call);
    const calls = call.thread.calls;
    let k = calls.indexOf(call) - 1;
    while (k >= 0 && !waits(calls[k])) --k;
    if (k < 0) break;
    found.add(calls[k]);
    let low = 0, high = ends.length;
    while (low < high) { const m = (low + high) >> 1; if (ends[m].end <= calls[k].end) low = m + 1; else high = m; }
    now = low > 0 && ends[low - 1].end > calls[k].begin ? ends[low - 1] : null;
  }
  return found;
}

// --- how much ran beside what
function united(items) {
  const all = [];
  for (const { begin, end } of [...items].sort(byBegin)) {
    const last = all[all.length - 1];
    if (last && begin <= last[1]) last[1] = Math.max(last[1], end);
    else all.push([begin, end]);
  }
  return all;
}
const lengthOf = (parts) => parts.reduce((sum, [a, b]) => sum + b - a, 0);
function both(a, b) {
  let i = 0, j = 0, sum = 0;
  while (i < a.length && j < b.length) {
    sum += Math.max(0, Math.min(a[i][1], b[j][1]) - Math.max(a[i][0], b[j][0]));
    if (a[i][1] < b[j][1]) ++i;
    else ++j;
  }
  return sum;
}
function overlapOf(run, device = 0) {
  const of = (test) => run.operations.filter((o) => o.device === device && test(o));
  const kernels = of((o) => o.kind === "kernel" || o.kind === "library"), copies = of((o) => o.kind === "copy");
  const k = united(kernels), m = united(copies), any = united([...kernels, ...copies]);
  const first = any.length ? any[0][0] : 0, last = any.length ? any[any.length - 1][1] : 0;
  return { kernels: lengthOf(k), copies: lengthOf(m), hidden: both(k, m), busy: lengthOf(any), span: last - first,
    atOnce: lengthOf(k) ? kernels.reduce((s, o) => s + o.end - o.begin, 0) / lengthOf(k) : 0 };
}
function summarize() {
  const parts = [];
  for (const run of runs) {
    const o = overlapOf(run), share = (a, b) => (b > 0 ? `${Math.round((100 * a) / b)} %` : "–");
    if (runs.length > 1) parts.push(make("h2", {}, run.label));
    parts.push(make("div", { class: "facts" }, ...[
      ["from the first operation to the last", timeText(o.span)], ["the device works", share(o.busy, o.span)], ["kernels run", timeText(o.kernels)], ["kernels at once", o.atOnce ? o.atOnce.toFixed(2) : "–"],
      ["copies run", timeText(o.copies)], ["of these beside kernels", share(o.hidden, o.copies)]].map(([label, value]) => make("div", {}, make("b", {}, value), label))));
    const names = group(run.operations.filter((p) => SHOWN_KINDS.has(p.kind)), (p) => p.title).map(([name, items]) => ({ name, count: items.length, all: items.reduce((s, p) => s + p.end - p.begin, 0), items }));
    names.sort((a, b) => b.all - a.all);
    const cell = (text) => make("td", { class: "n" }, text);
    parts.push(make("table", {}, make("thead", {}, make("tr", {}, make("th", {}, "Operation"), ...["Count", "All", "Each", "Longest"].map((t) => make("th", { class: "n" }, t)))),
      make("tbody", {}, ...names.slice(0, 30).map((n) => {
        const longest = n.items.reduce((a, b) => (b.end - b.begin > a.end - a.begin ? b : a));
        return make("tr", {}, make("td", {}, make("button", { class: "link", type: "button", onclick: () => choose(longest, true) }, n.name)), cell(String(n.count)), cell(timeText(n.all)), cell(timeText(n.all / n.count)),
          cell(timeText(longest.end - longest.begin)));
      }))));
    const left = run.processes.reduce((s, p) => s + p.left_out, 0);
    if (left) parts.push(make("p", {}, `${left} calls and operations are not in the timeline.`));
  }
  $("summary").replaceChildren(make("h2", {}, "What took time"), ...parts);
}

// --- using it
let found = -1;
function findNext(text) {
  const all = runs.flatMap((r) => [...r.operations.filter((o) => SHOWN_KINDS.has(o.kind)), ...r.calls, ...r.ranges]).filter((i) => (i.title || i.name).toLowerCase().includes(text.toLowerCase()));
  if (!text || !all.length) return say("nothing found");
  found = (found + 1) % all.length;
  choose(all[found], true);
  say(`${found + 1} of ${all.length}`);
}
function step(d) {
  const row = homeOf(chosen);
  if (!row) return choose(rows.find((r) => r.gaps)?.items[0] || null, true);
  const k = row.items.indexOf(chosen) + d;
  if (row.items[k]) choose(row.items[k], true);
}
const KEYS = { w: () => zoom(0.7), "+": () => zoom(0.7), "=": () => zoom(0.7), s: () => zoom(1 / 0.7), "-": () => zoom(1 / 0.7), a: () => pan(-0.2), d: () => pan(0.2), 0: overview,
  ArrowLeft: () => step(-1), ArrowRight: () => step(1), Escape: () => choose(null) };
chart.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || !KEYS[e.key]) return;
  KEYS[e.key]();
  e.preventDefault();
});
const wheel = (always) => (e) => {
  if (!always && !e.ctrlKey && !e.metaKey) {
    if (!e.shiftKey && Math.abs(e.deltaX) <= Math.abs(e.deltaY)) return; // the page scrolls
    pan((e.deltaX || e.deltaY) / 1000);
  } else {
    zoom(2 ** (e.deltaY / 300), timeAt(Math.max(GUTTER, e.clientX - canvas.getBoundingClientRect().left)));
  }
  e.preventDefault();
};
$("rows").addEventListener("wheel", wheel(false), { passive: false });
ruler.addEventListener("wheel", wheel(true), { passive: false });
let drag = null;
for (const element of [canvas, ruler]) {
  element.addEventListener("pointerdown", (e) => {
    drag = { x: e.clientX, from: view.from, to: view.to, moved: false, part: e.shiftKey };
    element.setPointerCapture(e.pointerId);
  });
  element.addEventListener("pointermove", (e) => {
    if (!drag) return hover(e);
    const d = e.clientX - drag.x;
    drag.moved = drag.moved || Math.abs(d) > 3;
    if (drag.moved && !drag.part) canvas.classList.add("drags"), look(drag.from - (d / (width - GUTTER)) * (drag.to - drag.from), drag.to - (d / (width - GUTTER)) * (drag.to - drag.from));
  });
  element.addEventListener("pointerup", (e) => {
    const was = drag;
    drag = null;
    canvas.classList.remove("drags");
    if (!was) return;
    if (was.moved && was.part) {
      const left = canvas.getBoundingClientRect().left, ends = [timeAt(was.x - left), timeAt(e.clientX - left)].sort((a, b) => a - b);
      look(...ends);
    } else if (!was.moved && element === canvas) {
      choose(itemAt(e));
    }
  });
}
canvas.addEventListener("dblclick", (e) => zoom(0.4, timeAt(e.clientX - canvas.getBoundingClientRect().left)));
canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
function hover(e) {
  const item = itemAt(e), text = item ? null : areaAt(e);
  tip.hidden = !item && !text;
  if (tip.hidden) return;
  tip.replaceChildren(...(item ? [make("b", {}, item.title || item.name), ...factsOf(item).map(([n, v]) => make("div", {}, `${n}: ${v}`))] : [text]));
  tip.style.left = Math.min(e.clientX + 14, window.innerWidth - tip.offsetWidth - 8) + "px";
  tip.style.top = Math.min(e.clientY + 14, window.innerHeight - tip.offsetHeight - 8) + "px";
}
$("rows").addEventListener("scroll", draw);
$("in").addEventListener("click", () => zoom(0.5));
$("out").addEventListener("click", () => zoom(2));
$("all").addEventListener("click", overview);
$("find").addEventListener("keydown", (e) => { if (e.key === "Enter") findNext($("find").value); });
$("find").addEventListener("input", () => { found = -1; });
$("theme").addEventListener("click", () => {
  const dark = document.documentElement.dataset.theme !== "dark";
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  $("theme").setAttribute("aria-pressed", String(dark));
  draw();
});
function addRun(text, label) {
  const marked = text.match(/<script type="application\/json" id="recording">([^<]*)<\/script>/);
  let data = null;
  try { data = JSON.parse(marked ? marked[1] : text); } catch { /* said below */ }
  if (!Array.isArray(data) || !data.length || !data[0].operations) return say(`${label} is no timeline of Warpbeam's`);
  runs = [runs[0], readRun(data, label)];
  start();
}
$("file").addEventListener("change", async (e) => { const file = e.target.files[0]; if (file) addRun(await file.text(), file.name); });
for (const [name, label] of Object.entries(LABELS))
  $("shows").append(make("label", {}, make("input", { type: "checkbox", id: "show-" + name, checked: show[name] ? "" : null, onchange: (e) => { show[name] = e.target.checked; layOut(); draw(); } }), " " + label));
function start() {
  path = new Set(runs.flatMap((r) => [...criticalPath(r)]));
  layOut();
  summarize();
  overview();
  choose(null);
}
runs = [readRun(JSON.parse($("recording").textContent), "this run")];
runs[0].label = runs[0].processes.map((p) => p.name).join(", ");
$("subject").textContent = `${runs[0].label} on ${runs[0].device.name}, as predicted: ${runs[0].operations.length} operations, ${runs[0].calls.length} calls.`;
new ResizeObserver(draw).observe($("rows"));
start();
