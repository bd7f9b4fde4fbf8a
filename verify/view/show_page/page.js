const { steps } = data;
const first = steps[0].number;
const last = steps[steps.length - 1].number;
let shown = null;

const differs = ([oracle, target]) => oracle !== target;
const marks = (item) => [item.changed && "changed", item.wrong && "wrong"];

// One step, drawn whole: a step is small, and a page that is rebuilt cannot show remains of another one.
function draw(number) {
  const step = steps[number - first];
  shown = number;
  place("slider").value = number;
  place("back").disabled = number === first;
  place("next").disabled = number === last;
  place("place").textContent = `Step ${number} of ${data.calls.length}`;
  place("call").textContent = step.call;
  drawAnswer(step);
  place("broken").replaceChildren(...step.broken.map(rule));
  drawChanges(step);
  if (step.unseen === null) {
    drawRequests(step);
    drawPool(step);
    drawFree(step);
  } else {
    place("requests").replaceChildren(element("p", "unseen", `The target cannot be looked at: ${step.unseen}`));
    place("pool").replaceChildren();
    place("free").replaceChildren();
  }
  place("status").textContent = spoken(step);
  markStep(number);
}

function spoken(step) {
  const broken = [...new Set(step.broken.map((rule) => rule.rule))];
  const verdict = broken.length ? `Broken: ${broken.join(", ")}.` : "No rule is broken.";
  return `Step ${step.number}: ${step.call}. ${verdict} ${step.changes.join(". ") || "Nothing changed"}.`;
}

function drawAnswer(step) {
  const [oracle, target] = step.outcome;
  const words = step.number === 0 ? [] : ["The oracle: ", element("b", "", oracle), " · the target: ", element("b", "", target)];
  place("answer").replaceChildren(element("span", differs(step.outcome) && "wrong-text", words));
}

function rule(item) {
  const facts = [["the oracle", item.oracle], ["the target", item.target], ["read more", item.read_more]];
  const heading = element("h4", "", element("b", "", item.rule), element("span", "", item.sentence));
  return element("div", "rule", heading, element("dl", "", facts.map(([name, text]) => [element("dt", "", name), element("dd", "", text)])));
}

function drawChanges(step) {
  const lines = step.changes.map((line) => element("li", "", line));
  const nothing = step.number === first ? null : element("p", "", "Nothing that can be seen.");
  place("changes").replaceChildren(element("h3", "", "What this step changed"), lines.length ? element("ul", "", lines) : nothing || "");
  place("changes").hidden = step.number === first;
}

function drawRequests(step) {
  const requests = step.requests.map((index) => data.requests[index]);
  const none = element("p", "gap", "No request is live.");
  const drawn = folded("requests", requests.map((item) => [request(item), item.changed || item.wrong]), 6, "requests");
  place("requests").replaceChildren(element("h3", "", "Requests: block tables and rows"), ...(requests.length ? drawn : [none]));
}

// Of many things those that the step touched come first and the others fold away; `open` remembers what a reader unfolded.
const open = {};

function folded(name, items, few, noun, classes = "") {
  const touched = items.filter(([, matters]) => matters).map(([made]) => made);
  const others = items.filter(([, matters]) => !matters).map(([made]) => made);
  if (items.length <= few || !others.length) return [element("div", classes, items.map(([made]) => made))];
  const summary = element("summary", "", `the other ${noun}, which this step left alone`);
  const more = element("details", "", summary, element("div", classes, others));
  more.open = open[name] ?? !touched.length;
  summary.addEventListener("click", () => { open[name] = !more.open; });
  return [element("div", classes, touched), more];
}

function request(item) {
  const facts = [fact(item.length, "rows"), fact(item.held, "pages held")];
  if (differs(item.released)) facts.push(fact(item.released, "released"));
  if (item.sinks) facts.push(element("span", "fact", plural(item.sinks, "sink")));
  const part = item.part ? element("span", "fact", item.part) : null;
  const who = element("div", "who", tag(item.request, `request ${item.request}`), part, facts);
  const pages = tableOf(item.table);
  return element("div", ["request", ...marks(item)], who, element("div", "table", pages.length ? pages : element("span", "empty", "an empty table")));
}

// A run of released pages is one box: a long request under a window has hundreds of them.
function tableOf(table) {
  const runs = [];
  for (const page of table) {
    const run = runs.at(-1);
    const quiet = page.released && !page.changed;
    if (quiet && run?.quiet && page.logical === run.end + 1) run.end = page.logical;
    else runs.push({ quiet, page, logical: page.logical, end: page.logical });
  }
  return runs.flatMap((run, at) => {
    const left = at > 0 ? run.logical - runs[at - 1].end - 1 : 0;
    return [left > 0 ? element("span", "gap", `… ${left} more`) : null, logicalPage(run.page, run.end)];
  });
}

function fact(pair, noun) {
  const [oracle, target] = pair;
  if (differs(pair)) return element("span", "fact wrong-text", `${noun}: ${target}, oracle ${oracle}`);
  return element("span", "fact", `${target} ${target === "1" ? noun.replace("rows", "row").replace("pages", "page") : noun}`);
}

