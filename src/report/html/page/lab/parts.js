// What several views are made of.

// A table with a caption that is read out. `text` are the columns that are no numbers.
function table(caption, head, lines, { text = [0], id = null } = {}) {
  const cell = (tag, value, at, more) => el(tag, { class: text.includes(at) ? null : "number", ...more }, value);
  return el("div", { class: "table", tabindex: 0, role: "region", "aria-label": caption }, el("table", { id }, el("caption", { class: "hidden" }, caption),
    el("thead", {}, el("tr", {}, head.map((name, at) => cell("th", name, at, { scope: "col" })))),
    el("tbody", {}, lines.map((line) => el("tr", {}, line.map((value, at) => cell("td", value, at)))))));
}

// A picture that the program has drawn, with links to it as files, and to the page of --report. `query` is its state.
function picture(svg, label, name, query) {
  const picture = drawn(svg, "group", label);
  marksOf(picture);
  return el("div", {}, el("div", { class: "plot", tabindex: 0, role: "region", "aria-label": "plot" }, picture), el("p", {}, filesOf(name, query)));
}

// Links to a picture as files, and to the page of --report.
function filesOf(name, query) {
  return [["SVG", "svg"], ["PDF", "pdf"], ["report (HTML)", "html"]].flatMap(([words, ending]) => [fileLink(`${name}.${ending}`, query, words), " "]);
}

function fileLink(name, query, words) {
  return el("a", { href: `${name}?${query}`, download: name }, words);
}

// A command with a button that copies it.
function commandOf(question, text) {
  const copy = el("button", { type: "button", "aria-label": `copy ${text}`, click: () => { navigator.clipboard?.writeText(text).then(() => { copy.textContent = "Copied"; }, () => {}); } }, "Copy");
  return el("div", { class: "command" }, el("pre", { "data-command": question }, text), copy);
}

// Designs in groups: [heading, designs].
function grouped(known) {
  const of = (name) => NAMES.words[`design.${name}`];
  const groups = [...NAMES.groups.map(([group, heading]) => [heading, known.filter((one) => of(one.name) === group)]), ["Your own", known.filter((one) => !of(one.name))]];
  return groups.filter(([, designs]) => designs.length > 0);
}

// Chips of designs, which can be taken away, and a list of those that can be added. `known` are { name, summary }; `gains` says how many times as fast as
// today's path each is, once that is known.
function designChips(label, { id = null, gains = new Map() }, known, chosen, changed) {
  const box = el("div", { class: "row", role: "group", "aria-label": label });
  const summary = (name) => known.find((one) => one.name === name)?.summary ?? "";
  const draw = () => {
    const chip = (design, at) => el("button", { type: "button", class: "chip laid", "aria-pressed": "true", title: summary(design), "aria-label": `take away ${design}`, click: () => { chosen().splice(at, 1); draw(); changed(); } }, design);
    const gain = (name) => (gains.has(name) ? ` (${number(gains.get(name), 3)} × today)` : "");
    const more = el("select", { id, "aria-label": `add design to ${label}`, change: () => { if (more.value) { chosen().push(more.value); draw(); changed(); } } },
      el("option", { value: "" }, "Add design…"),
      grouped(known.filter((one) => !chosen().includes(one.name))).map(([heading, designs]) => el("optgroup", { label: heading }, designs.map((one) => el("option", { value: one.name }, `${one.name}${gain(one.name)}: ${shortened(one.summary)}`)))));
    box.replaceChildren(...chosen().map(chip), more);
  };
  draw();
  return { box, draw };
}

// Text in which names stand between backticks.
const prose = (text) => text.split("`").map((piece, at) => (at % 2 === 1 ? el("code", {}, piece) : piece));

// As many whole words as fit.
const shortened = (text) => (text.length > 70 ? `${text.slice(0, text.lastIndexOf(" ", 70))} …` : text);

function part(legend, ...children) {
  return el("fieldset", {}, el("legend", {}, legend), children);
}

const times = (value) => `× ${number(value, 4)}`;

// Asks one thing at a time: what was asked before is left. `ask(signal)` gives what to show, `say` is told how it goes.
function asker(box, { ask, say = () => {}, waits, done }) {
  const status = el("p", { class: "state", role: "status", "aria-live": "polite" });
  const failed = el("p", { class: "notice bad", role: "alert", hidden: true });
  let stop = null;
  const end = (words) => {
    stop = null;
    status.textContent = words;
    box.setAttribute("aria-busy", "false");
    say(false);
  };
  return {
    parts: [status, failed],
    asks: () => stop !== null,
    leave() {
      if (!stop) return;
      stop.abort();
      end("Stopped.");
    },
    refuse(words) {
      failed.textContent = words;
      failed.hidden = false;
    },
    async begin() {
      stop?.abort();
      const mine = new AbortController();
      stop = mine;
      failed.hidden = true;
      box.setAttribute("aria-busy", "true");
      status.textContent = waits;
      say(true);
      const begun = performance.now();
      try {
        const found = await ask(mine.signal);
        if (mine.signal.aborted) return;
        // Whoever moves a switch keeps it.
        const focused = box.contains(document.activeElement) && document.activeElement.id;
        box.replaceChildren(...found.flat(2).filter(Boolean));
        if (focused) document.getElementById(focused)?.focus();
        end(done(((performance.now() - begun) / 1000).toFixed(1)));
      } catch (error) {
        if (mine.signal.aborted) return;
        this.refuse(error.message);
        box.replaceChildren();
        end("");
      }
    },
  };
}
