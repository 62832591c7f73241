// The HTML report in a browser, as somebody who reads it would use it. Arguments: the folder of playwright-core, the
// browser, the pages to open (one program, one to compare, a long one), and a folder for pictures or nothing.
import fs from "node:fs";
import { check, inBrowser } from "./in_browser.mjs";

const [modules, browserPath, first, pair, long, pictures] = process.argv.slice(2);
const { page, test, finish } = await inBrowser(modules, browserPath);

const picture = async (p, name) => { if (pictures) await p.screenshot({ path: `${pictures}/${name}.png` }); };
const open = (p, tab) => p.click("#tab-" + tab);
const facts = (p, id) => p.$$eval(`#${id} > div`, (all) => Object.fromEntries(all.map((d) => [d.lastChild.textContent, d.querySelector("b").textContent])));

await test("the page opens without a request and without an error", async () => {
  const p = await page(first);
  check("requests", p.requests, []);
  check("errors", p.errors, []);
  check("what it opens with", await p.$$eval("main section[role=tabpanel]:not([hidden])", (s) => s.map((e) => e.id)), ["overview"]);
  for (const tab of ["overview", "source", "access", "banks", "tape", "occupancy", "timeline", "metrics"]) {
    await open(p, tab);
    check("what is missing", await p.$$eval("main", (m) => /\b(null|undefined|NaN)\b/.test(m[0].innerText)), false);
    check("panels shown", await p.$$eval("main section[role=tabpanel]:not([hidden])", (s) => s.map((e) => e.id)), [tab]);
    await picture(p, tab);
  }
  check("errors", p.errors, []);
  await p.selectOption("#launch", { index: 17 }); // odd_and_even
  await open(p, "tape");
  await picture(p, "tape");
});

await test("it opens with what takes time, what bounds it and why warps wait", async () => {
  const p = await page(first);
  const kernels = await p.$$eval(".kernels tbody tr", (rows) => rows.map((r) => [...r.children].map((c) => c.textContent.trim())));
  const times = await p.evaluate(() => kernelsOf(recording).map((k) => k.ns));
  check("longest first", times, [...times].sort((a, b) => b - a));
  check("kernels", kernels.length, times.length);
  for (const [name, , time, interval, share] of kernels)
    if (!name || !/^[0-9.]+ (ns|µs|ms)$/.test(time) || !/^[0-9.]+ to [0-9.]+ (ns|µs|ms)$/.test(interval) || !/^[0-9]+ %$/.test(share)) throw new Error("a row: " + [name, time, interval, share]);
  check("the launch", await p.evaluate(() => launch.predicted.ns >= Math.max(...kernelsOf(recording)[0].launches.map((l) => l.predicted.ns))), true);
  check("facts", Object.keys(await facts(p, "time-facts")), ["predicted time", "interval", "achieved occupancy", "waves of blocks"]);
  if (!/^Bound by .+\.$/.test(await p.textContent(".bound"))) throw new Error("bound: " + (await p.textContent(".bound")));
  if (!/^Predicted for .* at [0-9]+ MHz, not measured/.test(await p.textContent("#overview > p"))) throw new Error("no word on what times are");
  // Another kernel, and a bar of one launch.
  await p.locator(".kernels .link[aria-pressed=false]").first().click();
  check("selected", await p.evaluate(() => $("launch").selectedIndex === recording.launches.indexOf(launch) && kernelsOf(recording)[0].launches.includes(launch)), false);
  await p.locator("svg .pick").first().click();
  check("first launch", await p.evaluate(() => launch.id), 0);
  await picture(p, "overview");
});

await test("a card of why warps wait leads to its line", async () => {
  const p = await page(first);
  await p.selectOption("#launch", { index: 5 }); // copy_strided by 32 words
  check("cards", await p.$$eval(".card", (all) => all.length), 3);
  const place = await p.textContent(".card .link");
  await p.click(".card .link");
  check("panel", await p.$$eval("main section[role=tabpanel]:not([hidden])", (s) => s[0].id), "source");
  check("line", place.split(":")[1], await p.$eval("tr.wanted", (row) => row.dataset.line));
  if (!/^[0-9.]+ %$/.test(await p.$eval("tr.wanted td:nth-child(2)", (c) => c.textContent))) throw new Error("no waits beside the line");
  await picture(p, "waits");
});

