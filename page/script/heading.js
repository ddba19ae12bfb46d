// The top of the page: what this run is, how it ended, and the sentence that says what went wrong.

function tellRun(run) {
  const { header } = run;
  const verdict = header.verdict ?? "unknown";
  const good = verdict === "passed" || verdict === "unknown";
  const hosts = [...run.lanes.values()].filter((lane) => lane.of === "host").length;
  const facts = [
    header.seed !== undefined && `seed ${header.seed}`,
    hosts && countText(hosts, "host"), countText(run.records.length, "record"),
    `${spanText(run.end - run.begin)} of ${header.clock === "real" ? "real" : "virtual"} time`,
    header.began && `began ${header.began}`,
    header.faults?.length ? `faults ${header.faults.join("; ")}`
      : header.plan?.length && `faults asked for: ${header.plan.join("; ")}`,
    header.hash && `hash ${header.hash}`, header.build && `anyrdma ${header.build}`,
  ].filter(Boolean);
  const box = element("div", { className: "run-head" },
    element("span", { className: `verdict ${good ? "good" : "bad"}`,
      textContent: `${good ? (verdict === "passed" ? "✓ " : "") : "✖ "}${verdict}` }),
    element("h1", { textContent: header.program ?? "A run" }),
    element("span", { className: "about", textContent: facts.join(" · "),
      title: facts.join("\n") }));
  if (header.command) {
    box.append(element("code", { textContent: header.command, title: header.command }));
  }
  return box;
}

// The header's moments; without any, the first thing that looks wrong in a run that failed.
function momentsToShow(run) {
  const moments = (run.header.moments ?? [])
    .map((moment) => ({ why: moment.why, record: run.byNumber.get(moment.at),
      cause: run.byNumber.get(moment.cause) }))
    .filter((moment) => moment.record);
  if (moments.length) return moments;
  if (run.header.verdict === "passed" || run.header.verdict === undefined) return [];
  const wrong = run.records.findLast((r) => r.is === "finding")
    ?? run.records.find((r) => r.is === "wait" && r.ends === undefined)
    ?? run.records.find(isBad);
  return wrong ? [{ why: `${sentenceOf(run, wrong)}.`, record: wrong, guessed: true }] : [];
}

function tellMoment(app) {
  const { moments, momentAt } = app;
  const moment = moments[momentAt];
  const title = moment.guessed ? "The first thing that looks wrong: " : "What went wrong: ";
  const parts = [element("b", { textContent: title }),
    element("span", { className: "why", textContent: moment.why }), " ",
    element("button", { id: "moment-show", textContent: "Show it", title: "m" })];
  parts.at(-1).addEventListener("click", () => app.showMoment());
  if (moment.cause) {
    const cause = element("button", { id: "moment-cause", textContent: "Show the cause" });
    cause.addEventListener("click", () => app.select(app.views[0], moment.cause));
    parts.push(" ", cause);
  }
  if (moments.length > 1) {
    const textContent = `${momentAt + 1} of ${moments.length} →`;
    const on = element("button", { id: "moment-on", textContent });
    on.addEventListener("click", () => app.stepMoment(1));
    parts.push(" ", on);
  }
  return parts;
}