function tag(request, text, title) {
  const made = element("span", "tag", text);
  made.style.setProperty("--hue", (210 + 67 * request) % 360);
  if (title) made.title = title;
  return made;
}

function logicalPage(page, end) {
  const span = end > page.logical ? `${page.logical} to ${end}` : `${page.logical}`;
  const index = element("span", "index", span);
  index.title = `logical page ${span}`;
  if (page.released) return element("div", ["logical", "released", page.changed && "changed"], element("div", "head", index), "released");
  let backing = page.page === null ? "no page" : `page ${page.page}`;
  if (page.owners !== page.owners_due) backing += ` ×${page.owners}, oracle ×${page.owners_due}`;
  else if (page.owners > 1) backing += ` ×${page.owners}`;
  const backed = element("span", ["backing", page.owners !== page.owners_due && "wrong-text"], backing);
  const rows = withGaps(page.rows, ([row]) => row, rowCell);
  return linked(element("div", ["logical", ...marks(page)], element("div", "head", index, backed), element("div", "cells", rows)), page.page);
}

function rowCell([row, oracle, target, changed]) {
  const wrong = oracle !== target;
  const made = element("span", ["cell", "live", changed && "changed", wrong && "wrong"], target || "none");
  if (wrong) made.append(element("small", "", `oracle ${oracle || "none"}`));
  made.title = wrong ? `row ${row}: target ${target || "none"}, oracle ${oracle || "none"}` : `row ${row}: token ${target}`;
  return made;
}

function drawPool(step) {
  const pages = step.pool.map((index) => data.pool[index]);
  const [oracle, target] = step.used;
  const used = differs(step.used) ? element("span", "note wrong-text", ` ${target} of ${data.pages} pages in use, oracle ${oracle}`) : element("span", "note", ` ${target} of ${data.pages} pages in use`);
  const drawn = [];
  const gap = (left) => left > 0 && drawn.push([element("div", "page idle", `${plural(left, "page")} not drawn`), false]);
  for (let at = 0; at < pages.length; at += 1) {
    let end = at;
    while (idle(pages[at]) && end + 1 < pages.length && idle(pages[end + 1]) && pages[end + 1].page === pages[end].page + 1) end += 1;
    gap(pages[at].page - (at > 0 ? pages[at - 1].page : -1) - 1);
    if (end > at) drawn.push([element("div", "page idle", `pages ${pages[at].page} to ${pages[end].page}: ${pages[at].free === null ? "nobody’s" : "free, never written"}`), false]);
    else drawn.push([physicalPage(pages[at]), pages[at].changed || pages[at].wrong]);
    at = end;
  }
  gap(data.pages - 1 - pages.at(-1).page);
  const tokens = Math.max(2, ...pages.flatMap((page) => page.slots.map(([, , token]) => `${token ?? ""}`.length)));
  place("pool").style.setProperty("--card", `${Math.max(140, Math.min(8, data.page_size) * (tokens * 8 + 13) + 18)}px`);
  place("pool").replaceChildren(element("h3", "", "Pool:", used), ...folded("pool", drawn, 40, "pages", "pages"));
}

// Nobody's, not known to be written and of no interest: such neighbours share one card, or a large pool would be nothing else.
function idle(page) {
  const quiet = !page.count && !page.owners.length && !page.note && !page.changed && !page.wrong;
  return quiet && (page.free === null || page.free.length === 1) && page.slots.every(([, state]) => state === "never" || state === "unknown");
}

function physicalPage(page) {
  const count = element("span", "count", page.count === null ? "count not shown" : `count ${page.count}`);
  const owners = page.owners.map(([owner, logical, part]) => tag(owner, `r${owner}·${logical}`, [`request ${owner}, logical page ${logical}`, part].filter(Boolean).join(", ")));
  const free = (page.free ?? []).map((position) => element("span", "", `free, at ${position}`));
  const nobody = owners.length || free.length ? null : element("span", "", page.free === null ? "nobody’s" : "nobody’s, not on the free list");
  const slots = element("div", "cells", withGaps(page.slots, ([slot]) => slot, slotCell));
  return linked(element("div", ["page", ...marks(page)], element("div", "head", element("b", "", `page ${page.page}`), count), slots, element("div", "foot", owners, free, nobody), page.note ? element("div", "note", page.note) : null), page.page);
}

function slotCell([slot, state, token, changed]) {
  const text = state === "never" ? "" : `${token ?? "?"}`;
  const made = element("span", ["cell", state, changed && "changed"], text);
  const words = { live: `live, token ${text}`, stale: `stale, last read ${text}`, never: "never written", unknown: "not known" };
  made.title = `slot ${slot}: ${words[state]}`;
  return made;
}

