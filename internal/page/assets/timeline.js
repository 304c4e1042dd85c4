"use strict";
// The picture: lanes of attempts over time, painted pixel by pixel so that a million attempts are as cheap as what can
// be seen of them. Who looks at it moves by mouse, fingers or keys.

const AXIS = 24; // height of the axis, in CSS pixels
const TALL = 22, FLAT = 6; // heights of lanes
const WIDE = 2.5; // device pixels from which on an attempt is drawn by itself
const FEW = 16; // attempts of a pixel that are looked at one by one
const BAD = KINDS.indexOf("failed"); // kinds from which on something went wrong

class TimelineView {
  constructor(root, store) {
    this.store = store;
    this.mode = "slot";
    this.filter = {};
    this.from = 0;
    this.to = 1;
    this.follow = true; // the end of time stays in sight
    this.chosen = -1; // an attempt
    this.stats = { frames: [] };
    this.build(root);
    this.listen();
    this.theme();
    this.refresh();
    this.all();
  }

  build(root) {
    this.legend = make("ul", { class: "legend", "aria-label": "Colours" });
    this.canvas = make("canvas", {
      tabindex: "0", role: "img", "aria-label": "Timeline of attempts; the tables below say the same",
      "aria-describedby": "timeline-keys",
    });
    this.tip = make("div", { class: "tip", hidden: true });
    this.spacer = make("div", { class: "spacer" });
    this.scroller = make("div", { class: "lanes" }, this.spacer);
    this.spacer.append(this.canvas);
    this.said = make("p", { class: "said", role: "status", "aria-live": "polite" });
    const keys = make("p", { class: "keys", id: "timeline-keys" });
    keys.textContent = "Drag or ← → to move, Ctrl+wheel, pinch or + − to zoom, 0 to see all, N and P for the next and the previous attempt, ↑ ↓ for other lanes, C for the next clone.";
    this.bar = this.tools();
    root.append(this.bar, this.legend, this.scroller, this.said, keys, this.tip);
    this.paint2d = this.canvas.getContext("2d");
  }

  tools() {
    const select = (name, label, options) => {
      const s = make("select", { name, onchange: () => { this.filter[name] = s.value; this.refresh(); } }, ...options.map(([v, text]) => make("option", { value: v }, text)));
      return make("label", {}, label + " ", s);
    };
    const lanes = make("select", { name: "lanes", onchange: () => { this.mode = lanes.value; this.scroller.scrollTop = 0; this.refresh(); } },
      ...[["slot", "slots"], ["stage", "stages"], ["job", "jobs"]].map(([v, text]) => make("option", { value: v }, text)));
    this.selects = { job: select("job", "Job", [["", "all"]]), stage: select("stage", "Stage", [["", "all"]]), machine: select("machine", "Machine", [["", "all"]]) };
    const button = (text, title, onclick) => make("button", { type: "button", title, "aria-label": title, onclick }, text);
    return make("form", { class: "tools", onsubmit: (e) => e.preventDefault() },
      make("label", {}, "Lanes ", lanes), ...Object.values(this.selects),
      select("end", "Show", [["", "all attempts"], ["clones", "clones and their originals"], ["stragglers", "stragglers"], ["unused", "results not used"], ["failed", "failed or crashed"], ["resumed", "resumed work"], ["running", "running"]]),
      make("span", { class: "zoom" }, button("−", "Zoom out", () => this.zoom(2)), button("+", "Zoom in", () => this.zoom(0.5)), button("All", "Show all of the time", () => this.all())));
  }

