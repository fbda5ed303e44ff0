"use strict";
// The page of `bglang view`: parameters on the left, curves in the middle, graph, energy and events on the right.

const $ = (id) => document.getElementById(id);
const COLORS = ["#1f6feb", "#d1495b", "#2a9d5c", "#e08e0b", "#7b4fc9", "#0f9bb3", "#b5651d", "#6b7785"];
const PAUSE = 120; // milliseconds without a change after which the model is run

let model = null; // what the server says about the model
let chosen = []; // names of the variables that are plotted
let changed = new Map(); // name of a parameter -> text that is not the source's
let answer = null; // the last run
let timer = 0;
let asked = 0;

// --- talking to the server ---------------------------------------------------------------------------------------

async function load() {
  const response = await fetch("model");
  model = await response.json();
  $("file").textContent = model.file;
  document.title = `${model.model || "?"} – bglang`;
  if (model.model) $("model").textContent = model.model;
  showProblems(model.problems.map((p) => [p.severity, p.text]), model.wrong);
  $("middle").classList.toggle("stale", Boolean(model.wrong));
  if (model.wrong) {
    say("the model is wrong; mend the file and this page follows", false);
    return;
  }
  const names = new Set(model.variables.map((v) => v.name));
  chosen = chosen.filter((name) => names.has(name));
  if (!chosen.length) chosen = [...model.chosen];
  const known = new Set(model.parameters.map((p) => p.name));
  for (const name of changed.keys()) if (!known.has(name)) changed.delete(name);
  buildParameters();
  buildChooser();
  $("graph").src = `graph.svg?${model.version}`;
  $("stop").placeholder = format(model.experiment.stop);
  $("tol").placeholder = format(model.experiment.tol);
  run();
}

async function follow() {
  for (;;) {
    try {
      const response = await fetch(`changes/${model.version}`);
      const { version } = await response.json();
      if (version !== model.version) await load();
    } catch {
      say("the server is gone: start `bglang view` again", false);
      await new Promise((done) => setTimeout(done, 2000));
    }
  }
}

function later() {
  clearTimeout(timer);
  timer = setTimeout(run, PAUSE);
}

async function run() {
  if (!model || model.wrong) return;
  const mine = ++asked;
  say("running …", true);
  const wish = { set: Object.fromEntries(changed), vars: chosen, stop: $("stop").value, tol: $("tol").value };
  const began = performance.now();
  let found;
  try {
    const response = await fetch("run", { method: "POST", body: JSON.stringify(wish) });
    if (response.status === 409) return; // a newer one is under way
    found = response.ok ? await response.json() : { failed: await response.text() };
  } catch {
    say("the server is gone: start `bglang view` again", false);
    return;
  }
  if (mine !== asked) return;
  const warnings = (found.warnings || []).map((text) => ["warning", text]);
  const failure = found.failed ? [["error", found.failed]] : [];
  showProblems([...model.problems.map((p) => [p.severity, p.text]), ...warnings, ...failure], "");
  $("plots").classList.toggle("stale", !found.curves);
  if (!found.curves) {
    say("no result", false);
    return;
  }
  answer = found;
  showPlots();
  showEnergy();
  showEvents();
  const s = answer.stats;
  fill($("solver"), [line(`${s.method}, ${s.steps} steps, ${(s.seconds * 1e3).toPrecision(3)} ms`), line(s.reason, "soft")]);
  say(`${Math.round(performance.now() - began)} ms`, false);
}

function say(text, busy) {
  $("state").textContent = text;
  $("state").classList.toggle("busy", busy);
}

// --- small helpers -------------------------------------------------------------------------------------------------

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}
const fill = (element, children) => element.replaceChildren(...children);
const line = (text, kind = "") => make("div", { textContent: text, className: kind });

function format(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-3 || size >= 1e5) ? value.toExponential(3) : String(Number(value.toPrecision(5)));
}

// --- parameters ----------------------------------------------------------------------------------------------------

