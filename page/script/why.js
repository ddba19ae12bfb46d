// Why the run fails: the report of anyrdma explain, if the header has one.

class Why {
  constructor(app) {
    this.app = app;
    this.report = app.views[0].run.header.explanation;
    this.root = document.getElementById("why");
    this.root.tabIndex = 0;
    this.button = document.getElementById("as-why");
    this.button.hidden = !this.report;
  }

  get isOpen() { return !this.root.hidden; }

  open(on) {
    if (!this.report) return;
    if (on && this.root.childElementCount === 0) this.write();
    this.root.hidden = !on;
    document.getElementById("views").hidden = on;
    this.button.setAttribute("aria-pressed", String(on));
    this.button.textContent = on ? "Diagram" : "Why";
    if (!on) for (const view of this.app.views) view.layout();
  }

  write() {
    const { report } = this;
    const parts = [this.part("The trial fails like this", this.text(report.problem)),
      ...report.faults.map((fault) => this.fault(fault))];
    if (report.memory) parts.push(this.memory(report.memory));
    if (report.pair) {
      parts.push(this.pair("The critical pair", report.pair,
        "If the first step runs before the second one, the run fails. " +
        "If they are exchanged, it passes."));
      for (const end of report.ends ?? []) {
        parts.push(this.pair("Another pair", end,
          "The run also passes if these two steps are exchanged."));
      }
    } else if (report.no_pair) {
      parts.push(this.part("There is no critical pair", this.line(report.no_pair)));
    }
    if (report.passes) {
      parts.push(this.part("The nearest passing trial", this.text(report.passes)));
    }
    if (report.curve?.points.length > 1) parts.push(this.curve(report.curve));
    if (report.difference) {
      parts.push(this.part("The first difference from it", this.text(report.difference)));
    }
    parts.push(element("p", { className: "dim", textContent: countText(report.runs, "run") +
      (report.out_of_time ? "; the budget ended the search early" : "") }));
    this.root.replaceChildren(...parts);
  }

  part(title, ...content) {
    return element("section", {}, element("h2", { textContent: title }), ...content);
  }

  line(textContent) { return element("p", { textContent }); }

  text(textContent) { return element("pre", { textContent }); }

  // A time of the run, which leads to the record of that moment.
  time(t) {
    const { run } = this.app.views[0];
    const button = element("button", { className: "link",
      textContent: `${clockText(t - run.begin)} ms`, title: "Show it in the diagram" });
    button.addEventListener("click", () => {
      const record = run.records.find((each) => each.t >= t) ?? run.records.at(-1);
      this.open(false);
      if (record) this.app.select(this.app.views[0], record);
    });
    return button;
  }

  fault(fault) {
    const what = fault.needed ? "It is needed: without it the run passes." :
      "It is not needed: without it the run fails, too.";
    const when = fault.time === undefined ? ["It did not happen in this run."] :
      ["It first happened at ", this.time(fault.time), "."];
    const lines = [element("p", {}, `${what} `, ...when)];
    if (fault.fails_from !== undefined) {
      const words = ["The run fails if it happens from ", this.time(fault.fails_from), " to ",
        this.time(fault.fails_to)];
      for (const t of [fault.passes_before, fault.passes_after]) {
        if (t === undefined) continue;
        words.push(words.length === 4 ? ", and passes if it happens at " : " or ", this.time(t));
      }
      lines.push(element("p", {}, ...words, "."));
    }
    for (const thread of fault.threads ?? []) lines.push(this.sight(thread));
    return this.part(`The fault ${fault.fault}`, ...lines);
  }

  memory(memory) {
    const turn = memory.choice === undefined ? [] : [
      this.line(`Choice ${memory.choice} of the devices turns the verdict.`),
      this.trial("fails", memory.fails), this.trial("passes", memory.passes)];
    return this.part(`The memory order ${memory.profile}`, this.line(memory.needed ?
      "It is needed: with strict memory the run passes." :
      "It is not needed: with strict memory the run fails, too."), ...turn);
  }

  pair(title, pair, sentence) {
    const steps = [["First", "first"], ["Second", "second"]].filter(([, key]) => pair[key])
      .map(([name, key]) => this.step(name, pair[key], pair[`${key}_after`]));
    return this.part(title, element("p", {}, "At ", this.time(pair.time), `. ${sentence}`),
      element("div", { className: "pair" }, ...steps),
      this.trial("fails", pair.fails), this.trial("passes", pair.passes));
  }

  trial(verdict, trial) {
    return element("details", {}, element("summary", { textContent: `The trial that ${verdict}` }),
      element("pre", { textContent: trial }));
  }

  step(name, before, after) {
    const parts = [element("h3", { textContent: name }), this.sight(before)];
    if (after?.stack.length > 0 && String(after.stack) !== String(before.stack)) {
      parts.push(this.line("Its step ends here:"), this.sight(after));
    }
    return element("div", { className: "step" }, ...parts);
  }

  // The place of a thread, or an event in the network.
  sight(sight) {
    const call = sight.call ? `in ${sight.call}, called at ` : "at ";
    const where = sight.place ? element("p", {}, call, element("b", { textContent: sight.place })) :
      sight.stack.length > 0 ? this.line("runs no code of the program") : "";
    const stack = sight.stack.length > 0 ? element("details", {},
      element("summary", { textContent: "Stack" }),
      element("pre", { textContent: sight.stack.join("\n") })) : "";
    return element("div", { className: "sight" }, this.line(sight.name), where, stack);
  }

  curve(curve) {
    const head = ["decision", "time (ms)", "failures", ""]
      .map((textContent) => element("th", { textContent, scope: "col" }));
    const lines = curve.points.map((point, i) => {
      const share = point.runs === 0 ? 0 : point.failures / point.runs;
      const bar = element("span", { className: "bar" });
      bar.style.width = `${Math.round(share * 200)}px`;
      return element("tr", { className: i === curve.jump ? "jump" : "" },
        element("td", { textContent: point.decision.toLocaleString("en") }),
        element("td", {}, this.time(point.time)),
        element("td", { textContent: `${point.failures} of ${point.runs}` }),
        element("td", {}, bar));
    });
    return this.part("How likely the failure is",
      this.line("The run goes on with other seeds from a decision on."),
      element("table", {}, element("thead", {}, element("tr", {}, ...head)),
        element("tbody", {}, ...lines)));
  }
}
