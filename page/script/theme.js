// Dark and light: the style sheet says the colours, the diagram reads them there.

const colorNames = ["paper", "text", "dim", "band", "band2", "grid", "wire", "fold", "bad", "fault",
  "message", "data", "call", "wait", "event", "completion", "select", "found"];

function readColors(theme) {
  const probe = element("div", { className: `theme-${theme}` });
  document.body.append(probe);
  const style = getComputedStyle(probe);
  const colors = {};
  for (const name of colorNames) colors[name] = style.getPropertyValue(`--${name}`).trim();
  colors.states = [1, 2, 3, 4, 5].map((i) => style.getPropertyValue(`--state${i}`).trim());
  probe.remove();
  return colors;
}

function firstTheme() {
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

function setTheme(app, theme) {
  app.theme = theme;
  document.body.className = `theme-${theme}`;
  document.getElementById("theme").textContent = theme === "dark" ? "Light" : "Dark";
  app.colors = readColors(theme);
  for (const view of app.views) if (view.rows) drawOverview(view);
  app.redraw();
}
