"use strict";

// Switch between the whole range of a curve and the range that holds nearly all readings.
for (const button of document.querySelectorAll(".switch")) {
  const text = button.textContent;
  button.addEventListener("click", () => {
    const pressed = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(pressed));
    button.textContent = pressed ? "Show the usual range" : text;
    for (const view of button.closest("figure").querySelectorAll(".view")) {
      view.classList.toggle("away");
    }
  });
}

// Sort by a column: numbers by size, names in natural order, undefined values last.
function compare(a, b) {
  const [x, y] = [Number(a), Number(b)];
  if (a !== "" && b !== "" && !Number.isNaN(x) && !Number.isNaN(y)) return x - y;
  return a.localeCompare(b, undefined, {numeric: true});
}

for (const table of document.querySelectorAll(".sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.firstElementChild.addEventListener("click", () => {
    const descending = head.getAttribute("aria-sort") === "ascending";
    const value = (row) => row.cells[column].dataset.value;
    const missing = (row) => ["", "nan"].includes(value(row));
    const rows = [...table.tBodies[0].rows].sort((a, b) =>
      missing(a) - missing(b) || (descending ? -1 : 1) * compare(value(a), value(b)));
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    table.tBodies[0].append(...rows);
  }));
}

// Pick a cluster: it stays bright in every figure, and its profile is shown.
const rows = [...document.querySelectorAll("tr.pick")];
const chip = document.querySelector(".picked");

function pick(name) {
  const picked = rows.find((row) => row.dataset.name === name);
  for (const row of rows) {
    row.classList.toggle("on", row === picked);
    row.querySelector(".picker").setAttribute("aria-pressed", String(row === picked));
  }
  const profiles = [...document.querySelectorAll(".profile")];
  const shown = profiles.find((profile) => profile.dataset.name === name);
  if (picked ? shown : profiles.length) {
    profiles.forEach((profile, i) => profile.classList.toggle("away", shown ? profile !== shown : i > 0));
  }
  chip.classList.toggle("away", !picked);
  chip.querySelector(".what").replaceChildren(
    ...(picked ? [...picked.querySelector(".picker").childNodes].map((node) => node.cloneNode(true)) : []));
  const drawn = window.Bokeh?.documents[0];
  if (drawn) light(drawn, picked ? name : null, Number(picked?.dataset.first));
}

function light(drawn, name, first) {
  for (const source of ["samples", "centroids", "centroid-wide", "centroid-narrow"]) {
    const found = drawn.get_model_by_name(source);
    if (found === null) continue;
    const names = found.data.full ?? found.data.name;
    const inside = name === null ? [] : [...names.keys()].filter((i) => names[i] === name);
    // Nothing selected is everything bright: a cluster without samples selects what is not there.
    found.selected.indices = name !== null && inside.length === 0 ? [names.length] : inside;
  }
  const layers = [...drawn.all_models].filter((model) => model.name === "layer");
  const known = layers.some((layer) => layer.tags[0] === name);
  for (const layer of layers) {
    const bright = !known || layer.tags[0] === name;
    layer.glyph.fill_alpha = {value: bright ? 0.85 : 0.12};
    layer.glyph.hatch_alpha = {value: bright ? 0.7 : 0.1};
  }
  const line = drawn.get_model_by_name("picked");
  if (line !== null) {
    line.visible = name !== null && !Number.isNaN(first);
    if (line.visible) line.location = first;
  }
}

for (const row of rows) {
  row.addEventListener("click", () => pick(row.classList.contains("on") ? null : row.dataset.name));
}
chip.querySelector("button").addEventListener("click", () => pick(null));

// On a touch screen, dragging scrolls the page. On a narrow one, names that would overlap are hidden.
function fit(drawn) {
  if (matchMedia("(pointer: coarse)").matches) {
    for (const model of drawn.all_models) {
      if (["BoxZoomTool", "ToolProxy"].includes(model.type)) model.active = false;
    }
  }
  const narrow = matchMedia("(max-width: 44rem)");
  const choose = () => {
    for (const kind of ["wide", "narrow"]) {
      const names = drawn.get_model_by_name(`names-${kind}`);
      if (names !== null) names.visible = narrow.matches === (kind === "narrow");
    }
  };
  narrow.addEventListener("change", choose);
  choose();
}

function whenDrawn(callback) {
  const drawn = window.Bokeh?.documents[0];
  if (drawn) callback(drawn);
  else requestAnimationFrame(() => whenDrawn(callback));
}

if (window.Bokeh) whenDrawn(fit);
