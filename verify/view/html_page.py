"""A walkthrough as one HTML page that needs nothing else: no network, no other file. Data only, as in show.py.

The page is verify/view/show_page/page.html with its style, its script and the data put in. The script builds everything from the
data as text, so nothing in a witness or in a target's words can become markup.
"""

import html
import json
import re
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from verify.view.steps import PoolPage, RequestStep, Step, Walkthrough

FOLDER = Path(__file__).resolve().parent / "show_page"
IN_SCRIPT = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}
"""What could end the data's element or open another; inside JSON they stand in strings alone and may be written so."""


def page_html(walkthrough: Walkthrough) -> str:
    """The page."""
    return filled(html.escape(walkthrough.title), embedded(page_data(walkthrough)))


def frame_html() -> str:
    """The page with `{{title}}` and `{{data}}` in the places of its own: another page fills in one of many walkthroughs."""
    return filled("{{title}}", "{{data}}")


def filled(title: str, data: str) -> str:
    """The page with its style, its script and these two, which must be safe where they come to stand."""
    parts = {
        "title": title,
        "style": text_of(FOLDER / "page.css"),
        "script": text_of(FOLDER / "elements.js", FOLDER / "page.js"),
        "data": data,
    }
    return fill(FOLDER / "page.html", parts)


def fill(template: Path, parts: Mapping[str, str]) -> str:
    """The template with each `{{name}}` replaced by the part of that name."""
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], text_of(template))


def text_of(*files: Path) -> str:
    """The files' texts one after the other."""
    return "".join(file.read_text(encoding="utf-8") for file in files)


def page_data(walkthrough: Walkthrough) -> dict[str, Any]:
    """The walkthrough as JSON values. Pages and requests that look alike in many steps are written once, in `pool` and
    `requests`, and named in the steps by their place there."""
    pool: dict[PoolPage, int] = {}
    requests: dict[RequestStep, int] = {}
    steps = [step_data(step, pool, requests) for step in walkthrough.steps]
    return {
        **plain(walkthrough),
        "title": walkthrough.title,
        "broken": walkthrough.broken,
        "steps": steps,
        "pool": [plain(page) for page in pool],
        "requests": [{**plain(request), "table": list(map(plain, request.table))} for request in requests],
    }


def step_data(step: Step, pool: dict[PoolPage, int], requests: dict[RequestStep, int]) -> dict[str, Any]:
    """One step; what is new in it joins `pool` and `requests`."""
    return {
        **plain(step),
        "pool": [pool.setdefault(page, len(pool)) for page in step.pool],
        "requests": [requests.setdefault(request, len(requests)) for request in step.requests],
        "broken": [plain(rule) for rule in step.broken],
    }


def plain(item: Any) -> dict[str, Any]:
    """The fields of one dataclass by name; what is inside them stays as it is."""
    return {field.name: getattr(item, field.name) for field in fields(item)}


def embedded(data: object) -> str:
    """JSON that can stand in a script element: ASCII, so no line separator either, and nothing that looks like a tag."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return re.sub("[<>&]", lambda found: IN_SCRIPT[found[0]], text)
