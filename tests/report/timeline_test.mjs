// The timeline's page in a browser, as somebody who reads it would use it. Arguments: the folder of playwright-core, the
// browser, the pages (streams that overlap, the same with one hardware queue, kernels that launch kernels, two processes), and a folder for pictures or nothing.
import fs from "node:fs";
import { check, inBrowser } from "./in_browser.mjs";

const [modules, browserPath, many, one, nested, pairOf, pictures] = process.argv.slice(2);
const drawn = (p) => p.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
const { page, test, finish } = await inBrowser(modules, browserPath, drawn);

const holds = (what, test) => { if (!test) throw new Error(what); };
const picture = async (p, name) => { await drawn(p); if (pictures) await p.screenshot({ path: `${pictures}/${name}.png` }); };
const button = (p, text) => p.click(`#details button:text-is("${text}")`);
const labels = (p) => p.evaluate(() => rows.map((r) => r.label.replace(/thread \d+/, "thread")));
const facts = (p) => p.$$eval("#details dt", (all) => Object.fromEntries(all.map((d) => [d.textContent, d.nextSibling.textContent])));
// Something is painted at the middle of an item.
const painted = (p) => p.evaluate(() => {
  const g = canvas.getContext("2d"), scale = canvas.width / width, row = chosen.home;
  const x = (Math.max(GUTTER, at(chosen.begin, row.run)) + Math.min(width, at(chosen.end, row.run))) / 2, y = row.y + ROW / 2;
  return g.getImageData(Math.round(x * scale), Math.round(y * scale) - 6, 1, 1).data[3] > 0;
});

await test("it opens without a request and without an error, with rows for threads, streams, engines and areas", async () => {
  const p = await page(many);
  check("requests", p.requests, []);
  const all = await labels(p);
  check("rows", all, ["streams thread: calls", "NVIDIA Tesla K40c", "stream 1", "stream 2", "stream 3", "stream 4", "stream 5", "copy engine 0", "copy engine 1", "multiprocessors", "memory", "to the device",
    "from the device", "memory allocated"].map((l) => (l.startsWith("NVIDIA") ? all.find((x) => x.includes("K40")) : l)));
  check("what is missing", await p.$$eval("main", (m) => /\b(null|undefined|NaN)\b/.test(m[0].innerText)), false);
  check("kernels of the summary", await p.$$eval("#summary tbody tr", (all) => all.map((r) => [r.cells[0].textContent, r.cells[1].textContent]).filter(([n]) => n.includes("("))), [["busy(float*)", "59"], ["add_one(float*, int)", "6"]]);
  check("rows do not hold what overlaps", await p.evaluate(() => rows.filter((r) => r.gaps).every((r) => r.depth === 1)), true);
  await picture(p, "timeline");
  check("errors", p.errors, []);
});

await test("find, keys and buttons go from operation to operation; arrows and what it waited for", async () => {
  const p = await page(many);
  await p.fill("#find", "add_one");
  for (let k = 0; k < 3; ++k) await p.press("#find", "Enter");
  await drawn(p);
  check("title", await p.textContent("#details h2"), "add_one(float*, int)");
  const seen = await facts(p);
  check("grid", seen.grid, "64 × 1 × 1 blocks of 256 × 1 × 1");
  check("not earlier", seen["not earlier, because"], "behind copy Pinned to Device");
  holds("it is painted", await painted(p));
  await picture(p, "timeline-chosen");
  await button(p, "What it waited for");
  check("the copy", await p.textContent("#details h2"), "copy Pinned to Device");
  await button(p, "Its call");
  check("its call", await p.textContent("#details h2"), "cudaMemcpyAsync");
  await button(p, "What it asked for");
  await p.focus("#chart");
  await p.keyboard.press("ArrowRight");
  check("the next in its stream", await p.textContent("#details h2"), "add_one(float*, int)");
  await p.keyboard.press("Escape");
  check("nothing", await p.textContent("#details h2"), "Nothing chosen");
  check("errors", p.errors, []);
});

await test("zoom and pan with mouse and keyboard; hover tells what is there", async () => {
  const p = await page(many);
  const span = () => p.evaluate(() => view.to - view.from);
  const before = await span();
  await p.focus("#chart");
  await p.keyboard.press("w");
  const nearer = await span();
  holds("w zooms in", nearer < before);
  const from = await p.evaluate(() => view.from);
  await p.keyboard.press("d");
  holds("d moves", (await p.evaluate(() => view.from)) > from);
  const box = await (await p.$("#canvas")).boundingBox();
  await p.mouse.move(box.x + 500, box.y + 60);
  await p.keyboard.down("Control");
  await p.mouse.wheel(0, -300);
  await p.keyboard.up("Control");
  await drawn(p);
  holds("the wheel zooms", (await span()) < nearer);
  const middle = await p.evaluate(() => view.from);
  await p.mouse.down();
  await p.mouse.move(box.x + 400, box.y + 60, { steps: 5 });
  await p.mouse.up();
  holds("a drag moves", (await p.evaluate(() => view.from)) > middle);
  await p.keyboard.press("0");
  check("0 shows all", Math.round(await span()), Math.round(before));
  const spot = await p.evaluate(() => {
    const row = rows.find((r) => r.label === "stream 2"), item = row.items[0], box = canvas.getBoundingClientRect();
    return [box.left + (at(item.begin, row.run) + at(item.end, row.run)) / 2, box.top + row.y + 8];
  });
  await p.mouse.move(...spot);
  holds("the tip", /^busy\(float\*\)/.test(await p.textContent("#tip")));
  await p.mouse.click(...spot);
  check("a click chooses", await p.textContent("#details h2"), "busy(float*)");
  check("errors", p.errors, []);
});