  // options fills the filters with what there is.
  options() {
    const fill = (label, entries) => {
      const s = label.querySelector("select"), was = s.value;
      label.hidden = entries.length < 2;
      if (s.options.length === entries.length + 1) return;
      s.replaceChildren(make("option", { value: "" }, "all"), ...entries.slice(0, 2000).map(([v, text]) => make("option", { value: v }, text)));
      s.value = was;
    };
    const { jobs, stages, slots } = this.store;
    fill(this.selects.job, jobs.map((j, i) => [i, jobs.length > 1 ? `${j.name} (${j.id})` : j.name]));
    const names = [...new Set(stages.map((s) => s.name))];
    fill(this.selects.stage, names.map((n) => [n, n]));
    const machines = [...new Set(slots.map((s) => s.site ? `${s.site}/${s.machine}` : s.machine))];
    fill(this.selects.machine, machines.map((m) => [m, m || "this machine"]));
  }

  // passes returns what the filters let through, null for everything.
  passes() {
    const { store } = this, { job, stage, machine, end } = this.filter, tests = [];
    if (job) tests.push((i) => store.job[i] === Number(job));
    if (stage) tests.push((i) => store.stages[store.stage[i]].name === stage);
    if (machine) {
      const mine = store.slots.map((s) => (s.site ? `${s.site}/${s.machine}` : s.machine) === machine);
      tests.push((i) => mine[store.slot[i]]);
    }
    const originals = end === "clones" ? new Set(store.originals.values()) : null;
    const kinds = {
      clones: (i) => store.clone[i] || originals.has(i), stragglers: (i) => store.look[i] >> 1 === 1, unused: (i) => store.end[i] > WON,
      failed: (i) => store.end[i] === FAILED || store.end[i] === CRASHED || store.end[i] === REFUSED,
      resumed: (i) => store.from[i] > 0, running: (i) => store.end[i] === RUNNING,
    };
    if (end) tests.push(kinds[end]);
    if (tests.length === 0) return null;
    return tests.length === 1 ? tests[0] : (i) => tests.every((t) => t(i));
  }

  // refresh takes in what is new in the store, and the filters.
  refresh() {
    this.options();
    this.lanes = new Lanes(this.store, this.mode, this.passes());
    this.legends();
    this.resize();
  }

  // tell says that there is more in the store; what is looked at stays where it is.
  tell() {
    this.refresh();
    if (this.follow) this.keepUp();
  }

  // keepUp keeps the end of time in sight, and the beginning if that is.
  keepUp() {
    if (this.whole) this.all();
    else this.look(this.end() - (this.to - this.from), this.end());
  }

  // grown says that what runs has run on: its bars become longer, and nothing else changes.
  grown() {
    const { store, lanes } = this;
    for (let l = 0; l < lanes.length; l++) {
      const last = lanes.at[l + 1] - 1;
      if (last >= lanes.at[l] && store.end[lanes.order[last]] === RUNNING) lanes.end[last] = store.stop[lanes.order[last]];
    }
    if (this.follow) this.keepUp(); else this.soon();
  }

  end() { return this.store.until + Math.max(1e-3, 0.002 * (this.store.until - this.begin())); }

  // begin is when the first attempt was launched, which for a server can be long after its own beginning.
  begin() {
    const first = this.store.first();
    return first > 0.05 * this.store.until ? first : 0;
  }

  all() {
    this.follow = true;
    this.look(this.begin(), this.end());
  }

  // latest shows the last span of so many seconds, and follows the time.
  latest(seconds) {
    this.follow = true;
    this.look(Math.max(this.begin(), this.end() - seconds), this.end());
  }

  // look shows a span of time, as far as there is any.
  look(from, to) {
    const begin = this.begin(), end = this.end(), length = Math.min(Math.max(to - from, 1e-6), end - begin);
    this.from = Math.max(begin, Math.min(from, end - length));
    this.to = this.from + length;
    this.whole = length === end - begin;
    this.soon();
  }

  zoom(by, x = this.gutter + this.width / 2) {
    const t = this.time(x);
    this.follow = false;
    this.look(t - (t - this.from) * by, t + (this.to - t) * by);
  }

  move(pixels) {
    const t = (pixels / this.width) * (this.to - this.from);
    this.follow = false;
    this.look(this.from + t, this.to + t);
  }

