const FIRST = 200;
const filters = place("filters");
const kinds = ["status", "area", "module", "operator", "rule"];
const valuesOf = {
  status: (mutant) => [mutant.outcome],
  area: (mutant) => [mutant.area],
  module: (mutant) => [mutant.module],
  operator: (mutant) => [mutant.operator],
  rule: (mutant) => Object.keys(mutant.rules),
};
const className = { survived: "survived", "no verdict": "no-verdict", "killed by another rule": "wrong-rule", "in the ledger": "ledger", killed: "killed", equivalent: "equivalent" };
let found = data.mutants;
let drawn = 0;

for (const mutant of data.mutants) {
  mutant.where = [mutant.module, mutant.function].filter(Boolean).join(".");
  mutant.words = [mutant.id, mutant.title, mutant.where, mutant.operator, mutant.status, mutant.detail, mutant.diff].join("\n").toLowerCase();
}

function options(kind) {
  const counted = new Map();
  for (const value of data.mutants.flatMap(valuesOf[kind])) counted.set(value, (counted.get(value) ?? 0) + 1);
  // Outcomes stay in the order of what matters most.
  const values = kind === "status" ? [...counted] : [...counted].sort(([one], [other]) => one.localeCompare(other));
  const made = values.map(([value, count]) => {
    const option = element("option", "", `${value} (${count})`);
    option.value = value;
    return option;
  });
  const all = element("option", "", "all");
  all.value = "";
  filters.elements[kind].replaceChildren(all, ...made);
}

function select() {
  const wanted = kinds.map((kind) => [valuesOf[kind], filters.elements[kind].value]).filter(([, value]) => value);
  const words = filters.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
  found = data.mutants.filter((mutant) => wanted.every(([values, value]) => values(mutant).includes(value)) && words.every((word) => mutant.words.includes(word)));
  place("shown").textContent = `${found.length} of ${plural(data.mutants.length, "mutant")}`;
  place("mutants").replaceChildren();
  drawn = 0;
  drawMore();
  drawMatrix();
  for (const button of document.querySelectorAll("[data-filter]")) button.setAttribute("aria-pressed", filters.elements[button.dataset.filter].value === button.dataset.value);
}

function drawMore() {
  const next = found.slice(drawn, drawn + FIRST);
  drawn += next.length;
  place("mutants").append(...next.map(row));
  place("more").hidden = drawn === found.length;
  place("more").textContent = `Show ${Math.min(FIRST, found.length - drawn)} more of ${found.length - drawn}`;
}

function sign(mutant) {
  return element("span", ["sign", `is-${className[mutant.outcome]}`], element("i", "", data.marks[mutant.outcome]), ` ${mutant.outcome}`);
}

function row(mutant) {
  const cells = [
    sign(mutant),
    element("span", "mono id", mutant.id),
    element("span", "title", mutant.title),
    element("span", "mono dim where", mutant.where.replaceAll(/([._])/g, "$1\u200b")),
    element("span", "mono rules", Object.keys(mutant.rules).join(" ") || "\u2013"),
    element("span", "stage", mutant.stage || "\u2013"),
    element("span", "number", mutant.cpu.toFixed(1)),
  ];
  const button = element("button", "row", cells);
  button.type = "button";
  button.dataset.mutant = mutant.id;
  button.setAttribute("aria-expanded", "false");
  button.addEventListener("click", () => toggle(button, mutant));
  return element("li", "", button);
}

// What a mutant has to say is drawn when it is opened, and goes when it is closed.
function toggle(button, mutant) {
  const opened = button.getAttribute("aria-expanded") === "true";
  button.setAttribute("aria-expanded", `${!opened}`);
  if (opened) button.nextElementSibling.remove();
  else button.after(details(mutant));
}

function details(mutant) {
  const left = element("div", "", element("h3", "", "Change ", element("span", "note mono", mutant.place)), diff(mutant.diff), element("h3", "", "Stages"), trials(mutant));
  const right = element("div", "", element("h3", "", "Verdict"), verdict(mutant), rules(mutant));
  return element("div", "details", element("div", "columns", left, right), witness(mutant));
}

