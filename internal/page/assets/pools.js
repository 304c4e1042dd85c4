"use strict";
// The page of the pools of a cluster. It asks for all of them about once a second while somebody looks, and shows one
// in full: that which the address names, or else the only one.

const EVERY = 1000; // milliseconds between an answer and the next question

class PoolsPage {
  constructor() {
    this.client = new Client();
    this.orders = { pools: {}, parts: {}, jobs: {}, turns: {} }; // in which the reader wants the tables
    window.addEventListener("hashchange", () => this.show(true));
    this.watch();
  }

  async watch() {
    try {
      if (!document.hidden) await this.update();
    } finally {
      setTimeout(() => this.watch(), EVERY);
    }
  }

  async update() {
    try {
      this.now = await this.client.ask("v1/pools");
    } catch (e) {
      const seen = this.now ? ` (Shown is what there was at ${clockTime(this.now.at)}.)` : "";
      mark("lost");
      complain((e instanceof TypeError ? "The page's program does not answer. Start it again, and open the address that it prints: kubectl tailcut page" : e.message) + seen);
      return;
    }
    mark("connected");
    complain("");
    this.show(false);
  }

  show(moved) {
    if (!this.now) return;
    const pools = this.now.pools, named = /^#pool\/(.+)$/.exec(location.hash)?.[1], root = section("pool");
    const name = named ?? (pools.length === 1 ? pools[0].name : "");
    say("about", `Context ${this.now.context}. As of ${clockTime(this.now.at)}.`);
    const waiting = pools.reduce((n, p) => n + p.waiting, 0);
    document.title = `${waiting ? `${waiting} waiting · ` : ""}Tailcut pools`;
    showPools(pools, name, this.orders);
    root.hidden = name === "";
    if (name) showPool(name, pools.find((p) => p.name === name), Boolean(named), this.orders);
    if (moved && name) root.focus();
  }
}

const clockTime = (text) => instant(text).toLocaleTimeString();

// used says and shows how much of a pool has been given out.
const used = (p) => meter(Math.min(p.used, p.total), p.total, p.says);

// decides names the policy of a pool; of several the one that decides, too.
const decides = (p) => (p.decides ? `${p.decides} (of ${p.policy})` : p.policy);

// starts says whether a pool starts pods.
const starts = (p) => (p.ready ? "ready" : p.ready === false ? "starts nothing" : "no controller has seen it");

function showPools(pools, open, orders) {
  const columns = [
    { head: "pool", cell: (p) => p.name, text: (v) => make("a", { href: `#pool/${v}`, "data-key": `link${v}` }, v) },
    { head: "used", cell: (p) => p.used / p.total, text: (_, p) => used(p) },
    { head: "jobs", cell: (p) => p.jobs, number: true }, { head: "waiting", cell: (p) => p.waiting, number: true },
    { head: "policy", cell: decides }, { head: "state", cell: starts },
  ];
  const row = (p) => ({ "aria-current": p.name === open ? "true" : null });
  put("pools", JSON.stringify([open, pools.map((p) => columns.map((c) => [c.cell(p), p.says]))]),
    pools.length ? table("Pools", columns, pools.slice(), { order: orders.pools, row }) : make("p", {}, "The cluster has no pools. A SlotPool makes one: kubectl explain slotpool.spec"));
}

// showPool shows one pool: who has its slots, who waits and why, and which policy decided when.
function showPool(name, p, named, orders) {
  const close = named ? [make("button", { type: "button", "data-key": "close", onclick: () => { location.hash = ""; } }, "Close")] : [];
  const title = make("h2", {}, `Pool ${name} `, ...close);
  if (!p) {
    put("pool", `none ${name}`, title, make("p", {}, `There is no pool ${name}.`));
    return;
  }
  const parts = [title, make("dl", { class: "sums" }, ...sums([["used", p.says], ["pods", p.pods], ["clones", p.clones], ["jobs", p.jobs], ["waiting", p.waiting], ["policy", decides(p)]]))];
  if (!p.ready) parts.push(make("p", { class: "problem" }, p.ready === false ? `The pool starts nothing: ${p.message}` : "No controller has seen the pool. Is tailcut-controller installed?"));
  for (const [title, head, all] of [["Zones", "zone", p.zones], ["Classes", "class", p.classes]]) {
    if (all) parts.push(table(title, [{ head, cell: (x) => x.name }, { head: "used", cell: (x) => x.used / x.slots, text: (_, x) => meter(x.used, x.slots, `${x.used} of ${x.slots} slots`) }], all.slice(), { order: orders.parts }));
  }
  parts.push(...jobsOf(p, orders.jobs));
  if (p.turns) {
    parts.push(table("Which policy decided", [{ head: "policy", cell: (t) => t.policy }, { head: "since", cell: (t) => t.since, text: (v) => instant(v).toLocaleString() }], p.turns.slice().reverse(), { order: orders.turns, most: 10 }));
    if (p.portfolio) parts.push(make("p", { class: "faint" }, p.portfolio));
  }
  put("pool", JSON.stringify([p, named]), ...parts);
}

function jobsOf(p, order) {
  if (!p.members.length) return [make("p", {}, p.jobs ? "The status lists no Job yet." : "No Job is in the pool.")];
  const columns = [
    { head: "job", cell: (m) => m.name }, { head: "namespace", cell: (m) => m.namespace },
    { head: "pods", cell: (m) => m.pods, number: true }, { head: "clones", cell: (m) => m.clones, number: true }, { head: "unfinished tasks", cell: (m) => m.unfinished, number: true },
    { head: "waits for", cell: (m) => m.waits || "", long: true },
  ];
  const some = p.members.length < p.jobs ? `The status lists ${p.members.length} of ${p.jobs} Jobs. ` : "";
  return [table("Jobs", columns, p.members.slice(), { order }), make("p", { class: "faint" }, `${some}Of one Job: kubectl tailcut explain job NAME -n NAMESPACE`)];
}

window.page = new PoolsPage();
