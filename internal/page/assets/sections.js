"use strict";
// The parts of the server's page beside the timeline. Each is a function from what is known to what stands there.

function showAbout(a) {
  const slots = Object.entries(a.slots).map(([name, n]) => `${n}${name ? " " + name : ""}`).join(" + ");
  section("about").textContent = `Policy ${a.policy}. Jobs run as ${a.user}. ${a.draining ? "The server drains: nothing new starts. " : ""}Journal in ${a.dir}; version ${a.version}.`;
  const total = Object.values(a.slots).reduce((x, y) => x + y, 0), jobs = (s) => a.jobs[s] || 0;
  const facts = [["slots busy", `${a.running} of ${slots}`], ["in use", percent(a.running / total)], ["running", jobs("running")], ["queued", jobs("queued")], ["paused", jobs("paused")],
    ["succeeded", jobs("succeeded")], ["failed", jobs("failed")], ["cancelled", jobs("cancelled")]];
  put("sums", JSON.stringify(facts), ...sums(facts));
  document.title = `${a.running}/${total} · Tailcut`;
}

// promised says when a job that is not over will be, from now on.
function promised(j, now) {
  if (j.promised_seconds === null) return "";
  const from = instant(j.submitted).getTime() / 1000, left = (s) => Math.max(0, from + s - now);
  const between = j.promised_between ? ` (${sayTime(left(j.promised_between[0]))} to ${sayTime(left(j.promised_between[1]))})` : "";
  const late = now - from - j.promised_seconds;
  return late > 0 ? `was expected ${sayTime(late)} ago` : `in ${sayTime(left(j.promised_seconds))}${between}`;
}

const jobLink = (j) => make("a", { href: `#job/${j.id}`, "data-key": `link${j.id}` }, j.name || `job ${j.id}`);

// waits says why a job has nothing running, where the server does not say more.
function waits(j, full) {
  if (j.state === "paused") return "paused by its owner";
  if (j.running > 0 || j.done === j.tasks) return "";
  return full ? "all slots are busy with jobs that go first" : "about to start";
}

// showNow lists the jobs that are not over, what they wait for, and what may be done about them.
function showNow(jobs, now, full, order) {
  const rank = { running: 0, paused: 1, queued: 2 };
  jobs.sort((a, b) => rank[a.state] - rank[b.state] || a.id - b.id);
  const button = (j, what, text, ask) => make("button", { type: "button", "data-key": what + j.id, "aria-label": `${text} ${j.name}`, onclick: () => { if (!ask || confirm(ask)) order(j, what); } }, text);
  const columns = [
    { head: "job", cell: (j) => j.name, text: (_, j) => jobLink(j) }, { head: "id", cell: (j) => j.id, number: true },
    { head: "state", cell: (j) => j.state },
    { head: "", cell: () => "", text: (_, j) => make("span", { class: "orders" }, j.state === "paused" ? button(j, "resume", "Resume") : button(j, "pause", "Pause"), button(j, "cancel", "Cancel", `Cancel ${j.name}? Tasks that are done keep their results.`)) },
    { head: "tasks done", cell: (j) => j.done / j.tasks, text: (_, j) => meter(j.done, j.tasks, `${j.done} of ${j.tasks}`, `${j.done} of ${j.tasks} tasks done`) },
    { head: "runs", cell: (j) => j.running, number: true }, { head: "clones", cell: (j) => j.clones, number: true },
    { head: "expected end", cell: (j) => j.promised_seconds ?? Infinity, text: (_, j) => promised(j, now) },
    { head: "deadline", cell: (j) => j.deadline ?? "", text: (v) => (v ? `in ${sayTime(Math.max(0, instant(v).getTime() / 1000 - now))}` : "") },
    { head: "why", cell: (j) => j.why || waits(j, full) },
  ];
  const state = JSON.stringify(jobs.map((j) => [j.id, j.state, j.done, j.running, j.clones, j.why, promised(j, Math.round(now))]));
  put("now", state, jobs.length ? table("Jobs", columns, jobs) : make("p", {}, "No job waits or runs. Submit one: tailcut submit -- CMD"));
}

// showRunning lists what runs, and why the policy started it.
function showRunning(store) {
  const rows = [...store.running.values()].sort((a, b) => store.launched[a] - store.launched[b]);
  const columns = [
    { head: "attempt", cell: (i) => `${store.jobs[store.job[i]].name} (${store.jobs[store.job[i]].id}) ${store.stages[store.stage[i]].name} ${store.task[i]}.${store.number[i]}` },
    { head: "slot", cell: (i) => store.slotName(store.slot[i]) },
    { head: "for", cell: (i) => store.stop[i] - store.launched[i], text: sayTime, number: true },
    { head: "kind", cell: (i) => (store.clone[i] ? "clone" : KINDS[store.look[i] >> 1]) },
    { head: "why it was started", cell: (i) => REASONS[store.words[store.reason[i]]] ?? "" },
  ];
  put("running", JSON.stringify([Math.round(store.until), rows]), ...(rows.length ? [table("What runs, and why", columns, rows, { most: 40 })] : []));
}