  time(x) { return this.from + ((x - this.gutter) / this.width) * (this.to - this.from); }
  x(t) { return this.gutter + ((t - this.from) / (this.to - this.from)) * this.width; }

  soon() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      const began = performance.now();
      this.draw();
      const frames = this.stats.frames;
      frames.push(performance.now() - began);
      if (frames.length > 600) frames.shift();
      this.stats.firstDraw ??= performance.now();
    });
  }

  theme() {
    const css = getComputedStyle(document.documentElement), value = (name) => css.getPropertyValue(name).trim();
    const probe = document.createElement("canvas").getContext("2d");
    const rgb = (color) => {
      probe.fillStyle = color;
      const n = parseInt(probe.fillStyle.slice(1), 16);
      return [n >> 16, (n >> 8) & 255, n & 255];
    };
    this.paper = rgb(value("--lane"));
    this.ink = value("--ink");
    this.faint = value("--faint");
    this.border = value("--line");
    this.colors = KINDS.map((k) => rgb(value("--" + k)));
    this.wait = rgb(value("--wait"));
    const mix = (a, b, share) => a.map((v, i) => Math.round(v * share + b[i] * (1 - share)));
    this.solid = []; // by look: colours as a pixel holds them
    this.light = [];
    this.edge = [];
    this.blend = []; // by look: what many of them look like from far away
    for (let look = 0; look < LOOKS; look++) {
      const c = this.colors[look >> 1];
      this.solid.push(pixel(c));
      this.light.push(pixel(mix(c, this.paper, look & 1 ? 0.18 : 1)));
      this.edge.push(pixel(mix(c, this.ink.startsWith("#f") || this.ink.startsWith("#e") ? [255, 255, 255] : [0, 0, 0], 0.62)));
      this.blend.push(look & 1 ? mix(c, this.paper, 0.5) : c);
    }
    this.far = this.blend.map(pixel);
    this.soon();
  }

  resize() {
    const wide = this.scroller.clientWidth || 600;
    this.ratio = window.devicePixelRatio || 1;
    this.gutter = wide < 560 ? 56 : 120;
    this.width = Math.max(50, wide - this.gutter);
    const most = Math.max(160, Math.min(640, window.innerHeight * 0.62)) - AXIS;
    this.lane = Math.max(FLAT, Math.min(TALL, Math.floor(most / Math.max(1, this.lanes.length))));
    const full = this.lane * this.lanes.length + AXIS + 2;
    this.height = Math.min(full, most + AXIS);
    this.scroller.style.height = this.height + "px";
    this.spacer.style.height = full + "px";
    this.canvas.style.width = wide + "px";
    this.canvas.style.height = this.height + "px";
    const w = Math.round(wide * this.ratio), h = Math.round(this.height * this.ratio);
    if (this.canvas.width !== w || this.canvas.height !== h) [this.canvas.width, this.canvas.height] = [w, h];
    this.soon();
  }

  draw() {
    const { paint2d: g, ratio } = this, rect = this.canvas.width;
    g.setTransform(1, 0, 0, 1, 0, 0);
    g.clearRect(0, 0, rect, this.canvas.height);
    const left = Math.round(this.gutter * ratio), top = Math.round(AXIS * ratio);
    const w = rect - left, h = this.canvas.height - top;
    if (w < 1 || h < 1) return;
    if (!this.image || this.image.width !== w || this.image.height !== h) {
      this.image = g.createImageData(w, h);
      this.pixels = new Uint32Array(this.image.data.buffer);
    }
    this.pixels.fill(0);
    const lane = this.lane * ratio, scroll = this.scroller.scrollTop * ratio;
    const first = Math.max(0, Math.floor(scroll / lane)), last = Math.min(this.lanes.length, Math.ceil((scroll + h) / lane));
    this.labels = []; // attempts that are wide enough for a number
    this.links = []; // clones and originals that can be seen one by one
    for (let l = first; l < last; l++) {
      const rows = paintLane(this, l, w);
      const y0 = Math.round(l * lane - scroll), y1 = Math.round((l + 1) * lane - scroll) - Math.max(1, Math.round(ratio * (this.lane > 9 ? 2 : 1)));
      for (let y = Math.max(0, y0); y < Math.min(h, y1); y++) {
        this.pixels.set(rows[y & 3], y * w);
      }
      for (const [x0, x1, color] of this.marks) { // of failures that are too small to be seen otherwise
        for (let y = Math.max(0, y1 - Math.max(2, Math.round((y1 - y0) / 5))); y < Math.min(h, y1); y++) this.pixels.fill(color, y * w + x0, y * w + x1);
      }
    }
    g.putImageData(this.image, left, top);
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.drawAxis(g);
    this.drawNames(g, first, last);
    this.drawNumbers(g);
    this.drawLinks(g);
    this.drawChosen(g);
  }

  laneY(lane) { return AXIS + lane * this.lane - this.scroller.scrollTop; }

  drawAxis(g) {
    const span = this.to - this.from, many = Math.max(2, this.width / 110);
    let step = 10 ** Math.floor(Math.log10(span / many));
    for (const f of [1, 2, 5, 10]) if (span / (step * f) <= many) { step *= f; break; }
    if (step > 10) step = [15, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 43200].find((s) => span / s <= many) || Math.ceil(span / many / 86400) * 86400;
    g.font = "11px system-ui, sans-serif";
    g.textBaseline = "middle";
    g.textAlign = "center";
    g.strokeStyle = this.border;
    g.fillStyle = this.ink;
    g.beginPath();
    for (let k = Math.ceil(this.from / step); k * step <= this.to; k++) {
      const x = Math.round(this.x(k * step)) + 0.5;
      g.moveTo(x, AXIS - 5);
      g.lineTo(x, this.height);
      const text = tickText(k * step, step), half = g.measureText(text).width / 2;
      if (x - half >= this.gutter - 20 && x + half <= this.gutter + this.width) g.fillText(text, x, AXIS / 2 - 1);
    }
    g.globalAlpha = 0.35;
    g.stroke();
    g.globalAlpha = 1;
  }

  drawNames(g, first, last) {
    g.textAlign = "left";
    g.fillStyle = this.ink;
    g.save();
    g.beginPath();
    g.rect(0, AXIS, this.gutter - 6, this.height - AXIS);
    g.clip();
    let free = -Infinity;
    for (let l = first; l < last; l++) {
      const y = this.laneY(l) + this.lane / 2 - 1;
      const name = this.lanes.name(l);
      if (name === "" || y < free) continue;
      g.fillText(name, 4, y);
      free = y + 13;
    }
    g.restore();
  }

  // drawNumbers writes tasks' numbers where they fit.
  drawNumbers(g) {
    if (this.lane < 14) return;
    g.font = "10px system-ui, sans-serif";
    g.textAlign = "left";
    for (const [lane, from, to, k] of this.labels) {
      const look = this.lanes.look[k];
      const text = String(this.store.task[this.lanes.order[k]]), x = Math.max(this.gutter + from / this.ratio, this.gutter) + 3;
      if ((to - from) / this.ratio < 7 * text.length + 6) continue;
      g.fillStyle = look & 1 ? this.ink : "#000";
      g.fillText(text, x, this.laneY(lane) + this.lane / 2 - 1);
    }
  }

  // drawLinks draws arrows from originals to their clones, where both can be seen and there are not too many to follow.
  drawLinks(g) {
    if (this.links.length > 600) return;
    const where = new Map(this.links.map(([lane, k]) => [this.lanes.order[k], lane])), { store } = this;
    g.strokeStyle = g.fillStyle = this.ink;
    g.lineWidth = 1;
    for (const strong of [true, false]) {
      const lines = new Path2D(), heads = new Path2D();
      for (const [clone, lane] of where) {
        const original = store.originals.get(clone), from = where.get(original);
        const x = Math.round(this.x(store.launched[clone])) + 0.5;
        if (from === undefined || from === lane || x < this.gutter) continue;
        if (strong !== (this.chosen < 0 || this.chosen === clone || this.chosen === original)) continue;
        const down = lane > from ? 1 : -1, y0 = this.laneY(from) + this.lane / 2 - 1, y1 = this.laneY(lane) + (down > 0 ? 0 : this.lane - 2);
        lines.moveTo(x, y0);
        lines.lineTo(x, y1);
        heads.rect(x - 2, y0 - 2, 4, 4);
        heads.moveTo(x, y1);
        heads.lineTo(x - 3.5, y1 - 5 * down);
        heads.lineTo(x + 3.5, y1 - 5 * down);
      }
      g.globalAlpha = strong ? 0.8 : 0.25;
      g.stroke(lines);
      g.fill(heads);
    }
    g.globalAlpha = 1;
  }

  drawChosen(g) {
    if (this.chosen < 0) return;
    const k = this.lanes.of(this.chosen);
    if (k < 0) return;
    const lane = this.lanes.laneOf(k), x0 = Math.max(this.gutter, this.x(this.lanes.begin[k])), x1 = this.x(this.lanes.end[k]);
    g.strokeStyle = this.ink;
    g.lineWidth = 2;
    g.strokeRect(x0 - 1, this.laneY(lane) - 1, Math.max(3, x1 - x0 + 2), this.lane);
    g.lineWidth = 1;
  }

  legends() {
    const there = new Uint8Array(LOOKS);
    for (const look of this.lanes.look) there[look] = 1;
    const items = [];
    for (let look = 0; look < LOOKS; look++) {
      if (!there[look]) continue;
      const name = KINDS[look >> 1];
      items.push(make("li", {}, make("i", { class: `key ${KINDS[look >> 1]}${look & 1 ? " unused" : ""}` }), name + (look & 1 ? ", result not used" : "")));
    }
    const { order } = this.lanes, { from, start, launched } = this.store;
    if (order.some((i) => from[i] > 0)) items.push(make("li", {}, make("i", { class: "key resumed" }), "resumes saved work"));
    if (order.some((i) => start[i] - launched[i] > 1e-3)) items.push(make("li", {}, make("i", { class: "key wait" }), "waits to begin"));
    const state = items.map((i) => i.textContent).join();
    if (this.legend.dataset.state === state) return;
    this.legend.dataset.state = state;
    this.legend.replaceChildren(...items);
  }
}

