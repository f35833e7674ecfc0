"use strict";
const filter = document.getElementById("filter");
const shown = document.getElementById("shown");
const functions = [...document.querySelectorAll("details.function")];
filter.closest("p").hidden = false;
filter.addEventListener("input", () => {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const one of functions) {
    const text = one.dataset.text.toLowerCase();
    one.hidden = !words.every(word => text.includes(word));
    count += one.hidden ? 0 : 1;
  }
  shown.textContent = words.length ? `${count} of ${functions.length}` : "";
});
const open = () => {
  const one = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (one instanceof HTMLDetailsElement) {
    one.hidden = false;
    one.open = true;
    one.scrollIntoView();
  }
};
addEventListener("hashchange", open);
open();
