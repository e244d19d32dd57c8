// SPDX-License-Identifier: MIT
// The box over time: blocks of cells in the colour of what they hold or whose they are, and the borders of processes.
"use strict";

const AXES = ["x", "y", "z"], MARGIN = 54;

// What the colours may mean: of a block at place p of frame f.
function layersOf(run) {
  const m = run.map, all = [];
  if (m.particles) all.push({ name: "density", scale: "blue", of: (f, p) => m.particles[f][p] / m.volume[p], text: digits, unit: m.unit });
  if (m.load && m.load.some((l) => l.some((v) => v != null)))
    all.push({ name: "load", scale: "heat", of: (f, p) => (m.load[f][p] == null ? null : m.load[f][p] / m.cells[p]), text: m.loadText, unit: m.owners ? "of a cell, the mean of its resource" : "of a cell" });
  all.push({ name: m.owners ? m.owners.word : "process", word: true, of: (f, p) => m.owner[f][p] });
  if (m.ranks && m.ranks !== m.processes) all.push({ name: "rank", word: true, of: (f, p) => m.rankOf(f, m.owner[f][p]) });
  if (m.nodes > 1) all.push({ name: "node", word: true, of: (f, p) => m.nodeOf(f, m.owner[f][p]) });
  if (m.zone && m.zone.some((z) => z.some((v) => v))) all.push({ name: "zone", word: true, of: (f, p) => m.zone[f][p], words: ["CPU", "accelerator"] });
  if (m.owners || speedsDiffer(run.resources)) all.push({ name: "speed", scale: "cividis", of: (f, p) => m.speedOf(f, m.owner[f][p]), text: digits, unit: m.owners ? "" : "of the mean" });
  for (const layer of all.filter((l) => !l.word)) layer.top = mostOf(m.step.flatMap((_, f) => Array.from(m.cells, (_c, p) => layer.of(f, p))));
  return all;
}

// Whether a run found speeds that are not all the same.
const speedsDiffer = (resources) => resources && resources.speed.some((now) => now.some((s) => Math.abs(s - 1) > 1e-3));

// Cells of others that a process needs to know, one cell wide around its own, as the blocks of a frame have them.
function ghostCells(m, owner, process) {
  const reach = [0, 1, 2].map((a) => (m.grid[a] > 1 ? [-1, 0, 1] : [0])), beside = new Map();  // where a block sees the process
  for (let i = 0, p = 0; i < m.n[0]; ++i)
    for (let j = 0; j < m.n[1]; ++j)
      for (let k = 0; k < m.n[2]; ++k, ++p) {
        if (owner[p] !== process) continue;
        for (const x of reach[0]) for (const y of reach[1]) for (const z of reach[2]) {
          const next = [i + x, j + y, k + z].map((c, a) => (m.periodic[a] ? (c + m.n[a]) % m.n[a] : c)), q = (next[0] * m.n[1] + next[1]) * m.n[2] + next[2];
          if (next.some((c, a) => c < 0 || c >= m.n[a]) || owner[q] === process) continue;
          if (!beside.has(q)) beside.set(q, { next, from: [] });
          beside.get(q).from.push([-x, -y, -z]);
        }
      }
  let sum = 0;
  for (const { next, from } of beside.values()) {
    // Along an axis a cell is the block's first one, the last, both, or neither: [how many such cells, where they reach].
    const kinds = next.map((c, a) => {
      const width = m.edges[a][c + 1] - m.edges[a][c];
      return width === 1 ? [[1, [-1, 0, 1]]] : [[1, [-1, 0]], [width - 2, [0]], [1, [0, 1]]];
    });
    for (const [nx, x] of kinds[0]) for (const [ny, y] of kinds[1]) for (const [nz, z] of kinds[2])
      if (from.some((d) => x.includes(d[0]) && y.includes(d[1]) && z.includes(d[2]))) sum += nx * ny * nz;
  }
  return sum;
}

