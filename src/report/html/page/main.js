// What the page is of decides what is drawn.

const PAGES = { run: runPage, compare: comparePage, sweep: sweepPage, replay: replayPage, validate: validatePage, faults: faultsPage };

// Says of figures that are estimates that they are.
function sampledNotice(report) {
  const pieces = [report, ...(report.designs ?? []), ...(report.designs ?? []).flatMap((design) => design.copies ?? [])];
  const told = pieces.map((one) => one?.sampled).filter((one) => one && (one.simulated < one.of || one.low < one.high));
  if (told.length === 0) return;
  const off = Math.max(...told.map((one) => (one.high - one.low) / (one.high + one.low)));
  const text = `Sampled: not all of the work was simulated. Times are estimates, within ${(off * 100).toFixed(3)} % in ${told[0].confidence * 100} of 100 cases; the data of this page have the interval of each figure.`;
  document.getElementById("head").append(el("p", { class: "notice", id: "sampled" }, text));
}

const data = JSON.parse(document.getElementById("data").textContent);
hatching();
document.getElementById("head").append(el("p", { class: "soft" }, `sealsim ${data.kind}`), el("h1", {}, data.title));
sampledNotice(data.report);
PAGES[data.kind](data);
document.getElementById("head").append(el("nav", { "aria-label": "parts of the page" }, el("ul", {}, sections.map(([id, heading]) => el("li", {}, el("a", { href: `#${id}` }, heading))))));
document.getElementById("foot").append(el("p", {}, `Made by sealsim ${data.sealsim_version}: `, el("code", {}, data.command)), el("p", {}, "The results are in this file as JSON, in the element with the id ", el("code", {}, "data"), "."));
window.addEventListener("scroll", hideTip, { passive: true });
document.documentElement.dataset.ready = "yes";