// showEnded lists jobs that are over, and what became of their promises.
function showEnded(jobs) {
  const columns = [
    { head: "job", cell: (j) => j.name, text: (_, j) => jobLink(j) }, { head: "id", cell: (j) => j.id, number: true }, { head: "state", cell: (j) => j.state },
    { head: "ended", cell: (j) => j.ended ?? "", text: (v) => (v ? instant(v).toLocaleString() : "") },
    { head: "flow time", cell: (j) => j.flow_seconds, text: sayTime, number: true },
    { head: "promised", cell: (j) => j.promised_seconds ?? -1, text: (v) => (v < 0 ? "" : sayTime(v)), number: true },
    { head: "tasks", cell: (j) => j.tasks, number: true }, { head: "clones", cell: (j) => j.clones, number: true },
    { head: "fruitless share", cell: (j) => j.fruitless_seconds / (j.fruitful_seconds + j.fruitless_seconds || NaN), text: percent, number: true },
    { head: "why", cell: (j) => j.why },
  ];
  put("ended", JSON.stringify(jobs.map((j) => j.id)), ...(jobs.length ? [table("Jobs that are over", columns, jobs.slice())] : []));
}

// showPromises says how often promises were kept: of all jobs of the history, or else of those that the page lists.
function showPromises(jobs, account) {
  const all = jobs.filter((j) => j.state === "succeeded" && j.promised_seconds !== null);
  const judged = all.filter((j) => j.promised_between), kept = judged.filter(within).length;
  const first = account?.at_submission, parts = [];
  if (first?.promises) {
    parts.push(make("p", {}, make("strong", {}, percent(first.held_80_ratio)), ` of ${first.promises} jobs ended within the interval of 80 % that they were promised at submission (95 % confidence: ${percent(first.held_80_ci95[0])} to ${percent(first.held_80_ci95[1])}).`),
      calibrationPlot(first.points),
      make("details", {}, make("summary", {}, "The same in numbers"), table("Jobs that had ended by each promised instant", [
        { head: "probability", cell: (p) => p.level, text: percent, number: true }, { head: "ended by then", cell: (p) => p.share, text: percent, number: true }], first.points)));
  } else if (judged.length) {
    parts.push(make("p", {}, `${kept} of ${judged.length} jobs (${percent(kept / judged.length)}) ended within the interval that was to hold in 80 of 100 cases.`));
  }
  if (all.length) parts.push(promisePlot(all));
  put("promises", JSON.stringify([first, all.map((j) => j.id)]), ...(parts.length ? [make("h2", {}, "Promises"), ...parts] : []));
}

// showHistory lists what is kept of past jobs, by name.
function showHistory(names) {
  const columns = [{ head: "jobs called", cell: (n) => n.name }, { head: "jobs", cell: (n) => n.jobs, number: true }, { head: "succeeded", cell: (n) => n.succeeded, number: true },
    { head: "latest", cell: (n) => n.last ?? "", text: (v) => (v ? instant(v).toLocaleString() : "") }, { head: "mean flow time", cell: (n) => n.mean_flow_seconds, text: (v) => (v ? sayTime(v) : ""), number: true },
    { head: "attempts", cell: (n) => n.attempts, number: true }, { head: "clones", cell: (n) => n.clones, number: true }, { head: "fruitful", cell: (n) => n.fruitful_seconds, text: sayTime, number: true },
    { head: "fruitless share", cell: (n) => n.fruitless_seconds / (n.fruitful_seconds + n.fruitless_seconds || NaN), text: percent, number: true }];
  put("history", JSON.stringify(names), ...(names.length ? [table("History", columns, names.slice())] : []));
}

// showSpent says what machine time went into, by job and by name.
function showSpent(store) {
  put("spent", String(store.n) + "/" + store.running.size, make("details", {}, make("summary", {}, "Machine time by job, name and stage"), ...jobTables(store), ...attemptTable(store)));
}

