// SPDX-License-Identifier: MIT
// Plots over steps and bars, by uPlot: lines, stacked bars, and heat maps, which are painted into a plot's area.
"use strict";

const charts = [];
const LABEL = { labelSize: 15, labelFont: "11px system-ui, DejaVu Sans" };
const AXIS = { stroke: "#5c6675", grid: { stroke: "#edf0f3" }, ticks: { stroke: "#d5dbe2" }, font: "11px system-ui, DejaVu Sans", size: 34 };

// Adds a plot to a card and keeps its width that of the card.
function addChart(card, options, data) {
  const box = el("div", { class: "chart" });
  card.append(box);
  const restarts = options.steps ? card.closest(".card").restarts || [] : [];
  const point = (u) => u.root.classList.toggle("pointed", u.cursor.left >= 0);  // only then has the legend values
  const hooks = { ...options.hooks, setCursor: [...((options.hooks || {}).setCursor || []), point], draw: [...((options.hooks || {}).draw || []), (u) => restarts.forEach((s) => drawLine(u, s, "rgba(204,121,167,.9)", [4, 4]))] };
  const chart = new uPlot({
    width: Math.max(200, box.clientWidth), height: options.height || 190, legend: { live: true },
    cursor: { sync: { key: options.steps ? "steps" : "" }, focus: { prox: 24 }, drag: { x: true, y: false } }, ...options, hooks,
  }, data, box);
  new ResizeObserver(() => chart.setSize({ width: Math.max(200, box.clientWidth), height: options.height || 190 })).observe(box);
  charts.push(chart);
  if (options.steps) {
    place.watchers.push(() => box.isConnected && chart.redraw(false));
    let from = 0;
    chart.over.addEventListener("mousedown", (e) => { from = e.clientX; });
    chart.over.addEventListener("click", (e) => {
      if (Math.abs(e.clientX - from) < 4) place.go(chart.posToVal(e.clientX - chart.over.getBoundingClientRect().left, "x"));
    });
  }
  return chart;
}

// A line across a plot at a step.
function drawLine(u, step, colour, dash) {
  const x = u.valToPos(step, "x", true), { left, top: above, width, height } = u.bbox;
  if (x < left || x > left + width) return;
  u.ctx.save();
  u.ctx.strokeStyle = colour, u.ctx.lineWidth = 1.2 * devicePixelRatio, u.ctx.setLineDash(dash.map((d) => d * devicePixelRatio));
  u.ctx.beginPath(), u.ctx.moveTo(x, above), u.ctx.lineTo(x, above + height), u.ctx.stroke();
  u.ctx.restore();
}
// Where the map stands.
const drawPlace = (u) => drawLine(u, place.step, "rgba(28,36,48,.55)", []);

// Marks along the lower edge: a triangle where cells moved, a dot where the partition was kept.
function drawDecisions(rows) {
  return (u) => {
    const { left, top: above, width, height } = u.bbox, size = 4.5 * devicePixelRatio;
    u.ctx.save();
    for (let i = 0; i < rows.step.length; ++i) {
      const x = u.valToPos(rows.step[i], "x", true), y = above + height - 2;
      if (x < left || x > left + width) continue;
      u.ctx.beginPath();
      if (rows.decision[i] === "moved") {
        u.ctx.fillStyle = "#1c2430";
        u.ctx.moveTo(x - size, y), u.ctx.lineTo(x + size, y), u.ctx.lineTo(x, y - 1.7 * size);
      } else {
        u.ctx.fillStyle = "#9aa4b1";
        u.ctx.arc(x, y - size / 2, size / 3, 0, 7);
      }
      u.ctx.fill();
    }
    u.ctx.restore();
  };
}

// Colours and dashes of lines, and the axis that all runs share (lines.py).
let STYLES = [], SHARED = [];
const styleOf = (k) => ({ colour: STYLES[k % STYLES.length][0], dash: STYLES[k % STYLES.length][1] });

// As spread() in lines.py.
function spread(wanted, least, low, high) {
  const order = wanted.map((_, k) => k).sort((a, b) => wanted[a] - wanted[b]), gap = Math.min(least, (high - low) / Math.max(1, order.length - 1)), blocks = [], places = [];
  order.forEach((k, i) => {
    blocks.push([wanted[k] - i * gap, 1]);
    for (let n = blocks.length; n > 1 && blocks[n - 2][0] * blocks[n - 1][1] > blocks[n - 1][0] * blocks[n - 2][1]; --n) {
      const [sum, number] = blocks.pop();
      (blocks[n - 2][0] += sum), (blocks[n - 2][1] += number);
    }
  });
  const means = blocks.flatMap(([sum, number]) => Array(number).fill(sum / number)), top = high - (order.length - 1) * gap;
  order.forEach((k, i) => { places[k] = Math.max(low, Math.min(means[i], top)) + i * gap; });
  return places;
}

