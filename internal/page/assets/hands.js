"use strict";
// How a reader moves in the timeline, and what it says of one attempt.

// sentence says all there is to say of an attempt.
function describe(store, i) {
  const job = store.jobs[store.job[i]], stage = store.stages[store.stage[i]];
  const lines = [];
  const kind = store.clone[i] ? "clone" : store.number[i] === 0 ? "original" : "attempt";
  lines.push(`${store.jobs.length > 1 ? job.name + ", " : ""}${stage.name} task ${store.task[i]}, attempt ${store.number[i]} (${kind})`);
  const end = ENDS[store.end[i]], ran = sayTime(store.seconds(i));
  lines.push(end === "running" ? `running for ${ran}` : `${end} after ${ran}${KINDS[store.look[i] >> 1] === "straggler" ? ", a straggler" : ""}`);
  const at = new Date(store.started + store.launched[i] * 1000);
  lines.push(`launched at ${sayTime(store.launched[i])} (${at.toLocaleTimeString()}) in slot ${store.slotName(store.slot[i])}`);
  const waited = store.start[i] - store.launched[i];
  if (waited > 0.001) lines.push(`waited ${sayTime(waited)} to begin`);
  const why = REASONS[store.words[store.reason[i]]], ended = ENDINGS[store.words[store.why[i]]];
  if (why) lines.push(`why: ${why}`);
  if (ended) lines.push(`ended because ${ended}`);
  if (store.from[i] > 0) lines.push(`resumed from ${(100 * store.from[i]).toFixed(0)} % of the task, saved by an earlier attempt`);
  const of = store.originals.get(i);
  if (of !== undefined) lines.push(`clone of attempt ${store.number[of]}, ${sayTime(store.launched[i] - store.launched[of])} after its launch`);
  return lines;
}

// What policies and core give as reasons, in words.
const REASONS = {
  original: "first attempt of its task", retry: "the attempts before it ended without a result", resume: "goes on from saved work",
  straggling: "the task was slow or late", cloning: "the policy clones from the beginning", deadline: "the deadline asked for it",
  share: "its job had too few slots", replaced: "it replaces another attempt",
};
const ENDINGS = {
  "sibling-won": "another attempt of the task finished first", "stage-over": "the stage needed no more tasks", "job-over": "the job was over",
  "machine-gone": "the engine or the machine was lost", share: "its job had more than its share", replaced: "another attempt took over",
  deadline: "the deadline asked for it", straggling: "it was slow",
};

