// SPDX-License-Identifier: MIT
// The sections of the page. Each has a card for each run, side by side, and the same axes in all of them.
"use strict";

const PHASE_COLOURS = { forces: "#0072b2", neighbours: "#56b4e9", ghosts: "#e69f00", accelerator: "#cc79a7", migration: "#009e73", balancing: "#d55e00", output: "#8c6bb1", other: "#b9c1cb" };
// The range of steps of a plot: that of all runs if each run takes at least a third of it, else that of the run. get(run): its steps.
const steps = (run, runs, get) => {
  const ends = (s) => [s[0], s[s.length - 1]], spans = runs.map(get).filter((s) => s && s.length).map(ends), low = Math.min(...spans.map((s) => s[0])), high = Math.max(...spans.map((s) => s[1]));
  const [a, b] = spans.every((s) => 3 * (s[1] - s[0]) >= high - low) ? [low, high] : ends(get(run));
  return [a < 0.1 * b || a === b ? 0 : a, b];
};
// The largest of all values of several lists.
const largest = (lists) => lists.reduce((most, l) => l.reduce((a, b) => (b != null && b > a ? b : a), most), 0);
const smallest = (lists) => lists.reduce((least, l) => l.reduce((a, b) => (b != null && b < a ? b : a), least), Infinity);

// What a heat map of ranks over steps may show.
const RANK_VALUES = {
  computing: { of: (r) => r.forces.map((f, i) => f.map((v, k) => v + r.neighbours[i][k])), format: seconds, text: "computing (forces, neighbours), a step" },
  waiting: { of: (r) => r.wait_seconds, format: seconds, text: "waiting for messages, a step" },
  ghosts: { of: (r) => r.ghosts, format: seconds, text: "ghosts, a step" },
  balancing: { of: (r) => r.balancing, format: seconds, text: "balancing, a step" },
  output: { of: (r) => r.output, format: seconds, text: "output, a step" },
  other: { of: (r) => r.other, format: seconds, text: "other (waiting for all ranks), a step" },
  bytes: { of: (r) => r.bytes, format: (v) => `${digits(v)} bytes`, text: "sent, a step" },
};
function rankChart(box, run, runs, name) {
  const { of, format } = RANK_VALUES[name], all = runs.filter((o) => o.ranks).flatMap((o) => of(o.ranks) || []);
  heatChart(box, { from: run.ranks.from, step: run.ranks.step, values: of(run.ranks), name: "rank", format, what: RANK_VALUES[name].text, high: heatTop(all.flat()) });
}