function buildParameters() {
  const groups = [["parameters", "Parameters", true], ["starts", "Starts", false], ["inside", "Inside components", false]];
  fill($("parameters"), groups.flatMap(([key, title, open]) => {
    const own = model.parameters.filter((p) => p.group === key);
    if (!own.length) return [];
    const box = make("details", { className: "group", open: open || model.parameters.length <= 8 },
      make("summary", { textContent: `${title} (${own.length})` }));
    box.append(...own.map(parameterRow));
    return [box];
  }));
  search();
}

function parameterRow(p) {
  const box = make("div", { className: "parameter" });
  box.dataset.name = p.name.toLowerCase();
  const field = make("input", { value: changed.get(p.name) ?? p.value, ariaLabel: p.name, spellcheck: false });
  const row = make("div", { className: "row" });
  const slider = p.number ? make("input", { type: "range", tabIndex: -1, ariaLabel: `${p.name}, slider` }) : null;
  if (slider) {
    range(slider, Number(p.value), p.whole);
    slider.value = field.value;
    slider.addEventListener("input", () => { field.value = format(Number(slider.value)); note(); });
    row.append(slider);
  }
  const note = () => {
    if (field.value.trim() === "" || field.value === p.value) changed.delete(p.name);
    else changed.set(p.name, field.value.trim());
    box.classList.toggle("changed", changed.has(p.name));
    if (slider && document.activeElement !== slider && Number.isFinite(Number(field.value))) {
      if (Number(field.value) < slider.min || Number(field.value) > slider.max) range(slider, Number(field.value), p.whole);
      slider.value = field.value;
    }
    later();
  };
  field.addEventListener("change", note);
  field.addEventListener("keydown", (event) => { if (event.key === "Enter") note(); });
  row.append(field, make("span", { className: "unit", textContent: p.unit }));
  const shape = p.structural ? "shapes the model: it is compiled again" : "";
  const about = [p.description, shape].filter(Boolean).join(" – ");
  box.append(make("div", { className: "name" }, make("b", { textContent: p.name })), row);
  if (about) box.append(make("div", { className: "note", textContent: about }));
  box.classList.toggle("changed", changed.has(p.name));
  return box;
}

function range(slider, value, whole) {
  const size = value === 0 ? 1 : Math.abs(value);
  slider.min = value < 0 ? -2 * size : value === 0 ? -size : 0;
  slider.max = value < 0 ? 0 : value === 0 ? size : 2 * size;
  slider.step = whole ? 1 : (slider.max - slider.min) / 400;
}

function search() {
  const wanted = $("search").value.trim().toLowerCase();
  for (const box of document.querySelectorAll(".parameter")) box.hidden = !box.dataset.name.includes(wanted);
  if (wanted) for (const group of document.querySelectorAll("#parameters details")) group.open = true;
}

// --- variables -----------------------------------------------------------------------------------------------------

function buildChooser() {
  fill($("variables"), model.variables.map((v) => make("option", { value: v.name, label: v.description || v.unit })));
  showChosen();
}

function showChosen() {
  fill($("chosen"), chosen.map((name, k) => {
    const dot = make("span", { className: "dot" });
    dot.style.background = COLORS[k % COLORS.length];
    const off = make("button", { textContent: "×", title: `do not plot ${name}` });
    off.addEventListener("click", () => { chosen = chosen.filter((n) => n !== name); showChosen(); run(); });
    return make("span", { className: "chip" }, dot, name, off);
  }));
}

function choose() {
  const name = $("variable").value.trim();
  if (!model || !model.variables.some((v) => v.name === name)) return;
  $("variable").value = "";
  if (!chosen.includes(name)) chosen.push(name);
  showChosen();
  run();
}

// --- plots ---------------------------------------------------------------------------------------------------------