await test("false dependencies are named, hardware queues have rows, and the critical path goes back to a call", async () => {
  const p = await page(one);
  check("false dependencies", await p.evaluate(() => rows.filter((r) => r.gaps).flatMap((r) => r.items).some((o) => gapText(o).startsWith("false dependency: same hardware queue as stream"))), true);
  await p.check("#show-queues");
  holds("a row for the queue", (await labels(p)).includes("hardware queue 0"));
  await p.uncheck("#show-threads");
  holds("no rows for threads", !(await labels(p)).some((l) => l.includes("calls")));
  await p.check("#show-critical");
  check("critical", await p.evaluate(() => [...path].some((o) => o.is === "operation") && [...path].some((o) => o.is === "call")), true);
  await picture(p, "timeline-one-queue");
  check("errors", p.errors, []);
});

await test("another run stands below, and something else is refused", async () => {
  const p = await page(many);
  await p.setInputFiles("#file", one);
  await p.waitForFunction(() => runs.length === 2);
  const all = await labels(p);
  check("both", all.filter((l) => l === "stream 2").length, 2);
  holds("named", all.includes(one.split("/").pop()));
  await picture(p, "timeline-two");
  const bad = "bad.json";
  fs.writeFileSync(bad, "{}");
  await p.setInputFiles("#file", bad);
  await p.waitForFunction(() => document.getElementById("said").textContent.includes("no timeline"));
  check("still two", await p.evaluate(() => runs.length), 2);
  check("errors", p.errors, []);
});

await test("what kernels launch has a row, and arrows from what launched it", async () => {
  const p = await page(nested);
  holds("a row", (await labels(p)).includes("launched by kernels"));
  await p.fill("#find", "inner");
  await p.press("#find", "Enter");
  check("launched by", (await facts(p))["launched by"], "beside(float*)");
  await button(p, "What launched it");
  await button(p, "What launched it");
  check("the first", await p.textContent("#details h2"), "parent(float*)");
  check("launched", (await facts(p)).launched, "6 kernels");
  await picture(p, "timeline-nested");
  check("errors", p.errors, []);
});

await test("two processes have rows of their own", async () => {
  const p = await page(pairOf);
  const all = (await labels(p)).map((l) => l.replace(/\d{3,}/, "N"));
  check("streams", all.filter((l) => l.endsWith("stream 1")), ["sudden (N) stream 1", "sudden (N) stream 1"]);
  check("threads", all.filter((l) => l.startsWith("sudden (N) thread") && l.endsWith("calls")).length, 2);
  check("errors", p.errors, []);
});

await test("a hundred thousand operations are drawn", async () => {
  const text = fs.readFileSync(many, "utf8");
  const marked = text.match(/(<script type="application\/json" id="recording">)([^<]*)(<\/script>)/);
  const data = JSON.parse(marked[2]);
  const row = data[0].operations.find((o) => o[1] === 0);
  data[0].operations = Array.from({ length: 100000 }, (_, k) => { const o = [...row]; o[0] = 1000 + k, o[4] = 1 + (k % 8), o[5] = 0, o[6] = 1000 * k, o[7] = 1000 * k + 900, o[9] = k > 8 ? 992 + k : 0; return o; });
  fs.writeFileSync("large.html", text.replace(marked[0], () => marked[1] + JSON.stringify(data).replaceAll("<", "\\u003c") + marked[3]));
  const p = await page("large.html");
  check("operations", await p.evaluate(() => runs[0].operations.length), 100000);
  // From all of them to a few, then along them: each step the fastest of five, as other work of this machine is not to matter.
  const took = await p.evaluate(() => {
    const fastest = () => Math.min(...Array.from({ length: 5 }, () => { const t = performance.now(); paint(); return performance.now() - t; }));
    const steps = [];
    for (let k = 0; k < 10; ++k) steps.push(fastest()), zoom(0.5);
    for (let k = 0; k < 10; ++k) pan(0.2), steps.push(fastest());
    return Math.max(...steps);
  });
  console.log(`     ${took.toFixed(1)} ms for a picture of 100,000 operations`);
  holds("thirty pictures a second", took < 33);
  check("errors", p.errors, []);
});

await finish();