await test("metrics come last and can be searched", async () => {
  const p = await page(first);
  check("tabs", await p.$$eval("[role=tab]", (all) => [all[0].textContent, all[all.length - 1].textContent]), ["Time", "Metrics"]);
  await open(p, "metrics");
  const names = () => p.$$eval("#metrics tbody tr", (rows) => rows.map((r) => r.children[1].textContent));
  const all = (await names()).length;
  await p.fill("#search", "achieved OCCUPANCY");
  check("found", await names(), ["achieved_occupancy"]);
  if (!/ to /.test(await p.$eval("#metrics tbody tr td:nth-child(6)", (c) => c.textContent))) throw new Error("no interval");
  await p.fill("#search", "nvlink_transmit");
  check("why there is none", await p.$eval("#metrics tbody tr", (r) => [r.children[4].textContent, r.children[5].textContent]), ["n/a", "traffic between GPUs is not modelled"]);
  await p.fill("#search", "");
  check("all again", (await names()).length, all);
});

await test("its rules give what the machine counted, for every access kept", async () => {
  const p = await page(first);
  const wrong = await p.evaluate(() => recording.launches.flatMap((l) => (l.accesses || []).filter((s) => {
    const lanes = s[9], space = s[5];
    if (space === "shared") return s[6] !== "atom" && s[6] !== "red" && sharedTraffic(own(), lanes, s[7], s[6]).wavefronts !== s[11];
    if (space === "local") return false;
    return globalTraffic(own().global, lanes, s[7], s[6]).segments.length !== s[10];
  })));
  check("accesses that differ", wrong.slice(0, 2), []);
  const kept = await p.evaluate(() => recording.launches.reduce((n, l) => n + (l.accesses || []).length, 0));
  if (kept < 20) throw new Error(`only ${kept} accesses were kept`);
});

await test("a line of the source leads to its lanes and sectors", async () => {
  const p = await page(first);
  await p.selectOption("#launch", { index: 5 }); // copy_strided by 32 words
  await open(p, "source");
  const row = p.locator("tr.has", { hasText: "out[i] = in[i * stride];" });
  await row.click();
  check("panel", await p.$$eval("main section[role=tabpanel]:not([hidden])", (s) => s[0].id), "access");
  check("transactions", (await facts(p, "access-facts")).transactions, "32");
  check("efficiency", (await facts(p, "access-facts")).efficiency, "12.5 %");
  await picture(p, "strided");
});

await test("another generation of GPUs counts by its own rules", async () => {
  const p = await page(first);
  await p.selectOption("#launch", { index: 1 }); // copy_from 11 words further
  await open(p, "access");
  const choose = async (key) => {
    await p.locator("#access label", { hasText: "GPU" }).locator("select").selectOption({ label: "compute capability " + key });
    return (await facts(p, "access-facts")).transactions;
  };
  check("by generation", [await choose("1.0"), await choose("1.2"), await choose("2.x"), await choose("3.x"), await choose("5+")], ["32", "3", "2", "5", "5"]);
});

await test("padding and the swizzle take bank conflicts away in the preview", async () => {
  const p = await page(first);
  const index = await p.$$eval("#launch option", (all) => all.findIndex((o) => o.textContent.includes("by_columns")));
  await p.selectOption("#launch", { index });
  await open(p, "banks");
  const after = async () => (await facts(p, "bank-facts"))["wavefronts as changed here"];
  check("column", await after(), "32");
  await picture(p, "column");
  await p.fill("#banks input[max='64']", "1");
  await p.locator("#banks input[max='64']").press("Tab");
  check("padded", await after(), "1");
  await p.fill("#banks input[max='64']", "0");
  await p.locator("#banks input[max='64']").press("Tab");
  await p.check("#banks input[type=checkbox]");
  check("swizzled", await after(), "1");
  await picture(p, "swizzled");
});