Object.assign(TimelineView.prototype, {
  listen() {
    const { canvas, scroller } = this;
    scroller.addEventListener("scroll", () => this.soon(), { passive: true });
    new ResizeObserver(() => this.resize()).observe(scroller);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.theme());
    canvas.addEventListener("wheel", (e) => this.wheel(e), { passive: false });
    canvas.addEventListener("pointerdown", (e) => this.down(e));
    canvas.addEventListener("pointermove", (e) => this.pointed(e));
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (e) => this.up(e));
    canvas.addEventListener("pointerleave", () => { this.tip.hidden = true; });
    canvas.addEventListener("dblclick", (e) => this.zoom(0.25, e.offsetX));
    canvas.addEventListener("keydown", (e) => this.key(e));
    canvas.addEventListener("blur", () => { this.tip.hidden = true; });
    this.fingers = new Map();
  },

  wheel(e) {
    if (e.ctrlKey || e.metaKey) this.zoom(Math.exp(Math.max(-60, Math.min(60, e.deltaY)) / 120), e.offsetX);
    else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) this.move(e.deltaX || e.deltaY);
    else return;
    e.preventDefault();
  },

  down(e) {
    this.fingers.set(e.pointerId, e.offsetX);
    this.dragged = 0;
    this.canvas.setPointerCapture(e.pointerId);
  },

  up(e) {
    if (this.fingers.delete(e.pointerId) && e.type === "pointerup" && this.dragged < 4 && this.fingers.size === 0) this.choose(this.attemptAt(e.offsetX, e.offsetY));
  },

  pointed(e) {
    const was = this.fingers.get(e.pointerId);
    if (was === undefined) {
      this.hover(e);
      return;
    }
    const others = [...this.fingers].filter(([id]) => id !== e.pointerId);
    this.fingers.set(e.pointerId, e.offsetX);
    this.dragged += Math.abs(e.offsetX - was);
    this.tip.hidden = true;
    if (others.length === 0) {
      this.move(was - e.offsetX);
    } else { // two fingers: the distance between them is the zoom
      const other = others[0][1], before = Math.abs(was - other), now = Math.abs(e.offsetX - other);
      if (before > 8 && now > 8) this.zoom(before / now, (other + e.offsetX) / 2);
    }
  },

  // attemptAt returns the attempt at a place, -1 if there is none.
  attemptAt(x, y) {
    const lane = Math.floor((y - AXIS + this.scroller.scrollTop) / this.lane);
    if (x < this.gutter || y < AXIS || lane < 0 || lane >= this.lanes.length) return -1;
    const near = 2 * (this.to - this.from) / this.width, t = this.time(x);
    const k = this.lanes.seen(lane, t - near);
    return k < this.lanes.at[lane + 1] && this.lanes.begin[k] <= t + near ? this.lanes.order[k] : -1;
  },

  hover(e) {
    const i = this.attemptAt(e.offsetX, e.offsetY);
    this.canvas.style.cursor = i < 0 ? "grab" : "pointer";
    if (i < 0) this.tip.hidden = true; else this.showTip(i, e.clientX, e.clientY);
  },

  showTip(i, x, y) {
    const [first, ...rest] = describe(this.store, i);
    this.tip.replaceChildren(make("strong", {}, first), ...rest.map((line) => make("div", {}, line)));
    this.tip.hidden = false;
    const { offsetWidth: w, offsetHeight: h } = this.tip;
    this.tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - w - 8)) + "px";
    this.tip.style.top = (y + 18 + h > innerHeight ? Math.max(4, y - h - 12) : y + 18) + "px";
  },

  // choose marks an attempt and says what it is, for those who cannot see it too.
  choose(i) {
    this.chosen = i;
    this.said.textContent = i < 0 ? "" : describe(this.store, i).join("; ") + ".";
    this.chose?.(i);
    this.soon();
  },

  // visit chooses an attempt and brings it into sight.
  visit(k) {
    const { lanes } = this, i = lanes.order[k], lane = lanes.laneOf(k), length = this.to - this.from;
    if (lanes.end[k] < this.from || lanes.begin[k] > this.to) {
      this.follow = false;
      this.look(lanes.begin[k] - length / 3, lanes.begin[k] + (2 * length) / 3);
    }
    const top = lane * this.lane, seen = this.height - AXIS;
    if (top < this.scroller.scrollTop) this.scroller.scrollTop = top;
    if (top + this.lane > this.scroller.scrollTop + seen) this.scroller.scrollTop = top + this.lane - seen;
    this.choose(i);
    const box = this.canvas.getBoundingClientRect(), x = Math.min(Math.max(this.x(lanes.begin[k]), this.gutter), box.width);
    this.showTip(i, box.left + x, box.top + this.laneY(lane) + this.lane);
  },

  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const steps = {
      ArrowLeft: () => this.move(-this.width / 8), ArrowRight: () => this.move(this.width / 8), "+": () => this.zoom(0.5), "=": () => this.zoom(0.5),
      "-": () => this.zoom(2), 0: () => this.all(), Home: () => this.look(this.begin(), this.begin() + this.to - this.from), End: () => this.look(this.end(), this.end() + this.to - this.from),
      n: () => this.step(1), p: () => this.step(-1), c: () => this.nextClone(), ArrowUp: () => this.other(-1), ArrowDown: () => this.other(1),
      Escape: () => { this.tip.hidden = true; this.choose(-1); },
    };
    const step = steps[e.key.length === 1 ? e.key.toLowerCase() : e.key];
    if (!step || this.lanes.order.length === 0) return;
    e.preventDefault();
    this.tip.hidden = true;
    step();
  },

  // step goes to the next attempt of the lane, or to the first that is in sight.
  step(by) {
    const k = this.lanes.of(this.chosen);
    if (k >= 0) this.visit(Math.max(0, Math.min(this.lanes.order.length - 1, k + by)));
    else this.visit(Math.min(this.lanes.seen(0, this.from), this.lanes.order.length - 1));
  },

  // other goes to the attempt of the lane above or below that runs at the same time.
  other(by) {
    const k = this.lanes.of(this.chosen);
    if (k < 0) return this.step(1);
    const lane = Math.max(0, Math.min(this.lanes.length - 1, this.lanes.laneOf(k) + by));
    this.visit(Math.min(this.lanes.seen(lane, this.lanes.begin[k]), this.lanes.at[lane + 1] - 1));
  },

  // nextClone goes to the clone that was launched next.
  nextClone() {
    const { store, lanes } = this, after = this.chosen < 0 ? -1 : store.launched[this.chosen];
    let best = -1;
    for (let k = 0; k < lanes.order.length; k++) {
      const i = lanes.order[k];
      const later = store.launched[i] > after || (store.launched[i] === after && i > this.chosen);
      if (store.clone[i] && later && (best < 0 || store.launched[i] < store.launched[lanes.order[best]])) best = k;
    }
    if (best >= 0) this.visit(best);
  },
});
