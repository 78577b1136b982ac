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
  const buttons = VIEWS.map(([name, label]) => el("button", { type: "button", role: "tab", id: `tab-${name}`, class: "chip", "aria-controls": "panel", click: () => show(name), keydown: rove }, label));
  let current = null;
  // Arrows move between tabs, of which one is in the order of the keyboard.
  function rove(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const at = event.key === "Home" ? 0 : event.key === "End" ? VIEWS.length - 1 : step && (buttons.indexOf(event.target) + step + VIEWS.length) % VIEWS.length;
    if (at === undefined) return;
    event.preventDefault();
    show(VIEWS[at][0]);
    buttons[at].focus();
  }
  const show = (name) => {
    current?.leave();
    current = views[name] ??= VIEWS.find(([one]) => one === name)[2](views.given);
    buttons.forEach((button) => {
      button.setAttribute("aria-selected", String(button.id === `tab-${name}`));
      button.setAttribute("tabindex", button.id === `tab-${name}` ? 0 : -1);
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
  // The address is the state: a link within the page must not change it.
  document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); main.scrollIntoView(); });
  window.addEventListener("scroll", hideTip, { passive: true });
  restore();
}

hatching();
begin().catch((error) => {
  main.replaceChildren();
  status.className = "notice bad";
  status.textContent = `The page cannot begin: ${error.message}`;
});
