"use strict";
// Tables of what the timeline shows: for readers who want numbers, and for those who cannot see a picture.

// table makes a table that its reader can sort. Columns are {head, cell(row), text(value), number, long}. options.order
// is where the reader's order stays for the next table in its place.
function table(caption, columns, rows, options = {}) {
  const body = make("tbody");
  const fill = () => {
    const most = options.most || 200;
    body.replaceChildren(...rows.slice(0, most).map((row) => make("tr", options.row ? options.row(row) : {}, ...columns.map((c, i) => {
      const value = c.cell(row), shown = c.text ? c.text(value, row) : value;
      return make(i === 0 ? "th" : "td", { scope: i === 0 ? "row" : null, class: c.number ? "n" : c.long ? "long" : null }, shown instanceof Node ? shown : String(shown ?? ""));
    }))));
    if (rows.length > most) body.append(make("tr", {}, make("td", { colspan: columns.length }, `and ${rows.length - most} more`)));
  };
  const order = options.order || {};
  const sort = () => {
    columns.forEach((c, i) => (c.head === order.head ? heads[i].setAttribute("aria-sort", order.down ? "descending" : "ascending") : heads[i].removeAttribute("aria-sort")));
    const by = columns.find((c) => c.head === order.head), down = order.down ? -1 : 1;
    if (by) rows.sort((a, b) => { const x = by.cell(a), y = by.cell(b); return (x < y ? -1 : x > y ? 1 : 0) * down; });
    fill();
  };
  const heads = columns.map((c) => {
    const head = make("th", { scope: "col", class: c.number ? "n" : null });
    head.append(make("button", { type: "button", "data-key": `${caption}/${c.head}`, onclick: () => {
      Object.assign(order, { head: c.head, down: !(order.head === c.head && order.down) });
      sort();
    } }, c.head));
    return head;
  });
  sort();
  return make("div", { class: "table", tabindex: "0", "data-key": caption, role: "region", "aria-label": caption },
    make("table", {}, make("caption", {}, caption), make("thead", {}, make("tr", {}, ...heads)), body));
}

const percent = (x) => (Number.isFinite(x) ? `${(100 * x).toFixed(x < 0.0995 ? 1 : 0)} %` : "");

// tally counts attempts and adds up machine time by a key of the attempt.
function tally(store, groups, key) {
  const all = Array.from({ length: groups }, () => ({ attempts: 0, clones: 0, won: 0, clonesWon: 0, failed: 0, fruitful: 0, fruitless: 0, running: 0, stragglers: 0, first: Infinity, last: 0 }));
  for (let i = 0; i < store.n; i++) {
    const t = all[key(i)], end = store.end[i], seconds = store.stop[i] - store.launched[i];
    if (end === REFUSED) continue;
    t.attempts++;
    t.clones += store.clone[i];
    if (store.look[i] >> 1 === 1) t.stragglers++;
    if (end === WON) { t.won++; t.fruitful += seconds; t.clonesWon += store.clone[i]; } else if (end === RUNNING) t.running++; else t.fruitless += seconds;
    if (end === FAILED || end === CRASHED) t.failed++;
    t.first = Math.min(t.first, store.launched[i]);
    t.last = Math.max(t.last, store.stop[i]);
  }
  return all;
}

const COUNTS = [
  { head: "attempts", cell: (r) => r.attempts, number: true },
  { head: "stragglers", cell: (r) => r.stragglers, number: true },
  { head: "clones", cell: (r) => r.clones, number: true },
  { head: "clones that won", cell: (r) => r.clonesWon, number: true },
  { head: "failed or crashed", cell: (r) => r.failed, number: true },
  { head: "fruitful", cell: (r) => r.fruitful, text: sayTime, number: true },
  { head: "fruitless", cell: (r) => r.fruitless, text: sayTime, number: true },
  { head: "fruitless share", cell: (r) => r.fruitless / (r.fruitful + r.fruitless || NaN), text: percent, number: true },
];

