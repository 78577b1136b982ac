// Horizontal bars.

// Bars that are each filled to the whole: `rowsNow` gives rows of { name, note, parts: [[category, amount]] }.
function wholes(box, rowsNow, label) {
  return responsive(box, (width) => {
    const rows = rowsNow();
    const narrow = width < 560;
    const widest = (words) => Math.max(0, ...words.map(textWidth));
    const left = narrow ? 0 : widest(rows.map((row) => row.name)) + 12;
    const right = narrow ? 0 : widest(rows.map((row) => row.note)) + 10;
    const high = narrow ? 40 : 24;
    const svg = sv("svg", { width, height: rows.length * high + 4, viewBox: `0 0 ${width} ${rows.length * high + 4}`, role: "group", "aria-label": label });
    rows.forEach(({ name, note, parts }, row) => {
      const total = parts.reduce((sum, [, amount]) => sum + amount, 0) || 1;
      const top = row * high + (narrow ? 17 : 2);
      svg.append(sv("text", narrow ? { x: 0, y: top - 4 } : { x: left - 8, y: top + 14, "text-anchor": "end" }, name));
      svg.append(sv("text", { class: "soft", x: width, y: narrow ? top - 4 : top + 14, "text-anchor": "end" }, note));
      let begin = left;
      for (const [part, amount] of parts) {
        const long = ((width - left - right) * amount) / total;
        if (amount <= 0) continue;
        svg.append(sv("rect", { class: "mark", x: begin, y: top, width: long, height: 18, fill: category(part), stroke: "var(--paper)", "stroke-width": 0.5, role: "img", "aria-label": `${name}: ${stateLabel(part)} ${percent(amount / total)}`, "data-row": name, "data-part": part }));
        begin += long;
      }
    });
    marksOf(svg);
    box.querySelector("svg")?.remove();
    box.prepend(svg);
  });
}

// Bars from zero to the right, or to the left: `rowsNow` gives rows of { name, value, text, fill, label }.
function amounts(box, rowsNow, label) {
  return responsive(box, (width) => {
    const rows = rowsNow();
    const narrow = width < 560;
    const widest = (words) => Math.max(0, ...words.map(textWidth));
    const left = narrow ? 0 : widest(rows.map((row) => row.name)) + 12;
    const right = widest(rows.map((row) => row.text)) + 12;
    const high = narrow ? 38 : 24;
    const least = Math.min(0, ...rows.map((row) => row.value));
    const most = Math.max(0, ...rows.map((row) => row.value));
    const span = most - least || 1;
    const place = (value) => left + ((value - least) / span) * (width - left - right);
    const svg = sv("svg", { width, height: rows.length * high + 4, viewBox: `0 0 ${width} ${rows.length * high + 4}`, role: "group", "aria-label": label });
    rows.forEach((row, at) => {
      const top = at * high + (narrow ? 16 : 3);
      const [from, to] = [place(Math.min(0, row.value)), place(Math.max(0, row.value))];
      svg.append(
        sv("text", narrow ? { x: 0, y: top - 3 } : { x: left - 8, y: top + 13, "text-anchor": "end" }, row.name),
        sv("rect", { class: "mark", x: from, y: top, width: Math.max(1, to - from), height: 17, fill: row.fill ?? colour(0), role: "img", "aria-label": row.label ?? `${row.name}: ${row.text}`, "data-key": row.key ?? row.name }),
        sv("text", { class: "soft", x: to + 6, y: top + 13 }, row.text),
      );
    });
    svg.append(sv("line", { class: "axis", x1: place(0), x2: place(0), y1: 0, y2: rows.length * high + 4 }));
    marksOf(svg);
    box.querySelector("svg")?.remove();
    box.prepend(svg);
  });
}
