// What the page is of decides what is drawn.

const PAGES = { run: runPage, compare: comparePage, sweep: sweepPage, replay: replayPage, validate: validatePage };

const data = JSON.parse(document.getElementById("data").textContent);
hatching();
document.getElementById("head").append(el("p", { class: "soft" }, `sealsim ${data.kind}`), el("h1", {}, data.title));
PAGES[data.kind](data);
document.getElementById("head").append(el("nav", { "aria-label": "parts of the page" }, el("ul", {}, sections.map(([id, heading]) => el("li", {}, el("a", { href: `#${id}` }, heading))))));
document.getElementById("foot").append(el("p", {}, `Made by sealsim ${data.sealsim_version}: `, el("code", {}, data.command)), el("p", {}, "The results are in this file as JSON, in the element with the id ", el("code", {}, "data"), "."));
window.addEventListener("scroll", hideTip, { passive: true });
document.documentElement.dataset.ready = "yes";
