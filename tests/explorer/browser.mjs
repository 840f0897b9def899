// Drives the explorer in Chromium: every screen at three widths, by keyboard, without scripts; axe-core judges each.
// Arguments: folder of node_modules, address, folder for pictures and downloads. Writes one JSON object.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [modules, address, folder] = process.argv.slice(2);
const load = createRequire(`${modules}/`);
const { chromium } = load("playwright-core");
const axe = readFileSync(load.resolve("axe-core/axe.min.js"), "utf8");
const SCREENS = ["cost", "cost?goal=mean", "report", "report?kind=subsets&answers=6", "respond?counts=40~30~30", "several", "wrong", "shuffle"];
const FOCUSABLE = "a[href], button:not([tabindex='-1']), input, select, summary, [tabindex='0']";
const found = { axe: [], errors: [], foreign: [], wide: [], python: {}, titles: {}, keys: {}, unreached: {}, without: "" };

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM,
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"],
});

function watched(page) {
  page.on("pageerror", (error) => found.errors.push(error.message));
  page.on("request", (request) => {
    if (!request.url().startsWith(address) && !/^(data|blob):/.test(request.url())) found.foreign.push(request.url());
  });
  return page;
}

async function open(page, screen) {
  await page.goto("about:blank");
  await page.goto(`${address}#${screen}`);
  await page.waitForSelector("#screen[data-ready=yes]");
}

for (const [width, colorScheme] of [[360, "light"], [768, "light"], [1280, "light"], [1280, "dark"]]) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, reducedMotion: "reduce", acceptDownloads: true, colorScheme });
  const page = watched(await context.newPage());
  for (const screen of SCREENS) {
    await open(page, screen);
    const spill = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    if (spill > 0) found.wide.push([screen, width, spill]);
    await page.screenshot({ path: `${folder}/${screen.replace(/\W/g, "_")}_${width}_${colorScheme}.png`, fullPage: true });
    await page.addScriptTag({ content: axe }).catch(() => page.evaluate(axe));
    const { violations } = await page.evaluate(() => globalThis.axe.run());
    for (const one of violations)
      if (["serious", "critical"].includes(one.impact)) found.axe.push([screen, width, colorScheme, one.id, one.nodes[0].html.slice(0, 200)]);
    found.titles[screen] = await page.title();
    found.python[screen] = await page.locator("pre code").innerText();
  }
  await context.close();
}

// By keyboard alone: every control of every screen is reached by the tabulator (of radio buttons the chosen one).
const tabbed = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: "reduce" });
const walked = watched(await tabbed.newPage());
for (const screen of SCREENS) {
  await open(walked, screen);
  await walked.evaluate(() => document.querySelectorAll("details").forEach((one) => { one.open = true; }));
  const count = await walked.locator(FOCUSABLE).count();
  for (let i = 0; i <= count; i++) {
    await walked.keyboard.press("Tab");
    await walked.evaluate(() => { if (document.activeElement !== document.body) document.activeElement.dataset.visited = "yes"; });
  }
  found.unreached[screen] = await walked.locator(FOCUSABLE).evaluateAll((all) =>
    all.filter((one) => one.dataset.visited !== "yes" && !(one.type === "radio" && !one.checked)).map((one) => one.outerHTML.slice(0, 120)));
}
for (const broken of ["cost?epsilon=%E0%A4%A", "nothing", "report?prior=x~y&seen=99&answers=1e9", "respond?counts=-1~a~2", "shuffle?people=7"]) await open(walked, broken);
await tabbed.close();

// By keyboard alone: to the second screen, an arrow on a slider, a cell of the heat map.
const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true });
const page = watched(await context.newPage());
await open(page, "cost");
for (let i = 0; i < 3; i++) await page.keyboard.press("Tab");
await page.keyboard.press("Enter");
await page.waitForFunction(() => document.querySelector("h1").textContent === "One report");
const reach = async (wanted) => {
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press("Tab");
    if (await page.evaluate(wanted)) return true;
  }
  return false;
};
found.keys.slider = await reach(() => document.activeElement.getAttribute("aria-label") === "Privacy ε, slider");
await page.keyboard.press("ArrowRight");
await page.keyboard.press("ArrowRight");
found.keys.address = await page.evaluate(() => location.hash);
found.keys.cell = await reach(() => document.activeElement.dataset.cell !== undefined);
await page.keyboard.press("ArrowRight");
found.keys.moved = await page.evaluate(() => `${location.hash} ${document.activeElement.dataset.cell}`);

await open(page, "respond");
const counted = async () => (await page.evaluate(() => location.hash)).match(/counts=(\d+)%7E(\d+)%7E(\d+)/)?.slice(1).map(Number) ?? [0];
await page.getByRole("radio", { name: "sometimes" }).check();
await page.getByRole("button", { name: "Send a randomised report" }).click();
found.keys.sent = await page.evaluate(() => location.hash);
await page.getByRole("button", { name: "A hundred others answer" }).click();
await page.waitForTimeout(300);
found.keys.midway = await counted();
await page.waitForFunction(() => document.querySelector(".bars caption")?.textContent.includes("101 reports"));
found.keys.counted = await counted();

await open(page, "cost?answers=6&epsilon=1.5");
await page.getByText("Download the mechanism").click();
for (const [i, button] of (await page.locator("details button").all()).entries()) {
  const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
  await download.saveAs(`${folder}/mechanism_${i}.json`);
}
await context.close();

const off = await browser.newContext({ javaScriptEnabled: false });
const silent = await off.newPage();
await silent.goto(address);
found.without = await silent.locator("noscript").innerText();
await browser.close();
process.stdout.write(JSON.stringify(found));
