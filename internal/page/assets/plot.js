"use strict";
// Two plots of promises: how long jobs were promised to take and how long they took, and whether as many ended by each
// promised instant as were to.

function svg(tag, attributes, ...children) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  e.append(...children);
  return e;
}

// promisePlot draws a point for each job: promised seconds to the right, seconds that it took upwards, and its interval.
function promisePlot(jobs) {
  const size = 320, left = 56, low = 34;
  const values = jobs.flatMap((j) => [j.promised_seconds, j.flow_seconds]).map((v) => Math.max(v, 1e-3));
  const from = Math.floor(Math.log10(Math.min(...values))), to = Math.max(from + 1, Math.ceil(Math.log10(Math.max(...values))));
  const at = (v) => ((Math.log10(Math.max(v, 1e-3)) - from) / (to - from)) * size;
  const x = (v) => left + Math.min(size, Math.max(0, at(v))), y = (v) => 8 + size - Math.min(size, Math.max(0, at(v)));
  const g = svg("svg", { viewBox: `0 0 ${left + size + 12} ${size + low + 14}`, class: "plot", role: "img", "aria-label": "Promised seconds against seconds taken; the table above has the same numbers" });
  for (let p = from; p <= to; p++) {
    const v = 10 ** p;
    g.append(svg("path", { d: `M${x(v)} 8V${size + 8}M${left} ${y(v)}H${left + size}`, class: "grid" }),
      svg("text", { x: x(v), y: size + 22, "text-anchor": "middle" }, sayTime(v)), svg("text", { x: left - 6, y: y(v) + 4, "text-anchor": "end" }, sayTime(v)));
  }
  g.append(svg("path", { d: `M${left} ${size + 8}L${left + size} 8`, class: "even" }));
  for (const j of jobs) {
    const kept = within(j);
    if (j.promised_between) g.append(svg("path", { d: `M${x(j.promised_between[0])} ${y(j.flow_seconds)}H${x(j.promised_between[1])}`, class: "interval" }));
    const dot = kept === false
      ? svg("path", { d: `M${x(j.promised_seconds) - 4} ${y(j.flow_seconds) - 4}l8 8m0 -8l-8 8`, class: "missed" })
      : svg("circle", { cx: x(j.promised_seconds), cy: y(j.flow_seconds), r: 3.5, class: "kept" });
    dot.append(svg("title", {}, `${j.name} (${j.id}): promised ${sayTime(j.promised_seconds)}, took ${sayTime(j.flow_seconds)}`));
    g.append(dot);
  }
  g.append(svg("text", { x: left + size / 2, y: size + low + 8, "text-anchor": "middle" }, "promised"),
    svg("text", { x: 12, y: size / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${size / 2})` }, "taken"));
  return g;
}

// within tells whether a job ended in the interval that it was promised; null if it was promised none.
function within(j) { return j.promised_between ? j.promised_between[0] <= j.flow_seconds && j.flow_seconds <= j.promised_between[1] : null; }

// calibrationPlot draws, for each probability of a promised end, the share of jobs that had ended by then. On the
// diagonal promises are right; above it jobs end earlier than promised.
function calibrationPlot(points) {
  const size = 260, left = 48, at = (v) => left + v * size, up = (v) => 8 + size - v * size;
  const g = svg("svg", { viewBox: `0 0 ${left + size + 12} ${size + 48}`, class: "plot", role: "img", "aria-label": "Share of jobs that had ended by each promised instant; the table beside it has the same numbers" });
  for (const v of [0, 0.2, 0.4, 0.6, 0.8, 1]) {
    g.append(svg("path", { d: `M${at(v)} 8V${size + 8}M${left} ${up(v)}H${left + size}`, class: "grid" }), svg("text", { x: at(v), y: size + 22, "text-anchor": "middle" }, percent(v)),
      svg("text", { x: left - 6, y: up(v) + 4, "text-anchor": "end" }, percent(v)));
  }
  g.append(svg("path", { d: `M${left} ${size + 8}L${left + size} 8`, class: "even" }));
  for (const p of points) g.append(svg("path", { d: `M${at(p.level)} ${up(p.ci95[0])}V${up(p.ci95[1])}`, class: "interval" }));
  g.append(svg("path", { d: points.map((p, i) => `${i ? "L" : "M"}${at(p.level)} ${up(p.share)}`).join(""), class: "measured" }));
  for (const p of points) g.append(svg("circle", { cx: at(p.level), cy: up(p.share), r: 3.5, class: "kept" }));
  g.append(svg("text", { x: left + size / 2, y: size + 42, "text-anchor": "middle" }, "promised probability"), svg("text", { x: 12, y: size / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${size / 2})` }, "ended by then"));
  return g;
}
