"use strict";
// The page of a server at work. The stream of events says that something has changed; what, the page then asks, at most
// about once a second, and less often when the answers are large.

const OPEN = "v1/jobs?state=queued&state=running&state=paused&limit=500";
const OVER = "v1/jobs?state=succeeded&state=failed&state=cancelled&limit=200";
const RECENT = 900; // seconds that the timeline shows at first
const MOST = 1500000; // attempts that the page keeps; beyond them it begins anew with what the server has

class Page {
  constructor() {
    this.dirty = new Set(["ended"]);
    this.store = null;
    this.over = [];
    this.names = []; // of the history
    this.busy = false;
    this.client = new Client({
      heard: (kind) => this.touch(kind === "job" ? "ended" : "now"),
      fresh: () => { this.mark("connected"); this.again(); },
      gone: (pause) => this.mark("lost", `The server does not answer; trying again in ${sayTime(pause / 1000)}. What is shown is as of ${new Date(this.seen || Date.now()).toLocaleTimeString()}.`),
    });
    window.addEventListener("hashchange", () => this.job(true));
    setInterval(() => this.tick(), 1000);
  }

  mark(state, problem = "") {
    mark(state);
    this.lost = state !== "connected";
    complain(problem);
  }

  touch(what) {
    this.dirty.add(what);
    if (!this.busy) this.later();
  }

  // later asks soon, but not more often than about once a second, and seldom enough that most of the time is the reader's.
  later() {
    const since = performance.now() - (this.asked ?? -1e9), rest = Math.max(900, 4 * (this.cost ?? 0));
    this.timer ||= setTimeout(() => { this.timer = 0; this.update(); }, Math.max(100, rest - since));
  }

  // again begins anew: a server that was started again numbers its changes from the beginning.
  async again() {
    this.store = null;
    this.dirty.add("ended");
    await this.update();
  }

  async update() {
    if (this.busy) return;
    this.busy = true;
    const dirty = this.dirty, began = (this.asked = performance.now());
    this.dirty = new Set();
    try {
      const about = await this.client.ask("v1/server");
      const fresh = this.store === null || this.store.n > MOST;
      const times = await this.client.ask(fresh ? "v1/timeline" : `v1/timeline?since=${this.next}`);
      const open = await this.client.ask(OPEN);
      if (dirty.has("ended")) this.over = (await this.client.ask(OVER)).jobs;
      this.seen = Date.now();
      showAbout(about);
      showNow(open.jobs, this.seen / 1000, about.running >= Object.values(about.slots).reduce((x, y) => x + y, 0), (j, what) => this.order(j, what));
      showEnded(this.over);
      if (dirty.has("ended") && !(began - this.lookedBack < 10000)) await this.lookBack(began);
      showPromises(this.over, this.account);
      showHistory(this.names);
      showWhatIf(this.client, [...new Set([...this.names, ...this.over].map((j) => j.name))], about.policy);
      if (times) this.draw(times, fresh);
      await this.job(false);
      if (!this.lost) complain("");
    } catch (e) {
      if (!this.lost) complain(e.message);
      if (!this.lost) console.error(e.stack);
    }
    this.cost = performance.now() - began;
    this.busy = false;
    if (this.dirty.size) this.later();
  }

  // lookBack asks for the history. A server without one says so, and the page does without.
  async lookBack(now) {
    this.lookedBack = now;
    this.account = await this.client.ask("v1/calibration").catch(() => null);
    this.names = (await this.client.ask("v1/history").catch(() => null))?.names ?? [];
  }

  draw(times, fresh) {
    if (fresh) this.store = new Store();
    if (!this.store) return; // the server came back while it was asked
    this.store.add(times);
    this.next = times.next ?? 0;
    if (!this.view) this.view = window.view = new TimelineView(section("timeline"), this.store);
    else if (fresh) { this.view.store = this.store; this.view.choose(-1); }
    this.view.tell();
    if (fresh) this.view.latest(RECENT);
    showRunning(this.store);
    showSpent(this.store);
  }

  // tick lets what runs grow between answers.
  tick() {
    if (!this.store || this.lost || !this.store.running.size || document.hidden) return;
    this.store.grow((this.now() - this.store.started) / 1000);
    this.view.grown();
    if (!this.busy) this.touch("now");
  }

  // now is the server's clock, as far as this one agrees with it.
  now() {
    const answered = this.store.started + this.store.until * 1000;
    return Math.max(answered, Date.now());
  }

  async order(j, what) {
    try {
      await this.client.ask(`v1/jobs/${j.id}/${what}`, "POST");
      this.touch("ended");
    } catch (e) {
      complain(`${j.name}: ${e.message}`);
    }
  }

  // job shows the job that the address names.
  async job(moved) {
    const id = /^#job\/(.+)$/.exec(location.hash)?.[1], root = section("job");
    root.hidden = !id;
    if (!id || !this.store || this.shown === id) return;
    const over = await showJob(this.client, this.store, encodeURIComponent(decodeURIComponent(id)), () => { location.hash = ""; root.hidden = true; });
    this.shown = over ? id : null; // nothing of it changes any more
    if (moved) root.focus();
  }
}

window.page = new Page();
