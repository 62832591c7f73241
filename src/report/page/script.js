"use strict";
const $ = (id) => document.getElementById(id);
const recordings = ["recording", "second"].map((id) => JSON.parse($(id).textContent || "null"));
let recording = recordings[0];
let launch = recording.launches[0];
let other = null; // {recording, launch} to compare with

function make(tag, attributes = {}, ...children) {
  const svg = ["svg", "rect", "text", "g", "path", "title"].includes(tag) && tag !== "title" || attributes.svg;
  const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "svg" || value === undefined || value === null) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value);
  }
  node.append(...children.filter((c) => c !== null && c !== undefined));
  return node;
}
const fill = (node, ...children) => node.replaceChildren(...children.filter((c) => c !== null && c !== undefined));
const cell = (text, n = true) => make("td", n ? { class: "n" } : {}, String(text));
const shown = (v) => (Number.isInteger(v) ? v.toLocaleString("en") : v.toFixed(v < 10 ? 3 : 2));
const predicted = (v) => (Math.abs(v) >= 1e4 ? shown(Math.round(v)) : String(+v.toPrecision(4)));
const say = (text) => { $("said").textContent = text; };
const size3 = (s) => s.join("×");
const title = (l) => `#${l.id} ${l.kernel} ${size3(l.grid)} blocks of ${size3(l.block)}`;
const fileName = (r, index) => (index < 0 ? "(no line)" : r.files[index].split("/").pop());
const hex = (n) => (n < 0 ? "-0x" + (-n).toString(16) : "0x" + n.toString(16));

function choose(select, items, labelOf, chosen) {
  select.replaceChildren(...items.map((item, k) => make("option", { value: k }, labelOf(item))));
  select.selectedIndex = Math.max(0, items.indexOf(chosen));
}

// A labelled select that redraws when it changes.
function picker(label, items, labelOf, chosen, changed) {
  const select = make("select", {});
  choose(select, items, labelOf, chosen);
  select.addEventListener("change", () => changed(items[select.selectedIndex]));
  return make("label", {}, label + " ", select);
}

