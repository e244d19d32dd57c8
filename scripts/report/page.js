// SPDX-License-Identifier: MIT
// Unpacks the runs, and builds the page from top to bottom: summary, map, sections.
"use strict";

async function unpack() {
  const bytes = Uint8Array.from(atob(document.getElementById("data").textContent.trim()), (c) => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
}

function section(id, title, lead, runs) {
  const made = el("section", { id }, el("h2", {}, title), lead ? el("p", { class: "lead" }, lead) : null);
  const columns = el("div", { class: "columns" });
  made.append(columns);
  document.getElementById("main").append(made);
  document.getElementById("sections").append(el("a", { href: `#${id}` }, title));
  return runs.map((run) => {
    const card = el("div", { class: "card" }, runs.length > 1 ? el("h3", {}, run.name) : null);
    card.restarts = run.starts.slice(1);  // dashed lines in its plots
    columns.append(card);
    return card;
  });
}

const MEANINGS = {
  "overall LBE": "Load-balance efficiency: mean over largest computing time of the processes, in the whole run. 100 %: nobody waits for another one.",
  LBE_m: "Load-balance efficiency by the model: mean over largest load of the resources, for their speeds. 100 %: nobody waits for another one.",
};

function overview(card, run) {
  const going = run.going ? `goes on, as of ${run.going}` : run.finished ? "finished" : "not finished";
  // The summary's times are of the last start.
  const s = run.summary, all = run.all_starts, again = s.first_step > 0 && !all, times = all || s, of = all ? `, ${all.starts} starts` : again ? `, from step ${digits(s.first_step)} on` : "", state = run.partition ? "a partition" : `${going}${s.simulated ? ", on simulated ranks" : ""}`;
  card.querySelector("h3")?.remove();
  const facts = {
    particles: s.particles && digits(s.particles), steps: s.steps != null ? digits(s.steps) : run.thermo && run.thermo.step.length ? `${digits(run.thermo.step[run.thermo.step.length - 1])} so far` : null,
    "ranks x threads": s.ranks && `${s.ranks} x ${s.threads}`, processes: s.processes !== s.ranks ? s.processes : null, [(s.simulated ? "run time on simulated ranks" : "wall time") + of]: times.wall_seconds && seconds(times.wall_seconds),
    "atom-steps a second": times.atom_steps_per_second && `${digits(times.atom_steps_per_second / 1e6)} M`,
    "overall LBE": run.balance && s.overall_lbe ? percent(s.overall_lbe[run.balance[0].model]) : null, "energy drift": s.energy_drift != null ? s.energy_drift.toExponential(1) : null,
    LBE_m: run.partition && run.partition.lbe_model != null ? percent(run.partition.lbe_model) : null, nodes: run.partition && digits(new Set(run.partition.resources.map((r) => r.node)).size), resources: run.partition && digits(run.partition.resources.length),
  };
  const figures = el("dl", { class: "figures" });
  for (const [name, value] of Object.entries(facts)) if (value != null && value !== false) figures.append(el("div", {}, el("dt", {}, MEANINGS[name] ? el("abbr", { title: MEANINGS[name] }, name) : name), el("dd", {}, value)));
  const list = el("ul", { class: "findings" }, ...run.findings.map((f) => el("li", { class: f.kind }, el("b", {}, { problem: "\u25b2 Problem", note: "\u2022 Note", good: "\u2713 Good" }[f.kind]), f.text, el("a", { href: `#${f.see}` }, "see"))));
  const notes = run.notes.length ? el("ul", { class: "notes" }, ...run.notes.map((n) => el("li", {}, n))) : null;
  card.append(el("div", { class: "overview" }, el("h3", {}, `${s.deck || run.name}${s.deck && s.deck !== run.name ? ` (${run.name})` : ""}`, el("span", { class: `state ${run.finished || run.partition ? "" : "open"}` }, state)), figures, el("div", {}, list, notes)));
}

// Beside the only map: how balanced the run was, with a line where the map stands.
function beside(card, run, height) {
  const panel = panelsIn(card, "side"), m = run.map, wide = m.space ? Math.max(...m.length) / Math.min(...m.length) : m.length[0] / m.length[1];
  card.classList.add("with-side");
  card.style.setProperty("--map", `${Math.round(MARGIN + 24 + height * wide)}px`);  // no wider than it has to be
  if (run.balance) balancingCharts(run, [run], panel, 144);
  else rankChart(panel("Computing of each rank (forces, neighbours), a step"), run, [run], "computing");
}

function mapSection(runs) {
  const shown = runs.filter((r) => r.map);
  if (!shown.length) return;
  for (const run of shown) completeMap(run);
  const names = [...new Set(shown.flatMap((r) => r.layers.map((l) => l.name)))], space = shown.some((r) => r.map.space);
  for (const name of names) {  // one scale for all
    const same = shown.flatMap((r) => r.layers.filter((l) => l.name === name)), most = Math.max(...same.map((l) => l.top || 0));
    for (const layer of same) layer.top = most;
  }
  const look = place.before.map || {}, kept = (name, list, other) => (list.includes(look[name]) ? look[name] : other);
  const view = { layer: kept("layer", names, names[0]), borders: kept("borders", [false], true), axis: kept("axis", [0, 1, 2], (shown.find((r) => r.map.space) || shown[0]).map.axis ?? 2), slice: space ? look.slice ?? "mean" : null, height: shown.length > 1 ? 300 : 330 };
  const cards = section("map", "Map", "", shown), maps = shown.map((run) => new CellMap(run, view)), tops = new Map();
  view.top = (name) => {  // one scale for all maps
    const key = [name, view.axis, view.slice === "mean"].join();
    if (!tops.has(key)) tops.set(key, Math.max(...maps.map((m) => m.top(name))));
    return tops.get(key);
  };
  cards.forEach((card, i) => {
    const left = el("div", {}, maps[i].node, maps[i].bar);
    card.append(left);
    if (runs.length === 1 && (runs[0].balance || runs[0].ranks)) beside(card, runs[0], view.height);
  });
  const steps = [...new Set(shown.flatMap((r) => r.map.step))].sort((a, b) => a - b);
  const slider = el("input", { type: "range", id: "time", min: 0, max: steps.length - 1, value: steps.length - 1, "aria-label": "Frame of the map" });
  const where = el("output", { for: "time" }), play = el("button", { type: "button", id: "play" }, "Play");
  let timer = null;
  const draw = () => maps.forEach((m) => m.draw());
  const show = (frame) => {
    frame = Math.max(0, Math.min(steps.length - 1, frame));
    slider.value = frame;
    moved(steps[frame]);
    where.textContent = `step ${digits(steps[frame])}, frame ${frame + 1} of ${steps.length}`;
    slider.setAttribute("aria-valuetext", `step ${steps[frame]}`);
    draw();
  };
  const stop = () => { clearInterval(timer), (timer = null), (place.playing = false), (play.textContent = "Play"); };
  const toggle = () => {
    if (timer) return stop();
    if (+slider.value === steps.length - 1) show(0);
    play.textContent = "Stop";
    place.playing = true;
    timer = setInterval(() => (+slider.value === steps.length - 1 ? stop() : show(+slider.value + 1)), 100);
  };
  slider.addEventListener("input", () => { stop(), show(+slider.value); });
  play.addEventListener("click", toggle);
  place.go = (step) => { stop(), show(lastUpTo(steps, step)); };

  const radios = names.map((name, i) => el("input", { type: "radio", name: "layer", value: name, checked: name === view.layer, onchange: () => { (view.layer = name), draw(); } }));
  const choose = el("fieldset", { "aria-label": "Colours" }, ...names.map((name, i) => el("label", { class: "choice", title: `key ${i + 1}` }, radios[i], el("span", {}, name))));
  const borders = el("input", { type: "checkbox", checked: view.borders, id: "borders", onchange: () => { (view.borders = borders.checked), draw(); } });
  const controls = el("div", { class: "controls" }, choose, el("label", {}, borders, " borders between processes"));
  if (space) {
    const axis = el("select", { "aria-label": "Axis that one looks along" }, ...[2, 1, 0].map((a) => el("option", { value: a }, `along ${AXES[a]}`)));
    const slice = el("select", { "aria-label": "What is shown along it" });
    const fill = () => { slice.replaceChildren(el("option", { value: "mean" }, "mean; owners in the middle"), ...Array.from({ length: shown[0].map.n[view.axis] }, (_, k) => el("option", { value: k }, `layer ${AXES[view.axis]} = ${shown[0].map.edges[view.axis][k]}`))); };
    axis.addEventListener("change", () => { (view.axis = +axis.value), (view.slice = "mean"), fill(), draw(); });
    slice.addEventListener("change", () => { (view.slice = slice.value === "mean" ? "mean" : +slice.value), draw(); });
    axis.value = view.axis, fill();
    if ([...slice.options].some((o) => o.value === String(view.slice))) slice.value = view.slice;
    else view.slice = "mean";
    controls.append(axis, slice);
  }
  const columns = document.querySelector("#map .columns");
  columns.before(controls);
  if (steps.length > 1) columns.after(el("div", { class: "time" }, play, slider, where));
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.altKey || e.metaKey || e.target.matches("select, dialog *")) return;
    const by = { ArrowLeft: () => show(+slider.value - 1), ArrowRight: () => show(+slider.value + 1), Home: () => show(0), End: () => show(steps.length - 1) }[e.key];
    if (by && !e.target.matches("input[type=radio]")) stop(), by(), e.preventDefault();
    else if (e.key === " " && !e.target.matches("button, input[type=checkbox], summary, a")) toggle(), e.preventDefault();
    else if (e.key === "b") borders.click();
    else if (radios[+e.key - 1]) radios[+e.key - 1].click();
  });
  // Where somebody looks at the last frame, it is the last one again when there are more.
  place.look = () => ({ layer: view.layer, borders: view.borders, axis: view.axis, slice: view.slice, step: +slider.value === steps.length - 1 ? null : steps[slider.value] });
  show(look.step == null ? steps.length - 1 : lastUpTo(steps, look.step));
}

