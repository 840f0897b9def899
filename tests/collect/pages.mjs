// Flows through a study's pages in a browser; prints one JSON object. Arguments: modules, browser, address, link, name.

import { pathToFileURL } from "node:url";
import { readFileSync } from "node:fs";

const [modules, program, address, link, flow, picture] = process.argv.slice(2);
const { chromium } = await import(pathToFileURL(`${modules}/playwright-core/index.mjs`));
const args = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"];
const browser = await chromium.launch({ executablePath: program, args });
const context = await browser.newContext({ locale: "en-US", viewport: { width: 768, height: 900 } });
const requests = [];
const problems = [];
context.on("request", (one) => requests.push([one.method(), one.url(), one.postData()]));
const open = async (path = "/") => {
  const page = await context.newPage();
  page.on("pageerror", (error) => problems.push(error.message));
  await page.goto(address + path);
  await page.waitForFunction(() => !document.getElementById("form")?.hidden || !document.getElementById("review").hidden);
  return page;
};
const answer = async (page) => {
  for (const field of await page.locator("fieldset").all()) await field.locator("input[type=radio]").first().check();
  await page.getByRole("button", { name: "Randomise my answers" }).click();
  await page.waitForSelector("#review:not([hidden])");
};
const status = (page) => page.textContent("#status");
const says = (page, text) => page.waitForFunction((wanted) => document.getElementById("status").textContent.startsWith(wanted), text);
const posts = () => requests.filter(([method]) => method === "POST").map(([, , body]) => body);

const flows = {
  // Answer, lose the network, retry, reload, second tab: one report.
  async once() {
    const page = await open();
    await page.evaluate(() => navigator.serviceWorker.ready);
    await answer(page);
    const shown = await page.textContent("#reports");
    await context.setOffline(true);
    await page.getByRole("button", { name: "Send" }).click();
    await says(page, "There is no connection");
    await page.reload();
    await page.waitForSelector("#review:not([hidden])");
    const offline = await page.textContent("#reports");
    await context.setOffline(false);
    const second = await open();
    const there = await second.textContent("#reports");
    await Promise.all([page, second].map((one) => one.getByRole("button", { name: "Send" }).click()));
    await Promise.all([page, second].map((one) => says(one, "Sent")));
    await page.reload();
    await page.waitForSelector("#review:not([hidden])");
    const after = await status(page);
    return { shown, same: shown === offline && shown === there, after, sendable: await page.getByRole("button", { name: "Send" }).isVisible(), bodies: [...new Set(posts())].length };
  },
  // Only the keyboard.
  async keyboard() {
    const page = await open();
    for (let steps = 0; steps < 60; steps += 1) {
      await page.keyboard.press("Tab");
      const at = await page.evaluate(() => ({ kind: document.activeElement.type, id: document.activeElement.id }));
      if (at.kind === "radio") await page.keyboard.press("Space");
      if (at.id === "randomise") { await page.keyboard.press("Enter"); break; }
    }
    await page.waitForSelector("#review:not([hidden])");
    const focused = await page.evaluate(() => document.activeElement.id);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await says(page, "Sent");
    return { focused };
  },
  async unanswered() {
    const page = await open();
    await page.getByRole("button", { name: "Randomise my answers" }).click();
    await says(page, "Please answer the question that is marked");
    return { marked: await page.locator("fieldset.wrong").count(), posts: posts().length };
  },
  async language() {
    const page = await open("/?lang=de");
    return { lang: await page.getAttribute("html", "lang"), button: await page.textContent("#randomise") };
  },
  // A questionnaire that does not keep its promise is not asked.
  async forged() {
    await context.route("**/api/study", async (route) => {
      const study = await (await route.fetch()).json();
      const content = JSON.parse(study.questionnaire);
      content.title = "Another";
      await route.fulfill({ json: { ...study, questionnaire: JSON.stringify(content) } });
    });
    const page = await context.newPage();
    await page.goto(address);
    await says(page, "Nothing is sent.");
    return { asked: await page.locator("fieldset").count(), posts: posts().length };
  },
  async invited(path = "/") {
    const page = await open(path);
    await answer(page);
    await page.getByRole("button", { name: "Send" }).click();
    await says(page, "This survey needs an invitation code");
    await page.getByLabel("Your invitation code").fill(link);
    await page.getByRole("button", { name: "Send" }).click();
    await says(page, "Sent");
    return { posts: posts().length };
  },
  // A code in the link that is no address must not be a dead end.
  garbled: () => flows.invited("/#%E0%A4%A"),
  // The analyst's link, followed from a page of another site, as from a mail.
  async mail() {
    const page = await context.newPage();
    await page.setContent(`<a href="${address}${link}">results</a>`);
    await page.click("a");
    await page.waitForURL(`${address}/analyst`);
    return { head: await page.textContent("body") };
  },
  // axe-core on all pages at three widths, with pictures.
  async axe() {
    const source = readFileSync(`${modules}/axe-core/axe.min.js`, "utf8");
    const found = [];
    const look = async (page, name) => {
      for (const width of [360, 768, 1280]) {
        await page.setViewportSize({ width, height: 900 });
        const result = await page.evaluate(`(() => { ${source}; return axe.run(); })()`);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
        found.push(...result.violations.filter(({ impact }) => ["serious", "critical"].includes(impact)).map(({ id, nodes }) => [name, width, id, nodes[0].html]));
        if (wide) found.push([name, width, "wider than the screen"]);
        if (picture) await page.screenshot({ path: `${picture}/${name}-${width}.png`, fullPage: true });
      }
    };
    const page = await open();
    await look(page, "form");
    await answer(page);
    await look(page, "review");
    await page.getByRole("button", { name: "Send" }).click();
    await says(page, "Sent");
    await look(page, "sent");
    await page.goto(address + link);
    await look(page, "analyst");
    return { found };
  },
  // Many devices: the page's own parts draw a report each, from a storage of their own.
  async many() {
    const page = await open();
    const counts = await page.evaluate(async ([number]) => {
      const { loadQuestionnaire, Respondent } = await import("/files/randomiser.js");
      const study = await (await fetch("/api/study")).json();
      const asked = await loadQuestionnaire(study.questionnaire);
      const answers = Object.fromEntries(asked.questions.map(({ name, answers: own }) => [name, own[0].value]));
      const counts = {};
      for (let i = 0; i < number; i += 1) {
        const kept = new Map();
        const storage = { read: async (key) => kept.get(key), remember: async (key, text) => { if (!kept.has(key)) kept.set(key, text); return kept.get(key); } };
        const reports = await new Respondent(storage).reports(answers, asked);
        const key = JSON.stringify(asked.questions.map(({ name }) => reports[name] ?? null));
        counts[key] = (counts[key] ?? 0) + 1;
      }
      return counts;
    }, [Number(link)]);
    return { counts };
  },
};

try {
  const found = await flows[flow]();
  const elsewhere = requests.map(([, url]) => url).filter((url) => !url.startsWith(address));
  console.log(JSON.stringify({ ...found, elsewhere, problems, requests: requests.length }));
} finally {
  await context.unrouteAll({ behavior: "ignoreErrors" }); // the service worker may still be fetching
  await browser.close();
}