// jobTables returns the tables of jobs, of names that several jobs share, and of stages.
function jobTables(store) {
  const jobs = tally(store, store.jobs.length, (i) => store.job[i]).map((t, i) => {
    const j = store.jobs[i], row = { ...t, name: j.name, id: j.id, state: j.state, tasks: j.tasks, done: j.done, flow: (j.ended ?? store.until) - j.submitted };
    if (j.ended !== undefined && j.fruitful + j.fruitless > 0) Object.assign(row, { fruitful: j.fruitful, fruitless: j.fruitless }); // the core knows whose saved work was used
    return row;
  });
  const stages = tally(store, store.stages.length, (i) => store.stage[i]).map((t, i) => ({ ...t, name: store.stages[i].name, job: store.jobs[store.stages[i].job].name, tasks: store.stages[i].tasks, span: t.attempts ? t.last - t.first : 0 }));
  const name = { head: "job", cell: (r) => r.name }, flow = { head: "flow time", cell: (r) => r.flow, text: sayTime, number: true };
  const tasks = { head: "tasks done", cell: (r) => r.done, text: (v, r) => `${v} of ${r.tasks}`, number: true };
  const all = [table("Jobs", [name, { head: "state", cell: (r) => r.state }, tasks, flow, ...COUNTS], jobs)];
  const byName = new Map();
  for (const j of jobs) {
    const sum = byName.get(j.name) ?? { name: j.name, jobs: 0, flow: 0 };
    for (const [k, v] of Object.entries(j)) if (typeof v === "number" && k !== "id" && k !== "flow") sum[k] = (sum[k] ?? 0) + v;
    sum.jobs++;
    sum.flow += j.flow;
    byName.set(j.name, sum);
  }
  if (byName.size < jobs.length) {
    all.push(table("Jobs by name", [name, { head: "jobs", cell: (r) => r.jobs, number: true }, tasks,
      { head: "mean flow time", cell: (r) => r.flow / r.jobs, text: sayTime, number: true }, ...COUNTS], [...byName.values()]));
  }
  const stage = [{ head: "stage", cell: (r) => r.name }, { head: "tasks", cell: (r) => r.tasks, number: true }, { head: "first launch to last end", cell: (r) => r.span, text: sayTime, number: true }, ...COUNTS];
  if (store.jobs.length > 1) stage.splice(1, 0, { head: "job", cell: (r) => r.job });
  all.push(table("Stages", stage, stages));
  return all;
}

// attemptTable lists the attempts that stand out: clones, stragglers and failures, the longest first.
function attemptTable(store) {
  const rows = [];
  for (let i = 0; i < store.n && rows.length < 20000; i++) if (store.look[i] > 0) rows.push(i);
  if (rows.length === 0) return [];
  rows.sort((a, b) => store.seconds(b) - store.seconds(a));
  const many = store.jobs.length > 1;
  return [table("Attempts that stand out, the longest first", [
    { head: "attempt", cell: (i) => `${many ? store.jobs[store.job[i]].name + " " : ""}${store.stages[store.stage[i]].name} ${store.task[i]}.${store.number[i]}` },
    { head: "kind", cell: (i) => (store.clone[i] ? "clone" : KINDS[store.look[i] >> 1] === "straggler" ? "straggler" : store.number[i] ? "retry" : "original") },
    { head: "end", cell: (i) => ENDS[store.end[i]] },
    { head: "launched", cell: (i) => store.launched[i], text: sayTime, number: true },
    { head: "ran", cell: (i) => store.seconds(i), text: sayTime, number: true },
    { head: "slot", cell: (i) => store.slotName(store.slot[i]) },
    { head: "why", cell: (i) => REASONS[store.words[store.reason[i]]] ?? "" },
    { head: "ended because", cell: (i) => ENDINGS[store.words[store.why[i]]] ?? "" },
  ], rows, { most: 100 })];
}
