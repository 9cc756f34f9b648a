// The page with a new key: copies it, and sees to it that a reload does not make another one.
"use strict";
(() => {
  const root = document.querySelector("[data-a2a-back]");
  if (!root) return;
  history.replaceState(null, "", root.dataset.a2aBack);
  const secret = document.getElementById("a2a-secret");
  const copy = document.getElementById("a2a-copy");
  if (!navigator.clipboard) return;
  copy.hidden = false;
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(secret.textContent);
    document.getElementById("a2a-copied").hidden = false;
  });
})();