// Adds to a run's map what follows from it.
function completeMap(run) {
  const m = run.map, [ex, ey, ez] = m.edges, s = run.summary;
  m.n = m.edges.map((e) => e.length - 1);
  m.grid = m.edges.map((e) => e[e.length - 1]);
  m.cells = new Float64Array(m.n[0] * m.n[1] * m.n[2]);
  for (let i = 0, p = 0; i < m.n[0]; ++i)
    for (let j = 0; j < m.n[1]; ++j)
      for (let k = 0; k < m.n[2]; ++k, ++p) m.cells[p] = (ex[i + 1] - ex[i]) * (ey[j + 1] - ey[j]) * (ez[k + 1] - ez[k]);
  const sides = run.box && run.box.sides.length >= 2 ? run.box.sides : null;
  m.length = sides ? [sides[0], sides[1], sides[2] || 1] : m.grid;
  m.space = m.n[2] > 1;
  m.periodic = [0, 1, 2].map((a) => !!(run.box && run.box.periodic[a]));
  m.fine = m.cells.every((n) => n === 1);
  const cell = m.length[0] * m.length[1] * m.length[2] / (m.grid[0] * m.grid[1] * m.grid[2]);
  m.volume = m.cells.map((n) => n * (sides ? cell : 1));
  m.unit = sides ? (m.space ? "particles / sigma\u00b3" : "particles / sigma\u00b2") : "particles a cell";
  const node = m.owners ? m.owners.node : run.ranks ? run.ranks.node : [];
  m.processes = (m.owners ? node.length : s.processes) || 1 + m.owner.reduce((most, o) => o.reduce((a, b) => Math.max(a, b), most), 0);
  m.ranks = m.owners ? 0 : s.ranks || (run.ranks ? run.ranks.node.length : 0);
  // Ranks and processes are known of the last start; before, there may have been others.
  const since = run.starts.length > 1 ? run.starts[run.starts.length - 1] : -1, now = (f) => m.step[f] > since;
  m.processesAt = (f) => (now(f) ? m.processes : 1 + m.owner[f].reduce((a, b) => Math.max(a, b), 0));
  m.rankOf = (f, process) => (m.ranks && now(f) ? Math.floor(((process + 1) * m.ranks - 1) / m.processes) : null);
  m.nodeOf = (f, process) => (m.owners ? node[process] : node[m.rankOf(f, process)]);
  m.nodes = new Set(node).size;
  const r = run.resources;
  m.speedOf = (f, process) => {
    if (m.owners) return m.owners.speed[process];
    if (!r || r.step[0] > m.step[f]) return null;
    const i = lastUpTo(r.step, m.step[f]), at = r.resource[i].indexOf(process);
    return at < 0 ? null : r.speed[i][at];
  };
  const driver = run.balance && run.balance[0];
  m.loadText = m.owners || (driver && driver.model === "particle_count") ? digits : seconds;
  run.layers = layersOf(run);
}

class CellMap {
  constructor(run, view) {
    this.run = run, this.m = run.map, this.view = view, this.frame = 0;
    this.canvas = el("canvas", { role: "img", "aria-label": `Map of ${run.name}` });
    this.tip = el("div", { class: "tip" });
    this.bar = el("div");
    this.node = el("div", { class: "map" }, this.canvas, this.tip);
    this.canvas.addEventListener("mousemove", (e) => this.point(e));
    this.canvas.addEventListener("mouseleave", () => { this.tip.style.display = "none"; });
    new ResizeObserver(() => this.draw()).observe(this.node);
  }

  // The axes to the right and up, and the place of a block of them.
  plane() {
    const { axis, slice } = this.view, m = this.m, [u, v] = m.space ? [0, 1, 2].filter((a) => a !== axis).sort((a, b) => (a === m.up) - (b === m.up) || a - b) : [0, 1];
    const stride = [m.n[1] * m.n[2], m.n[2], 1], layer = m.space ? Math.min(slice === "mean" ? m.n[axis] >> 1 : slice, m.n[axis] - 1) : 0;
    return { u, v, at: (i, j) => i * stride[u] + j * stride[v] + (m.space ? layer * stride[axis] : 0), stride: m.space ? stride[axis] : 0 };
  }
  layer() { return this.run.layers.find((l) => l.name === this.view.layer) || this.run.layers[0]; }

  // The layer's value at a block: of it, or the mean along the axis that is looked along.
  value(layer, p, plane) {
    const { axis, slice } = this.view;
    if (!this.m.space || slice !== "mean" || layer.word) return layer.of(this.frame, p);
    let sum = 0, n = 0;
    const first = p - (this.m.n[axis] >> 1) * plane.stride;
    for (let k = 0; k < this.m.n[axis]; ++k) {
      const v = layer.of(this.frame, first + k * plane.stride);
      if (v != null) (sum += v), ++n;
    }
    return n ? sum / n : null;
  }

