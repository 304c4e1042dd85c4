"use strict";
// What the pages of servers are made of.

const section = (id) => document.getElementById(id);

// put replaces what a section holds, unless that is the same, so that focus and selection stay. Tables that were moved
// sideways stay so.
function put(id, state, ...children) {
  const root = section(id);
  if (root.dataset.state === state) return;
  const focus = root.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  const aside = [...root.querySelectorAll(".table")].map((t) => t.scrollLeft);
  root.dataset.state = state;
  root.replaceChildren(...children);
  root.querySelectorAll(".table").forEach((t, i) => { t.scrollLeft = aside[i] ?? 0; });
  if (focus) root.querySelector(`[data-key="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
}

// say changes a text, unless it is the same: who has it read aloud hears it once.
function say(id, text) {
  if (section(id).textContent !== text) section(id).textContent = text;
}

// mark says whether the server is there.
function mark(state) {
  say("link", state);
  section("link").className = "pill " + state;
}

// complain says what is wrong, "" for nothing.
function complain(text) {
  section("problem").hidden = text === "";
  say("problem", text);
}

// sums are the parts of a list of facts, each [what, how much].
const sums = (facts) => facts.map(([k, v]) => make("div", {}, make("dt", {}, k), make("dd", {}, String(v))));

const instant = (text) => (text ? new Date(text) : null);

// meter draws how much there is of all, and says it, more briefly for those who see the bar.
function meter(some, all, says, label = says) {
  return make("span", { class: "meter" }, make("progress", { max: all || 1, value: some, "aria-label": label }), ` ${says}`);
}
