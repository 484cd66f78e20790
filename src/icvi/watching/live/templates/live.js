"use strict";

(async () => {
  const $ = (selector, root = document) => root.querySelector(selector);
  const make = (tag, className, ...children) => {
    const element = document.createElement(tag);
    if (className) element.className = className;
    element.append(...children); // texts stay texts
    return element;
  };

  // -- numbers and times ----------------------------------------------------------------------

  const whole = new Intl.NumberFormat("en", {maximumFractionDigits: 0});
  const raised = (power) => [...String(power)].map((c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]).join("");

  // As icvi.wording.number.
  function number(value, digits = 4) {
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
    if (value === 0) return "0";
    const [mantissa, power] = value.toExponential(digits - 1).split("e").map(Number);
    const signed = (text) => text.replace("-", "−");
    if (power > -5 && power < digits) {
      return signed(new Intl.NumberFormat("en", {maximumSignificantDigits: digits}).format(value));
    }
    if (power >= digits && power < 7) return signed(whole.format(value));
    return `${signed(String(mantissa))} × 10${raised(power)}`;
  }
  const percent = (share) => (share > 0 && share < 0.001 ? "< 0.1 %" : `${number(100 * share, share < 0.1 ? 2 : 3)} %`);
  function compact(n) {
    for (const [unit, letter] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) if (n >= unit) return `${number(n / unit, 3)} ${letter}`;
    return whole.format(n);
  }
  function ago(seconds) {
    if (seconds < 2) return "now";
    if (seconds < 100) return `${Math.round(seconds)} s ago`;
    if (seconds < 6000) return `${Math.round(seconds / 60)} min ago`;
    if (seconds < 172800) return `${Math.round(seconds / 3600)} h ago`;
    return `${Math.round(seconds / 86400)} days ago`;
  }

  // -- the state: everything at first, then changes; as icvi.watching.live.encoding.apply --------

  const state = {};
  window.icviState = state; // for tests and the curious

  function apply(message) {
    Object.assign(state, message.set);
    for (const [name, [first, stop, joins, later, rows]] of Object.entries(message.rows)) {
      let table = state[name] ?? {first, rows: []};
      for (let i = 0; i < joins; i += 1) table = joined(table, later);
      const kept = table.rows.slice(Math.max(0, first - table.first), Math.max(0, stop - table.first));
      const next = {first, rows: kept};
      for (const [number_, row] of rows) next.rows[number_ - first] = row;
      state[name] = next;
    }
  }

  function joined(table, later) {
    const rows = [];
    for (let i = 0; i < table.rows.length; i += 2) {
      const [a, b] = [table.rows[i], table.rows[i + 1]];
      if (b === undefined) {
        rows.push(a);
        continue;
      }
      const lows = later + (a.length - later) / 2;
      const from = b[0] ? b : a;
      rows.push(a.map((value, column) => {
        if (column < later) return from[column];
        if (value === null || b[column] === null) return value ?? b[column];
        return column < lows ? Math.min(value, b[column]) : Math.max(value, b[column]);
      }));
    }
    return {first: 0, rows};
  }

  // -- colours: figures come in those of the report, which are for white paper ----------------

  const DARK = {
    "#1b2026": "#e8ecf1", "#4a535d": "#a9b4c0", "#d5dae0": "#303a45", "#8792a0": "#5b6875",
    "#e9ecef": "#28313a", "#1f5fa8": "#6cb2f7", "#c8372d": "#ff7b6e", "#c9ced4": "#4a555f",
    "#5d6670": "#98a4b0", "#b9c0c8": "#566270", white: "#191f26",
    "#332288": "#9a8cff", "#cc6677": "#e8899a", "#44aa99": "#57c7b5", "#882255": "#d8649b", "#88ccee": "#9bd8f7",
    "#117733": "#4fb86f", "#aa4499": "#d47bc7", "#999933": "#c4c45a", "#ddcc77": "#e8da8c",
  };
  let dark = false;
  const tint = (colour) => (dark ? DARK[colour] ?? colour : colour);
  function tinted(json) {
    if (!dark) return json;
    const walk = (value) => {
      if (typeof value === "string") return DARK[value] ?? value;
      if (Array.isArray(value)) return value.map(walk);
      if (value === null || typeof value !== "object") return value;
      return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, walk(entry)]));
    };
    return walk(json);
  }

  // -- figures -----------------------------------------------------------------------------

  const page = await (await fetch(document.body.dataset.figures)).json();
  const {about, indices, roots} = page;
  let drawn = null;
  const model = (name) => drawn.get_model_by_name(name);

  function panel(name, title, views) {
    const now = make("span", "now", "–");
    const figure = make("figure", "card",
      make("figcaption", "", make("span", "name", name), make("span", "title", title), now));
    figure.dataset.panel = views[0];
    for (const [i, key] of views.entries()) {
      const view = make("div", i ? "view away" : "view");
      view.id = `root-${key}`;
      figure.append(view);
    }
    $(".panels").append(figure);
    return {figure, now};
  }
  const panels = {k: panel("Clusters", "their number; red ticks: a new cluster", ["k"])};
  const truth = indices.filter((each) => each.truth);
  if (truth.length) panels.truth = panel("Truth ↑", truth.map((each) => `${each.name}, ${each.title}`).join("; "), ["truth"]);
  for (const each of indices) {
    if (each.truth) continue;
    const views = [`index${each.column}`, `log${each.column}`].filter((key) => key in roots);
    panels[each.column] = panel(`${each.name} ${each.arrow}`, each.title, views);
    panels[each.column].figure.title = `${each.name}: ${each.title}`;
  }
  $("#heading").textContent = about.heading;
  $("#about").textContent = [about.source, about.clusterer && `clusters from ${about.clusterer}`].filter(Boolean).join(" · ");
  const run = {Source: about.source, Labels: [about.clusterer, about.parameters].filter(Boolean).join(": "), ...about.options, icvi: about.version};
  for (const [key, value] of Object.entries(run)) if (value) $("#run").append(make("dt", "", key), make("dd", "", value));

  let ours = false; // whether a change of the range is ours
  async function embed() {
    for (const key of Object.keys(roots)) $(`#root-${key}`)?.replaceChildren();
    drawn = null;
    Bokeh.documents.length = 0;
    const places = Object.fromEntries(Object.entries(roots).map(([key, id]) => [id, `root-${key}`]));
    const item = {docid: "live", roots: places, root_ids: Object.keys(places)};
    await Bokeh.embed.embed_items({live: tinted(page.document)}, [item]);
    [drawn] = Bokeh.documents;
    const touch = matchMedia("(pointer: coarse)").matches;
    for (const each of drawn.all_models) {
      // On a touch screen, dragging scrolls the page.
      if (touch && ["BoxZoomTool", "ToolProxy"].includes(each.type)) each.active = false;
    }
    if (matchMedia("(min-width: 110rem)").matches) { // on a wall, from across the room
      for (const each of drawn.all_models) {
        if (/Axis$/.test(each.type) && each.ticker.name !== "created") each.setv({major_label_text_font_size: "15px", axis_label_text_font_size: "15px"});
      }
    }
    const range = model("k").x_range;
    for (const end of ["start", "end"]) {
      range.properties[end].change.connect(() => {
        if (!ours && mode !== "free") choose("free");
      });
    }
    const narrow = matchMedia("(max-width: 46rem)");
    const names = () => {
      if (drawn === null) return;
      for (const kind of ["wide", "narrow"]) model(`names-${kind}`).visible = narrow.matches === (kind === "narrow");
    };
    narrow.onchange = names;
    names();
    const plot = model("partition");
    plot.sizing_mode = "stretch_both";
    for (const view of ["sizes", "k", ...Object.keys(roots).filter((key) => /^(index|log|truth)/.test(key))]) model(view).sizing_mode = "stretch_both";
  }

  // -- which samples are shown ---------------------------------------------------------------

  let mode = "all"; // or a number of samples, or "free" where the reader has zoomed
  const CHOICES = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
  let offered = "";

  function choices(seen) {
    // About a decade below what there is and four more.
    return CHOICES.filter((n) => n < seen).slice(-4);
  }
  function offer(seen) {
    const found = choices(seen);
    if (String(found) !== offered) {
      offered = String(found);
      const buttons = [["all", "All"], ...found.map((n) => [n, `Last ${compact(n)}`])].map(([value, text]) => {
        const button = make("button", "", text);
        button.type = "button";
        button.dataset.range = value;
        button.addEventListener("click", () => choose(value));
        return button;
      });
      $(".ranges").replaceChildren(...buttons);
    }
    for (const button of $(".ranges").children) button.setAttribute("aria-pressed", String(button.dataset.range === String(mode)));
  }
  function choose(value) {
    mode = value;
    offer(state.now?.[0] ?? 0);
    if (mode !== "free") draw();
  }
  function shift(start, end) {
    const [seen] = state.now;
    const width = Math.min(end - start, seen);
    const left = Math.min(Math.max(0.5, start), seen + 0.5 - width);
    mode = "free";
    setRange(left, left + width);
    offer(seen);
    draw();
  }
  function setRange(start, end) {
    const range = model("k").x_range;
    const seen = state.now?.[0] ?? 1;
    ours = true;
    range.setv({bounds: [0, seen + 1], start, end, reset_start: 0.5, reset_end: seen + 0.5});
    ours = false;
  }

  // -- drawing --------------------------------------------------------------------------------

  const texts = new WeakMap();
  function rowTexts(row, m) {
    let found = texts.get(row);
    if (found === undefined) {
      found = [];
      for (let i = 0; i < m; i += 1) {
        const [last, low, high] = [row[2 + i], row[2 + m + i], row[2 + 2 * m + i]];
        const value = last === null ? "undefined" : number(last, 6);
        found.push(low === null || (low === high && low === last) ? value : `${value} (${number(low, 6)} to ${number(high, 6)})`);
      }
      texts.set(row, found);
    }
    return found;
  }

  // The whole stream, and its end finer where that is known.
  function curveRows() {
    const old = (state.history?.rows ?? []).filter((row) => row && row[0] > 0);
    const recent = state.recent?.rows ?? [];
    if (recent.length < 3 || old.length < 3) return old;
    const apart = (rows) => (rows[rows.length - 1][0] - rows[0][0]) / (rows.length - 1);
    if (apart(recent) >= apart(old)) return old;
    return [...old.filter((row) => row[0] < recent[0][0]), ...recent];
  }

  const plain = (value) => (value === null || !Number.isFinite(value) ? NaN : value);

  function drawCurves(rows) {
    const m = indices.length;
    const n = rows.length;
    const column = (make_) => Float64Array.from({length: n}, (_, i) => plain(make_(rows[i], i)));
    const left = (i) => (i ? rows[i - 1][0] : 0);
    const data = {
      samples: column((row) => row[0]), left: column((_, i) => left(i) + 0.5), right: column((row) => row[0] + 0.5),
      k: column((row) => row[1]),
      bucket: rows.map((row, i) => (row[0] === left(i) + 1 ? whole.format(row[0]) : `${whole.format(left(i) + 1)} to ${whole.format(row[0])}`)),
    };
    for (let i = 0; i < m; i += 1) {
      data[`last${i}`] = column((row) => row[2 + i]);
      data[`low${i}`] = column((row) => row[2 + m + i]);
      data[`high${i}`] = column((row) => row[2 + 2 * m + i]);
      data[`text${i}`] = rows.map((row) => rowTexts(row, m)[i]);
    }
    const dots = {};
    for (const name of ["k", ...indices.map((_, i) => `last${i}`)]) {
      const values = data[name];
      const finite = [...values.keys()].filter((i) => !Number.isNaN(values[i]));
      // Readings without neighbours, which no line goes through, or all if they are few.
      dots[name] = finite.length <= 40 ? finite
        : finite.filter((i) => Number.isNaN(values[i - 1] ?? NaN) && Number.isNaN(values[i + 1] ?? NaN));
    }
    const source = model("curves");
    for (const each of drawn.all_models) {
      if (each.type === "IndexFilter" && each.tags.length && String(each.indices) !== String(dots[each.tags[0]])) each.indices = dots[each.tags[0]];
    }
    source.data = data;
    model("created").ticks = (state.created?.rows ?? []).map((row) => row[0]);
  }

  // How much of a curve to show; as icvi.watching.report.figures.axis_range, for what is in sight.
  function axis(rows, each) {
    const m = indices.length;
    const values = (offset) => rows.map((row) => plain(row[offset + each.column])).filter((value) => !Number.isNaN(value));
    const [last, low, high] = [values(2), values(2 + m), values(2 + 2 * m)];
    if (!low.length) return null;
    const [least, most] = [Math.min(...low), Math.max(...high)];
    const margin = ([a, b]) => ({low: a - 0.08 * (b - a || Math.abs(b) || 1), high: b + 0.08 * (b - a || Math.abs(b) || 1), log: false});
    if (each.low !== null && each.high !== null) return margin([Math.min(least, each.low), Math.max(most, each.high)]);
    const sorted = (last.length ? last : low).slice().sort((a, b) => a - b);
    const at = (share) => sorted[Math.round(share * (sorted.length - 1))];
    let [a, b] = [at(0.02), at(0.98)];
    const end = (last.length ? last : low).at(-1);
    if (least > 0 && Math.log10(b / a) > 3) {
      [a, b] = [Math.log10(least), Math.log10(Math.max(b * 2, end))];
      const room = 0.08 * (b - a || 1);
      return {low: 10 ** (a - room), high: 10 ** (b + room), log: true};
    }
    // Nearly all readings, and the last; a spike that is much higher is cut off.
    const span = b - a;
    a = a - span <= least ? least : Math.min(a - span / 4, end);
    b = most <= b + span ? most : Math.max(b + span / 4, end);
    if (each.low !== null || each.high !== null) {
      [a, b] = [Math.min(a, each.low ?? a), Math.max(b, each.high ?? b)];
    } else {
      const missing = 0.1 * Math.max(Math.abs(a), Math.abs(b)) - (b - a);
      if (missing > 0) [a, b] = [a - missing / 2, b + missing / 2];
    }
    return margin([a, b]);
  }

  function fitAxes(rows) {
    const range = model("k").x_range;
    const inside = rows.filter((row) => row[0] >= range.start && row[0] <= range.end + 1);
    const seen = inside.length ? inside : rows.slice(-1);
    if (!seen.length) return;
    model("k").y_range.setv({start: 0, end: 1.1 * Math.max(1, ...seen.map((row) => row[1]))});
    if (truth.length) {
      const low = Math.min(0, ...truth.flatMap((each) => seen.map((row) => row[2 + each.column] ?? 0)));
      model("truth").y_range.setv({start: 1.08 * low, end: 1.08});
    }
    for (const each of indices) {
      if (each.truth) continue;
      const found = axis(seen, each);
      if (found === null) continue;
      const log = found.log && `log${each.column}` in roots;
      const range_ = model(`${log ? "log" : "index"}${each.column}`).y_range;
      if (range_.start !== found.low || range_.end !== found.high) {
        range_.setv({start: found.low, end: found.high, reset_start: found.low, reset_end: found.high});
      }
      $(`#root-index${each.column}`).classList.toggle("away", log);
      $(`#root-log${each.column}`)?.classList.toggle("away", !log);
    }
  }

  const drawnParts = {};
  const changed = (name) => {
    const is = state[name] !== drawnParts[name];
    drawnParts[name] = state[name];
    return is;
  };

  function drawPartition() {
    const points = (state.points?.rows ?? []).filter(Boolean);
    const styles = (state.styles?.rows ?? []);
    const of = (i) => styles[i] ?? ["", "#5d6670", "x", "✕"];
    const plot = model("partition");
    if (state.plane) {
      plot.below[0].axis_label.text = state.plane.across;
      plot.left[0].axis_label.text = state.plane.up;
      if (plot.match_aspect !== state.plane.equal) plot.match_aspect = state.plane.equal;
    }
    model("samples").data = {
      number: points.map((row) => row[0]), x: points.map((row) => row[2]), y: points.map((row) => row[3]),
      name: points.map((row) => of(row[1])[0]), colour: points.map((row) => tint(of(row[1])[1])), marker: points.map((row) => of(row[1])[2]),
    };
    const rows = clusterRows().filter((row) => row[8] !== null);
    const places = (chosen) => ({x: chosen.map((row) => row[8]), y: chosen.map((row) => row[9])});
    model("centroids").data = {
      ...places(rows), size: rows.map((row) => row[10]), name: rows.map((row) => of(row[0])[0]),
      count: rows.map((row) => whole.format(row[1])), silhouette: rows.map((row) => number(row[3], 3)),
    };
    for (const [kind, room] of [["wide", 1], ["narrow", 2]]) {
      const named = rows.filter((row) => row[11] >= room);
      model(`centroid-${kind}`).data = {
        ...places(named), name: named.map((row) => [...of(row[0])[0]].slice(0, 18).join("")), full: named.map((row) => of(row[0])[0]),
        aside: named.map((row) => -row[10] / 2 - 1),
      };
    }
    const shown = whole.format(points.length);
    $("#plane").textContent = state.plane
      ? `${points.length < state.plane.of ? `${shown} of ${whole.format(state.plane.of)} samples, drawn at random` : `All ${shown} samples`}. Crossed circles are centroids. ${state.plane.distortion}`
      : "Nothing to show yet.";
    light();
  }

  const MOST = 14;
  function drawSizes() {
    const layers = state.layers ?? [];
    const rows = (state.sizes?.rows ?? []).filter((row) => row && row[0] > 0 && row.length === layers.length + 1);
    const samples = [0, ...rows.map((row) => row[0])];
    const data = {samples, floor: samples.map(() => 0)};
    let top = samples.map(() => 0);
    for (let i = 0; i < MOST; i += 1) {
      if (i < layers.length) top = top.map((value, at) => value + (at ? rows[at - 1][i + 1] : 0));
      data[`top${i}`] = top;
    }
    model("tops").data = data;
    const all = [...drawn.all_models].filter((each) => each.name === "layer").sort((a, b) => Number(a.id.slice(1)) - Number(b.id.slice(1)));
    all.forEach((layer, i) => {
      const [name, colour, hatch] = layers[i] ?? ["", "#c9ced4", " "];
      layer.tags = [name];
      layer.visible = i < layers.length;
      layer.glyph.setv({fill_color: {value: tint(colour)}, hatch_pattern: {value: hatch}});
    });
    const total = top.at(-1);
    model("sizes").y_range.setv({start: 0, end: 1.04 * Math.max(1, total)});
    const names = {samples: [], y: [], name: []};
    let floor = 0;
    layers.forEach(([name], i) => {
      const end = data[`top${i}`].at(-1);
      if (end - floor > 0.045 * total) {
        names.samples.push(samples.at(-1));
        names.y.push((floor + end) / 2);
        names.name.push([...name].length > 24 ? `${[...name].slice(0, 23).join("")}…` : name);
      }
      floor = end;
    });
    model("layer-names").data = names;
  }

  // -- texts and tables ----------------------------------------------------------------------

  function drawAnswer() {
    const answer = state.answer;
    if (!answer) return;
    const card = $(".answer");
    card.className = `card answer ${answer.kind}`;
    const grade = answer.grade || "not judged";
    if ($(".grade").textContent !== grade) $(".grade").textContent = grade;
    $(".to-do").replaceChildren(...answer.to_do.map((text) => make("li", "", text)));
    $(".sentences").replaceChildren(...answer.sentences.map((text) => make("p", "", text)));
    $(".alarms").classList.toggle("some", answer.n_active > 0);
    $(".alarms .count").textContent = answer.n_active
      ? `${whole.format(answer.n_active)} active` : `none active, ${whole.format(answer.n_alarms)} so far`;
    const active = answer.active.map(([what, sample, separation]) =>
      make("li", "", what, " ", make("span", "", `since sample ${whole.format(sample)}; ${separation}`)));
    $(".active").replaceChildren(...(active.length ? active : [make("li", "none", "No alarm is active.")]));
    $(".log").replaceChildren(...answer.alarms.map(([what, sample, event]) =>
      make("li", "", `${what} `, make("span", "", `${event} at sample ${whole.format(sample)}`))));
  }

  let sort = null; // [column, descending]
  let picked = null;
  function clusterRows() {
    return (state.clusters?.rows ?? []).filter(Boolean);
  }
  const name = (row) => state.styles?.rows[row[0]]?.[0] ?? "";
  const KEYS = [name, (row) => row[7], (row) => row[1], (row) => row[3], (row) => row[5], (row) => row[6]];

  function drawTable() {
    const need = (a, b) => (b[7] !== "") - (a[7] !== "") || (a[3] ?? 9) - (b[3] ?? 9);
    const by = (a, b) => {
      const [column, descending] = sort;
      const [x, y] = [KEYS[column](a), KEYS[column](b)];
      const found = typeof x === "string" ? x.localeCompare(y, undefined, {numeric: true}) : (x ?? Infinity) - (y ?? Infinity);
      return descending ? -found : found;
    };
    const rows = clusterRows().sort(sort ? by : need);
    const body = $(".clusters tbody");
    const old = new Map([...body.rows].map((row) => [row.dataset.name, row]));
    const shown = rows.map((row) => {
      const style = state.styles.rows[row[0]];
      let found = old.get(style[0]);
      if (found === undefined) {
        const button = make("button", "", make("span", "sign", style[3]), " ", style[0]);
        button.type = "button";
        button.setAttribute("aria-pressed", "false");
        const head = make("th", "", button);
        head.scope = "row";
        found = make("tr", "", head, ...[1, 2, 3, 4, 5].map(() => make("td")));
        found.dataset.name = style[0];
        found.addEventListener("click", () => pick(picked === style[0] ? null : style[0]));
      }
      $(".sign", found).style.color = tint(style[1]);
      const [, todo, samples, silhouette, nearest, since] = found.cells;
      const set = (cell, ...parts) => {
        const text = parts.join("");
        if (cell.textContent !== text) cell.replaceChildren(parts[0], ...(parts[1] ? [make("span", "soft", parts[1])] : []));
      };
      set(todo, row[7] || "–");
      todo.classList.toggle("due", row[7] !== "");
      set(samples, whole.format(row[1]), ` (${percent(row[2])})`);
      set(silhouette, number(row[3], 3));
      set(nearest, row[4] || "–", row[4] && ` (${number(row[5], 3)})`);
      set(since, row[6] === null ? "–" : whole.format(row[6]));
      return found;
    });
    if (shown.length !== body.rows.length || shown.some((row, i) => row !== body.rows[i])) {
      const focus = document.activeElement;
      body.replaceChildren(...shown);
      if (body.contains(focus)) focus.focus({preventScroll: true});
    }
    const k = state.now?.[1] ?? 0;
    $(".clusters .count").textContent = rows.length < k ? `${rows.length} of ${whole.format(k)}, those that need attention most` : whole.format(k);
  }

  [...$(".clusters thead").rows[0].cells].forEach((head, column) => $("button", head).addEventListener("click", () => {
    sort = [column, sort?.[0] === column && !sort[1]];
    for (const other of head.parentNode.cells) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", sort[1] ? "descending" : "ascending");
    drawTable();
  }));

  function pick(chosen) {
    picked = chosen;
    for (const row of $(".clusters tbody").rows) {
      const on = row.dataset.name === picked;
      row.classList.toggle("on", on);
      $("button", row).setAttribute("aria-pressed", String(on));
    }
    light();
  }
  function light() {
    if (!drawn) return;
    for (const source of ["samples", "centroids", "centroid-wide", "centroid-narrow"]) {
      const found = model(source);
      const names = found.data.full ?? found.data.name;
      const inside = picked === null ? [] : [...names.keys()].filter((i) => names[i] === picked);
      // Nothing selected is everything bright: a cluster without samples selects what is not there.
      const next = picked !== null && !inside.length ? [names.length] : inside;
      if (String(found.selected.indices) !== String(next)) found.selected.indices = next;
    }
    const line = model("picked");
    const row = clusterRows().find((each) => name(each) === picked);
    line.visible = picked !== null && row !== undefined && row[6] !== null;
    if (line.visible) line.location = row[6];
  }

  function drawNumbers() {
    if (!state.now) return;
    const [seen, k, skipped, lost, noise, rate, , , ended] = state.now;
    const set = (id, text) => {
      const element = $(`#${id}`);
      if (element.textContent !== text) element.textContent = text;
    };
    set("seen", seen < 1e7 ? whole.format(seen) : compact(seen));
    set("rate", rate === null ? "–" : compact(rate < 10 ? Number(rate.toFixed(1)) : rate));
    set("k", whole.format(k));
    set("noise", noise ? percent(noise) : "0 %");
    set("skipped", whole.format(skipped));
    set("lost", whole.format(lost));
    panels.k.now.textContent = whole.format(k);
    const values = state.values ?? [];
    for (const each of indices) if (!each.truth) panels[each.column].now.textContent = number(values[each.column] ?? null);
    if (truth.length) panels.truth.now.textContent = truth.map((each) => number(values[each.column] ?? null, 3)).join(", ");
    document.title = `${state.answer?.n_active ? `(${state.answer.n_active}) ` : ""}${state.answer?.grade ? `${state.answer.grade} · ` : ""}${about.heading}`;
    offer(seen);
    if (ended) link("waits", ended);
  }

  let behind = 0; // seconds that the server's clock is behind ours
  function drawTimes() {
    if (!state.now) return;
    const now = Date.now() / 1000 - behind;
    for (const [id, at] of [["last", state.now[6]], ["checkpoint", state.now[7]]]) {
      $(`#${id}`).textContent = at === null ? "–" : ago(Math.max(0, now - at));
    }
  }

  function draw() {
    if (!drawn || !state.now) return;
    const rows = curveRows();
    const seen = state.now[0];
    drawAnswer();
    drawNumbers();
    drawTimes();
    const moved = [changed("history"), changed("recent"), changed("created")].some(Boolean);
    if (moved) drawCurves(rows);
    if (mode === "all") setRange(0.5, Math.max(seen, 1) + 0.5);
    else if (mode !== "free") setRange(Math.max(0.5, seen - mode + 0.5), seen + 0.5);
    fitAxes(rows);
    const cluster = [changed("clusters"), changed("styles")].some(Boolean);
    if (cluster) drawTable();
    if ([changed("points"), changed("plane"), cluster].some(Boolean)) drawPartition();
    if ([changed("sizes"), changed("layers")].some(Boolean)) drawSizes();
    document.body.dataset.drawn = seen;
    document.body.dataset.first ??= Math.round(performance.now());
  }

  // -- theme, keys, pause ----------------------------------------------------------------------

  const prefers = matchMedia("(prefers-color-scheme: dark)");
  const chosen = () => {
    try {
      return localStorage.getItem("icvi-theme");
    } catch {
      return null;
    }
  };
  let painting = Promise.resolve();
  function paint() {
    painting = painting.then(repaint); // one after the other
    return painting;
  }
  async function repaint() {
    dark = chosen() ? chosen() === "dark" : prefers.matches;
    document.documentElement.classList.toggle("dark", dark);
    $("#theme").textContent = dark ? "Light" : "Dark";
    await embed();
    for (const key of Object.keys(drawnParts)) delete drawnParts[key];
    draw();
    pick(picked);
  }
  prefers.addEventListener("change", paint);
  $("#theme").addEventListener("click", () => {
    try {
      localStorage.setItem("icvi-theme", dark ? "light" : "dark");
    } catch { /* not remembered then */ }
    paint();
  });

  let paused = false;
  $("#pause").addEventListener("click", () => {
    paused = !paused;
    $("#pause").setAttribute("aria-pressed", String(paused));
    $("#pause").textContent = paused ? "Continue" : "Pause";
    if (!paused) draw();
  });
  $("#keys").addEventListener("click", () => $("#help").showModal());

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || $("#help").open) return;
    const onControl = event.target.closest("button, .scroll");
    const range = drawn && model("k").x_range;
    const width = range ? range.end - range.start : 0;
    const middle = range ? (range.end + range.start) / 2 : 0;
    const keys = {
      a: () => choose("all"), t: () => $("#theme").click(), "?": () => $("#help").showModal(), Escape: () => pick(null),
      ArrowLeft: () => shift(range.start - width / 4, range.end - width / 4),
      ArrowRight: () => shift(range.start + width / 4, range.end + width / 4),
      "+": () => shift(middle - width / 4, middle + width / 4), "-": () => shift(middle - width, middle + width),
      " ": () => $("#pause").click(),
    };
    const place = "12345".indexOf(event.key);
    if (place >= 0) keys[event.key] = () => $(".ranges").children[place + 1]?.click();
    if (!(event.key in keys) || !state.now || (onControl && [" ", "ArrowLeft", "ArrowRight"].includes(event.key))) return;
    event.preventDefault();
    keys[event.key]();
  });

  // -- the stream of changes -------------------------------------------------------------------

  function link(kind, text) {
    const element = $("#link");
    if (element.className !== `link ${kind}`) element.className = `link ${kind}`;
    if ($(".what", element).textContent !== text) $(".what", element).textContent = text;
  }
  let due = false;
  function schedule() {
    if (due || paused || document.hidden) return;
    due = true;
    requestAnimationFrame(() => {
      due = false;
      draw();
    });
  }
  document.addEventListener("visibilitychange", schedule);

  let silence = 0;
  function heard() {
    clearTimeout(silence);
    silence = setTimeout(listen, 15000); // a connection that is open but dead
    const idle = state.now && state.now[6] !== null && Date.now() / 1000 - behind - state.now[6] > 10;
    if (!state.now?.[8]) link(idle ? "waits" : "live", idle ? "no new samples" : "live");
  }
  let events = null;
  function listen() {
    events?.close();
    events = new EventSource("/events");
    events.addEventListener("full", (event) => {
      const message = JSON.parse(event.data);
      if (message.set.page && message.set.page !== document.body.dataset.figures) {
        location.reload(); // another server has taken over, with other figures
        return;
      }
      for (const key of Object.keys(state)) delete state[key];
      apply(message);
      heard();
      schedule();
    });
    events.addEventListener("delta", (event) => {
      apply(JSON.parse(event.data));
      heard();
      schedule();
    });
    events.addEventListener("beat", (event) => {
      behind = Date.now() / 1000 - Number(event.data);
      heard();
      drawTimes();
    });
    events.addEventListener("error", () => {
      if (!state.now?.[8]) link("gone", "reconnecting");
      if (events.readyState === EventSource.CLOSED) {
        clearTimeout(silence);
        silence = setTimeout(listen, 1000);
      }
    });
  }
  setInterval(drawTimes, 1000);
  listen();
  await paint();
})();