// Reads the page anew every so many seconds, or after as long as it took to come, so that one can look at it for half of
// the time; it then shows what it shows now. Not while somebody uses it.
function followRun(seconds) {
  let held = false;
  const box = document.getElementById("follow"), label = document.getElementById("follow-label"), help = document.getElementById("help");
  label.hidden = false;
  box.checked = place.before.follow ?? true;
  addEventListener("pointerdown", () => { held = true; });
  for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => { held = false; });
  document.addEventListener("keydown", (e) => { if (e.key === "f" && !e.ctrlKey && !e.altKey && !e.metaKey) box.click(); });
  setInterval(() => {
    if (!box.checked || held || help.open || place.playing || document.hidden) return;
    history.replaceState({ map: place.look(), follow: true, scroll: [scrollX, scrollY] }, "");
    location.reload();
  }, Math.max(1000 * seconds, performance.now()));
}

async function start() {
  const { runs, reload, styles, axis } = await unpack(), main = document.getElementById("main");
  (STYLES = styles), (SHARED = axis);
  main.className = runs.length > 1 ? "many" : "one";
  main.style.setProperty("--runs", runs.length);
  document.getElementById("names").textContent = runs.map((r) => r.name).join(", ");
  const help = document.getElementById("help");
  document.getElementById("help-button").addEventListener("click", () => help.showModal());
  document.addEventListener("keydown", (e) => { if (e.key === "?" && !help.open) help.showModal(); });
  section("summary", "Summary", "", runs).forEach((card, i) => overview(card, runs[i]));
  mapSection(runs);
  for (const { id, title, lead, has, draw, together } of SECTIONS) {
    if (!runs.some(has)) continue;
    const cards = section(id, title, lead, runs), of = runs.filter(has), card = el("div", { class: "card together" });
    if (together && of.length > 1) document.querySelector(`#${id} .columns`).before(card), together(card, of);
    cards.forEach((card, i) => (has(runs[i]) ? draw(card, runs[i], runs) : card.append(el("p", {}, "Nothing of this was written."))));
  }
  document.getElementById("wait").remove();
  if (reload) followRun(reload);
  if (place.before.scroll) scrollTo({ left: place.before.scroll[0], top: place.before.scroll[1], behavior: "instant" });
  window.report = { runs, charts, place };  // for whoever reads the page by a script
  main.dataset.ready = "yes";
}
start().catch((e) => {
  document.getElementById("wait").textContent = `This page could not be drawn: ${e.message}. It needs a browser of 2023 or later.`;
  throw e;
});
