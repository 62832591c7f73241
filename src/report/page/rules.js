// What one warp's access costs on each generation of GPUs: the rules of src/model, for addresses that somebody changes here.
// `lanes` are 32 addresses, null for lanes that do not take part.
const GENERATIONS = [
  { key: "1.0", global: "half-warp strict", banks: "16 banks" },
  { key: "1.2", global: "half-warp segments", banks: "16 banks" },
  { key: "2.x", global: "lines", banks: "32 banks" },
  { key: "3.x", global: "segments", banks: "32 banks of 8 bytes" },
  { key: "5+", global: "sectors", banks: "32 banks in phases", merges: false },
  { key: "7+", global: "sectors", banks: "32 banks in phases", merges: true },
];

function generationOf(device) {
  if (device.major >= 7) return "7+";
  if (device.major >= 5) return "5+";
  if (device.major === 3) return "3.x";
  if (device.major === 2) return "2.x";
  return device.minor >= 2 ? "1.2" : "1.0";
}

const pieceOf = (address, size) => Math.floor(address / size) * size;

function pieces(lanes, bytes, size) {
  const out = [];
  for (const a of lanes)
    if (a !== null)
      for (let p = pieceOf(a, size); p < a + bytes; p += size) if (!out.includes(p)) out.push(p);
  return out;
}

function strictHalfWarp(half, bytes, out) {
  const active = half.map((a, k) => (a === null ? null : a - k * bytes)).filter((a) => a !== null);
  if (!active.length) return;
  ++out.requests;
  const segment = bytes === 4 ? 64 : 128;
  if (bytes >= 4 && active.every((a) => a === active[0]) && active[0] % segment === 0) {
    for (let k = 0; k < (16 * bytes) / segment; ++k) out.segments.push([active[0] + k * segment, segment]);
    return;
  }
  for (const a of half) if (a !== null) out.segments.push([pieceOf(a, 32), 32]);
}

function shrinkingHalfWarp(half, bytes, out) {
  let left = half.filter((a) => a !== null);
  if (left.length) ++out.requests;
  while (left.length) {
    let size = bytes === 1 ? 32 : bytes === 2 ? 64 : 128;
    let start = pieceOf(left[0], size);
    const inside = left.filter((a) => a >= start && a < start + size);
    left = left.filter((a) => a < start || a >= start + size);
    const low = Math.min(...inside), high = Math.max(...inside) + bytes;
    while (size > 32) {
      const middle = start + size / 2;
      if (low < middle && high > middle) break;
      if (low >= middle) start = middle;
      size /= 2;
    }
    out.segments.push([start, size]);
  }
}

function storeSegments(lanes, bytes, out) {
  const sectors = pieces(lanes, bytes, 32);
  for (const line of pieces(lanes, bytes, 128)) {
    const used = [0, 1, 2, 3].map((k) => sectors.includes(line + 32 * k));
    if (used.every(Boolean)) { out.segments.push([line, 128]); continue; }
    for (const k of [0, 2]) {
      if (used[k] && used[k + 1]) out.segments.push([line + 32 * k, 64]);
      else if (used[k] || used[k + 1]) out.segments.push([line + 32 * (used[k] ? k : k + 1), 32]);
    }
  }
}

// {requests, segments: [[address, bytes]], moved: bytes}
function globalTraffic(rule, lanes, bytes, kind) {
  const out = { requests: 0, segments: [] };
  const parts = (size, serve) => {
    for (let first = 0; first < 32; first += size) {
      const part = lanes.slice(first, first + size);
      if (part.some((a) => a !== null)) serve(part);
    }
  };
  if (!lanes.some((a) => a !== null)) return { ...out, moved: 0 };
  if (kind === "atom" || kind === "red") {
    out.requests = 1;
    for (const sector of pieces(lanes, bytes, 32)) {
      const inside = lanes.filter((a) => a !== null && pieceOf(a, 32) === sector);
      const turns = Math.max(...inside.map((a) => inside.filter((b) => b === a).length));
      for (let k = 0; k < turns; ++k) out.segments.push([sector, 32]);
    }
  } else if (rule === "half-warp strict") parts(16, (h) => strictHalfWarp(h, bytes, out));
  else if (rule === "half-warp segments") parts(16, (h) => shrinkingHalfWarp(h, bytes, out));
  else if (rule === "sectors") {
    out.requests = 1;
    out.segments = pieces(lanes, bytes, 32).map((p) => [p, 32]);
  } else {
    parts(bytes <= 4 ? 32 : bytes === 8 ? 16 : 8, (part) => {
      ++out.requests;
      if (kind === "store") return storeSegments(part, bytes, out);
      const size = rule === "lines" ? 128 : 32;
      for (const p of pieces(part, bytes, size)) out.segments.push([p, size]);
    });
  }
  out.moved = out.segments.reduce((sum, s) => sum + s[1], 0);
  return out;
}