// {id, title, lead, has(run), draw(card, run, runs), together(card, runs)}. draw() fills the card of a run. runs: all, for the same
// axes. together() fills a card about several runs.
const SECTIONS = [
  {
    id: "balance", title: "Balancing",
    lead: "LBE: mean over largest time of the processes; at 50 % half of the processors' time is lost by waiting for the slowest. LBE_m: the same of the loads that the model gives the partition in use.",
    has: (run) => run.balance,
    together(card, runs) {
      const [axis, places] = SHARED, several = runs.some((r) => r.balance.length > 1);
      const lines = runs.flatMap((r, i) => r.balance.map((b) => ({ label: several ? `${r.name}: ${b.model}` : r.name, x: b.step.map((s) => (s - places[i][0]) / places[i][1]), y: known(b, b.lbe), width: 1.4 }))).map((l, k) => ({ ...l, ...styleOf(k) }));
      card.append(el("h3", {}, "LBE of all runs"));
      lineChart(card, lines, { format: percent, low: lowest(lines.map((l) => l.y)), high: 1, height: 230, names: true, axis });
    },
    draw(card, run, runs) {
      const panel = panelsIn(card);
      if (runs.length > 1 || !run.map) balancingCharts(run, runs, panel);
      modelChart(panel("LBE_m: LBE by the model"), "lbe_model", run, runs);
      if (run.balance[0].ghost_cells) modelChart(panel("Ghost cells of all processes, one cell wide"), "ghost_cells", run, runs, { low: 0, high: null, format: digits });
      // By the wall clock some are unknown.
      if ((run.balance[0].ghost_bytes || [0]).every((v) => v > 0)) modelChart(panel("Bytes of these ghost cells in one exchange"), "ghost_bytes", run, runs, { low: 0, high: null, format: digits });
      const overall = run.summary.overall_lbe || {}, costs = run.summary.contenders || {};
      const rows = run.balance.map((b) => [b.model + (b.driver ? " (drives)" : ""), percent(overall[b.model]), seconds((costs[b.model] || {}).seconds), b.moved, b.kept]);
      const all = panel("In the whole run (drives: the run uses the partition of this model; seconds: computing and balancing, by counted work)");
      all.append(tableOf(["model", "overall LBE", "seconds", "moved", "kept"], rows));
      if (run.summary.least_time) all.append(el("p", {}, run.summary.least_time));
    },
  },
  {
    id: "ranks", title: "Ranks", lead: "Where the time of each rank goes. Other: what is in no named phase, above all waiting for all ranks. Where forces differ much between ranks, and ghosts or other are long where forces are short, ranks wait for the slowest one; where forces are even, and ghosts and other are long, messages are late.",
    has: (run) => run.ranks,
    draw(card, run, runs) {
      const means = ({ ranks }) => Object.fromEntries(ranks.phases.map((p) => [p, meanOver(ranks, p)])), totals = means(run);
      const high = largest(runs.filter((o) => o.ranks).map((o) => Object.values(means(o)).reduce((sum, v) => v.map((x, r) => x + (sum[r] || 0)), [])));
      if (run.summary.times_by === "counted work" && speedsDiffer(run.resources))
        card.append(el("p", { class: "lead" }, "The deck slows processes down in counted times (balance.work.slow), by which balancing goes. These plots show the seconds that the ranks took, which are not slowed down: a rank with a slow process gets less work, computes for a shorter time and waits under other. Section Speeds shows which process is slow."));
      const r = run.ranks, bars = el("div", {}, el("h3", {}, "Mean step, by phase"));
      const map = el("div"), select = el("select", { "aria-label": "Values of the ranks over steps" });
      card.append(el("div", { class: "half" }, bars, el("div", {}, el("div", { class: "controls" }, el("h3", {}, "Over steps: "), select), map)));
      stackedBars(bars, r.phases.filter((p) => largest([totals[p]]) > 1e-3 * high).map((p) => ({ label: p, values: totals[p], colour: PHASE_COLOURS[p] })), "rank", seconds, high);
      for (const [name, choice] of Object.entries(RANK_VALUES)) if (choice.of(r)) select.append(el("option", { value: name }, choice.text));
      const show = () => { map.replaceChildren(), rankChart(map, run, runs, select.value); };
      select.addEventListener("change", () => (show(), select.blur()));  // keys are the map's again
      show();
    },
  },
  {
    id: "speeds", title: "Speeds", lead: "Of the processes' resources, relative to their mean, as the run found them; and the seconds that each process took.",
    has: (run) => run.resources,
    draw(card, run, runs) {
      const r = run.resources, panel = panelsIn(card);
      if (!speedsDiffer(r)) panel("Speed").append(el("p", {}, `The ${digits(r.resource[0].length)} processes are equally fast.`));
      if (r.resource[0].length <= 8) {
        const xs = steps(run, [run], () => [0, ...r.step, run.steps || 0]);
        const lines = (column) => r.resource[0].map((p, k) => ({ label: `process ${p}`, x: r.step, y: r[column].map((v) => v[k]), colour: COLOURS[k % COLOURS.length] }));
        if (speedsDiffer(r)) lineChart(panel("Speed"), lines("speed"), { low: 0, xs });
        lineChart(panel("Time of a step"), lines("seconds"), { low: 0, xs, format: seconds });
      } else {
        const from = [0, ...r.step.slice(0, -1)];
        if (speedsDiffer(r)) heatChart(panel("Speed"), { from, step: r.step, values: r.speed, name: "process", format: digits, what: "speed, of the mean", scale: "cividis" });
        heatChart(panel("Time of a step"), { from, step: r.step, values: r.seconds, name: "process", format: seconds, what: "time of a step" });
      }
    },
  },
  {
    id: "zones", title: "Zones", lead: "What part of each rank's load its accelerators compute, and how long both sides take.",
    has: (run) => run.zones,
    draw(card, run, runs) {
      const z = run.zones, ranks = z.rank[0], both = z.cpu_seconds && z.accelerator_seconds, panel = panelsIn(card);
      if (ranks.length <= 4) {
        const lines = (column, what, more) => ranks.map((r, k) => ({ label: `rank ${r}${what}`, x: z.step, y: z[column].map((v) => v[k]), colour: COLOURS[k], ...more }));
        lineChart(panel("Share on the accelerators"), [...lines("share", ""), ...(z.most_share ? lines("most_share", ", most", { dash: [4, 4], width: 1 }) : [])], { format: percent, low: 0, high: 1 });
        if (both) lineChart(panel("Time of a step"), [...lines("cpu_seconds", ", CPU"), ...lines("accelerator_seconds", ", accelerators", { dash: [6, 3] })], { format: seconds, low: 0 });
      } else {
        const heat = (title, values, format, what, high) => heatChart(panel(title), { from: [0, ...z.step.slice(0, -1)], step: z.step, values, name: "rank", format, what, high });
        heat("Share on the accelerators", z.share, percent, "of the rank's load", 1);
        if (both) heat("Time of a step", z.cpu_seconds.map((row, s) => row.map((v, k) => Math.max(v, z.accelerator_seconds[s][k]))), seconds, "of the slower side");
      }
      const controller = /^ +controller: *(\w+)/m.exec(run.deck || "");
      const decisions = ["kept", "cpu grows", "accelerator grows"], last = z.share.length - 1;
      const rows = ranks.slice(0, 16).map((r, k) => {
        const counts = decisions.map((d) => z.decision.filter((row) => row[k] === d).length);
        return [r, ...counts, percent((z.next_share || z.share)[last][k])];
      });
      panel(`Checks of the border${controller ? `, by ${controller[1]}` : ""}${ranks.length > 16 ? ", first 16 ranks" : ""}`).append(tableOf(["rank", ...decisions, "share at the end"], rows));
    },
  },
  {
    id: "messages", title: "Messages", lead: "What the ranks send each other in the whole run (a row sends, a column receives).",
    has: (run) => run.messages,
    draw(card, run, runs) {
      const panel = panelsIn(card);
      messageMatrix(panel("From each rank to each"), run.messages);
      const n = 1 + Math.max(...run.messages.map(([s, t]) => Math.max(s, t))), sent = new Array(n).fill(0), received = new Array(n).fill(0);
      for (const [s, t, , bytes] of run.messages) (sent[s] += bytes), (received[t] += bytes);
      stackedBars(panel("Sent and received by each rank"), [{ label: "sent", values: sent, colour: "#0072b2" }, { label: "received", values: received, colour: "#e69f00" }], "rank", short);
    },
  },
  {
    id: "energies", title: "Energies", lead: "A check of the physics: the total energy, less the heat of a thermostat and the work of moving faces, stays, but for the error of the time step.",
    has: (run) => run.thermo && run.thermo.step.length,
    draw(card, run, runs) {
      const xs = steps(run, runs, (r) => r.thermo && r.thermo.step);
      const t = run.thermo, panel = panelsIn(card);
      const line = (name, colour) => ({ label: name, x: t.step, y: t[name], colour });
      const given = ["heat", "work"].filter((name) => t[name]), external = t.external ? [line("external", "#8c6bb1")] : [];
      lineChart(panel("Energy / epsilon"), [line("kinetic", "#0072b2"), line("potential", "#d55e00"), ...external, line("total", "#1c2430")], { xs });
      const most = largest([t.kinetic]) || 1, kept = t.total.map((v, k) => (v == null ? null : given.reduce((left, name) => left - t[name][k], v)));
      lineChart(panel(`Change of the total energy${given.length ? ` less ${given.join(" and ")}` : ""}, of the largest kinetic energy`), [{ label: "change", x: t.step, y: kept.map((v) => (v == null ? null : (v - kept[0]) / most)), colour: "#1c2430" }], { xs });
      if (given.length) lineChart(panel("Given from outside / epsilon"), given.map((name, k) => line(name, COLOURS[k])), { xs });
      if (t.temperature) lineChart(panel("Temperature / (epsilon / k)"), [line("temperature", "#009e73")], { xs });
      if (t.pressure) lineChart(panel(`Pressure / (epsilon / sigma${t.momentum_z ? "\u00b3" : "\u00b2"})`), [line("pressure", "#cc79a7")], { xs });
    },
  },
  {
    id: "prediction", title: "Prediction", lead: "Time of a mean step, and what it is made of, as it was predicted, beside what was measured.",
    has: (run) => run.summary.prediction && run.summary.prediction.predicted && run.summary.prediction.measured,
    draw(card, run, runs) {
      const { predicted, measured, file } = run.summary.prediction;
      const most = largest([Object.values(predicted), Object.values(measured)]) || 1;
      const time = (v) => [el("span", { class: "amount", style: `width: ${Math.max(1, (220 * v) / most || 0)}px` }), seconds(v)];
      const rows = Object.keys(predicted).map((name) => [name === "step_seconds" ? "whole step" : name, time(predicted[name]), time(measured[name]), digits(measured[name] / predicted[name])]);
      card.append(tableOf(["", "predicted", "measured", "measured / predicted"], rows), el("p", { class: "lead" }, `Predicted by ${file}`));
    },
  },
  {
    id: "resources", title: "Resources", lead: "What each kind of resource has. Load for speed: 1 is even, and whoever has the most is waited for.",
    has: (run) => run.partition,
    draw(card, run, runs) {
      const all = run.partition.resources, sum = (list, key) => list.reduce((total, r) => total + r[key], 0), speed = sum(all, "speed"), load = sum(all, "load"), cells = sum(all, "cells");
      const rows = [...new Set(all.map((r) => r.kind))].map((kind) => {
        const own = all.filter((r) => r.kind === kind), each = own.map((r) => (r.load / load) / (r.speed / speed));
        return [kind, own.length, percent(sum(own, "speed") / speed), percent(sum(own, "load") / load), percent(sum(own, "cells") / cells), digits(smallest([each])), digits(largest([each]))];
      });
      card.append(tableOf(["", "number", "of all speeds", "of the load", "of the cells", "load for speed, least", "most"], rows));
    },
  },
  {
    id: "run", title: "What ran", lead: "", has: () => true,
    draw(card, run, runs) {
      const s = run.summary, b = s.build || {}, rows = {
        directory: run.folder, command: (s.command_line || []).join(" "), program: [s.version, b.commit, b.compiler, b.mpi].filter(Boolean).join(", "),
        machine: [s.host, s.cpu_model, s.binding && `rank 0 on ${s.binding}`, s.kernels && `kernels ${s.kernels}`, s.simulated && "SIMULATED ranks"].filter(Boolean).join(", "), "end, UTC": s.date, clock: s.times_by,
        starts: run.partition ? null : run.starts.map((step, k) => (k ? `restart at step ${digits(step)}` : `start at step ${digits(step)}`)).join(", "),
        checkpoints: run.partition ? null : run.checkpoints.length ? `steps ${run.checkpoints.map(digits).join(", ")}` : "none are there", "state hash": s.state_hash,
        "peak memory of a rank": s.peak_resident_bytes && `${digits(s.peak_resident_bytes.max / 1e6)} MB`,
      };
      const table = el("table", { class: "plain" });
      for (const [name, value] of Object.entries(rows)) if (value) table.append(el("tr", {}, el("th", {}, name), el("td", {}, value)));
      card.append(table);
      if (run.deck) card.append(el("details", {}, el("summary", {}, "The effective deck"), el("pre", {}, run.deck)));
    },
  },
];