// The names of lines beside the plot, each with a leader from the end of its line.
function drawNames(u) {
  const { left, top: above, width, height } = u.bbox, dot = devicePixelRatio, x1 = left + width, pen = u.ctx;
  const ends = u.series.flatMap((s, k) => (k && s.show ? [[s, u.data[k].findLastIndex((v, i) => v != null && u.data[0][i] <= u.scales.x.max), u.data[k]]] : [])).filter(([, last]) => last >= 0)
    .map(([s, last, y]) => [s, Math.max(left, u.valToPos(u.data[0][last], "x", true)), Math.max(above, Math.min(above + height, u.valToPos(y[last], "y", true)))]);
  const places = spread(ends.map(([, , y]) => y), 12.5 * dot, above, above + height);
  pen.save();
  pen.font = `${11 * dot}px system-ui, DejaVu Sans`, pen.textAlign = "left", pen.textBaseline = "middle", pen.lineWidth = 0.8 * dot, pen.setLineDash([]);
  ends.forEach(([s, x, y], i) => {
    pen.strokeStyle = s.stroke(u), pen.fillStyle = "#1c2430";
    pen.beginPath(), pen.moveTo(x, y), pen.lineTo(x1 + 12 * dot, places[i]), pen.lineTo(x1 + 18 * dot, places[i]), pen.stroke();
    pen.fillText(s.label, x1 + 21 * dot, places[i]);
  });
  pen.restore();
}

// lines: [{label, x, y, colour, dash}].  options: {format, low, high, hooks, xs, names: at the ends of lines, axis: what x is if not steps}
function lineChart(card, lines, options = {}) {
  const tables = lines.map((l) => [l.x, l.y]);
  const same = tables.every((t) => t[0].length === tables[0][0].length && t[0].every((v, i) => v === tables[0][0][i]));
  const data = same ? [tables[0][0], ...tables.map((t) => t[1])] : uPlot.join(tables);
  const format = options.format || digits, ticks = options.format || short;
  const points = (u, s) => u.data[0].length < 60;
  addChart(card, {
    steps: !options.axis,
    height: options.names ? Math.max(options.height || 190, 75 + 13 * lines.length) : options.height,
    padding: options.names && [null, 26 + 6.7 * Math.max(...lines.map((l) => l.label.length)), null, null],
    scales: {
      x: { time: false, range: options.xs ? () => options.xs : undefined },
      y: { range: (u, low, high) => uPlot.rangeNum(options.low ?? low ?? 0, options.high ?? high ?? 1, options.low != null ? { min: { pad: 0, soft: options.low, mode: 1 }, max: { pad: 0.06 } } : 0.08, true) },
    },
    axes: [{ ...AXIS, ...LABEL, label: options.axis || "step", size: 27 }, { ...AXIS, size: 62, values: (u, at) => at.map((t) => ticks(t)) }],
    series: [{ label: options.axis || "step" }, ...lines.map((l, i) => ({
      label: l.label, stroke: l.colour || COLOURS[i % COLOURS.length], width: l.width || 1.6, dash: l.dash, spanGaps: true,
      points: { show: points, size: 4 }, value: (u, v) => format(v),
    }))],
    hooks: { draw: [...(options.axis ? [] : [drawPlace]), ...(options.names ? [drawNames] : []), ...(options.hooks || [])] },
  }, data);
}

// The end of a heat map's scale: values that are alike are no alarm, so the mean has a light colour.
const heatTop = (values) => { const all = values.filter((v) => v != null); return Math.max(mostOf(all), (2.5 * all.reduce((a, b) => a + b, 0)) / (all.length || 1)); };
// A word for values that differ by less than a fifth of their mean.
function evenly(values) {
  const all = values.filter((v) => v != null), mean = all.reduce((a, b) => a + b, 0) / all.length, range = (largest([all]) - smallest([all])) / mean;
  return mean > 0 && range < 0.2 ? `; even: they differ by ${percent(Number(range.toPrecision(2)))} of the mean` : "";
}