function drawFree(step) {
  const entries = withGaps(step.free, ([position]) => position, ([, page, changed]) => linked(element("span", ["cell", changed && "changed"], `${page}`), page));
  const words = step.free_total === null ? "the target shows none" : `${plural(step.free_total, "page")}, in the target’s own order${step.free.length < step.free_total ? `, ${step.free.length} drawn` : ""}`;
  const note = element("span", "note", ` ${words}`);
  place("free").replaceChildren(element("h3", "", "Free list:", note), element("div", "cells", entries.length || step.free_total === null ? entries : element("span", "gap", "empty")));
}

function withGaps(items, index, make) {
  return items.flatMap((item, at) => {
    const left = at > 0 ? index(item) - index(items[at - 1]) - 1 : 0;
    return left > 0 ? [element("span", "gap", `… ${left} more`), make(item)] : [make(item)];
  });
}

// Whatever shows the same physical page lights up together.
function linked(made, page) {
  if (page !== null) made.dataset.page = page;
  return made;
}

function light(event) {
  const page = event.target.closest?.("[data-page]")?.dataset.page;
  for (const other of document.querySelectorAll(".linked")) other.classList.remove("linked");
  if (page !== undefined) for (const other of document.querySelectorAll(`[data-page="${page}"]`)) other.classList.add("linked");
}

function stepButton(step) {
  const broken = [...new Set(step.broken.map((item) => item.rule))].join(", ");
  const note = broken || (step.number === 0 || step.outcome[1] === "accepted" ? "" : step.outcome[1]);
  const made = element("button", broken && "broken", element("span", "number", `${step.number}`), element("span", "text", step.call), note ? element("small", "", note) : null);
  made.type = "button";
  made.title = step.call;
  made.addEventListener("click", () => go(step.number));
  return element("li", "", made);
}

function markStep(number) {
  const list = place("steps");
  list.querySelector("[aria-current]")?.removeAttribute("aria-current");
  const button = list.children[number - first].firstElementChild;
  const followed = list.contains(document.activeElement);
  button.setAttribute("aria-current", "step");
  // Only the list may scroll: scrollIntoView would move the page under a reader of the pool.
  const nav = document.querySelector("nav");
  const frame = nav.getBoundingClientRect();
  const seen = button.getBoundingClientRect();
  const bottom = Math.min(frame.bottom, innerHeight) - 24;
  if (seen.top < frame.top) nav.scrollTop += seen.top - frame.top;
  else if (seen.bottom > bottom) nav.scrollTop += seen.bottom - bottom;
  if (followed) button.focus({ preventScroll: true });
}

function go(number) {
  const wanted = Math.min(last, Math.max(first, number));
  if (wanted === shown) return;
  draw(wanted);
  // A page within another one has no address of its own.
  if (location.protocol !== "about:") history.replaceState(null, "", `#step=${wanted}`);
}

function fromAddress() {
  const found = /^#step=(\d+)$/.exec(location.hash);
  return found ? Math.min(last, Math.max(first, Number(found[1]))) : null;
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("textarea")) return;
  const inList = place("steps").contains(event.target);
  const moves = { ArrowRight: shown + 1, j: shown + 1, ArrowLeft: shown - 1, k: shown - 1, Home: first, End: last };
  if (inList) Object.assign(moves, { ArrowDown: shown + 1, ArrowUp: shown - 1 });
  if (!Object.hasOwn(moves, event.key)) return;
  event.preventDefault();
  go(moves[event.key]);
}

async function copyCalls() {
  const text = place("calls");
  try {
    await navigator.clipboard.writeText(text.value);
    place("copied").textContent = "copied";
  } catch {
    text.select();
    place("copied").textContent = "selected: press Ctrl+C";
  }
}

function begin() {
  place("title").textContent = data.title;
  if (data.broken.length) document.querySelector("header").classList.add("fail");
  const saved = data.saved_for.length ? ` · saved for ${data.saved_for.join(", ")}` : "";
  place("facts").textContent = `${data.target} · ${plural(data.pages, "page")} of ${plural(data.page_size, "row")} · ${data.source}${saved}`;
  const notRun = data.not_run.map((call) => element("li", "", element("div", "not-run", element("span", "number", ""), element("span", "text", call), element("small", "", "not run"))));
  place("steps").append(...steps.map(stepButton), ...notRun);
  place("calls").value = data.calls.join("\n");
  place("calls").rows = Math.min(16, Math.max(3, data.calls.length));
  place("replay").hidden = !data.command;
  place("replay").textContent = `Replay it: python -m ${data.command} ${data.source}${data.options}`;
  place("slider").min = first;
  place("slider").max = last;
  place("back").addEventListener("click", () => go(shown - 1));
  place("next").addEventListener("click", () => go(shown + 1));
  place("slider").addEventListener("input", () => go(Number(place("slider").value)));
  place("copy").addEventListener("click", copyCalls);
  addEventListener("keydown", onKey);
  addEventListener("hashchange", () => fromAddress() !== null && go(fromAddress()));
  document.querySelector("main").addEventListener("pointerover", light);
  // A failure is looked at where it fails, a run without one from its beginning.
  draw(fromAddress() ?? (data.broken.length ? last : first));
}

begin();
