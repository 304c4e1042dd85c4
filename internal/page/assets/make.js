"use strict";
// Elements and spans of time, as all pages write them.

// sayTime writes a span for people.
function sayTime(s) {
  if (!(s >= 0)) return "";
  if (s === 0) return "0 s";
  if (s < 0.0995) return `${(s * 1000).toPrecision(3).replace(/\.?0+$/, "")} ms`;
  if (s < 99.95) return `${s.toFixed(s < 9.995 ? 2 : 1)} s`;
  return clock(s);
}

// clock writes a span in hours, minutes and whole seconds.
function clock(s) {
  s = Math.round(s);
  const h = Math.floor(s / 3600), m = Math.floor(s / 60) % 60, two = (x) => String(x).padStart(2, "0");
  return h ? `${h}h${two(m)}m${two(s % 60)}s` : `${m}m${two(s % 60)}s`;
}

// make makes an element. Attributes called on... are what happens on such an event.
function make(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attributes)) {
    if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else if (v === true) e.setAttribute(k, "");
    else if (v !== false && v !== null && v !== undefined) e.setAttribute(k, v);
  }
  e.append(...children);
  return e;
}