// The lower end of an axis of LBE, as lowest() in lines.py.
const lowest = (lines) => Math.min(0.9, ...lines.map((y) => { const seen = y.filter((v) => v != null); return smallest([seen.length > 2 ? seen.slice(2) : seen]); }));
// A line for each model, on the same axes for all runs.
function modelChart(box, column, run, runs, options = {}) {
  const low = lowest(runs.flatMap((r) => r.balance || []).flatMap((b) => [known(b, b.lbe), known(b, b.lbe_model)]));
  const lines = run.balance.map((b, k) => ({ label: b.model, x: b.step, y: known(b, b[column]), ...styleOf(k), width: b.driver ? 2.2 : 1.2 }));
  lineChart(box, lines, { format: percent, low: options.hooks ? low - 0.12 * (1 - low) : low, high: 1, xs: steps(run, runs, (r) => r.balance && r.balance[0].step), names: runs.length === 1, ...options });
}
const known = (b, values) => values.map((v, k) => (b.decision[k] === "kept: clock" ? null : v));

// LBE, and the times of the processes that it comes from.
function balancingCharts(run, runs, panel, height) {
  const driver = run.balance[0], all = runs.flatMap((r) => (r.balance ? known(r.balance[0], r.balance[0].max_seconds) : []));
  const high = Math.min(largest([all]), 3 * mostOf(all, 0.95));  // a moment in which somebody else had the cores hides nothing
  modelChart(panel("LBE (\u25b2 cells moved, \u2022 partition kept)"), "lbe", run, runs, { height, hooks: [drawDecisions(driver)] });
  lineChart(panel("Time of a process, each step"), [
    { label: "largest", x: driver.step, y: known(driver, driver.max_seconds), colour: "#d55e00" },
    { label: "mean", x: driver.step, y: known(driver, driver.mean_seconds), colour: "#0072b2" },
  ], { height, format: seconds, low: 0, high, xs: steps(run, runs, (r) => r.balance && r.balance[0].step) });
}

