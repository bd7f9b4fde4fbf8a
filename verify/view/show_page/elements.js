"use strict";
// Everything is built as elements with text, never as markup: calls, names, diffs and the target's words come from outside.
const data = JSON.parse(document.getElementById("data").textContent);
const place = (id) => document.getElementById(id);
const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

function element(tag, classes, ...children) {
  const made = document.createElement(tag);
  made.className = [].concat(classes).filter(Boolean).join(" ");
  made.append(...children.flat(Infinity).filter((child) => child !== null));
  return made;
}
