"""Debian's Chromium without a window, driven over a pipe by its DevTools protocol."""

import base64
import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import time

DEADLINE = 240  # of one answer, on a machine that has other work


class BrowserError(Exception):
    """The browser, or the page in it, said no."""


def program():
    """Where the browser is, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    """One browser with one page. `complaints` is what the page's console said that is no chat."""

    def __init__(self, home, width=1280, height=800):
        self.number = 0
        self.buffer = b""
        self.complaints = []
        self.loaded = False
        self._start(home, width, height)
        targets = self.call("Target.getTargets", session=None)["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page, flatten=True,
                                 session=None)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")
        self.size(width, height)

    def _start(self, home, width, height):
        to_browser, self.out = os.pipe()
        self.into, from_browser = os.pipe()

        def pipes():  # the browser reads from 3 and writes to 4
            spare = [os.dup(to_browser), os.dup(from_browser)]
            os.dup2(spare[0], 3)
            os.dup2(spare[1], 4)

        self.session = None
        self.process = subprocess.Popen(
            [program(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", "--disable-background-networking", "--remote-debugging-pipe",
             f"--user-data-dir={home}/profile", f"--window-size={width},{height}", "about:blank"],
            env={**os.environ, "HOME": str(home)}, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, close_fds=False,
            preexec_fn=pipes, start_new_session=True)
        os.close(to_browser)
        os.close(from_browser)

    def close(self):
        """Ends the browser and the processes that it has begun."""
        self.call("Browser.close", session=None)
        try:
            self.process.wait(DEADLINE)
        finally:
            with contextlib.suppress(ProcessLookupError):  # all have ended by themselves
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self.out)
        os.close(self.into)

    def call(self, method, session="", **params):
        """One command of the protocol, and its answer."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if session is not None and self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def _read(self):
        deadline = time.monotonic() + DEADLINE
        while b"\0" not in self.buffer:
            if not select.select([self.into], [], [], deadline - time.monotonic())[0]:
                raise BrowserError("the browser does not answer")
            data = os.read(self.into, 1 << 20)
            if not data:
                raise BrowserError("the browser is gone")
            self.buffer += data
        line, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(line)
        self._notice(message.get("method"), message.get("params", {}))
        return message

    def _notice(self, method, params):
        if method == "Page.loadEventFired":
            self.loaded = True
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description",
                                                                    details["text"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            self.complaints.append(str([one.get("value") for one in params["args"]]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.complaints.append(params["entry"]["text"])

    def size(self, width, height):
        """As wide and high as a window would be."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)

    def open(self, path, fragment=""):
        """Opens a file; returns when it was drawn, with the seconds that took."""
        for url in ("about:blank", f"file://{path}{fragment}"):  # an anchor alone loads nothing
            self.loaded = False
            self.call("Page.navigate", url=url)
            while not self.loaded:
                self._read()
        self.settle()
        return self.run("performance.now()") / 1000

    def settle(self):
        """Waits until what was asked for has been drawn."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def run(self, script):
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in answer:
            raise BrowserError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def text(self, selector):
        """What the page shows there."""
        return self.run(f"document.querySelector({json.dumps(selector)}).innerText")

    def click_at(self, x, y):
        """The mouse's button, there."""
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left",
                      buttons=1 if kind == "mousePressed" else 0, clickCount=1)
        self.settle()

    def click(self, selector):
        """The same on an element, in its middle."""
        box = self.run(f"""(() => {{
            const element = document.querySelector({json.dumps(selector)});
            element.scrollIntoView({{block: "nearest"}});
            const box = element.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2]; }})()""")
        self.click_at(*box)

    def key(self, key, text=None):
        """One key, pressed and let go."""
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key,
                  text=text or (key if len(key) == 1 else ""))
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)
        self.settle()

    def type(self, text):
        """Keys, one after the other."""
        self.call("Input.insertText", text=text)
        self.settle()

    def picture(self, path):
        """What is seen now, as a PNG."""
        answer = self.call("Page.captureScreenshot", format="png")
        with open(path, "wb") as file:
            file.write(base64.b64decode(answer["data"]))

    def paper(self, path):
        """What is printed, as a PDF."""
        answer = self.call("Page.printToPDF", preferCSSPageSize=True, printBackground=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(answer["data"]))