// The mean of a step over all intervals that have as many ranks as the last one.
function meanOver(ranks, phase) {
  const values = ranks[phase], n = values[values.length - 1].length, sum = new Array(n).fill(0);
  let length = 0;
  values.forEach((row, i) => {
    if (row.length !== n) return;
    const w = ranks.step[i] - ranks.from[i];
    length += w;
    row.forEach((v, r) => { sum[r] += v * w; });
  });
  return sum.map((v) => v / length);
}

function messageMatrix(card, pairs) {
  const n = 1 + Math.max(...pairs.map(([s, t]) => Math.max(s, t))), most = mostOf(pairs.map((p) => p[3]), 0.98), size = Math.max(1, Math.min(28, Math.floor(460 / n)));
  const canvas = el("canvas", { width: n * size, height: n * size, style: `width: ${Math.min(460, n * size)}px; max-width: 100%`, role: "img", "aria-label": "Bytes from each rank to each" }), pen = canvas.getContext("2d"), at = new Map();
  pen.fillStyle = "#e9edf1", pen.fillRect(0, 0, n * size, n * size);
  for (const [s, t, count, bytes] of pairs) {
    at.set(s * n + t, [count, bytes]);
    pen.fillStyle = css(shade("heat", bytes, most)), pen.fillRect(t * size, s * size, size - (size > 6), size - (size > 6));
  }
  const reading = el("div", { class: "reading" }, "Point at a place to read it.");
  canvas.addEventListener("mousemove", (e) => {
    const box = canvas.getBoundingClientRect(), t = Math.floor((n * (e.clientX - box.left)) / box.width), s = Math.floor((n * (e.clientY - box.top)) / box.height), found = at.get(s * n + t);
    reading.textContent = `rank ${s} to rank ${t}: ${found ? `${digits(found[0])} messages, ${digits(found[1])} bytes` : "nothing"}`;
  });
  card.append(canvas, colourBar("heat", "0", digits(most), "bytes"), reading);
}
