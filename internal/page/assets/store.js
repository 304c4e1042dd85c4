"use strict";
// What attempts did, as typed arrays, from documents of tailcut.timeline/v1; and the lanes in which they are drawn.

const ENDS = ["running", "won", "lost", "failed", "killed", "refused", "crashed"];
const RUNNING = 0, WON = 1, LOST = 2, FAILED = 3, KILLED = 4, REFUSED = 5, CRASHED = 6;

// An attempt's look is twice its kind, plus one if its result is not used.
const KINDS = ["attempt", "straggler", "clone", "failed", "crashed", "refused"];
const LOOKS = 2 * KINDS.length;

// Straggling is from how many times the median winner of its stage on an attempt is called a straggler.
const STRAGGLING = 2;

// Every document column and the array that holds it.
const COLUMNS = {
  job: Uint32Array, stage: Uint32Array, task: Uint32Array, number: Uint32Array, slot: Uint32Array,
  launched: Float64Array, start: Float64Array, stop: Float64Array,
  end: Uint8Array, clone: Uint8Array, from: Float32Array, reason: Uint8Array, why: Uint8Array, look: Uint8Array,
};

class Store {
  constructor() {
    this.n = 0;
    this.until = 0;
    this.earliest = Infinity;
    this.jobs = [];
    this.stages = [];
    this.slots = [];
    this.words = [""]; // reasons
    this.wordAt = new Map([["", 0]]);
    this.jobAt = new Map(); // by id
    this.stageAt = new Map(); // by job id and position in the job
    this.running = new Map(); // attempts whose end a later document may tell
    this.reserve(1024);
  }

  reserve(n) {
    for (const [name, type] of Object.entries(COLUMNS)) {
      const bigger = new type(n);
      if (this[name]) bigger.set(this[name].subarray(0, this.n));
      this[name] = bigger;
    }
    this.room = n;
  }

  word(text) {
    let at = this.wordAt.get(text);
    if (at === undefined) {
      at = this.words.length;
      this.words.push(text);
      this.wordAt.set(text, at);
    }
    return at;
  }

  // add takes a document in: its attempts replace those that are known by the same job, stage, task and number.
  add(doc) {
    const jobs = doc.jobs.map((j) => this.table(this.jobs, this.jobAt, String(j.id), j));
    const nth = new Map();
    const stages = doc.stages.map((s) => {
      const k = nth.get(s.job) || 0;
      nth.set(s.job, k + 1);
      return this.table(this.stages, this.stageAt, doc.jobs[s.job].id + "/" + k, { ...s, job: jobs[s.job] });
    });
    if (doc.slots.length >= this.slots.length) this.slots = doc.slots;
    Object.assign(this, { name: doc.name, policy: doc.policy, started: Date.parse(doc.started), until: doc.until });
    const a = doc.attempts, many = a.job.length;
    if (this.n + many > this.room) this.reserve(Math.max(2 * this.room, this.n + many));
    for (let i = 0; i < many; i++) {
      const end = ENDS.indexOf(a.end[i]);
      let at;
      if (end === RUNNING || this.running.size > 0) {
        const key = `${stages[a.stage[i]]}/${a.task[i]}/${a.number[i]}`;
        at = this.running.get(key);
        if (end === RUNNING) this.running.set(key, at ?? this.n); else this.running.delete(key);
      }
      at ??= this.n++;
      this.job[at] = jobs[a.job[i]];
      this.stage[at] = stages[a.stage[i]];
      this.task[at] = a.task[i];
      this.number[at] = a.number[i];
      this.slot[at] = a.slot[i];
      this.launched[at] = a.launched[i];
      if (a.launched[i] < this.earliest) this.earliest = a.launched[i];
      this.start[at] = a.start[i];
      this.stop[at] = a.stop[i];
      this.end[at] = end;
      this.clone[at] = a.clone[i] ? 1 : 0;
      this.from[at] = a.from[i];
      this.reason[at] = this.word(a.reason[i]);
      this.why[at] = this.word(a.why[i]);
    }
    this.grow(doc.until);
    this.judge();
  }

  table(rows, at, key, row) {
    let i = at.get(key);
    if (i === undefined) {
      i = rows.length;
      at.set(key, i);
    }
    rows[i] = row;
    return i;
  }

  // grow lets what runs run on to an instant.
  grow(until) {
    this.until = Math.max(this.until, until);
    for (const i of this.running.values()) this.stop[i] = this.until;
  }

  // first is when the first attempt was launched, 0 if there is none.
  first() { return this.earliest === Infinity ? 0 : this.earliest; }

  seconds(i) { return this.stop[i] - this.start[i]; }