function diff(text) {
  const kind = { "+": "added", "-": "removed", "@": "hunk" };
  if (!text) return element("p", "dim", "No change could be made.");
  const whole = text.split("\n").filter((line) => !/^(---|\+\+\+) /.test(line));
  const indents = whole.filter((line) => line[0] !== "@" && line.trim().length > 1).map((line) => line.slice(1).search(/\S|$/));
  const left = Math.min(...indents);
  const lines = whole.map((line) => (line[0] === "@" ? line : line[0] + line.slice(1 + left)));
  return element("pre", "diff", lines.map((line) => element("span", kind[line[0]] ?? "", `${line}\n`)));
}

function verdict(mutant) {
  const facts = [["status", mutant.status], ["because", mutant.accepted || mutant.detail], ["must break", mutant.expected], ["area", mutant.area], ["operator", mutant.operator]];
  return element("dl", "facts", facts.filter(([, value]) => value).map(([name, value]) => [element("dt", "", name), element("dd", "", value)]));
}

function rules(mutant) {
  return Object.entries(mutant.rules).map(([rule, differed]) => element("div", "rule", element("h4", "", element("b", "", rule)), element("div", "differed", differed)));
}

function trials(mutant) {
  if (!mutant.trials.length) return element("p", "dim", "No stage ran.");
  const head = element("tr", "", ["Stage", "Outcome", "Rules", "Steps", "CPU ms"].map((name) => element("th", "", name)));
  const body = mutant.trials.map(([stage, outcome, broken, steps, cpu, detail]) => element("tr", stage === mutant.stage && "decided",
    element("th", "", stage, stage === mutant.stage ? " \u2190 decided" : ""), element("td", "", outcome, detail ? `: ${detail}` : ""), element("td", "mono", Object.keys(broken).join(" ")), element("td", "number", `${steps}`), element("td", "number", cpu.toFixed(1))));
  return element("table", "", element("thead", "", head), element("tbody", "", body));
}

function witness(mutant) {
  if (!mutant.witness.length) return element("p", "dim", "No stage left a witness.");
  const made = element("div", "witness", element("h3", "", "Shortest witness"), element("pre", "", mutant.witness.join("\n")));
  const page = Object.hasOwn(data.steps, mutant.id) ? data.steps[mutant.id] : null;
  if (page === null) return made;
  const button = element("button", "steps", "Show it step by step");
  button.type = "button";
  button.setAttribute("aria-expanded", "false");
  button.addEventListener("click", () => {
    const opened = made.querySelector("iframe");
    button.setAttribute("aria-expanded", `${!opened}`);
    if (opened) opened.remove();
    else made.append(frame(mutant, page));
  });
  made.querySelector("h3").append(" ", button);
  return made;
}

// The step-by-step page itself, in a frame of its own: its data may hold no tag, like the data of this page.
function frame(mutant, page) {
  const made = element("iframe", "", "");
  const text = JSON.stringify(page).replaceAll("<", "\\u003c");
  made.title = `Steps of mutant ${mutant.id}`;
  made.srcdoc = data.frame.replace("{{title}}", "Steps").replace("{{data}}", () => text);
  return made;
}

// Columns of the matrix: each stage, and in it each rule that some mutant broke, or how else one ended there.
function columns() {
  const seen = new Map(data.stages.map((stage) => [stage, new Set()]));
  for (const mutant of data.mutants) {
    for (const [stage, outcome, broken] of mutant.trials) {
      const words = Object.keys(broken).length || outcome === "pass" ? Object.keys(broken) : [outcome];
      if (!seen.has(stage)) seen.set(stage, new Set());
      for (const word of words) seen.get(stage).add(word);
    }
  }
  return [...seen].filter(([, words]) => words.size).map(([stage, words]) => [stage, [...words].sort()]);
}

