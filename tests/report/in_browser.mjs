// What the tests of pages share: a browser that notes requests and errors, cases that are counted, and their sum at the end.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

// `modules`: the folder of playwright-core. A page that was opened is handed to `ready`.
export async function inBrowser(modules, browserPath, ready = () => {}) {
  const { chromium } = createRequire(modules + "/")("playwright-core");
  const browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox"] });
  let passed = 0, failed = 0;
  return {
    async page(file, options = {}) {
      const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
      const p = await context.newPage();
      p.requests = [];
      p.errors = [];
      p.on("request", (r) => { if (!r.url().startsWith("file:")) p.requests.push(r.url()); });
      p.on("pageerror", (e) => p.errors.push(String(e)));
      p.on("console", (m) => { if (m.type() === "error") p.errors.push(m.text()); });
      await p.goto(pathToFileURL(file).href);
      await ready(p);
      return p;
    },
    async test(name, body) {
      try {
        await body();
        ++passed;
        console.log("ok   " + name);
      } catch (error) {
        ++failed;
        console.log(`FAIL ${name}\n    ${String(error).split("\n").slice(0, 4).join("\n    ")}`);
      }
    },
    async finish() {
      await browser.close();
      console.log(`${passed} passed, ${failed} failed, 0 skipped`);
      process.exit(failed ? 1 : 0);
    },
  };
}

export function check(what, got, wanted) {
  if (JSON.stringify(got) !== JSON.stringify(wanted)) throw new Error(`${what}: ${JSON.stringify(got)} instead of ${JSON.stringify(wanted)}`);
}
