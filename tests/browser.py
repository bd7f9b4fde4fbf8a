"""A headless Chromium for tests of pages, driven over its DevTools pipe: no port, no network, no library."""

import base64
import contextlib
import fcntl
import itertools
import json
import os
import select
import shutil
import signal
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

INSTALL = "apt-get install -y --no-install-recommends chromium"
MOST_SECONDS = 60.0
"""How long one answer may take on a loaded machine."""

KEY_CODES = {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "End": 35, "Home": 36}


def chromium() -> str:
    """The browser's path; the test fails, and names the command that installs it, when there is none."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.fail(f"no chromium; install it with: {INSTALL}", pytrace=False)
    return found


class Browser:
    """One tab of a fresh browser, as a context manager. Nothing but files can be opened in it: every host name is unknown."""

    def __init__(self) -> None:
        self._profile = tempfile.TemporaryDirectory(prefix="browser", ignore_cleanup_errors=True)
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        command = [
            chromium(),
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            "--remote-debugging-pipe",
            f"--user-data-dir={self._profile.name}",
            "about:blank",
        ]
        null = os.open(os.devnull, os.O_RDWR)
        # The browser's ends of the pipe have to be its descriptors 3 and 4. Here they may have any numbers, so they are first
        # moved out of the way of those two.
        high = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_browser, from_browser)]
        actions = [
            *((os.POSIX_SPAWN_DUP2, null, number) for number in (0, 1, 2)),
            *((os.POSIX_SPAWN_DUP2, end, 3 + place) for place, end in enumerate(high)),
            *((os.POSIX_SPAWN_CLOSE, end) for end in high),
        ]
        home = {**os.environ, "HOME": self._profile.name}
        self._process = os.posix_spawn(command[0], command, home, file_actions=actions, setsid=True)
        for end in {to_browser, from_browser, null, *high}:
            os.close(end)
        self._numbers = itertools.count(1)
        self._rest = b""
        self._session: str | None = None
        self.said: list[str] = []
        try:
            target = self.ask("Target.createTarget", url="about:blank")["targetId"]
            self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Network", "Log"):
                self.ask(f"{domain}.enable")
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the browser and all that it started, and remove its profile."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process, signal.SIGKILL)
        os.waitpid(self._process, 0)
        os.close(self._read)
        os.close(self._write)
        self._profile.cleanup()

    def ask(self, method: str, **parameters: Any) -> Any:
        """The result of one DevTools command; what the page said meanwhile joins `said`."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._write, data) :]
        while (answer := self._message()).get("id") != number:
            self._note(answer)
        assert "error" not in answer, f"{method}: {answer['error']}"
        return answer["result"]

    def open(self, path: Path, fragment: str = "") -> None:
        """Open the file and wait until it is loaded."""
        self.ask("Page.navigate", url="about:blank")
        self.ask("Page.navigate", url=path.resolve().as_uri() + fragment)
        deadline = time.monotonic() + MOST_SECONDS
        while self.value("location.protocol + document.readyState") != "file:complete":
            assert time.monotonic() < deadline, f"{path} does not load"
            time.sleep(0.02)

    def value(self, expression: str) -> Any:
        """What the script expression gives, as JSON values; AssertionError when it throws."""
        done = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def text(self, selector: str) -> str:
        """The text that a reader sees of the first element that the selector finds."""
        found = self.value(f"document.querySelector({json.dumps(selector)}).innerText")
        assert isinstance(found, str)
        return found

    def texts(self, selector: str) -> list[str]:
        """The texts of all elements that the selector finds."""
        found = self.value(f"[...document.querySelectorAll({json.dumps(selector)})].map((e) => e.textContent)")
        assert isinstance(found, list)
        return found

    def press(self, key: str) -> None:
        """Press and release a key, as a person would."""
        code = KEY_CODES.get(key, ord(key[0].upper()))
        words = {"key": key, "code": key if key in KEY_CODES else f"Key{key.upper()}", "windowsVirtualKeyCode": code}
        typed = {"text": key} if len(key) == 1 else {}
        self.ask("Input.dispatchKeyEvent", type="keyDown", **words, **typed)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **words)

    def click(self, selector: str) -> None:
        """Click into the middle of the first element that the selector finds."""
        self.value(f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'center'}})")
        box = self.value(f"document.querySelector({json.dumps(selector)}).getBoundingClientRect().toJSON()")
        place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **place)

    def resize(self, width: int, height: int, dark: bool = False) -> None:
        """Give the page a window of this size, and a reader who likes it light or dark."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])

    def screenshot(self, path: Path, whole: bool = False) -> None:
        """Save what the window shows, or the whole page, as a PNG."""
        shot = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))

    def _note(self, event: dict[str, Any]) -> None:
        """Keep requests beyond files, errors of the page and what its console says."""
        parameters = event.get("params", {})
        match event.get("method"):
            case "Network.requestWillBeSent" if not parameters["request"]["url"].startswith(("file:", "about:")):
                self.said.append(f"request of {parameters['request']['url']}")
            case "Runtime.exceptionThrown":
                self.said.append(f"error: {parameters['exceptionDetails']}")
            case "Runtime.consoleAPICalled":
                self.said.append(f"console: {parameters['args']}")
            case "Log.entryAdded":
                self.said.append(f"log: {parameters['entry']['text']}")
            case "Page.javascriptDialogOpening":
                self.said.append(f"dialog: {parameters['message']}")

    def _message(self) -> dict[str, Any]:
        """The next message of the browser."""
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._read], [], [], MOST_SECONDS)
            chunk = os.read(self._read, 1 << 16) if ready else b""
            assert chunk, "the browser " + ("has ended" if ready else f"says nothing for {MOST_SECONDS:.0f} s")
            self._rest += chunk
        line, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message