function drawMatrix() {
  if (!place("matrix").open) return;
  const groups = columns();
  const stages = element("tr", "", element("th", "", ""), groups.map(([stage, words]) => {
    const cell = element("th", "group", stage);
    cell.colSpan = words.length;
    return cell;
  }));
  const heads = element("tr", "", element("th", "", "Mutant"), groups.flatMap(([, words]) => words.map((word, at) => element("th", ["upright", !at && "first"], element("span", "", word)))));
  const body = element("tbody", "", []);
  let rows = 0;
  const more = element("button", "", "");
  more.type = "button";
  const draw = () => {
    const next = found.slice(rows, rows + FIRST);
    rows += next.length;
    body.append(...next.map((mutant) => matrixRow(mutant, groups)));
    more.hidden = rows === found.length;
    more.textContent = `Show ${Math.min(FIRST, found.length - rows)} more of ${found.length - rows}`;
  };
  more.addEventListener("click", draw);
  draw();
  place("matrix").querySelector("div").replaceChildren(element("table", "", element("thead", "", stages, heads), body), more);
}

function matrixRow(mutant, groups) {
  const runs = new Map(mutant.trials.map((trial) => [trial[0], trial]));
  const cells = groups.flatMap(([stage, words]) => words.map((word, at) => {
    const run = runs.get(stage);
    const broken = run !== undefined && (Object.hasOwn(run[2], word) || (run[1] === word && !Object.keys(run[2]).length));
    const made = element("td", [broken && "broken", !at && "first"], broken ? "\u25cf" : run === undefined ? "" : "\u00b7");
    made.title = `${mutant.id}, ${stage}, ${word}: ${broken ? "broken" : run === undefined ? "not run" : "not broken"}`;
    return made;
  }));
  const open = element("button", "", `${data.marks[mutant.outcome]} ${mutant.id}`);
  open.type = "button";
  open.title = mutant.title;
  open.addEventListener("click", () => show(mutant));
  return element("tr", "", element("th", "", open), cells);
}

// Bring a mutant into view and open it.
function show(mutant) {
  while (found.indexOf(mutant) >= drawn) drawMore();
  const button = place("mutants").children[found.indexOf(mutant)].firstElementChild;
  if (button.getAttribute("aria-expanded") === "false") toggle(button, mutant);
  button.focus();
  button.scrollIntoView({ block: "start" });
}

function fromAddress() {
  const wanted = /^#mutant=(.+)$/.exec(location.hash);
  const mutant = wanted && data.mutants.find(({ id }) => id === decodeURIComponent(wanted[1]));
  if (!mutant) return;
  if (!found.includes(mutant)) filters.reset();
  show(mutant);
}

function move(by) {
  const rows = [...place("mutants").children].map((item) => item.firstElementChild);
  const at = rows.indexOf(document.activeElement);
  if (at + by >= rows.length && !place("more").hidden) drawMore();
  place("mutants").children[at < 0 ? 0 : Math.max(0, at + by)]?.firstElementChild.focus();
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.closest?.("input, select, textarea");
  if (typing && event.key === "Escape") typing.blur();
  if (typing) return;
  const inList = place("mutants").contains(event.target) && event.target.matches(".row");
  const moves = { j: 1, k: -1, ...(inList ? { ArrowDown: 1, ArrowUp: -1 } : {}) };
  if (event.key === "/") filters.elements.text.focus();
  else if (Object.hasOwn(moves, event.key)) move(moves[event.key]);
  else return;
  event.preventDefault();
}

function onPick(event) {
  const button = event.target.closest("[data-filter]");
  if (!button) return;
  const field = filters.elements[button.dataset.filter];
  field.value = field.value === button.dataset.value ? "" : button.dataset.value;
  select();
}

kinds.forEach(options);
filters.addEventListener("input", select);
filters.addEventListener("submit", (event) => event.preventDefault());
// The fields are empty only after the event.
filters.addEventListener("reset", () => { for (const field of filters.elements) if (field.name) field.value = ""; select(); });
place("summary").addEventListener("click", onPick);
place("more").addEventListener("click", drawMore);
place("matrix").addEventListener("toggle", drawMatrix);
new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && drawMore()).observe(place("more"));
addEventListener("keydown", onKey);
addEventListener("hashchange", fromAddress);
select();
fromAddress();