await test("the occupancy sliders name the resource that limits", async () => {
  const p = await page(first);
  await open(p, "occupancy");
  await p.locator("#slide-threads").fill("256");
  await p.locator("#slide-registers").fill("64");
  await p.locator("#slide-shared").fill("0");
  const got = await facts(p, "occupancy-result .facts");
  check("blocks", got["resident blocks"], "4");
  check("limit", got["limited by"], "registers");
});

await test("the keyboard reaches everything", async () => {
  const p = await page(first);
  await p.selectOption("#launch", { index: 0 });
  await p.focus("#tab-overview");
  await p.keyboard.press("ArrowRight");
  check("focus", await p.evaluate(() => document.activeElement.id), "tab-source");
  await p.focus("tr.has");
  await p.keyboard.press("ArrowDown");
  check("row", await p.evaluate(() => document.activeElement.tagName), "TR");
  const launch = await p.$$eval("tr.has", (rows) => rows.findIndex((r) => r.textContent.includes("in[i + offset]")));
  await p.locator("tr.has").nth(launch).focus();
  await p.keyboard.press("Enter");
  check("panel", await p.$$eval("main section[role=tabpanel]:not([hidden])", (s) => s[0].id), "access");
});

await test("the device's timeline stands in the report", async () => {
  const p = await page(first);
  await open(p, "timeline");
  const frame = await (await p.waitForSelector("#timeline iframe")).contentFrame();
  await frame.waitForFunction(() => runs.length === 1 && runs[0].operations.length > 0 && rows.length > 0);
  await picture(p, "streams");
  check("requests", p.requests, []);
  check("errors", p.errors, []);
});

await test("a screen reader finds names for what is drawn", async () => {
  const p = await page(first);
  for (const tab of ["overview", "access", "banks", "tape", "timeline"]) {
    await open(p, tab);
    check("drawings without a name", await p.$$eval(`#${tab} svg`, (all) => all.filter((s) => !s.getAttribute("aria-label")).length), 0);
  }
  check("fields without a label", await p.$$eval("input, select", (all) => all.filter((e) => !e.labels.length).length), 0);
  check("tabs", await p.$$eval("[role=tab]", (all) => all.every((t) => t.getAttribute("aria-selected"))), true);
  check("language", await p.$eval("html", (e) => e.lang), "en");
});

await test("two recordings are compared", async () => {
  const p = await page(pair);
  await picture(p, "compare-times");
  check("times", "B" in (await facts(p, "time-facts")), true);
  await open(p, "metrics");
  const changes = await p.$$eval("#metrics tbody tr", (rows) => rows.map((r) => [...r.children].map((c) => c.textContent)));
  const row = changes.find((r) => r[1] === "gld_transactions");
  if (!row || row.length !== 8) throw new Error("no comparison: " + JSON.stringify(row));
  await picture(p, "compare");
});

await test("light and dark", async () => {
  const light = await page(first, { colorScheme: "light" }), dark = await page(first, { colorScheme: "dark" });
  const paper = (p) => p.$eval("body", (b) => getComputedStyle(b).backgroundColor);
  if ((await paper(light)) === (await paper(dark))) throw new Error("the same paper");
  await picture(dark, "dark-overview");
  await dark.selectOption("#launch", { index: 1 });
  await open(dark, "access");
  await picture(dark, "dark");
  const before = await paper(light);
  await light.click("#theme");
  if ((await paper(light)) === before) throw new Error("the button changes nothing");
});

await test("a long program's page is small and opens at once", async () => {
  const bytes = fs.statSync(long).size;
  if (bytes > 3 << 20) throw new Error(`${bytes} bytes`);
  const p = await page(long);
  check("errors", p.errors, []);
  check("launches", await p.$$eval("#launch option", (o) => o.length > 100), true);
});

await finish();
