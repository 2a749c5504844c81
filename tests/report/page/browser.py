"""A headless Chromium, driven through its own driver by the WebDriver protocol."""

import json
import shutil
import subprocess
import time
import urllib.request
from pathlib import Path
from typing import Any
from urllib.error import URLError

import pytest

from tests.effort import PATIENCE

PROGRAMS = ("chromium", "chromedriver")
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-component-update",
    "--disable-background-networking", "--disable-sync", "--disable-dev-shm-usage",
)  # fmt: skip
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the key under which the protocol names an element
_KEYS = {"Tab": "\ue004", "Enter": "\ue007", "ArrowDown": "\ue015", "End": "\ue010"}


class Browser:
    """One window; the test is skipped where there is no Chromium, or none that starts."""

    def __init__(self, folder: Path) -> None:
        missing = [name for name in PROGRAMS if shutil.which(name) is None]
        if missing:
            pytest.skip(f"not installed: {', '.join(missing)}")
        log = folder / "driver.log"
        with log.open("w") as stream:
            self._driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=stream, stderr=stream)
        self._base = f"http://127.0.0.1:{self._port(log)}"
        flags = [*_FLAGS, f"--user-data-dir={folder / 'profile'}"]
        wanted = {"goog:chromeOptions": {"args": flags}, "goog:loggingPrefs": {"browser": "ALL"}}
        try:
            session = self._send("/session", {"capabilities": {"alwaysMatch": wanted}})
        except URLError as error:
            self.stop()
            pytest.skip(f"Chromium does not start here: {error}")
        self._session = f"/session/{session['sessionId']}"

    def _port(self, log: Path) -> str:
        """The port that the driver has chosen, which it writes to its log."""
        while True:
            for line in log.read_text("utf-8").splitlines():
                if "on port" in line and not line.endswith(" 0"):
                    return line.rstrip(".").rpartition(" ")[2]
            assert self._driver.poll() is None, log.read_text("utf-8")
            time.sleep(0.05)

    def _send(self, path: str, content: dict[str, Any] | None = None, method: str = "POST") -> Any:
        data = json.dumps(content or {}).encode() if method == "POST" else None
        request = urllib.request.Request(  # noqa: S310 (the driver on this machine)
            f"{self._base}{path}", data, {"Content-Type": "application/json"}, method=method
        )
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:  # noqa: S310
            return json.load(answer)["value"]

    def open(self, page: Path, width: int, address: str = "") -> None:
        """Load a page in a window of that width, at an address behind its #."""
        self._send(f"{self._session}/window/rect", {"width": width, "height": 900})
        self._send(f"{self._session}/url", {"url": "about:blank"})
        self._send(f"{self._session}/url", {"url": f"{page.as_uri()}#{address}"})

    def run(self, script: str) -> Any:
        """What a script returns."""
        return self._send(f"{self._session}/execute/sync", {"script": script, "args": []})

    def wait(self, script: str) -> None:
        """Wait until a script returns something true."""
        end = time.monotonic() + PATIENCE
        while not self.run(script):
            assert time.monotonic() < end, script
            time.sleep(0.05)

    def click(self, selector: str) -> None:
        """Click on the first element that a CSS selector finds."""
        element = self._send(f"{self._session}/element", {"using": "css selector", "value": selector})
        self._send(f"{self._session}/element/{element[_ELEMENT]}/click")

    def press(self, *keys: str) -> None:
        """Press keys one after the other: names of keys, or texts that are typed."""
        typed = "".join(_KEYS.get(key, key) for key in keys)
        actions = [
            action
            for char in typed
            for action in ({"type": "keyDown", "value": char}, {"type": "keyUp", "value": char})
        ]
        self._send(f"{self._session}/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def errors(self) -> list[str]:
        """What the console says of errors, and of requests and scripts that the page's policy refused."""
        return [entry["message"] for entry in self._send(f"{self._session}/se/log", {"type": "browser"})]

    def stop(self) -> None:
        """End the browser and its driver."""
        if hasattr(self, "_session"):
            self._send(self._session, method="DELETE")
        self._driver.terminate()
        self._driver.wait()
