// A run of the copy of A, to look inside: it begins paused, and goes on message by message or as a whole.

function inside({ now }) {
  const frame = el("div", {});
  const failed = el("p", { class: "notice bad", role: "alert", hidden: true });
  const begin = el("button", { type: "button", id: "begin", click: async () => {
    failed.hidden = true;
    try {
      await begun(`inside/begin?${now().A}`);
      frame.replaceChildren(el("iframe", { class: "inside", src: "inside/", title: "the run" }));
    } catch (error) {
      failed.textContent = error.message;
      failed.hidden = false;
    }
  } }, "Start A, paused");
  return {
    box: el("section", { id: "inside-view", "aria-label": "inside a run" }, el("p", {}, "Queues, units and messages of a run with all its bytes, from message to message. It is the page of ", el("code", {}, "sealsim run --live"), ". A run that is begun ends the one before."), begin, failed, frame),
    begin() {},
    leave() {},
  };
}