  // judge finds the stragglers, gives every attempt its look, and finds what clones are clones of.
  judge() {
    const medians = this.medians();
    for (let i = 0; i < this.n; i++) {
      const end = this.end[i];
      let kind = 0;
      if (end === REFUSED) kind = 5;
      else if (end === CRASHED) kind = 4;
      else if (end === FAILED) kind = 3;
      else if (this.clone[i]) kind = 2;
      else if (medians[this.stage[i]] > 0 && this.seconds(i) >= STRAGGLING * medians[this.stage[i]]) kind = 1;
      this.look[i] = 2 * kind + (end === LOST || end === KILLED ? 1 : 0);
    }
    this.originals = this.findOriginals();
    this.linked = new Uint8Array(this.n); // clones, and what they are clones of
    for (const [clone, of] of this.originals) this.linked[clone] = this.linked[of] = 1;
  }

  // medians returns how long the median winner of each stage took, 0 where there is none.
  medians() {
    const count = new Uint32Array(this.stages.length + 1);
    for (let i = 0; i < this.n; i++) if (this.end[i] === WON) count[this.stage[i] + 1]++;
    for (let s = 0; s < this.stages.length; s++) count[s + 1] += count[s];
    const all = new Float64Array(count[this.stages.length]), next = count.slice();
    for (let i = 0; i < this.n; i++) if (this.end[i] === WON) all[next[this.stage[i]]++] = this.seconds(i);
    return this.stages.map((_, s) => {
      const mine = all.subarray(count[s], count[s + 1]).sort();
      return mine.length ? Math.max(mine[mine.length >> 1], 1e-9) : 0;
    });
  }

  // findOriginals maps each clone to the attempt of its task that ran when it was launched.
  findOriginals() {
    const key = (i) => this.stage[i] * 0x100000000 + this.task[i];
    const families = new Map(), originals = new Map();
    for (let i = 0; i < this.n; i++) if (this.clone[i]) families.set(key(i), []);
    if (families.size === 0) return originals;
    for (let i = 0; i < this.n; i++) families.get(key(i))?.push(i);
    for (const family of families.values()) {
      for (const c of family) {
        if (!this.clone[c]) continue;
        const of = family.find((o) => this.number[o] < this.number[c] && this.launched[o] <= this.launched[c] && this.stop[o] >= this.launched[c]);
        if (of !== undefined) originals.set(c, of);
      }
    }
    return originals;
  }

  slotName(s) {
    const slot = this.slots[s];
    const machine = [slot.site, slot.machine].filter(Boolean).join("/");
    return `${machine ? machine + " " : ""}${slot.class ? slot.class + " " : ""}${slot.number + 1}`;
  }
}

// Lanes are the attempts that a filter lets through, by lane and in the order of their launches: two of a lane never
// overlap, so that what is seen of a lane is found by binary search. Sums over blocks of attempts let a pixel that
// covers thousands be drawn without looking at each.
const BLOCK = 64;

class Lanes {
  constructor(store, mode, passes) {
    const group = { slot: store.slot, job: store.job, stage: store.stage }[mode];
    const names = { slot: store.slots, job: store.jobs, stage: store.stages }[mode];
    this.store = store;
    this.mode = mode;
    const { order, at } = this.sorted(group, names.length, passes);
    const lane = mode === "slot" ? null : this.pack(order, at);
    this.order = order;
    this.at = at; // where each lane begins in order, and the end
    this.groups = []; // of each lane: the job, stage or slot
    if (lane === null) {
      const used = [...names.keys()].filter((g) => at[g + 1] > at[g]);
      this.groups = used.sort((a, b) => this.bySlot(a, b));
      this.gather(used.map((g) => [at[g], at[g + 1]]));
    } else {
      this.regroup(lane, at);
    }
    this.sum();
  }

  bySlot(a, b) {
    const x = this.store.slots[a], y = this.store.slots[b];
    return x.site.localeCompare(y.site) || x.machine.localeCompare(y.machine, undefined, { numeric: true }) || x.number - y.number;
  }

  // sorted returns the attempts by group, and within a group by launch.
  sorted(group, groups, passes) {
    const { n, launched } = this.store;
    const at = new Uint32Array(groups + 1), in_ = new Uint8Array(n);
    for (let i = 0; i < n; i++) if (passes === null || passes(i)) { in_[i] = 1; at[group[i] + 1]++; }
    for (let g = 0; g < groups; g++) at[g + 1] += at[g];
    const order = new Uint32Array(at[groups]), next = at.slice();
    for (let i = 0; i < n; i++) if (in_[i]) order[next[group[i]]++] = i;
    for (let g = 0; g < groups; g++) {
      for (let k = at[g] + 1; k < at[g + 1]; k++) {
        if (launched[order[k]] < launched[order[k - 1]]) {
          order.subarray(at[g], at[g + 1]).sort((a, b) => launched[a] - launched[b] || a - b);
          break;
        }
      }
    }
    return { order, at };
  }

