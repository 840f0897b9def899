// Keeps the page and the questionnaire on the device, so that a reload works without a network. What the collector serves
// goes first; reports are never kept here.

const CACHE = "extremal page";
const KEPT = ["/", "/api/study", "/files/page.js", "/files/randomiser.js", "/files/form.js", "/files/page.css", "/files/form.css", "/files/languages.json"];

addEventListener("install", (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(KEPT)).then(() => skipWaiting()));
});
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("fetch", (event) => {
  const { pathname } = new URL(event.request.url);
  if (event.request.method !== "GET" || !KEPT.includes(pathname)) return;
  const kept = async () => (await caches.open(CACHE)).match(pathname);
  event.respondWith(fetch(event.request).then(async (found) => {
    if (found.ok) (await caches.open(CACHE)).put(pathname, found.clone());
    return found.ok ? found : (await kept()) ?? found;
  }).catch(async () => (await kept()) ?? Response.error()));
});
