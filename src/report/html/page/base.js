// Elements. Texts become text nodes, never markup.

const SVG = "http://www.w3.org/2000/svg";

function attach(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name, value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(4)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : String(child));
  }
  return node;
}

// An element of HTML. An attribute that is a function listens to the event of its name.
function el(name, attributes, ...children) {
  return attach(document.createElement(name), attributes, children);
}

// An element of SVG.
function sv(name, attributes, ...children) {
  return attach(document.createElementNS(SVG, name), attributes, children);
}

// A picture that the program has drawn.
function drawn(svg, role, label) {
  const picture = document.adoptNode(new DOMParser().parseFromString(svg, "image/svg+xml").documentElement);
  return attach(picture, { role, "aria-label": label }, []);
}

const sections = [];

// A part of the page. What goes wrong in it is said in its place, and the others are drawn.
function section(id, heading, fill) {
  const body = el("section", { id, "aria-labelledby": `${id}-heading` }, el("h2", { id: `${id}-heading` }, heading));
  document.getElementById("main").append(body);
  sections.push([id, heading]);
  try {
    const parts = fill(body);
    if (parts) attach(body, {}, [parts]);
  } catch (error) {
    body.append(el("p", { class: "notice bad" }, `This part cannot be drawn: ${error.message}`));
    console.error(error);
  }
  return body;
}

// Draws, and draws again whenever the width changes. A box that is not in the page yet is drawn later.
function responsive(box, draw) {
  let last = 0;
  const again = () => {
    const width = Math.floor(box.clientWidth);
    if (width > 0 && width !== last) {
      last = width;
      draw(width);
    }
  };
  new ResizeObserver(again).observe(box);
  again();
  return () => draw(last || Math.floor(box.clientWidth) || 600);
}

function tile(value, label, className) {
  return el("div", { class: "tile" }, el("b", { class: className }, value), el("span", {}, label));
}

function listed(pairs) {
  return el("dl", {}, pairs.filter(([, value]) => value !== null && value !== undefined && value !== "").map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

function choice(label, id, options, value, changed) {
  const select = el("select", { id, change: () => changed(select.value) }, options.map(([name, text]) => el("option", { value: name, selected: name === value }, text)));
  return el("label", {}, label, select);
}

function tick(label, id, checked, changed) {
  const box = el("input", { type: "checkbox", id, checked, change: () => changed(box.checked) });
  return el("label", {}, box, label);
}

function unique(values) {
  return [...new Set(values)];
}

function clamp(value, low, high) {
  return Math.min(Math.max(value, low), high);
}
