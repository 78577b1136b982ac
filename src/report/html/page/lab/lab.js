// The page: its views, and the address, which holds their states.

const VIEWS = [["path", "The path of a copy", paths], ["program", "A program", programs], ["workload", "A workload", workloads], ["inside", "Inside a run", inside]];
const main = document.getElementById("main");
const status = document.getElementById("status");

let kept = {};

// Notes the states in the address, which then is a link to them.
function keep(states) {
  kept = Object.fromEntries(Object.entries({ ...kept, ...states }).filter(([, state]) => state));
  history.replaceState(null, "", `#${new URLSearchParams(kept)}`);
}

function tabs(shown, views) {
  const panel = el("div", { role: "tabpanel", id: "panel" });
  const buttons = VIEWS.map(([name, label]) => el("button", { type: "button", role: "tab", id: `tab-${name}`, class: "chip", "aria-controls": "panel", click: () => show(name) }, label));
  let current = null;
  const show = (name) => {
    current?.leave();
    current = views[name] ??= VIEWS.find(([one]) => one === name)[2](views.given);
    buttons.forEach((button) => {
      button.setAttribute("aria-selected", String(button.id === `tab-${name}`));
    });
    panel.setAttribute("aria-labelledby", `tab-${name}`);
    panel.replaceChildren(current.box);
    keep({ view: name === "path" && !views.given.choices.program ? null : name });
    current.begin();
  };
  const link = el("button", { type: "button", id: "link", click: () => navigator.clipboard?.writeText(location.href).then(() => { link.textContent = "Link copied"; }, () => {}) }, "Copy a link to this");
  main.replaceChildren(el("div", { class: "row" }, el("div", { class: "row", role: "tablist", "aria-label": "views" }, buttons), link), panel);
  show(shown);
}

async function begin() {
  const [choices, fields] = await Promise.all([fetched("choices", "json"), fetched("fields", "json")]);
  document.getElementById("version").textContent = choices.version;
  const restore = () => {
    kept = { A: choices.first, ...Object.fromEntries(new URLSearchParams(location.hash.slice(1))) };
    tabs(VIEWS.some(([name]) => name === kept.view) ? kept.view : choices.program && !location.hash.includes("A=") ? "program" : "path", { given: { choices, fields, kept, keep, now: () => kept } });
  };
  window.addEventListener("hashchange", restore);
  restore();
}

hatching();
begin().catch((error) => {
  main.replaceChildren();
  status.className = "notice bad";
  status.textContent = `The page cannot begin: ${error.message}`;
});