function passes(lanes, bytes, bankOf, rowOf) {
  const banks = new Map();
  for (const a of lanes) {
    if (a === null) continue;
    for (let word = Math.floor(a / 4); word <= Math.floor((a + bytes - 1) / 4); ++word) {
      const bank = bankOf(word);
      if (!banks.has(bank)) banks.set(bank, new Set());
      banks.get(bank).add(rowOf(word));
    }
  }
  return Math.max(0, ...[...banks.values()].map((rows) => rows.size));
}

function stepsWithOneBroadcast(words) {
  let waiting = words.filter((w) => w !== null), steps = 0;
  while (waiting.length) {
    ++steps;
    const inBank = new Array(16).fill(0);
    for (const w of waiting) ++inBank[w % 16];
    const fullest = inBank.indexOf(Math.max(...inBank));
    let chosen = null, most = 0;
    for (const w of waiting) {
      const wanted = waiting.filter((v) => v === w).length;
      if (w % 16 === fullest && wanted > most) { most = wanted; chosen = w; }
    }
    const busy = new Set([fullest]);
    waiting = waiting.filter((w) => {
      if (w === chosen) return false;
      if (busy.has(w % 16)) return true;
      busy.add(w % 16);
      return false;
    });
  }
  return steps;
}

// {wavefronts, ideal}: passes over the banks, and how many there were if no lanes met in one.
function sharedTraffic(generation, lanes, bytes, kind) {
  let wavefronts = 0, ideal = 0;
  const phase = (n) => { wavefronts += n; if (n) ++ideal; };
  if (generation.banks === "16 banks") {
    for (const first of [0, 16])
      for (let part = 0; part < Math.max(1, bytes / 4); ++part)
        phase(stepsWithOneBroadcast(lanes.slice(first, first + 16).map((a) => (a === null ? null : Math.floor(a / 4) + part))));
    return { wavefronts, ideal };
  }
  if (kind === "atom" || kind === "red") {
    const banks = new Array(32).fill(0);
    for (const a of lanes) if (a !== null) ++banks[Math.floor(a / 4) % 32];
    return { wavefronts: Math.max(...banks), ideal: 1 };
  }
  if (generation.banks === "32 banks of 8 bytes") {
    const size = bytes <= 8 ? 32 : 16;
    for (let first = 0; first < 32; first += size)
      phase(passes(lanes.slice(first, first + size), bytes, (w) => w % 32, (w) => Math.floor(w / 64)));
    return { wavefronts, ideal };
  }
  const size = bytes <= 4 ? 32 : bytes === 8 ? 16 : 8;
  const part = (first, count) => passes(lanes.slice(first, first + count), bytes, (w) => w % 32, (w) => w);
  if (size === 32) phase(part(0, 32));
  else {
    const merged = generation.merges && kind === "load" && [1, 2].some((p) =>
      lanes.every((a, l) => a === null || lanes[l ^ p] === null || lanes[l ^ p] === a));
    const step = merged ? 2 * size : size;
    for (let first = 0; first < 32; first += step) phase(part(first, step));
  }
  return { wavefronts, ideal };
}

function occupancy(d, threads, registers, shared) {
  const up = (n, unit) => Math.ceil(n / unit) * unit;
  const warps = Math.ceil(threads / 32);
  const limits = { warps: Math.floor(d.max_warps / warps), blocks: d.max_blocks, registers: Infinity, "shared memory": Infinity };
  if (d.register_scope === "block") {
    const need = up(up(warps, d.warp_granularity) * registers * 32, d.register_unit);
    if (registers) limits.registers = Math.floor(d.registers / need);
  } else if (registers) {
    const need = up(registers * 32, d.register_unit);
    const perPart = Math.floor(d.registers / d.partitions / need);
    limits.registers = d.partitions > 1 ? Math.floor((perPart * d.partitions) / warps)
      : Math.floor((Math.floor(d.registers / need / d.warp_granularity) * d.warp_granularity) / warps);
    if (need * warps > d.registers_per_block) limits.registers = 0;
  }
  const bytes = up(shared + d.shared_reserved, d.shared_unit);
  if (bytes) limits["shared memory"] = Math.floor(d.shared_per_multiprocessor / bytes);
  if (threads > d.max_threads_per_block || shared > d.shared_per_block) limits.warps = 0;
  const blocks = Math.min(...Object.values(limits));
  return { blocks, warps: blocks * warps, limits, by: Object.keys(limits).filter((k) => limits[k] === blocks) };
}