function tickText(t, step) {
  if (t === 0) return "0 s";
  if (step < 0.01) return `${(t * 1000).toFixed(Math.max(0, Math.ceil(-Math.log10(step * 1000) - 1e-9)))} ms`;
  if (step < 1) return `${t.toFixed(Math.ceil(-Math.log10(step) - 1e-9))} s`;
  return t < 60 ? `${Math.round(t)} s` : clock(t);
}

// pixel packs a colour as the bytes of an image hold it.
function pixel([r, g, b]) { return pack(r, g, b); }

function pack(r, g, b) { return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0; }

// paintLane returns one row of pixels of a lane, four times for the hatching of what is not used. It notes in view.labels
// and view.links what is wide enough to be seen one by one, and in view.marks where a failure hides among many.
function paintLane(view, lane, w) {
  const { lanes, store } = view, rows = (view.rows ??= []);
  if (!rows[0] || rows[0].length !== w) for (let k = 0; k < 4; k++) rows[k] = new Uint32Array(w);
  const paper = pixel(view.paper);
  for (let k = 0; k < 4; k++) rows[k].fill(paper);
  view.marks = [];
  const scale = w / (view.to - view.from), from = view.from, end = lanes.at[lane + 1];
  for (let k = lanes.seen(lane, from); k < end;) {
    const x0 = (lanes.begin[k] - from) * scale, x1 = (lanes.end[k] - from) * scale;
    if (x0 >= w) break;
    if (x1 - x0 >= WIDE) {
      paintOne(view, rows, lanes.look[k], store.start[lanes.order[k]], Math.max(0, Math.round(x0)), Math.min(w, Math.max(Math.round(x1), Math.round(x0) + 1)), x0 >= 0, x1 <= w, scale, store.from[lanes.order[k]]);
      if (view.lane >= 14 && x1 - x0 >= 12) view.labels.push([lane, x0, x1, k]);
      if (x1 - x0 >= 4 && store.linked[lanes.order[k]]) view.links.push([lane, k]);
      k++;
      continue;
    }
    const x = Math.max(0, Math.floor(x0)), border = from + (x + 1) / scale;
    let next = k + 1;
    while (next < end && next < k + FEW && lanes.begin[next] < border) next++;
    if (next === k + FEW) next = lanes.search(lanes.begin, next, end, border);
    while (next > k + 1 && (lanes.end[next - 1] - lanes.begin[next - 1]) * scale >= WIDE) next--; // the last may be a wide one
    const span = Math.min(1, Math.max(0.3, (lanes.end[next - 1] - lanes.begin[k]) * scale)), to = Math.min(w, x + (next === k + 1 && x1 - x > 1.5 ? 2 : 1));
    const color = next === k + 1 && span === 1 ? view.far[lanes.look[k]] : mixed(view, k, next, span, x, to);
    for (let at = x; at < to; at++) rows[0][at] = rows[1][at] = rows[2][at] = rows[3][at] = color;
    k = next;
  }
  return rows;
}