// showJob shows one job: its stages, tasks and logs. It returns whether that stays so.
async function showJob(client, store, id, close) {
  const j = await client.ask(`v1/jobs/${id}`);
  if (j === null) {
    put("job", "none", make("p", {}, `There is no job ${id}.`));
    return true;
  }
  const tasks = await client.ask(`v1/jobs/${id}/tasks?limit=1000`);
  const mine = jobTables(await storeOf(client, store, j.id)).slice(-1);
  const facts = [["state", j.state], ["tasks done", `${j.done} of ${j.tasks}`], ["flow time", sayTime(j.flow_seconds)], ["attempts", j.attempts], ["clones", j.clones],
    ["fruitful", sayTime(j.fruitful_seconds)], ["fruitless", sayTime(j.fruitless_seconds)], ["priority", j.priority], ["weight", j.weight]];
  const log = make("pre", { class: "log", tabindex: "0", "aria-label": "What a task writes", hidden: true });
  const read = async (task) => {
    const text = await client.ask(`v1/jobs/${id}/logs?task=${encodeURIComponent(task)}`).catch((e) => e.message);
    log.hidden = false;
    log.textContent = text === null ? `See: tailcut logs ${j.output} ${task}` : typeof text === "string" ? text : JSON.stringify(text, null, 1);
    log.focus();
  };
  const columns = [{ head: "task", cell: (t) => `${t.stage} ${t.task}` }, { head: "state", cell: (t) => t.state }, { head: "run now", cell: (t) => t.running, number: true }, { head: "failures", cell: (t) => t.failures, number: true },
    { head: "", cell: () => "", text: (_, t) => make("button", { type: "button", "aria-label": `Log of ${t.stage} ${t.task}`, onclick: () => read(`${t.stage}/${t.task}`) }, "Log") }];
  put("job", JSON.stringify([j, tasks]), make("h2", {}, `${j.name} (job ${j.id}) `, make("button", { type: "button", onclick: close }, "Close")),
    make("dl", { class: "sums" }, ...sums(facts)),
    make("p", { class: "faint" }, `Results in ${j.output}.${j.why ? " " + j.why : ""}`), ...mine,
    ...(tasks?.tasks.length ? [table(tasks.next === null ? "Tasks" : "The first 1000 tasks", columns, tasks.tasks, { most: 1000 })] : []), log);
  return j.ended !== null;
}

// storeOf returns what one job's attempts did: as the timeline has it, or as the server still finds it.
async function storeOf(client, store, id) {
  const at = store.jobAt.get(String(id)), part = new Store();
  if (at === undefined) {
    const times = await client.ask(`v1/jobs/${id}/timeline`).catch(() => null);
    if (times) part.add(times);
    return part;
  }
  const stages = [...store.stages.keys()].filter((s) => store.stages[s].job === at), place = new Map(stages.map((s, k) => [s, k]));
  Object.assign(part, { until: store.until, jobs: [store.jobs[at]], stages: stages.map((s) => ({ ...store.stages[s], job: 0 })), slots: store.slots });
  for (let i = 0; i < store.n; i++) {
    if (store.job[i] !== at) continue;
    if (part.n === part.room) part.reserve(2 * part.room);
    for (const name of Object.keys(COLUMNS)) part[name][part.n] = store[name][i];
    part.stage[part.n] = place.get(store.stage[i]);
    part.job[part.n++] = 0;
  }
  return part;
}

// showWhatIf asks what past jobs would have taken otherwise, if the server can answer that.
function showWhatIf(client, names, policy) {
  const root = section("whatif");
  if (root.firstChild || names.length === 0) return;
  const field = (label, name, attributes) => make("label", {}, label + " ", make("input", { name, ...attributes }));
  const out = make("div", { role: "status" });
  const form = make("form", { class: "tools", onsubmit: async (e) => {
    e.preventDefault();
    const given = new FormData(form), list = (name) => String(given.get(name) || "").split(/[\s,]+(?![^(]*\))/).filter(Boolean);
    out.replaceChildren("Simulating…");
    try {
      const q = { name: given.get("name"), policies: list("policies"), slots: list("slots") };
      for (const k of ["last", "deadline"]) if (given.get(k)) q[k] = given.get(k);
      const a = await client.ask("v1/whatif", "POST", q);
      out.replaceChildren(whatIfTable(a));
    } catch (error) {
      out.replaceChildren(error.message);
    }
  } }, field("Jobs called", "name", { list: "names", required: true, value: names[0] }), make("datalist", { id: "names" }, ...names.map((n) => make("option", { value: n }))),
  field("of the last", "last", { placeholder: "30d", size: 5 }), field("under policies", "policies", { placeholder: policy }), field("on slots", "slots", { placeholder: "as many as then", size: 10 }), field("deadline", "deadline", { placeholder: "their own", size: 8 }), make("button", {}, "Simulate"));
  root.append(make("h2", {}, "What if past jobs had run otherwise?"), form, out);
}

function whatIfTable(a) {
  const pm = (v, ci) => (v === null ? "" : sayTime(v) + (ci ? ` ± ${sayTime(ci)}` : ""));
  return table(`${a.jobs} jobs, ${a.tasks} tasks, ${a.runs} repetitions`, [
    { head: "policy", cell: (c) => c.policy }, { head: "slots", cell: (c) => c.slots },
    { head: "mean flow time", cell: (c) => c.mean_flow_seconds, text: (v, c) => pm(v, c.mean_flow_ci95_seconds), number: true },
    { head: "difference", cell: (c) => c.difference_seconds, text: (v, c) => (v === null ? "" : (v < 0 ? "−" : "+") + pm(Math.abs(v), c.difference_ci95_seconds)), number: true },
    { head: "p90", cell: (c) => c.p90_flow_seconds, text: sayTime, number: true }, { head: "machine time", cell: (c) => c.machine_seconds, text: sayTime, number: true },
    { head: "fruitless", cell: (c) => c.fruitless_seconds, text: sayTime, number: true },
    { head: "deadlines met", cell: (c) => c.deadlines_met_ratio ?? NaN, text: percent, number: true },
  ], a.cases);
}
