// SPDX-License-Identifier: MIT
// What all parts of the page use: elements, numbers in words, colours, and where the reader is.
"use strict";

// All text goes through textContent: nothing that a run says can become a part of the page.
function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== false && value != null) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((c) => c != null).map((c) => (c instanceof Node ? c : String(c))));
  return made;
}

// A place for panels in a card. Returns panel(title), which adds a panel and returns its box.
function panelsIn(card, layout = "half") {
  const panels = el("div", { class: layout });
  card.append(panels);
  return (title) => {
    const box = el("div", {}, el("h3", {}, title));
    panels.append(box);
    return box;
  };
}

// A table. rows: cells of each row; a cell is a text, an element, or a list of them.
function tableOf(head, rows) {
  const line = (tag, cells) => el("tr", {}, ...cells.map((cell) => el(tag, {}, ...[cell].flat())));
  return el("table", { class: "plain" }, line("th", head), ...rows.map((row) => line("td", row)));
}

// Up to four digits that mean something.
function digits(v) {
  if (v == null || !Number.isFinite(v)) return "-";
  const size = Math.abs(v);
  if (size !== 0 && (size >= 1e7 || size < 1e-3)) return v.toExponential(2);
  if (Number.isInteger(v)) return v.toLocaleString("en-US");
  return Number(v.toPrecision(4)).toLocaleString("en-US", { maximumSignificantDigits: 4 });
}
// As short as may be, at the ticks of an axis.
const short = (v) => (Math.abs(v) >= 1e4 ? Intl.NumberFormat("en-US", { notation: "compact", maximumSignificantDigits: 3 }).format(v) : digits(v));
function seconds(v) {
  if (v == null || !Number.isFinite(v)) return "-";
  const size = Math.abs(v);
  return size >= 1 || size === 0 ? `${digits(v)} s` : size >= 1e-3 ? `${digits(v * 1e3)} ms` : `${digits(v * 1e6)} \u00b5s`;
}
const percent = (v) => (v == null || !Number.isFinite(v) ? "-" : `${digits(100 * v)} %`);

// Okabe and Ito's colours, which people with any colour vision can tell apart.
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#555555", "#8c6bb1", "#a6761d"];

// Light to dark, so that they need no hue to be read (ColorBrewer YlGnBu and OrRd); cividis for what is around 1.
const SCALES = {
  blue: ["#fbfdf4", "#edf8b1", "#c7e9b4", "#7fcdbb", "#41b6c4", "#1d91c0", "#225ea8", "#253494", "#081d58"],
  cividis: ["#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838"],
  heat: ["#fff7ec", "#fee8c8", "#fdd49e", "#fdbb84", "#fc8d59", "#ef6548", "#d7301f", "#b30000", "#7f0000", "#4a0000"],
};
const TABLES = Object.fromEntries(Object.entries(SCALES).map(([name, stops]) => {
  const rgb = stops.map((s) => [1, 3, 5].map((i) => parseInt(s.slice(i, i + 2), 16)));
  return [name, Array.from({ length: 256 }, (_, i) => {
    const at = (i / 255) * (rgb.length - 1), low = Math.min(Math.floor(at), rgb.length - 2);
    return rgb[low].map((c, k) => Math.round(c + (at - low) * (rgb[low + 1][k] - c)));
  })];
}));
// [red, green, blue] of a value between 0 and `top`; null for none.
function shade(scale, value, top) {
  if (value == null || !Number.isFinite(value)) return null;
  return TABLES[scale][Math.max(0, Math.min(255, Math.round((255 * value) / (top || 1))))];
}
// Of a number without order: neighbours in number get colours far apart.
function categorical(n, many) {
  if (!many) return `color-mix(in srgb, ${COLOURS[n % COLOURS.length]} 55%, white)`;
  const hue = (n * 137.508) % 360, light = [62, 74, 50][n % 3];
  return `hsl(${hue.toFixed(1)} 48% ${light}%)`;
}
const css = (rgb) => (rgb ? `rgb(${rgb[0]},${rgb[1]},${rgb[2]})` : "#e6e9ed");

// The largest of many values but for a few that stand out.
function mostOf(values, part = 0.998) {
  const sorted = Float64Array.from(values.filter((v) => v != null && Number.isFinite(v))).sort();
  if (!sorted.length) return 0;
  const near = sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))];
  return near > 0 ? near : sorted[sorted.length - 1];
}

function colourBar(scale, low, high, what) {
  const canvas = el("canvas", { width: 256, height: 1, "aria-hidden": "true" });
  const pen = canvas.getContext("2d");
  for (let i = 0; i < 256; ++i) (pen.fillStyle = css(TABLES[scale][i])), pen.fillRect(i, 0, 1, 1);
  return el("div", { class: "bar" }, el("span", {}, low), canvas, el("span", {}, high), el("span", {}, what));
}

// Where the reader is: the step of the map, and who wants to know when it changes.
// before: what a page that is read anew has shown before, and look() what its map shows.
const place = { step: 0, watchers: [], go: () => {}, playing: false, before: history.state || {}, look: () => null };
if (place.before.scroll) history.scrollRestoration = "manual";
function moved(step) {
  place.step = step;
  for (const watcher of place.watchers) watcher(step);
}
// The last entry of an ascending list that is not above a value; 0 where there is none.
function lastUpTo(list, value) {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}
