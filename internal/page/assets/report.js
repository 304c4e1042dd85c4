"use strict";
// The page of a run that is over, or that is not and was looked at once: its data is inside, compressed.

async function unpack() {
  const text = atob(document.getElementById("data").textContent), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

function sums(store) {
  const total = tally(store, 1, () => 0)[0];
  const known = store.jobs.every((j) => j.ended !== undefined && j.fruitful + j.fruitless > 0); // to the core, with saved work
  const sum = (name) => store.jobs.reduce((s, j) => s + j[name], 0);
  const { fruitful, fruitless } = known ? { fruitful: sum("fruitful"), fruitless: sum("fruitless") } : total;
  const one = store.jobs.length === 1 ? store.jobs[0] : null;
  const facts = [
    [one ? "state" : "jobs", one ? one.state : store.jobs.length], ["time", sayTime(one ? (one.ended ?? store.until) - one.submitted : store.until)],
    ["tasks done", `${sum("done")} of ${sum("tasks")}`], ["attempts", total.attempts], ["stragglers", total.stragglers], ["clones", `${total.clones}, ${total.clonesWon} won`],
    ["slots in use", `${percent((total.fruitful + total.fruitless) / (store.slots.length * store.until))} of ${store.slots.length}`],
    ["machine time", sayTime(fruitful + fruitless)], ["fruitless", `${sayTime(fruitless)}, ${percent(fruitless / (fruitful + fruitless || NaN)) || "0 %"}`],
  ];
  document.getElementById("sums").append(...facts.map(([k, v]) => make("div", {}, make("dt", {}, k), make("dd", {}, String(v)))));
}

async function main() {
  const store = new Store(), root = document.getElementById("timeline");
  try {
    store.add(await unpack());
  } catch (e) {
    document.getElementById("loading").textContent = window.DecompressionStream
      ? `The timeline in this file is damaged: ${e.message}` : "This page needs a browser of 2023 or later to unpack its data.";
    return;
  }
  document.getElementById("loading").remove();
  window.view = new TimelineView(root, store);
  sums(store);
  document.getElementById("tables").append(...jobTables(store), ...attemptTable(store));
}
main();
