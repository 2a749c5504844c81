"use strict";
// Elements are made of nodes and texts, never of markup: what people call their jobs stays text.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false && child !== ""));
  return node;
}
const make = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const draw = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
const link = (target, ...children) => make("a", { href: `#${target}` }, children);
const code = (text) => make("code", {}, text);

const number = (value) => (value === null || value === undefined ? "?" : value.toLocaleString("en-US"));
const count = (value, noun, plural = `${noun}s`) => `${number(value)} ${value === 1 ? noun : plural}`;
const amounts = (devices) => Object.entries(devices).sort().map(([name, value]) => `${number(value)} ${name}`).join(", ");

// A sentence of trainc marks code with backticks; one of them alone is itself.
function sentence(text) {
  const parts = text.split("`");
  return parts.length % 2 ? parts.map((part, index) => (index % 2 ? code(part) : part)) : [text];
}

const SIGNS = { error: "\u2716 ", warning: "\u25b2 ", note: "\u2139 " };
const level = (name, text = name) => make("span", { class: `pill ${name}` }, make("span", { "aria-hidden": "true" }, SIGNS[name]), text);

function facts(pairs) {
  const shown = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "" && value.length !== 0);
  return make("dl", { class: "facts" }, shown.map(([term, value]) => [make("dt", {}, term), make("dd", {}, value)]));
}

// A table whose rows become cards on a narrow screen; roles are said, as some browsers drop them from blocks.
function table(caption, heads, cells) {
  const isUsed = heads.map((_, at) => cells.some((row) => row[at] !== "" && row[at] !== null && row[at].length !== 0));
  const rows = cells.map((row) => row.filter((_, at) => isUsed[at]));
  heads = heads.filter((_, at) => isUsed[at]);
  const head = make("thead", { role: "rowgroup" }, make("tr", { role: "row" }, heads.map((name) => make("th", { scope: "col", role: "columnheader" }, name))));
  const body = make("tbody", { role: "rowgroup" }, rows.map((cells) => make("tr", { role: "row" }, cells.map((cell, at) => at
    ? make("td", { role: "cell", "data-label": heads[at] }, cell)
    : make("th", { scope: "row", role: "rowheader" }, cell)))));
  return make("table", { class: "stacked", role: "table" }, make("caption", { class: "hidden" }, caption), head, body);
}

// Shows the first of many items; a button below brings more, so that ten thousand rows open as fast as ten.
function portions(items, size, show, noun) {
  const holder = make("div");
  let at = 0;
  const add = () => {
    const part = show(items.slice(at, at + size));
    holder.querySelector(":scope > .more")?.remove();
    holder.append(part);
    at += size;
    if (at < items.length) {
      const next = Math.min(size, items.length - at);
      holder.append(make("p", { class: "more" }, make("button", { type: "button", onclick: () => {
        part.after(holder.lastChild);
        add();
        (part.nextElementSibling?.querySelector("a, button") ?? holder).focus();
      } }, `Show ${next} more of ${number(items.length - at)} ${noun}`)));
    }
  };
  add();
  return holder;
}
