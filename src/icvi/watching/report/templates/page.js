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
