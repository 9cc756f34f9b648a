// Renews the figures of the dashboard as long as somebody looks at it. Without this script the page shows those of its
// beginning.
"use strict";
(() => {
  const root = document.querySelector("[data-a2a-dashboard]");
  if (!root) return;
  const pause = Number(root.dataset.refresh) * 1000;
  const stale = root.querySelector("[data-stale]");

  const show = (figures) => {
    for (const [name, tile] of Object.entries(figures.tiles)) {
      const place = root.querySelector(`[data-tile="${name}"]`);
      if (!place) continue;
      place.querySelector("[data-value]").textContent = tile.value;
      place.querySelector("[data-note]").textContent = tile.note;
    }
    figures.bars.forEach((bar, number) => {
      const group = root.querySelector(`[data-bar="${number}"]`);
      const rect = group.querySelector("rect");
      rect.setAttribute("y", bar.y);
      rect.setAttribute("height", bar.height);
      rect.querySelector("title").textContent = bar.text;
      const hour = group.querySelector("text");
      if (hour) hour.textContent = bar.hour;
      const [name, count] = root.querySelector(`[data-row="${number}"]`).children;
      name.textContent = bar.hour;
      count.textContent = bar.count;
    });
    root.querySelector("[data-at]").textContent = figures.at;
  };

  const look = async () => {
    if (!document.hidden) {
      try {
        const answer = await fetch(root.dataset.a2aDashboard, { headers: { Accept: "application/json" } });
        if (!answer.ok || answer.redirected) throw new Error(String(answer.status));
        show(await answer.json());
        stale.hidden = true;
      } catch {
        stale.hidden = false;
      }
    }
    window.setTimeout(look, pause);
  };
  window.setTimeout(look, pause);
})();