// --- what takes time, and why
const UNITS = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]];
const unitFor = (ns) => UNITS.find(([, size]) => ns >= size) || UNITS[3];
const inUnit = (ns, [, size]) => { const v = ns / size; return v.toFixed(v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2); };
const timeText = (ns, unit = unitFor(ns)) => `${inUnit(ns, unit)} ${unit[0]}`;
const intervalText = (p, unit = unitFor(p.ns)) => `${inUnit(p.low, unit)} to ${inUnit(p.high, unit)} ${unit[0]}`;
const baseName = (kernel) => kernel.replace(/\(.*$/, "");
const clockText = (r) => `Predicted for ${r.device.name} at ${Math.round(r.device.clock_mhz)} MHz, not measured; nine of ten times are meant to lie in their interval.`;

// All launches of each kernel together, those that take longest first.
function kernelsOf(r) {
  const kernels = new Map();
  for (const l of r.launches) {
    if (!l.predicted) continue;
    const k = kernels.get(l.kernel) || kernels.set(l.kernel, { name: l.kernel, launches: [], ns: 0, low: 0, high: 0 }).get(l.kernel);
    k.launches.push(l);
    k.ns += l.predicted.ns, k.low += l.predicted.low, k.high += l.predicted.high;
  }
  return [...kernels.values()].sort((a, b) => b.ns - a.ns);
}
const longestOf = (launches) => launches.reduce((a, b) => (b.predicted.ns > a.predicted.ns ? b : a));

function kernelRow(kernel, most, all) {
  const here = kernel.launches.includes(launch), longest = longestOf(kernel.launches);
  const wide = (ns) => (100 * ns / most).toFixed(2) + "%";
  const go = () => { if (!here) setLaunch(longest, true); };
  return make("tr", { class: here ? "here" : "" },
    make("td", {}, make("button", { type: "button", class: "link", title: kernel.name, "aria-pressed": here, onclick: go }, baseName(kernel.name)), kernel.launches.length > 1 ? ` ×${kernel.launches.length}` : ""),
    make("td", { class: "bars" }, make("i", { style: "width:" + wide(kernel.ns) }), make("b", { style: `left:${wide(kernel.low)};width:${wide(kernel.high - kernel.low)}` })),
    cell(timeText(kernel.ns)), cell(intervalText(kernel)), cell((100 * kernel.ns / all).toFixed(0) + " %"), cell(longest.predicted.bound, false));
}

// One bar for each launch, in their order.
function launchBars(launches) {
  const most = Math.max(...launches.map((l) => l.predicted.high)), step = Math.max(4, Math.min(56, 1100 / launches.length)), high = 110;
  const svg = make("svg", { width: Math.ceil(launches.length * step), height: high + 4, viewBox: `0 0 ${Math.ceil(launches.length * step)} ${high + 4}`, style: "max-width:none", role: "img",
    "aria-label": `predicted times of ${launches.length} launches in their order; the table below lists them` });
  launches.forEach((l, k) => {
    const y = (ns) => 2 + high - high * ns / most;
    const label = document.createElementNS("http://www.w3.org/2000/svg", "title");
    label.textContent = `${title(l)}: ${timeText(l.predicted.ns)}, ${intervalText(l.predicted)}`;
    const group = make("g", { class: "pick", onclick: () => setLaunch(l, true) });
    group.append(label, make("rect", { x: k * step, y: 0, width: step, height: high + 4, class: "reach" }),
      make("rect", { x: k * step + 1, y: y(l.predicted.ns), width: step - 2, height: Math.max(1, high - y(l.predicted.ns) + 2), class: l === launch ? "bar now" : l.kernel === launch.kernel ? "bar" : "bar other" }),
      make("rect", { x: k * step + step / 2 - 0.75, y: y(l.predicted.high), width: 1.5, height: Math.max(1, y(l.predicted.low) - y(l.predicted.high)), class: "interval" }));
    svg.append(group);
  });
  return svg;
}

function stallCard(stall) {
  const lines = stall.lines.map((l) => make("li", {}, make("button", { type: "button", class: "link", onclick: () => showLine(l.file, l.line), disabled: l.file < 0 ? "" : null },
    l.file < 0 ? "(no line)" : fileName(recording, l.file) + ":" + l.line), ` ${l.percent.toFixed(0)} % of it`, make("code", {}, (recording.sources[l.file] || "").split("\n")[l.line - 1]?.trim() || "")));
  return make("article", { class: "card" }, make("h3", {}, make("b", {}, stall.percent.toFixed(0) + " %"), " " + stall.name), make("p", {}, "Warps wait " + stall.about + "."), make("ol", {}, ...lines));
}

function drawOverview() {
  const panel = $("overview");
  const kernels = kernelsOf(recording), p = launch.predicted;
  const now = make("section", { "aria-label": "the chosen launch" }, make("h2", {}, title(launch)));
  if (launch.trap) now.append(make("p", { class: "up" }, "The kernel failed: " + launch.trap));
  if (!p) {
    now.append(make("p", {}, launch.trap ? "No time is predicted for it." : "This recording holds no times: they were not asked for."));
  } else {
    const q = other && other.launch.predicted;
    const occupancy = launch.metrics["sm__warps_active.avg.pct_of_peak_sustained_active"];
    now.append(make("div", { class: "facts", id: "time-facts" }, fact("predicted time", timeText(p.ns)), fact("interval", intervalText(p)),
      q ? fact("B", timeText(q.ns)) : null, q ? fact("B takes", (q.ns / p.ns).toFixed(2) + " of it") : null,
      occupancy === undefined ? "" : fact("achieved occupancy", occupancy.toFixed(0) + " %"), fact("waves of blocks", p.waves.toFixed(1))),
      make("p", { class: "bound" }, "Bound by " + p.bound_by + "."));
    if (p.stalls.length) now.append(make("h2", {}, "Why warps wait"), make("div", { class: "cards" }, ...p.stalls.slice(0, 3).map(stallCard)));
    if (p.stalls.length > 3) now.append(make("p", {}, "Less: " + p.stalls.slice(3).filter((s) => s.percent >= 0.5).map((s) => `${s.name} ${s.percent.toFixed(0)} %`).join(", ")));
  }
  const parts = [];
  if (kernels.length) {
    const all = kernels.reduce((s, k) => s + k.ns, 0), most = Math.max(...kernels.map((k) => k.high));
    const table = (some) => make("table", { class: "kernels" },
      make("thead", {}, make("tr", {}, ...["Kernel", "", "Time", "Interval", "Share", "Bound by"].map((h, k) => make("th", { scope: "col", class: k > 1 && k < 5 ? "n" : "" }, h)))),
      make("tbody", {}, ...some.map((k) => kernelRow(k, most, all))));
    const first = kernels.slice(0, 8), others = kernels.slice(8);
    parts.push(make("h2", {}, `What takes time: ${timeText(all)} in ${recording.launches.length} launches`), make("p", {}, clockText(recording)), table(first));
    if (others.length) parts.push(make("details", { open: others.some((k) => k.launches.includes(launch)) ? "" : null }, make("summary", {}, `${others.length} kernels that take less`), table(others)));
    const timed = recording.launches.filter((l) => l.predicted).slice(0, 1000);
    if (timed.length > kernels.length) {
      const list = timed.slice(0, 300).map((l) => make("tr", {}, cell(l.id), cell(baseName(l.kernel), false), cell(timeText(l.predicted.ns)), cell(intervalText(l.predicted)), cell(l.predicted.bound, false)));
      parts.push(make("h2", {}, "Launch by launch"), make("div", { class: "scroll", tabindex: 0, "aria-label": "bars" }, launchBars(timed)),
        make("details", {}, make("summary", {}, "The same as a table"), make("table", {}, make("thead", {}, make("tr", {}, ...["#", "Kernel", "Time", "Interval", "Bound by"].map((h, k) => make("th", { scope: "col", class: k === 1 || k === 4 ? "" : "n" }, h)))), make("tbody", {}, ...list))));
    }
  }
  fill(panel, ...parts, now);
}

// --- metrics, and the comparison of two launches
let search = "";

function metricRow(m) {
  const a = launch.metrics[m.name], p = launch.predicted?.[m.name], text = m.class === "C" || m.class === "T" ? predicted : shown;
  const row = make("tr", {}, make("td", { title: m.help }, m.name), cell(m.nvprof, false), cell(m.class, false), cell(m.unit, false), cell(a === undefined ? "n/a" : text(a)),
    make("td", {}, a === undefined ? m.reason || "not known of this launch" : p && p.low !== p.high ? `${predicted(p.low)} to ${predicted(p.high)}` : ""));
  if (other) {
    const b = other.launch.metrics[m.name] ?? 0;
    const change = a === undefined || a === b ? "" : a ? ((b - a) / Math.abs(a) * 100).toFixed(1) + " %" : "new";
    row.append(cell(a === undefined ? "" : text(b)), make("td", { class: "n " + (b > a ? "up" : b < a ? "down" : "") }, change && (b > a ? "▲ " : "▼ ") + change));
  }
  return row;
}

function drawMetrics() {
  const panel = $("metrics");
  const limits = launch.occupancy.limited_by.join(", ");
  const body = make("tbody", {}), found = make("output", { for: "search" });
  const list = () => {
    const words = search.toLowerCase().split(/\s+/).filter((w) => w);
    // Those without a value are for who looks for them.
    const rows = recording.metrics.filter((m) => words.length ? words.every((w) => `${m.name} ${m.nvprof} ${m.help}`.toLowerCase().includes(w)) : m.name in launch.metrics);
    fill(body, ...rows.map(metricRow));
    found.textContent = `${rows.length} metrics`;
  };
  const head = ["Metric", "nvprof", "Class", "Unit", other ? "A" : "Value", "Interval"].concat(other ? ["B", "Change"] : []);
  fill(panel,
    make("h2", {}, title(launch)),
    make("p", {}, `${launch.occupancy.resident_blocks} resident blocks on a multiprocessor, ${launch.occupancy.resident_warps} of ${recording.device.max_warps} warps` +
      (limits ? `; limited by ${limits}. ` : ". ") + "F: exact. S: static. C, T: predicted, by models of the caches and of time. " + recording.basis),
    other ? make("p", {}, "B: " + title(other.launch) + (other.recording === recording ? "" : " of the other recording")) : null,
    launch.trap ? make("p", { class: "up" }, "The kernel failed: " + launch.trap) : null,
    make("div", { class: "row" }, make("label", {}, "Search ", make("input", { type: "search", id: "search", value: search, placeholder: "occupancy, dram, bank_conflicts …", oninput: (e) => { search = e.target.value; list(); } })), found),
    make("div", { class: "scroll" }, make("table", {}, make("thead", {}, make("tr", {}, ...head.map((h, k) => make("th", { scope: "col", class: k > 3 && k !== 5 ? "n" : "" }, h)))), body)));
  list();
}

// --- source with heat gutters
const waits = () => Math.max(1, launch.lines.reduce((s, l) => s + (l.stall_cycles || 0), 0));
const STALLS = ["stall", (l) => l.stall_cycles || 0, null,
  (v) => (100 * v / waits()).toFixed(1) + " %",
  (l) => Object.entries(l.stalls || {}).sort((a, b) => b[1] - a[1]).map(([name, v]) => `${name} ${(100 * v / l.stall_cycles).toFixed(0)} %`).join(", ")];
const COUNTS = [
  ["executed", (l) => l.executed || 0, null],
  ["divergent", (l) => l.divergent || 0, null],
  ["sectors", (l) => (l.global_transactions || 0) + (l.local_transactions || 0), (l) => (l.global_ideal_sectors || 0) + (l.local_ideal_sectors || 0)],
  ["wavefronts", (l) => l.shared_wavefronts || 0, (l) => l.shared_ideal_wavefronts || 0],
];
const gutters = () => (launch.predicted ? [STALLS, ...COUNTS] : COUNTS);
let sourceFile = null, wantedLine = null;

function heat(value, ideal, most, text = shown, why = "") {
  if (!value) return make("td", { class: "heat" });
  const over = ideal !== null && ideal !== undefined && value > ideal;
  return make("td", { class: "heat" + (over ? " bad" : ""), title: over ? `${text(value)}, ${text(ideal)} at best` : why ? `${text(value)}: ${why}` : text(value) },
    make("i", { style: `width:${(100 * value / most).toFixed(1)}%` }), make("span", {}, text(value) + (over ? " ▲" : "")));
}

function showLine(file, line) {
  sourceFile = file;
  wantedLine = line;
  show("source");
}

function drawSource() {
  const panel = $("source"), GUTTERS = gutters();
  const files = [...new Set(launch.lines.map((l) => l.file))];
  if (!files.includes(sourceFile)) sourceFile = files.find((f) => launch.lines.some((l) => l.file === f && f >= 0 && (l.executed || 0) > 0)) ?? files[0];
  const most = GUTTERS.map(([, value]) => Math.max(1, ...launch.lines.map(value)));
  const byLine = new Map(launch.lines.filter((l) => l.file === sourceFile).map((l) => [l.line, l]));
  const text = sourceFile >= 0 && recording.sources[sourceFile] ? recording.sources[sourceFile].split("\n") : [];
  const last = Math.max(text.length, ...byLine.keys());
  const rows = [];
  for (let n = text.length ? 1 : Math.min(...byLine.keys()); n <= last; ++n) {
    const line = byLine.get(n);
    if (!line && !text.length) continue;
    const row = make("tr", { class: line ? "has" : "none", tabindex: line ? 0 : null, "data-line": n,
      "aria-label": line ? `line ${n}: ` + GUTTERS.map(([name, v, , text = shown]) => `${text(v(line))} ${name}`).join(", ") : null },
      cell(n), ...GUTTERS.map(([, value, ideal, text, why], k) => line ? heat(value(line), ideal && ideal(line), most[k], text, why && why(line)) : make("td")), make("td", {}, text[n - 1] ?? ""));
    if (line) {
      row.addEventListener("click", () => inspectLine(sourceFile, n));
      row.addEventListener("keydown", (e) => {
        if (e.key === "Enter") inspectLine(sourceFile, n);
        const step = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
        if (!step) return;
        const all = [...panel.querySelectorAll("tr.has")];
        all[all.indexOf(row) + step]?.focus();
        e.preventDefault();
      });
    }
    rows.push(row);
  }
  const totals = COUNTS.map(([name, value]) => `${shown(launch.lines.reduce((s, l) => s + value(l), 0))} ${name}`).join(", ");
  fill(panel, make("h2", {}, title(launch)),
    make("p", {}, `All lines together: ${totals}. ▲ marks more than the accesses need. ${launch.predicted ? "Stall: its share of all the time that warps wait, as predicted. " : ""}Choose a line (click, or Enter) to see its accesses; arrow keys go from line to line.`),
    files.length > 1 ? picker("File", files, (f) => fileName(recording, f), sourceFile, (f) => { sourceFile = f; drawSource(); }) : null,
    make("div", { class: "scroll" }, make("table", { class: "code" },
      make("thead", {}, make("tr", {}, make("th", { class: "n", scope: "col" }, "line"), ...GUTTERS.map(([name]) => make("th", { scope: "col" }, name)), make("th", { scope: "col" }, fileName(recording, sourceFile)))),
      make("tbody", {}, ...rows))));
  const wanted = wantedLine && panel.querySelector(`tr.has[data-line="${wantedLine}"]`);
  const first = wanted || panel.querySelector("tr.has"), box = panel.querySelector(".scroll");
  if (first) box.scrollTop = Math.max(0, first.offsetTop - box.clientHeight / 4);
  if (wanted) wanted.classList.add("wanted"), wanted.focus({ preventScroll: true });
  wantedLine = null;
}

// --- the inspector: one access of one warp
const instructionOf = (sample) => recording.functions[sample[0]].instructions[sample[1]];
const samples = (space) => (launch.accesses || []).filter((s) => (space ? s[5] === "shared" : s[5] !== "shared"));
let generation = null;
const chosen = { access: null, banks: null };

function inspectLine(file, line) {
  const here = (launch.accesses || []).filter((s) => { const i = instructionOf(s); return i[1] === file && i[2] === line; });
  if (!here.length) { say(`Line ${line} has no recorded access to memory.`); return; }
  const shared = here[0][5] === "shared";
  chosen[shared ? "banks" : "access"] = here[0];
  show(shared ? "banks" : "access");
  say(`Accesses of line ${line}`);
  document.querySelector(`#${shared ? "banks" : "access"} select`)?.focus();
}

const sampleLabel = (s) => { const i = instructionOf(s); return `${i[1] >= 0 ? fileName(recording, i[1]) + ":" + i[2] : "PTX " + i[0]} ${s[6]} of ${s[7]} bytes`; };

// Selects for instruction, warp and occurrence among `all`.
function samplePickers(all, sample, changed) {
  const keyOf = (s) => s[0] + ":" + s[1];
  const first = [...new Map(all.map((s) => [keyOf(s), s])).values()];
  const same = all.filter((s) => keyOf(s) === keyOf(sample));
  const warps = [...new Map(same.map((s) => [s[2] + ":" + s[3], s])).values()];
  const times = same.filter((s) => s[2] === sample[2] && s[3] === sample[3]);
  return make("div", { class: "row" },
    picker("Line", first, sampleLabel, first.find((s) => keyOf(s) === keyOf(sample)), changed),
    picker("Warp", warps, (s) => `block ${s[2]}, warp ${s[3]}`, warps.find((s) => s[2] === sample[2] && s[3] === sample[3]), changed),
    picker("Time", times, (s) => `${s[4] + 1}`, sample, changed),
    picker("GPU", GENERATIONS, (g) => "compute capability " + g.key, generation, (g) => { generation = g; drawAccess(); drawBanks(); }));
}

function lanesTable(sample, note) {
  return make("div", { class: "lanes", role: "list", "aria-label": "lanes" }, ...sample[9].map((a, l) =>
    make("div", { role: "listitem", class: a === null ? "off" : "" }, make("b", {}, "lane " + l), a === null ? "–" : hex(a), note && a !== null ? " " + note(a) : "")));
}

const fact = (name, value) => make("div", {}, make("b", {}, String(value)), name);

function drawAccess() {
  const panel = $("access");
  const all = samples(false);
  if (!all.length) return fill(panel, make("p", {}, "No access to global or local memory was kept for this launch."));
  const sample = all.includes(chosen.access) ? chosen.access : all[0];
  chosen.access = sample;
  const [, , , , , space, kind, bytes, origin, lanes] = sample;
  const physical = space === "local" ? lanes.map((a, l) => (a === null ? null : Math.floor(a / 4) * 128 + 4 * l + (a % 4))) : lanes;
  const unit = space === "local" ? Math.min(4, bytes) : bytes;
  const traffic = globalTraffic(generation.global, physical, unit, kind);
  const wanted = new Set();
  for (const a of physical) if (a !== null) for (let k = 0; k < unit; ++k) wanted.add(a + k);
  const lines = [...new Set(traffic.segments.flatMap(([a, n]) => { const out = []; for (let p = pieceOf(a, 128); p < a + n; p += 128) out.push(p); return out; }))].sort((a, b) => a - b);
  const height = 22, drawn = lines.slice(0, 64);
  const svg = make("svg", { width: 760, height: drawn.length * height + 18, viewBox: `0 0 760 ${drawn.length * height + 18}`, role: "img",
    "aria-label": `${traffic.segments.length} transactions in ${lines.length} lines of 128 bytes` });
  drawn.forEach((line, row) => {
    const y = row * height + 16;
    svg.append(make("text", { x: 0, y: y + 13 }, hex(line)));
    for (let s = 0; s < 4; ++s) {
      const at = line + 32 * s;
      const moved = traffic.segments.some(([a, n]) => at >= a && at < a + n);
      svg.append(make("rect", { x: 100 + s * 164, y, width: 160, height: 18, class: moved ? "moved" : "line" }));
      for (let k = 0; k < 32; ++k) if (wanted.has(at + k)) svg.append(make("rect", { x: 100 + s * 164 + k * 5, y: y + 3, width: 5, height: 12, class: "used" }));
    }
  });
  for (let s = 0; s < 4; ++s) svg.append(make("text", { x: 100 + s * 164, y: 10 }, `sector ${s}`));
  fill(panel, make("h2", {}, "One access of one warp"), samplePickers(all, sample, (s) => { chosen.access = s; drawAccess(); }),
    make("p", {}, make("code", {}, instructionOf(sample)[3]), space === "local" ? " Local memory: the words of the 32 lanes stand side by side." : ` Addresses count from the start of the allocation${origin ? " (" + origin + ")" : ""}.`),
    make("div", { class: "facts", id: "access-facts" }, fact("requests", traffic.requests), fact("transactions", traffic.segments.length), fact("bytes moved", traffic.moved),
      fact("bytes used", wanted.size), fact("efficiency", traffic.moved ? (100 * wanted.size / traffic.moved).toFixed(1) + " %" : "–"),
      sample[10] !== undefined && generation === own() ? fact("counted by the machine", sample[10]) : null),
    svg, lines.length > drawn.length ? make("p", {}, `and ${lines.length - drawn.length} lines more`) : null,
    make("p", {}, "Pale: moved. Strong: asked for."), make("details", {}, make("summary", {}, "Addresses of the 32 lanes"), lanesTable(sample)));
}

// --- the bank grid, with a preview of padding and of an XOR swizzle
const layout = { width: 32, pad: 0, swizzle: false };

function moved(a, unit) {
  const word = Math.floor(a / 4), row = Math.floor(word / layout.width), column = word % layout.width;
  const unitWords = Math.max(1, unit / 4), columns = layout.width / unitWords;
  const power = Number.isInteger(columns) && (columns & (columns - 1)) === 0;
  const to = layout.swizzle && power ? ((Math.floor(column / unitWords) ^ (row & (columns - 1))) * unitWords) + column % unitWords : column;
  return (row * (layout.width + layout.pad) + to) * 4 + a % 4;
}

function drawBanks() {
  const panel = $("banks");
  const all = samples(true);
  if (!all.length) return fill(panel, make("p", {}, "No access to shared memory was kept for this launch."));
  const sample = all.includes(chosen.banks) ? chosen.banks : all[0];
  chosen.banks = sample;
  const [, , , , , , kind, bytes, , lanes] = sample;
  const changed = lanes.map((a) => (a === null ? null : moved(a, bytes)));
  const before = sharedTraffic(generation, lanes, bytes, kind), after = sharedTraffic(generation, changed, bytes, kind);
  const banks = generation.banks === "16 banks" ? 16 : 32;
  const rowOf = (w) => Math.floor(w / (generation.banks === "32 banks of 8 bytes" ? 64 : banks));
  const cells = new Map();
  changed.forEach((a, l) => {
    if (a === null) return;
    for (let w = Math.floor(a / 4); w <= Math.floor((a + bytes - 1) / 4); ++w) {
      const key = rowOf(w) + ":" + (w % banks);
      if (!cells.has(key)) cells.set(key, []);
      cells.get(key).push(l);
    }
  });
  const rows = [...new Set([...cells.keys()].map((k) => +k.split(":")[0]))].sort((a, b) => a - b).slice(0, 64);
  const step = banks === 16 ? 44 : 26;
  const svg = make("svg", { width: 60 + banks * step, height: 22 + rows.length * 18, viewBox: `0 0 ${60 + banks * step} ${22 + rows.length * 18}`, role: "img",
    "aria-label": `${after.wavefronts} wavefronts: words of shared memory by bank` });
  const perBank = new Array(banks).fill(0);
  for (const key of cells.keys()) ++perBank[+key.split(":")[1]];
  for (let b = 0; b < banks; ++b) svg.append(make("text", { x: 60 + b * step + 3, y: 12 }, b));
  rows.forEach((r, y) => {
    svg.append(make("text", { x: 0, y: 32 + y * 18 }, "row " + r));
    for (let b = 0; b < banks; ++b) {
      const there = cells.get(r + ":" + b);
      svg.append(make("rect", { x: 60 + b * step, y: 20 + y * 18, width: step - 2, height: 16, class: !there ? "line" : perBank[b] > 1 ? "conflict" : "used" }));
      if (there) svg.append(make("text", { x: 60 + b * step + 3, y: 32 + y * 18, style: "fill:var(--paper)" }, there.length > 1 ? there[0] + "+" : there[0]));
    }
  });
  const number = (label, value, most, set) => make("label", {}, label + " ", make("input", { type: "number", min: label === "Words in a row" ? 1 : 0, max: most, value,
    onchange: (e) => { set(Math.max(label === "Words in a row" ? 1 : 0, +e.target.value || 0)); drawBanks(); } }));
  fill(panel, make("h2", {}, "Shared memory: who meets in which bank"), samplePickers(all, sample, (s) => { chosen.banks = s; drawBanks(); }),
    make("p", {}, make("code", {}, instructionOf(sample)[3])),
    make("div", { class: "row" }, number("Words in a row", layout.width, 4096, (v) => { layout.width = v; }), number("Words of padding", layout.pad, 64, (v) => { layout.pad = v; }),
      make("label", {}, make("input", { type: "checkbox", ...(layout.swizzle ? { checked: "" } : {}), onchange: (e) => { layout.swizzle = e.target.checked; drawBanks(); } }), " column ^= row")),
    make("div", { class: "facts", id: "bank-facts" }, fact("wavefronts of these addresses", before.wavefronts), fact("without conflicts", before.ideal),
      fact("wavefronts as changed here", after.wavefronts), sample[11] !== undefined && generation === own() ? fact("counted by the machine", sample[11]) : null),
    svg, make("p", {}, "Numbers are lanes; + means several. Orange banks hold words of several rows, so that they are read one after the other" +
      (bytes > 4 ? " (unless those lanes belong to different phases)." : ".")),
    make("details", {}, make("summary", {}, "Offsets of the 32 lanes"), lanesTable(sample, (a) => "b" + (Math.floor(moved(a, bytes) / 4) % banks))));
}

// --- the divergence tape
let tapePath = null;

function drawTape() {
  const panel = $("tape");
  const paths = launch.paths || [];
  if (!paths.length) return fill(panel, make("p", {}, "No path of a warp was kept for this launch."));
  if (!paths.includes(tapePath)) tapePath = paths[0];
  const high = 6, steps = tapePath.steps;
  const widths = steps.map((s) => Math.min(48, 4 + 2 * s[2])), places = [];
  let wide = 50;
  for (const w of widths) { places.push(wide); wide += w; }
  const svg = make("svg", { width: wide, height: 32 * high + 20, viewBox: `0 0 ${wide} ${32 * high + 20}`, style: "max-width:none", role: "img",
    "aria-label": `lanes of block ${tapePath.block}, warp ${tapePath.warp} in ${steps.length} stretches; the table below says the same` });
  for (let l = 0; l < 32; l += 8) svg.append(make("text", { x: 0, y: 26 + l * high }, "lane " + l));
  steps.forEach(([f, place, count, mask], k) => {
    const instruction = recording.functions[f].instructions[place];
    const group = make("g", {});
    const label = document.createElementNS("http://www.w3.org/2000/svg", "title");
    label.textContent = `${instruction[1] >= 0 ? fileName(recording, instruction[1]) + ":" + instruction[2] : "PTX " + instruction[0]}, ${count} instructions, lanes ${(mask >>> 0).toString(16).padStart(8, "0")}`;
    group.append(label);
    const full = mask >>> 0 === 0xffffffff;
    for (let l = 0; l < 32; ) {
      const on = mask >>> l & 1;
      let end = l;
      while (end < 32 && (mask >>> end & 1) === on) ++end;
      if (on) group.append(make("rect", { x: places[k], y: 18 + l * high, width: widths[k] - 1, height: (end - l) * high - 1, class: full ? "moved" : "used" }));
      l = end;
    }
    svg.append(group);
  });
  const rows = steps.map(([f, place, count, mask]) => {
    const i = recording.functions[f].instructions[place];
    return make("tr", {}, cell(i[1] >= 0 ? fileName(recording, i[1]) + ":" + i[2] : "PTX " + i[0], false), cell(count), cell((mask >>> 0).toString(16).padStart(8, "0"), false),
      cell((mask >>> 0).toString(2).replaceAll("0", "").length));
  });
  const average = steps.reduce((s, [, , n, m]) => s + n * (m >>> 0).toString(2).replaceAll("0", "").length, 0) / Math.max(1, steps.reduce((s, [, , n]) => s + n, 0));
  fill(panel, make("h2", {}, "The path of one warp"),
    picker("Warp", paths, (p) => `block ${p.block}, warp ${p.warp}`, tapePath, (p) => { tapePath = p; drawTape(); }),
    make("p", {}, `A column is a stretch of instructions that the same lanes execute, the wider the more; dark columns are those that not all lanes take part in. ${average.toFixed(1)} lanes on average.`),
    make("div", { class: "scroll", tabindex: 0, "aria-label": "tape" }, svg),
    make("details", {}, make("summary", {}, "The same as a table"), make("table", {}, make("thead", {}, make("tr", {}, ...["From", "Instructions", "Lanes", "Active"].map((h) => make("th", { scope: "col" }, h)))), make("tbody", {}, ...rows))));
}

// --- occupancy
let needs = null;

function drawOccupancy() {
  const panel = $("occupancy");
  const d = recording.device;
  needs ??= { threads: launch.metrics.launch__block_size, registers: launch.metrics.launch__registers_per_thread,
    shared: launch.metrics.launch__shared_mem_per_block_static + launch.metrics.launch__shared_mem_per_block_dynamic };
  const sliders = [["threads", "Threads of a block", 1, d.max_threads_per_block, 1], ["registers", "Registers of a thread", 1, d.max_registers, 1], ["shared", "Shared memory of a block", 0, d.shared_per_block, 256]];
  const result = make("div", { id: "occupancy-result" });
  const update = () => {
    const o = occupancy(d, needs.threads, needs.registers, needs.shared);
    const rows = Object.entries(o.limits).map(([name, n]) => make("tr", {}, cell(name, false), cell(n === Infinity ? "no limit" : n), cell(o.by.includes(name) ? "← limits" : "", false)));
    fill(result, make("div", { class: "facts" }, fact("occupancy", (100 * o.warps / d.max_warps).toFixed(1) + " %"), fact("resident warps", `${o.warps} of ${d.max_warps}`), fact("resident blocks", o.blocks),
      fact("limited by", o.by.join(", "))), make("table", {}, make("tbody", {}, ...rows)));
  };
  fill(panel, make("h2", {}, `Occupancy on ${d.name}`), make("p", {}, "The sliders begin at what this launch needs."),
    ...sliders.map(([key, label, least, most, step]) => {
      const output = make("output", {}, String(needs[key]));
      const input = make("input", { type: "range", id: "slide-" + key, min: least, max: most, step, value: needs[key], oninput: (e) => { needs[key] = +e.target.value; output.textContent = needs[key]; update(); } });
      return make("div", { class: "row" }, make("label", {}, label + " ", input), output);
    }), result);
  update();
}

// --- the timeline
function drawTimeline() {
  const panel = $("timeline");
  const all = recording.timeline.filter((o) => o.ended && o.kind !== "wait" && o.kind !== "internal");
  if (!all.length) return fill(panel, make("p", {}, "Nothing was put on a stream."));
  const drawn = all.slice(0, 2000);
  const streams = [...new Set(drawn.map((o) => o.device + ":" + o.stream))].sort();
  const begin = Math.min(...drawn.map((o) => o.began)), end = Math.max(...drawn.map((o) => o.ended));
  const x = (t) => 110 + 1000 * (t - begin) / Math.max(1, end - begin);
  const svg = make("svg", { width: 1120, height: 24 + streams.length * 30, viewBox: `0 0 1120 ${24 + streams.length * 30}`, role: "img", "aria-label": `${all.length} operations on ${streams.length} streams; the table below lists them` });
  streams.forEach((s, k) => svg.append(make("text", { x: 0, y: 40 + k * 30 }, `stream ${s.split(":")[1]}`), make("rect", { x: 110, y: 24 + k * 30, width: 1000, height: 24, class: "line" })));
  for (const o of drawn) {
    const label = document.createElementNS("http://www.w3.org/2000/svg", "title");
    label.textContent = `${o.kind} ${o.name || o.bytes + " bytes"}, ${((o.ended - o.began) / 1e6).toFixed(3)} ms`;
    const bar = make("rect", { x: x(o.began), y: 26 + streams.indexOf(o.device + ":" + o.stream) * 30, width: Math.max(1, x(o.ended) - x(o.began)), height: 20, class: o.kind === "launch" ? "bar" : "copy" });
    bar.append(label);
    svg.append(bar);
  }
  const rows = drawn.slice(0, 500).map((o) => make("tr", {}, cell(o.operation), cell(o.stream), cell(o.kind, false), cell(o.name || (o.bytes ? shown(o.bytes) + " bytes" : ""), false), cell(((o.began - begin) / 1e6).toFixed(3)), cell(((o.ended - o.began) / 1e6).toFixed(3))));
  const page = recording === recordings[0] && JSON.parse($("device-timeline").textContent);
  const what = recording.clock === "device" ? "When the device did what, as predicted." : "In which order operations ran, by this computer's clock while the program was watched: not the time a GPU would take.";
  fill(panel, make("h2", {}, "Streams"), make("p", {}, what), page ? make("iframe", { class: "timeline", title: "Timeline", srcdoc: page }) : svg,
    make("details", {}, make("summary", {}, "The same as a table"), make("table", {}, make("thead", {}, make("tr", {}, ...["Operation", "Stream", "Kind", "What", "Begin, ms", "Duration, ms"].map((h) => make("th", { scope: "col" }, h)))), make("tbody", {}, ...rows))));
}

// --- the page around them
const PARTS = [["overview", "Time", drawOverview], ["source", "Source", drawSource], ["access", "Access inspector", drawAccess], ["banks", "Banks", drawBanks], ["tape", "Divergence", drawTape],
  ["occupancy", "Occupancy", drawOccupancy], ["timeline", "Streams", drawTimeline], ["metrics", "Metrics", drawMetrics]];
const own = () => GENERATIONS.find((g) => g.key === generationOf(recording.device));

function show(part) {
  for (const [id, , draw] of PARTS) {
    const on = id === part;
    $(id).hidden = !on;
    $("tab-" + id).setAttribute("aria-selected", on);
    $("tab-" + id).tabIndex = on ? 0 : -1;
    if (on) draw();
  }
}
const visible = () => PARTS.find(([id]) => !$(id).hidden)[0];

function setLaunch(next, chooses = false) {
  launch = next;
  if (chooses) $("launch").selectedIndex = recording.launches.indexOf(next);
  needs = null;
  tapePath = null;
  show(visible());
  say(title(launch));
}

let others = [];

function compareWith(which) {
  other = others.find((o) => o && o.launch === which) || null;
  $("other").selectedIndex = others.indexOf(other);
}

function fillLaunches() {
  choose($("launch"), recording.launches, title, launch);
  others = [null, ...recordings.flatMap((r, k) => (r ? r.launches.map((l) => ({ recording: r, launch: l, of: k })) : []))];
  choose($("other"), others, (o) => (o ? (o.of ? "B: " : "") + title(o.launch) : "nothing"), null);
  $("other").onchange = (e) => { other = others[e.target.selectedIndex]; show(visible() === "overview" ? "overview" : "metrics"); };
}

function begin() {
  if (!launch) { $("main").textContent = "The recording holds no launch."; return; }
  generation = own();
  if (kernelsOf(recording).length) launch = longestOf(kernelsOf(recording)[0].launches);
  $("subject").textContent = `${recording.launches.length} launches on ${recording.device.name} (compute capability ${recording.device.major}.${recording.device.minor})` +
    (recording.shortened ? ". " + recording.shortened : "");
  $("tabs").replaceChildren(...PARTS.map(([id, name]) => make("button", { type: "button", role: "tab", id: "tab-" + id, "aria-controls": id, onclick: () => show(id) }, name)));
  $("tabs").addEventListener("keydown", (e) => {
    const step = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? PARTS.length - 1 : 0;
    if (!step) return;
    const next = PARTS[(PARTS.findIndex(([id]) => id === visible()) + step) % PARTS.length][0];
    show(next);
    $("tab-" + next).focus();
  });
  $("launch").onchange = (e) => setLaunch(recording.launches[e.target.selectedIndex]);
  const paint = (dark) => {
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    $("theme").setAttribute("aria-pressed", dark);
    $("theme").textContent = dark ? "Light" : "Dark";
  };
  paint(matchMedia("(prefers-color-scheme: dark)").matches);
  $("theme").onclick = () => paint(document.documentElement.dataset.theme !== "dark");
  $("file").onchange = async (e) => {
    try {
      const second = JSON.parse(await e.target.files[0].text());
      if (second.format !== "warpbeam profile") throw new Error();
      recordings[1] = second;
      fillLaunches();
      say("The other recording is among the launches to compare with.");
    } catch { say("That file is not a recording of the profiler."); }
  };
  fillLaunches();
  if (recordings[1]) {
    const same = recordings[1].launches.find((l) => l.kernel === launch.kernel) || recordings[1].launches[0];
    if (same) compareWith(same);
  }
  show("overview");
}
begin();
