// Timelines over one axis of time: zoom, pan, hints, and from a slice to the one that it waits for.

const LANE = 18;
const SHOWN_TRACKS = 80;
const KEYS = "Arrows left and right move along, + and - zoom, Home shows all. Arrows up and down choose a track, N and P the next and previous slice, Enter follows a wait, Backspace goes back.";

// `bands`: { name, note, timeline }. All share the axis.
function timelines(box, bands, id) {
  const end = Math.max(1, ...bands.map((band) => band.timeline.end_ps));
  const view = { from: 0, to: end };
  const tracks = bands.flatMap((band, b) => band.timeline.tracks.map((track, t) => ({ band: b, place: t, ...track, ...lanesOf(track.slices) })));
  const find = (band, place) => tracks.find((track) => track.band === band && track.place === place);
  let chosen = null;
  let trail = [];
  let shown = SHOWN_TRACKS;
  let wanted = "";
  let layout = null;

  const svg = sv("svg", { id, class: "timeline", tabindex: 0, role: "application", "aria-label": "timeline", "aria-describedby": `${id}-keys` });
  const details = el("p", { id: `${id}-details`, "aria-live": "polite" });
  const count = el("span", { class: "soft" });
  const button = (name, text, title, act) => el("button", { type: "button", id: `${id}-${name}`, title, "aria-label": title, click: act }, text);
  const follow = button("follow", "Follow", "follow the wait of the chosen slice", () => followWait());
  const back = button("back", "Back", "back to where the wait was followed from", () => goBack());
  const more = button("more", "More tracks", "show more tracks", () => { shown += SHOWN_TRACKS; draw(); });
  const search = el("input", { type: "search", id: `${id}-search`, placeholder: "name of a track", "aria-label": "show tracks whose name has", input: () => { wanted = search.value.toLowerCase(); draw(); } });
  const controls = el("div", { class: "controls" },
    button("in", "+", "zoom in", () => zoom(0.5)), button("out", "−", "zoom out", () => zoom(2)), button("all", "All", "show all of it", () => look(0, end)),
    button("left", "◀", "earlier", () => pan(-0.25)), button("right", "▶", "later", () => pan(0.25)),
    button("previous", "Previous", "previous slice", () => step(-1)), button("next", "Next", "next slice", () => step(1)), follow, back,
    tracks.length > 12 && search, count);
  const drawing = el("div", { class: "chart" }, svg);
  box.append(controls, drawing, more, details, el("p", { class: "soft keys", id: `${id}-keys` }, `${KEYS} Drag, or hold Ctrl and turn the wheel.`));

  function listedTracks() {
    const fitting = tracks.filter((track) => track.name.toLowerCase().includes(wanted));
    const first = new Set(fitting.slice(0, shown));
    if (chosen) first.add(find(chosen.band, chosen.track));
    more.hidden = fitting.length <= shown;
    return tracks.filter((track) => first.has(track));
  }

  function place(width) {
    const narrow = width < 620;
    const left = narrow ? 4 : 160;
    const rows = [];
    let y = 26;
    let band = -1;
    for (const track of listedTracks()) {
      if (track.band !== band) {
        band = track.band;
        if (bands[band].name) {
          rows.push({ heading: bands[band], y: y + 14 });
          y += 22;
        }
      }
      if (narrow) y += 15;
      rows.push({ track, y, height: track.count * LANE });
      y += track.count * LANE + 5;
    }
    return { narrow, left, right: width - 8, rows, height: y + 4, width };
  }

  const xOf = (ps) => layout.left + ((ps - view.from) / (view.to - view.from)) * (layout.right - layout.left);
  const psOf = (x) => view.from + ((x - layout.left) / (layout.right - layout.left)) * (view.to - view.from);

  const draw = responsive(drawing, (width) => {
    layout = place(width);
    const { left, right, rows, height, narrow } = layout;
    svg.setAttribute("width", width);
    svg.setAttribute("height", height);
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const parts = dates(view.from, view.to, Math.max(2, Math.floor((right - left) / 100))).map(([ps, text]) => [
      sv("line", { class: "grid", x1: xOf(ps), x2: xOf(ps), y1: 20, y2: height }),
      sv("text", { class: "soft", x: clamp(xOf(ps), left + 22, right - 26), y: 14, "text-anchor": "middle" }, text)]);
    let [inView, marks] = [0, 0];
    for (const row of rows) {
      if (row.heading) {
        parts.push(sv("text", { x: 4, y: row.y, "font-weight": 600 }, `${row.heading.name}${row.heading.note ? `: ${row.heading.note}` : ""}`));
        continue;
      }
      const { track, y } = row;
      parts.push(sv("text", narrow ? { class: "soft", x: left, y: y - 4 } : { x: left - 8, y: y + 13, "text-anchor": "end" }, track.name.length > 24 && !narrow ? `${track.name.slice(0, 23)}…` : track.name, sv("title", {}, track.name)));
      parts.push(sv("rect", { class: "band", x: left, y, width: right - left, height: row.height }));
      const keep = chosen?.band === track.band && chosen.track === track.place ? chosen.slice : -1;
      const found = visible(track.slices, track.lanes, view.from, view.to, xOf, keep);
      inView += found.inView;
      marks += found.drawn.length;
      parts.push(found.drawn.map((one) => slice(track, one, y, one.at === keep)));
    }
    parts.push(bands.map((band) => band.timeline.end_ps < view.to && band.timeline.end_ps > view.from && bands.length > 1 && sv("line", { class: "rule", x1: xOf(band.timeline.end_ps), x2: xOf(band.timeline.end_ps), y1: 20, y2: height })));
    parts.push(arrow());
    svg.replaceChildren();
    attach(svg, { "data-view": inView, "data-drawn": marks, "data-from": Math.round(view.from), "data-to": Math.round(view.to) }, [parts]);
    count.textContent = `${time(view.from, 3)} to ${time(view.to, 4)}; ${plural(inView, "slice")}`;
    describe();
  });

  function slice(track, { at, lane, left, width }, y, isChosen) {
    const own = track.slices[at];
    const classes = ["slice", own.follows && "follows", isChosen && "chosen"].filter(Boolean).join(" ");
    return sv("rect", { class: classes, x: left, y: y + lane * LANE + 1, width, height: LANE - 2, fill: category(own.label), "data-band": track.band, "data-track": track.place, "data-slice": at });
  }

  // From the slice that waited to the one that it waited for.
  function arrow() {
    const from = trail[trail.length - 1];
    const to = chosen;
    if (!from || !to || from.band !== to.band) return null;
    const middle = (one) => {
      const row = layout.rows.find((row) => row.track?.band === one.band && row.track.place === one.track);
      const own = find(one.band, one.track)?.slices[one.slice];
      return row && [clamp(xOf(one === from ? own.start_ps : own.end_ps), layout.left, layout.right), row.y + row.height / 2];
    };
    const [a, b] = [middle(from), middle(to)];
    return a && b && sv("path", { class: "arrow", d: `M${a}C${(a[0] + b[0]) / 2},${a[1]},${(a[0] + b[0]) / 2},${b[1]},${b}` });
  }

  function hint(band, place, at) {
    const track = find(band, place);
    const own = track.slices[at];
    const next = own.follows && find(band, own.follows[0]);
    const waits = next?.slices[own.follows[1]] ? `\nwaits for ${next.name}: ${stateLabel(next.slices[own.follows[1]].label)}` : "";
    return `${track.name}: ${stateLabel(own.label)} (${own.state})\n${time(own.start_ps, 7)} to ${time(own.end_ps, 7)}, ${time(own.end_ps - own.start_ps)}${waits}`;
  }

  function describe() {
    const own = chosen && find(chosen.band, chosen.track).slices[chosen.slice];
    details.textContent = chosen ? hint(chosen.band, chosen.track, chosen.slice).replaceAll("\n", "; ") : "No slice is chosen: click one.";
    follow.disabled = !own?.follows;
    back.disabled = trail.length === 0;
  }

  function look(from, to) {
    const span = clamp(to - from, Math.min(1000, end), end);
    view.from = clamp(from, 0, end - span);
    view.to = view.from + span;
    draw();
  }
  function zoom(factor, at = (view.from + view.to) / 2) {
    look(at - (at - view.from) * factor, at + (view.to - at) * factor);
  }
  function pan(part) {
    const by = part * (view.to - view.from);
    look(view.from + by, view.to + by);
  }
  function choose(band, track, at, scroll = true) {
    chosen = { band, track, slice: at };
    const { start_ps: start, end_ps: until } = find(band, track).slices[at];
    const span = view.to - view.from;
    if (until < view.from || start > view.to) look((start + until - span) / 2, (start + until + span) / 2);
    else draw();
    if (scroll) svg.querySelector(".slice.chosen")?.scrollIntoView?.({ block: "nearest" });
  }
  function followWait() {
    const own = chosen && find(chosen.band, chosen.track).slices[chosen.slice];
    if (!own?.follows || !find(chosen.band, own.follows[0])?.slices[own.follows[1]]) return;
    trail.push(chosen);
    choose(chosen.band, own.follows[0], own.follows[1]);
  }
  function goBack() {
    const last = trail.pop();
    if (last) choose(last.band, last.track, last.slice);
  }
  // The slice of a track that is nearest to a time.
  function nearest(track, ps) {
    const away = (slice) => Math.max(slice.start_ps - ps, ps - slice.end_ps, 0);
    return track.slices.reduce((best, slice, at) => (best < 0 || away(slice) < away(track.slices[best]) ? at : best), -1);
  }
  function step(by) {
    const track = chosen ? find(chosen.band, chosen.track) : tracks.find((one) => one.slices.length > 0);
    if (!track) return;
    trail = [];
    choose(track.band, track.place, chosen ? clamp(chosen.slice + by, 0, track.slices.length - 1) : 0);
  }
  function other(by) {
    const all = listedTracks().filter((track) => track.slices.length > 0);
    const now = all.findIndex((track) => chosen && track.band === chosen.band && track.place === chosen.track);
    const track = all[clamp(now + by, 0, all.length - 1)];
    const middle = chosen ? find(chosen.band, chosen.track).slices[chosen.slice].start_ps : view.from;
    trail = [];
    if (track) choose(track.band, track.place, nearest(track, middle));
  }

  const acts = { ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2), "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), Home: () => look(0, end), 0: () => look(0, end), ArrowUp: () => other(-1), ArrowDown: () => other(1), n: () => step(1), p: () => step(-1), Enter: followWait, Backspace: goBack };
  svg.addEventListener("keydown", (event) => {
    const act = acts[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });
  const under = (event) => event.target.closest?.(".slice")?.dataset;
  let drag = null;
  svg.addEventListener("pointerdown", (event) => { drag = { x: event.clientX, from: view.from, to: view.to, moved: false }; });
  svg.addEventListener("pointermove", (event) => {
    if (drag && event.buttons === 1) {
      const by = ((drag.x - event.clientX) / (layout.right - layout.left)) * (drag.to - drag.from);
      if (!drag.moved && Math.abs(drag.x - event.clientX) < 5) return;
      if (!drag.moved) svg.setPointerCapture(event.pointerId);
      drag.moved = true;
      hideTip();
      look(drag.from + by, drag.to + by);
      return;
    }
    const at = under(event);
    if (at) showTip(hint(+at.band, +at.track, +at.slice), event.clientX, event.clientY);
    else hideTip();
  });
  svg.addEventListener("pointerleave", hideTip);
  svg.addEventListener("click", (event) => {
    const at = under(event);
    if (drag?.moved || !at) return;
    trail = [];
    choose(+at.band, +at.track, +at.slice, false);
    followWait();
  });
  svg.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoom(event.deltaY < 0 ? 0.7 : 1 / 0.7, psOf(event.clientX - svg.getBoundingClientRect().left));
  }, { passive: false });

  const labels = unique(tracks.flatMap((track) => track.slices.map((slice) => slice.label)));
  box.append(legend(labels.slice(0, 40)));
  for (const sentence of unique(bands.map((band) => band.timeline.left_out).filter(Boolean))) box.append(el("p", { class: "soft" }, sentence));
  describe();
}