  // The largest value, but for a few, that a layer shows in any frame: means have a scale of their own.
  top(name) {
    const layer = this.run.layers.find((l) => l.name === name), m = this.m, plane = this.plane(), now = this.frame, all = [];
    if (!layer || !m.space || this.view.slice !== "mean") return layer ? layer.top : 0;
    for (this.frame = 0; this.frame < m.step.length; ++this.frame)
      for (let i = 0; i < m.n[plane.u]; ++i)
        for (let j = 0; j < m.n[plane.v]; ++j) all.push(this.value(layer, plane.at(i, j), plane));
    this.frame = now;
    return mostOf(all);
  }

  draw() {
    const m = this.m, plane = this.plane(), { u, v } = plane, layer = this.layer(), scale = devicePixelRatio, top = layer.word ? 0 : this.view.top(layer.name);
    this.frame = lastUpTo(m.step, place.step);
    const wide = this.node.clientWidth || 600, left = MARGIN, below = 30, above = 6, right = 20;
    const per = Math.min((wide - left - right) / m.length[u], this.view.height / m.length[v]);
    const w = per * m.length[u], h = per * m.length[v];
    this.at = { left, above, w, h };
    this.canvas.width = wide * scale, this.canvas.height = (h + above + below) * scale;
    this.canvas.style.height = `${h + above + below}px`;
    const pen = this.canvas.getContext("2d");
    pen.scale(scale, scale), pen.translate(left, above);
    const xs = m.edges[u].map((e) => (e / m.grid[u]) * w), ys = m.edges[v].map((e) => h - (e / m.grid[v]) * h);
    const snap = (z) => Math.round(z * scale) / scale;
    for (let i = 0; i < m.n[u]; ++i)
      for (let j = 0; j < m.n[v]; ++j) {
        const value = this.value(layer, plane.at(i, j), plane);
        pen.fillStyle = layer.word ? (value == null ? "#e6e9ed" : layer.name === "zone" ? COLOURS[value === 0 ? 4 : 5] : categorical(value, m.processes > COLOURS.length)) : css(shade(layer.scale, value, top));
        const x = snap(xs[i]), y = snap(ys[j + 1]);
        pen.fillRect(x, y, snap(xs[i + 1]) - x, snap(ys[j]) - y);
      }
    if (this.view.borders) this.borders(pen, plane, xs, ys);
    if (layer.word && layer.name !== "zone") this.numbers(pen, layer, plane, xs, ys);
    this.axes(pen, w, h, u, v);
    this.bar.replaceChildren(layer.word
      ? el("div", { class: "bar" }, layer.words ? `blue: ${layer.words[0]}, orange: ${layer.words[1]}` : `a colour for each ${layer.name}`)
      : colourBar(layer.scale, layer.text(0), layer.text(top), `${layer.name}, ${layer.unit}`));
  }

  borders(pen, plane, xs, ys) {
    const m = this.m, owner = m.owner[this.frame], path = new Path2D(), nu = m.n[plane.u], nv = m.n[plane.v];
    for (let i = 0; i < nu; ++i)
      for (let j = 0; j < nv; ++j) {
        const o = owner[plane.at(i, j)];
        if (i + 1 < nu && owner[plane.at(i + 1, j)] !== o) path.moveTo(xs[i + 1], ys[j]), path.lineTo(xs[i + 1], ys[j + 1]);
        if (j + 1 < nv && owner[plane.at(i, j + 1)] !== o) path.moveTo(xs[i], ys[j + 1]), path.lineTo(xs[i + 1], ys[j + 1]);
      }
    const many = m.processes > 200;
    pen.lineCap = "square";
    for (const [colour, width] of many ? [["rgba(255,255,255,.75)", 0.8]] : [["rgba(255,255,255,.95)", 3.2], ["#1c2430", 1.4]])
      (pen.strokeStyle = colour), (pen.lineWidth = width), pen.stroke(path);
  }

  // The number of each owner, where there are few, at the block of it that is nearest to their middle.
  numbers(pen, layer, plane, xs, ys) {
    const places = new Map();
    for (let i = 0; i + 1 < xs.length; ++i)
      for (let j = 0; j + 1 < ys.length; ++j) {
        const value = layer.of(this.frame, plane.at(i, j));
        if (value == null) continue;
        if (!places.has(value)) places.set(value, []);
        places.get(value).push([(xs[i] + xs[i + 1]) / 2, (ys[j] + ys[j + 1]) / 2]);
      }
    if (places.size > 64) return;
    pen.fillStyle = "#1c2430", pen.font = "600 12px system-ui, DejaVu Sans", pen.textAlign = "center", pen.textBaseline = "middle";
    for (const [value, blocks] of places) {
      const middle = [0, 1].map((a) => blocks.reduce((sum, b) => sum + b[a], 0) / blocks.length), far = (b) => Math.hypot(b[0] - middle[0], b[1] - middle[1]);
      pen.fillText(value, ...blocks.reduce((a, b) => (far(b) < far(a) ? b : a)));
    }
  }