// paintOne paints an attempt that can be seen by itself.
function paintOne(view, rows, look, start, x0, x1, left, right, scale, resumed) {
  const solid = view.solid[look], light = view.light[look], begins = Math.min(x1, Math.max(x0, Math.round((start - view.from) * scale)));
  const wait = pixel(view.wait);
  for (let k = 0; k < 4; k++) {
    const row = rows[k];
    if (look & 1) for (let x = begins; x < x1; x++) row[x] = ((x + k) & 3) < 2 ? solid : light;
    else row.fill(solid, begins, x1);
    row.fill(wait, x0, begins);
    if (left && x1 - x0 > 3) row[x0] = view.edge[look];
    if (right && x1 - x0 > 3) row[x1 - 1] = view.edge[look];
    if (resumed > 0) row.fill(view.edge[look], begins, Math.min(x1, begins + 4));
  }
}

// mixed returns what the attempts at positions [k, next) look like from far: their colours in proportion to their times,
// thinner where they leave room. It marks that something failed, however little of it there is.
function mixed(view, k, next, span, x0, x1) {
  const { lanes, blend, paper } = view;
  let total = 0, r = 0, g = 0, b = 0, mark = -1;
  const add = (look, weight) => {
    const c = blend[look];
    total += weight;
    r += c[0] * weight;
    g += c[1] * weight;
    b += c[2] * weight;
    if (look >= 2 * BAD && (mark < 0 || look >> 1 === BAD)) mark = look;
  };
  if (next - k <= FEW) {
    for (; k < next; k++) add(lanes.look[k], lanes.end[k] - lanes.begin[k] + 1e-9);
  } else {
    const weights = (view.weights ??= new Float64Array(LOOKS));
    lanes.weigh(k, next, weights);
    for (let look = 0; look < LOOKS; look++) if (weights[look] > 0) add(look, weights[look]);
  }
  if (mark >= 0) view.marks.push([x0, x1, view.solid[mark]]);
  const of = span / total, rest = 1 - span;
  return pack(r * of + paper[0] * rest, g * of + paper[1] * rest, b * of + paper[2] * rest);
}
