// The wall of machines: under the pointer a picture plays, a click opens the studio above the page.
"use strict";

function shade() {
  const chosen = document.body.dataset.theme;
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  return chosen === "dark" || (chosen !== "light" && dark) ? "dark" : "light";
}

function play(tile) {
  if (tile.querySelector("iframe")) return;
  const frame = document.createElement("iframe");
  frame.src = `${tile.dataset.film}#bare&theme=${shade()}`;
  frame.tabIndex = -1;
  frame.title = "";
  tile.querySelector(".picture").append(frame);
}

function stop(tile) {
  tile.querySelector("iframe")?.remove();
}

function openStudio(tile) {
  const dialog = document.createElement("dialog");
  dialog.className = "machine-dialog";
  const top = document.createElement("div");
  top.className = "top";
  const name = document.createElement("b");
  name.textContent = tile.querySelector("b").textContent;
  const alone = document.createElement("a");
  [alone.href, alone.textContent, alone.target] = [tile.href, "in a page of its own", "_blank"];
  const close = document.createElement("button");
  close.textContent = "close";
  close.addEventListener("click", () => dialog.close());
  top.append(name, alone, close);
  const frame = document.createElement("iframe");
  [frame.src, frame.title] = [`${tile.href}#theme=${shade()}`, name.textContent];
  dialog.append(top, frame);
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (e) => e.target === dialog && dialog.close());
  document.body.append(dialog);
  dialog.showModal();
}

addEventListener("DOMContentLoaded", () => {
  for (const frame of document.querySelectorAll("iframe[data-src]")) frame.src = `${frame.dataset.src}#bare&theme=${shade()}`;
  for (const tile of document.querySelectorAll(".machine")) {
    for (const name of ["pointerenter", "focus"]) tile.addEventListener(name, () => play(tile));
    for (const name of ["pointerleave", "blur"]) tile.addEventListener(name, () => stop(tile));
    tile.addEventListener("click", (e) => {
      if (e.ctrlKey || e.metaKey || e.shiftKey) return;
      e.preventDefault();
      stop(tile);
      openStudio(tile);
    });
  }
});
