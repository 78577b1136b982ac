// One box for all hints, at the pointer or at what has the focus.

function showTip(text, x, y) {
  const box = document.getElementById("tooltip");
  box.textContent = text;
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  box.style.left = `${clamp(x + 14, 4, Math.max(4, window.innerWidth - width - 4))}px`;
  box.style.top = `${y + 16 + height > window.innerHeight ? Math.max(4, y - height - 10) : y + 16}px`;
}

function hideTip() {
  document.getElementById("tooltip").hidden = true;
}

// Hints of the marks in a drawing. A mark says its hint in `aria-label`. One of them is in the order of tabs; arrows go to the others.
function marksOf(drawing, chosen) {
  const marks = () => [...drawing.querySelectorAll(".mark")];
  const of = (event) => event.target.closest?.(".mark");
  const tip = (mark, x, y) => showTip(mark.getAttribute("aria-label"), x, y);
  drawing.addEventListener("pointermove", (event) => {
    const mark = of(event);
    if (mark) tip(mark, event.clientX, event.clientY);
    else hideTip();
  });
  drawing.addEventListener("pointerleave", hideTip);
  drawing.addEventListener("focusin", (event) => {
    const mark = of(event);
    if (!mark) return;
    const { right, bottom } = mark.getBoundingClientRect();
    tip(mark, right, bottom);
    marks().forEach((one) => one.setAttribute("tabindex", one === mark ? 0 : -1));
  });
  drawing.addEventListener("focusout", hideTip);
  drawing.addEventListener("click", (event) => of(event) && chosen?.(of(event)));
  drawing.addEventListener("keydown", (event) => {
    const mark = of(event);
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!mark) return;
    if (event.key === "Escape") hideTip();
    if (event.key === "Enter" || event.key === " ") chosen?.(mark);
    else if (step) {
      const all = marks();
      all[(all.indexOf(mark) + step + all.length) % all.length].focus();
    } else return;
    event.preventDefault();
  });
  marks().forEach((mark, place) => mark.setAttribute("tabindex", place === 0 ? 0 : -1));
}