function showPlots() {
  const groups = new Map(); // curves of one unit share a plot; where there is none, those of one letter (all `.q`)
  for (const curve of answer.curves) {
    const key = curve.unit || `.${curve.name.split(".").slice(1).pop() || curve.name}`;
    groups.set(key, [...(groups.get(key) || []), curve]);
  }
  const old = [...$("plots").children];
  const boxes = [...groups.values()].map((curves, k) => {
    const box = old[k] || make("div", { className: "plot" }, make("canvas"));
    box.curves = curves;
    const canvas = box.firstChild;
    canvas.onmousemove = (event) => draw(box, event.offsetX);
    canvas.onmouseleave = () => draw(box);
    return box;
  });
  fill($("plots"), boxes);
  if (!boxes.length) fill($("plots"), [line("choose a variable above", "soft")]);
  for (const box of boxes) draw(box);
}

function draw(box, pointer) {
  const canvas = box.firstChild;
  const scale = window.devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  canvas.width = width * scale;
  canvas.height = height * scale;
  const g = canvas.getContext("2d");
  const style = getComputedStyle(document.body);
  const [text, soft, grid] = ["--text", "--soft", "--line"].map((name) => style.getPropertyValue(name));
  g.scale(scale, scale);
  g.font = `12px ${style.fontFamily}`;
  const area = { left: 64, right: width - 12, top: 22, bottom: height - 34 };
  const [t0, t1] = extent(box.curves.map((c) => c.t), 0);
  const [y0, y1] = extent(box.curves.map((c) => c.y), 0.06);
  const x = (t) => area.left + (t - t0) / (t1 - t0 || 1) * (area.right - area.left);
  const y = (v) => area.bottom - (v - y0) / (y1 - y0) * (area.bottom - area.top);
  g.strokeStyle = grid;
  g.fillStyle = soft;
  g.lineWidth = 1;
  for (const [ticks, vertical] of [[marks(t0, t1, width / 90), true], [marks(y0, y1, height / 45), false]]) {
    for (const tick of ticks) {
      g.beginPath();
      if (vertical) { g.moveTo(x(tick), area.top); g.lineTo(x(tick), area.bottom); }
      else { g.moveTo(area.left, y(tick)); g.lineTo(area.right, y(tick)); }
      g.stroke();
      g.textAlign = vertical ? "center" : "right";
      g.textBaseline = vertical ? "top" : "middle";
      g.fillText(format(tick), vertical ? x(tick) : area.left - 6, vertical ? area.bottom + 5 : y(tick));
    }
  }
  g.textAlign = "right";
  g.textBaseline = "bottom";
  g.fillText("time [s]", area.right, height - 1);
  g.save();
  g.beginPath();
  g.rect(area.left, area.top - 2, area.right - area.left, area.bottom - area.top + 4);
  g.clip();
  for (const curve of box.curves) path(g, curve, x, y);
  g.restore();
  legend(g, box, area, pointer === undefined ? undefined : t0 + (pointer - area.left) / (area.right - area.left) * (t1 - t0), text, soft);
  if (pointer >= area.left && pointer <= area.right) {
    g.strokeStyle = soft;
    g.setLineDash([3, 3]);
    g.beginPath();
    g.moveTo(pointer, area.top);
    g.lineTo(pointer, area.bottom);
    g.stroke();
  }
}

function path(g, curve, x, y) {
  g.strokeStyle = COLORS[chosen.indexOf(curve.name) % COLORS.length];
  g.lineWidth = 1.6;
  g.lineJoin = "round";
  g.beginPath();
  let pen = false;
  for (let k = 0; k < curve.t.length; k++) {
    if (curve.y[k] === null) { pen = false; continue; }
    if (pen) g.lineTo(x(curve.t[k]), y(curve.y[k]));
    else g.moveTo(x(curve.t[k]), y(curve.y[k]));
    pen = true;
  }
  g.stroke();
}

function legend(g, box, area, time, text, soft) {
  let left = area.left;
  g.textAlign = "left";
  g.textBaseline = "top";
  const unit = box.curves[0].unit;
  for (const curve of box.curves) {
    g.fillStyle = COLORS[chosen.indexOf(curve.name) % COLORS.length];
    g.fillRect(left, 7, 14, 3);
    g.fillStyle = text;
    const label = time === undefined ? curve.name : `${curve.name} = ${format(valueAt(curve, time))}`;
    g.fillText(label, left + 18, 2);
    left += g.measureText(label).width + 34;
  }
  g.fillStyle = soft;
  if (unit) g.fillText(`[${unit}]`, left, 2);
  if (time !== undefined) {
    g.textAlign = "right";
    g.fillText(`t = ${format(time)}`, area.right, 2);
  }
}

