"""A real browser for tests: Chromium without a window, spoken to by the W3C WebDriver protocol."""

import base64
import contextlib
import json
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request

import processes
from system_packages import find_program

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--hide-scrollbars",
)


def programs():
    """Chromium and its driver; installed where that is allowed."""
    names = ("chromium", "chromium-browser", "google-chrome")
    browser = next(filter(None, map(shutil.which, names)), None)
    driver = find_program("chromedriver", "chromium-driver")
    return browser or find_program("chromium", "chromium"), driver


class Chromium:
    """One window of a browser of our own, with a profile that nobody has used."""

    def __init__(self, folder, width=1400, height=1000):
        browser, driver = programs()
        self._driver = processes.begin(
            [driver, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self._session = ""
        try:
            # It says so at once, or ends.
            port = next(
                found[1]
                for found in (
                    re.search(r"successfully on port (\d+)", line) for line in self._driver.stdout
                )
                if found
            )
            self._url = f"http://127.0.0.1:{port}/session"
            self._session = "/" + self._call("POST", "", self._wishes(browser, folder))["sessionId"]
            self._call("POST", "/url", {"url": "about:blank"})
            self.resize(width, height)
        except BaseException:
            self.close()
            raise

    def open(self, path):
        """Load a file or an address; what was logged before is forgotten."""
        self.console()
        self.requests()
        url = path if isinstance(path, str) else path.resolve().as_uri()
        self._call("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        """What a function with this body returns; `await` is allowed."""
        body = f"return (async () => {{{script}}}).apply(null, arguments)"
        return self._call("POST", "/execute/sync", {"script": body, "args": arguments})

    def wait(self, script, patience=processes.PATIENCE):
        """The same, as soon as it is true; a busy machine may take its time."""
        end = time.monotonic() + patience
        while not (found := self.run(script)):
            assert time.monotonic() < end, f"still not true: {script}"
            time.sleep(0.02)
        return found

    def resize(self, width, height):
        """Give the page this much room; a window cannot be as narrow as a telephone."""
        self.protocol(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def protocol(self, command, **parameters):
        """A command of the DevTools protocol."""
        return self._call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def point(self, x, y):
        """Move the mouse to a place in the window."""
        self._act([{"type": "pointerMove", "duration": 100, "x": int(x), "y": int(y)}])

    def click(self, selector):
        """Click on an element, as a reader would."""
        self.run(f"document.querySelector({selector!r}).scrollIntoView({{block: 'center'}})")
        x, y = self.run(
            f"const r = document.querySelector({selector!r}).getBoundingClientRect();"
            "return [r.x + r.width / 2, r.y + r.height / 2]"
        )
        self._act(
            [
                {"type": "pointerMove", "duration": 0, "x": int(x), "y": int(y)},
                {"type": "pointerDown", "button": 0},
                {"type": "pointerUp", "button": 0},
            ]
        )

    def drag(self, start, end):
        """Press the mouse button at one place and let it go at another."""
        places = [
            {"type": "pointerMove", "duration": 50, "x": int(x), "y": int(y)}
            for x, y in (start, end)
        ]
        down, up = ({"type": kind, "button": 0} for kind in ("pointerDown", "pointerUp"))
        self._act([places[0], down, places[1], up])

    def console(self):
        """What went wrong since the last look: severe messages and warnings."""
        return [
            entry["message"]
            for entry in self._call("POST", "/se/log", {"type": "browser"})
            if entry["level"] in ("SEVERE", "WARNING")
        ]

    def requests(self):
        """Addresses that the page asked for since the last look, without data inside the page."""
        messages = (
            json.loads(entry["message"])["message"]
            for entry in self._call("POST", "/se/log", {"type": "performance"})
        )
        return [
            message["params"]["request"]["url"]
            for message in messages
            if message["method"] == "Network.requestWillBeSent"
            and not message["params"]["request"]["url"].startswith("data:")
        ]

    def screenshot(self, path, whole=True):
        """A picture of the page, or of what of it is in the window."""
        size = self.protocol("Page.getLayoutMetrics")["cssContentSize"]
        options = {"captureBeyondViewport": True, "clip": {**size, "scale": 1}} if whole else {}
        data = self.protocol("Page.captureScreenshot", format="png", **options)["data"]
        path.write_bytes(base64.b64decode(data))

    def close(self):
        """End the browser and its driver."""
        if self._session:
            with contextlib.suppress(OSError):
                self._call("DELETE", "")
        self._driver.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._driver.wait(30)
        processes.end(self._driver)

    def _wishes(self, browser, folder):
        options = {
            "binary": browser,
            "args": [*FLAGS, f"--user-data-dir={folder}"],
        }
        logs = {"browser": "ALL", "performance": "ALL"}
        return {
            "capabilities": {
                "alwaysMatch": {"goog:chromeOptions": options, "goog:loggingPrefs": logs}
            }
        }

    def _act(self, actions):
        mouse = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}}
        self._call("POST", "/actions", {"actions": [{**mouse, "actions": actions}]})

    def _call(self, method, command, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self._url + self._session + command,
            data,
            {"Content-Type": "application/json"},
            method=method,
        )
        # Proxies are for other machines.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=processes.PATIENCE) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            with error:
                said = json.load(error)["value"]
            raise AssertionError(f"{said['error']}: {said['message']}") from None
