// The page of every single fault: what was done, and what faults came to by sort of point and by point.

function faultsPage(data) {
  const { stated, by_sort: bySort, by_point: byPoint, words, members, agreed, disagreements, findings } = data.report;
  section("statement-part", "What was done", () => [
    el("ul", {}, stated.map((line) => el("li", {}, line))),
    members > 0 && el("p", {}, `${agreed} of ${plural(members, "further fault")}, at other bits of the same states, came to what their state came to.`),
    el("ul", {}, disagreements.map(([fault, theirs, own]) => el("li", {}, el("code", {}, fault), `: ${own ?? "not activated"}, and ${theirs ?? "not activated"} of its state`))),
    el("ul", {}, findings.map(([fault, finding]) => el("li", { class: "bad" }, el("code", {}, fault), `: ${finding}`))),
  ]);
  section("sorts-part", "By sort of point", () => faultTable(bySort, "sorts"));
  section("points-part", "By point", () => {
    const never = byPoint.filter((row) => row.struck === 0).length;
    return [el("p", { class: "soft" }, `${never} of ${plural(byPoint.length, "point")} were never struck.`), faultTable(byPoint, "points")];
  });
  section("words-part", "Words of functional safety", () => [
    el("p", {}, "How the classes are called in IEC 61508 and ISO 26262-11. The table counts faults of a model, not failures in time, and claims no compliance."),
    table([{ name: "here", text: ([here]) => here }, { name: "there", text: ([, there]) => there, wide: true }], words, { id: "words", caption: "words" }),
  ]);
}

function faultTable(rows, id) {
  const percent = (share) => (100 * share).toFixed(1);
  const count = (name) => ({ name, text: (row) => row[name], number: true });
  const share = (name, text) => ({ name, text: (row) => (row.coverage ? text(row.coverage) : ""), value: (row) => row.coverage?.[0], number: true });
  return table([
    { name: "point", text: (row) => row.point }, ...["states", "struck", "harmless", "detected", "silent", "hang"].map(count),
    share("coverage, %", ([middle]) => percent(middle)), share("95 % bounds", ([, low, high]) => `${percent(low)} to ${percent(high)}`),
    { name: "latency, us", text: (row) => (row.latency_ps === null ? "" : (row.latency_ps * 1e-6).toFixed(2)), value: (row) => row.latency_ps, number: true },
    { name: "detected by", text: (row) => Object.entries(row.detected_by).map(([by, times]) => `${by}: ${times}`).join(", "), wide: true },
  ], rows, { id, caption: `faults by ${id}` });
}