function valueAt(curve, time) {
  const { t, y } = curve;
  let low = 0, high = t.length - 1;
  if (high < 0 || time < t[0] || time > t[high]) return null;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (t[middle] <= time) low = middle; else high = middle;
  }
  const span = t[high] - t[low];
  return span > 0 ? y[low] + (time - t[low]) / span * (y[high] - y[low]) : y[high];
}

function extent(lists, margin) {
  let low = Infinity, high = -Infinity;
  for (const list of lists) for (const v of list) if (v !== null) { low = Math.min(low, v); high = Math.max(high, v); }
  if (low > high) [low, high] = [0, 1];
  if (margin && high - low <= 1e-12 * Math.max(Math.abs(low), Math.abs(high))) {
    const room = Math.abs(low) * 0.1 || 1;
    return [low - room, high + room];
  }
  return [low - margin * (high - low), high + margin * (high - low)];
}

function marks(low, high, most) {
  const rough = (high - low) / Math.max(2, most);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough) || 10 * power;
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step && found.length < 50; k++) found.push(k * step);
  return found;
}

// --- beside the plots ----------------------------------------------------------------------------------------------

function showProblems(problems, wrong) {
  const boxes = problems.map(([severity, text]) => make("pre", { className: `problem ${severity}`, textContent: text.trim() }));
  if (wrong && !problems.length) boxes.push(make("pre", { className: "problem error", textContent: wrong }));
  fill($("problems"), boxes);
}

function showEnergy() {
  const a = answer.audit;
  if (!a) { fill($("energy"), [line("nothing to audit", "soft")]); return; }
  const rows = ["supplied", "dissipated", "stored"].flatMap((kind) => {
    const own = a.entries.filter((e) => e.kind === kind).sort((p, q) => Math.abs(q.energy) - Math.abs(p.energy));
    const rest = own.slice(6).reduce((sum, e) => sum + (e.energy || 0), 0);
    return [
      ...own.slice(0, 6).map((e) => cells(e.element, e.energy)),
      ...(own.length > 6 ? [cells(`${own.length - 6} others`, rest)] : []),
      cells(kind, a[kind], "sum"),
    ];
  });
  if (a.jumps) rows.push(cells("in jumps", a.jumps));
  if (a.modulation) rows.push(cells("by modulation", a.modulation));
  fill($("energy"), [make("table", {}, ...rows),
    line(`balance off by ${format(a.error)} J (${format(a.relative)} of what was turned over)`, "soft")]);
}

function cells(name, energy, kind = "") {
  return make("tr", { className: kind }, make("td", { textContent: name }), make("td", { textContent: `${format(energy)} J` }));
}

function showEvents() {
  const rows = answer.events.map((e) => line(e.text, "event"));
  if (answer.count > answer.events.length) rows.push(line(`… ${answer.count} in all`, "soft"));
  fill($("events"), rows.length ? rows : [line("none", "soft")]);
}

// --- start ---------------------------------------------------------------------------------------------------------

$("search").addEventListener("input", search);
$("reset").addEventListener("click", () => { changed.clear(); $("stop").value = $("tol").value = ""; buildParameters(); run(); });
$("variable").addEventListener("change", choose);
$("variable").addEventListener("input", choose);
for (const id of ["stop", "tol"]) $(id).addEventListener("change", later);
$("graph").addEventListener("click", () => $("graph").classList.toggle("large"));
window.addEventListener("keydown", (event) => { if (event.key === "Escape") $("graph").classList.remove("large"); });
window.addEventListener("resize", () => { for (const box of document.querySelectorAll(".plot")) if (box.curves) draw(box); });
load().then(follow);