  axes(pen, w, h, u, v) {
    const m = this.m, tick = (length) => [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 1e4, 1e5, 1e6].find((t) => length / t <= 7) || length;
    pen.strokeStyle = "#8a94a2", pen.lineWidth = 1, pen.strokeRect(0, 0, w, h);
    pen.fillStyle = "#5c6675", pen.font = "11px system-ui, DejaVu Sans";
    pen.textAlign = "center", pen.textBaseline = "top";
    for (let x = 0, t = tick(m.length[u]); x <= m.length[u] * 1.001; x += t) pen.fillText(digits(x), (x / m.length[u]) * w, h + 4);
    const unit = this.run.box ? " / sigma" : " / cells";
    pen.fillText(AXES[u] + unit, w / 2, h + 17);
    pen.textAlign = "right", pen.textBaseline = "middle";
    for (let y = 0, t = tick(m.length[v]); y <= m.length[v] * 1.001; y += t) pen.fillText(digits(y), -5, h - (y / m.length[v]) * h);
    pen.save(), pen.translate(-46, h / 2), pen.rotate(-Math.PI / 2), pen.textAlign = "center", pen.fillText(AXES[v] + unit, 0, 0), pen.restore();
  }

  point(event) {
    const m = this.m, plane = this.plane(), { u, v } = plane, box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left - this.at.left, y = event.clientY - box.top - this.at.above;
    if (x < 0 || y < 0 || x >= this.at.w || y >= this.at.h) return void (this.tip.style.display = "none");
    const i = lastUpTo(m.edges[u].slice(0, -1), (x / this.at.w) * m.grid[u]), j = lastUpTo(m.edges[v].slice(0, -1), (1 - y / this.at.h) * m.grid[v]);
    this.tip.textContent = this.words(plane.at(i, j), i, j, plane);
    this.tip.style.display = "block";
    const width = this.tip.offsetWidth, beyond = event.clientX - box.left + 18 + width > box.width;
    this.tip.style.left = `${event.clientX - box.left + (beyond ? -width - 14 : 16)}px`;
    this.tip.style.top = `${event.clientY - box.top + 14}px`;
  }

  // What is said of a block at the cursor.
  words(p, i, j, { u, v }) {
    const m = this.m, f = this.frame, owner = m.owner[f][p], lines = [];
    const r = m.rankOf(f, owner), n = m.nodeOf(f, owner);
    const rank = r != null && m.ranks !== m.processes ? `, rank ${r}` : "", node = n != null && m.nodes > 1 ? `, node ${n}` : "";
    lines.push(`${m.owners ? m.owners.word : "process"} ${owner}${rank}${node}`);
    const sums = (values) => {
      const each = new Float64Array(m.processesAt(f));
      m.owner[f].forEach((o, q) => { each[o] += values[q] || 0; });
      return each;
    };
    if (m.owners) lines.push(`   its load ${digits(m.owners.load[owner])}`);
    else if (m.load && m.load[f][p] != null) {
      const each = sums(m.load[f]), mean = each.reduce((a, b) => a + b, 0) / each.length;
      lines.push(`   its load ${m.loadText(each[owner])}, ${digits(each[owner] / mean)} of the mean`);
    }
    if (m.particles) lines.push(`   its particles ${digits(sums(m.particles[f])[owner])}`);
    lines.push(`   its ghost cells ${m.fine ? "" : "about "}${digits(ghostCells(m, m.owner[f], owner))}`);
    const speed = m.speedOf(f, owner);
    if (speed != null) lines.push(`   its speed ${digits(speed)}${m.owners ? "" : " of the mean"}`);
    const range = (a, k) => `${AXES[a]} ${m.edges[a][k]} to ${m.edges[a][k + 1] - 1}`;
    lines.push(`cells ${range(u, i)}, ${range(v, j)}`);
    for (const layer of this.run.layers.filter((l) => !l.word && l.name !== "speed")) lines.push(`   ${layer.name} ${layer.text(layer.of(f, p))} ${layer.unit}`);
    if (m.particles) lines.push(`   particles ${m.particles[f][p]}`);
    if (m.zone && m.zone[f][p]) lines.push(`   computed by accelerator ${m.zone[f][p] - 1}`);
    return lines.join("\n");
  }
}
