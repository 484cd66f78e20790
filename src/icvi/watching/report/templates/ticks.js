"use strict";

// Numbers on an axis as people read them: one unit for all, as many decimals as tell them apart.
// The same as icvi.plots.ticks does for figures in papers.
{
  const units = [[1e12, 1e12, " T"], [1e9, 1e9, " G"], [1e6, 1e6, " M"], [1e5, 1e3, " k"]];
  const raised = (power) =>
    [...String(power)].map((c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]).join("");

  const texts = (ticks) => {
    const largest = Math.max(0, ...ticks.map(Math.abs));
    if (largest === 0) return ticks.map(() => "0");
    let [unit, letter] = [1, ""];
    if (largest >= 1e15 || largest < 1e-4) {
      const power = Math.floor(Math.log10(largest));
      [unit, letter] = [10 ** power, ` × 10${raised(power)}`];
    } else {
      const found = units.find(([from]) => largest >= from);
      if (found) [, unit, letter] = found;
    }
    const values = ticks.map((tick) => tick / unit);
    const gaps = values.slice(1).map((value, i) => Math.abs(value - values[i])).filter((gap) => gap > 0);
    const near = 1e-6 * Math.min(...gaps, largest / unit);
    const moved = (decimals) =>
      values.some((value) => Math.abs(Number(value.toFixed(decimals)) - value) > near);
    let decimals = 0;
    while (decimals < 9 && moved(decimals)) decimals += 1;
    const format = new Intl.NumberFormat("en", {maximumFractionDigits: decimals});
    return values.map((value) => {
      const text = format.format(value);
      return ["0", "-0"].includes(text) ? "0" : text.replace("-", "−") + letter;
    });
  };

  const Numeral = window.Bokeh?.Models?.NumeralTickFormatter;
  if (Numeral) {
    const before = Numeral.prototype.doFormat;
    Numeral.prototype.doFormat = function (ticks, options) {
      return this.tags.includes("people") ? texts([...ticks]) : before.call(this, ticks, options);
    };
  }
}