  // pack gives each attempt of a group the first lane that is free when it is launched.
  pack(order, at) {
    const { launched, stop } = this.store, lane = new Uint32Array(order.length);
    for (let g = 0; g + 1 < at.length; g++) {
      const free = [];
      for (let k = at[g]; k < at[g + 1]; k++) {
        let l = 0;
        while (l < free.length && free[l] > launched[order[k]]) l++;
        free[l] = stop[order[k]];
        lane[k] = l;
      }
    }
    return lane;
  }

  // regroup sorts by group and lane.
  regroup(lane, at) {
    const parts = [], order = this.order.slice();
    for (let g = 0; g + 1 < at.length; g++) {
      let many = 0;
      for (let k = at[g]; k < at[g + 1]; k++) many = Math.max(many, lane[k] + 1);
      const begin = new Uint32Array(many + 1);
      for (let k = at[g]; k < at[g + 1]; k++) begin[lane[k] + 1]++;
      for (let l = 0; l < many; l++) begin[l + 1] += begin[l];
      const next = begin.slice();
      for (let k = at[g]; k < at[g + 1]; k++) this.order[at[g] + next[lane[k]]++] = order[k];
      for (let l = 0; l < many; l++) {
        parts.push([at[g] + begin[l], at[g] + begin[l + 1]]);
        this.groups.push(g);
      }
    }
    this.gather(parts);
  }

  // gather puts ranges of order one after the other.
  gather(parts) {
    const old = this.order;
    this.order = new Uint32Array(old.length);
    this.at = new Uint32Array(parts.length + 1);
    let end = 0;
    parts.forEach(([from, to], l) => {
      this.order.set(old.subarray(from, to), end);
      this.at[l + 1] = end += to - from;
    });
  }

  // sum copies what is drawn into the order of drawing, and sums it up by blocks.
  sum() {
    const { launched, stop, look } = this.store, n = this.order.length;
    this.begin = new Float64Array(n);
    this.end = new Float64Array(n);
    this.look = new Uint8Array(n);
    this.sums = new Float64Array((Math.floor(n / BLOCK) + 1) * LOOKS);
    const sums = new Float64Array(LOOKS);
    for (let k = 0; k < n; k++) {
      if (k % BLOCK === 0) this.sums.set(sums, (k / BLOCK) * LOOKS);
      const i = this.order[k];
      this.begin[k] = launched[i];
      this.end[k] = stop[i];
      this.look[k] = look[i];
      sums[look[i]] += stop[i] - launched[i] + 1e-9;
    }
    if (n % BLOCK === 0) this.sums.set(sums, (n / BLOCK) * LOOKS);
  }

  get length() { return this.groups.length; }

  // seen returns the first position in a lane that ends after an instant.
  seen(lane, t) { return this.search(this.end, this.at[lane], this.at[lane + 1], t); }

  // search returns the first position in [from, to) of an ascending column whose value is above t.
  search(column, from, to, t) {
    while (from < to) {
      const mid = (from + to) >> 1;
      if (column[mid] > t) to = mid; else from = mid + 1;
    }
    return from;
  }

  // weigh adds up how long the attempts at positions [from, to) took, by look.
  weigh(from, to, into) {
    into.fill(0);
    let k = from;
    const first = Math.ceil(from / BLOCK), last = Math.floor(to / BLOCK);
    if (first < last) {
      for (; k < first * BLOCK; k++) into[this.look[k]] += this.end[k] - this.begin[k] + 1e-9;
      for (let s = 0; s < LOOKS; s++) into[s] += this.sums[last * LOOKS + s] - this.sums[first * LOOKS + s];
      k = last * BLOCK;
    }
    for (; k < to; k++) into[this.look[k]] += this.end[k] - this.begin[k] + 1e-9;
  }

  // of returns the position of an attempt, -1 if the filter keeps it out.
  of(attempt) { return this.order.indexOf(attempt); }

  laneOf(position) { return this.search(this.at, 0, this.at.length, position) - 1; }

  name(lane) {
    const g = this.groups[lane];
    if (this.mode === "slot") return this.store.slotName(g);
    if (lane > 0 && this.groups[lane - 1] === g) return "";
    return this.mode === "job" ? this.store.jobs[g].name : this.store.stages[g].name;
  }
}