// A column of values for each interval of steps: values[interval][row].
function heatChart(card, { from, step, values, name, format, what, scale = "heat", high }) {
  const rows = Math.max(...values.map((v) => v.length)), most = high || (scale === "heat" ? heatTop : mostOf)(values.flat()) || 1;
  const image = document.createElement("canvas");
  image.width = values.length;
  image.height = rows;
  const pixels = new ImageData(values.length, rows);
  values.forEach((column, i) => {
    for (let r = 0; r < rows; ++r) {
      const rgb = shade(scale, column[r], most) || [230, 233, 237], at = 4 * ((rows - 1 - r) * values.length + i);
      pixels.data.set([...rgb, 255], at);
    }
  });
  image.getContext("2d").putImageData(pixels, 0, 0);
  const reading = el("div", { class: "reading" }, `Point at a ${name} to read its values.`);
  const paint = (u) => {
    const y0 = u.valToPos(rows - 0.5, "y", true), y1 = u.valToPos(-0.5, "y", true), { left, top: above, width, height } = u.bbox;
    u.ctx.save();
    u.ctx.beginPath(), u.ctx.rect(left, above, width, height), u.ctx.clip();
    u.ctx.imageSmoothingEnabled = false;
    step.forEach((s, i) => {
      const x0 = Math.round(u.valToPos(from[i], "x", true)), x1 = Math.round(u.valToPos(s, "x", true));
      if (x1 > left && x0 < left + width) u.ctx.drawImage(image, i, 0, 1, rows, x0, y0, Math.max(1, x1 - x0), y1 - y0);
    });
    u.ctx.restore();
  };
  addChart(card, {
    steps: true,
    height: Math.min(420, Math.max(130, 70 + rows * 16)),
    legend: { show: false },
    scales: { x: { time: false, range: () => [from[0], step[step.length - 1]] }, y: { range: () => [-0.5, rows - 0.5] } },
    axes: [{ ...AXIS, ...LABEL, label: "step", size: 27, grid: { show: false } }, { ...AXIS, ...LABEL, size: 62, label: name, grid: { show: false }, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000] }],
    series: [{}, { paths: () => null, points: { show: false } }],
    cursor: { sync: { key: "steps" }, drag: { x: true, y: false }, points: { show: false } },
    hooks: {
      draw: [paint, drawPlace],
      setCursor: [(u) => {
        if (u.cursor.left < 0 || u.cursor.top < 0) return;
        const s = u.posToVal(u.cursor.left, "x"), r = Math.round(u.posToVal(u.cursor.top, "y"));
        const i = step.findIndex((end) => s <= end);
        if (i >= 0 && values[i][r] !== undefined) reading.textContent = `${name} ${r}, steps ${from[i]} to ${step[i]}: ${format(values[i][r])}`;
      }],
    },
  }, [[from[0], ...step], [null, ...step.map(() => null)]]);
  card.append(colourBar(scale, format(0), format(most), what + evenly(values.flat())), reading);
}

// A bar for each place, of parts one upon the other. parts: [{label, values, colour}]
function stackedBars(card, parts, name, format, high) {
  const n = parts[0].values.length, sums = [];
  let sum = new Array(n).fill(0);
  for (const part of parts) sums.push((sum = sum.map((s, i) => s + (part.values[i] || 0))));
  const bars = uPlot.paths.bars({ size: [0.8, 120, 1] });
  addChart(card, {
    height: 230,
    cursor: { sync: { key: "" }, focus: { prox: -1 }, drag: { x: true, y: false } },  // which part is meant depends on the tops of bars
    scales: { x: { time: false, range: () => [-0.6, n - 0.4] }, y: { range: (u, low, most) => [0, 1.04 * (high || most || 1)] } },
    axes: [{ ...AXIS, ...LABEL, label: name, size: 28, grid: { show: false }, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000] }, { ...AXIS, size: 62, values: (u, t) => t.map(format) }],
    series: [{ label: name }, ...parts.map((p, i) => i).reverse().map((i) => ({
      label: parts[i].label, stroke: parts[i].colour, fill: parts[i].colour, width: 0, paths: bars, points: { show: false },
      value: (u, v, s, at) => (at == null ? "-" : format(parts[i].values[at])),
    }))],
  }, [Array.from({ length: n }, (_, i) => i), ...sums.slice().reverse()]);
}
