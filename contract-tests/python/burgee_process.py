"""A Burgee in a process of its own, on a free port and a temporary data folder."""

import atexit
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import urllib.parse
import urllib.request
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
MAIN = REPOSITORY / "dist" / "main.js"
READY = re.compile(r"Burgee is ready at (\S+)")
START_SECONDS = 120
STOP_SECONDS = 30

PROJECT_API_KEY = "phc_pythonTestsProjectApiKey000000000000001"
PERSONAL_API_KEY = "phx_pythonTestsPersonalApiKey000000000000001"
PROJECT_SECRET_KEY = "phs_pythonTestsProjectSecretKey0000000000001"


class BurgeeProcess:
    """Starts the built service; `stop` ends it and removes its data, and nothing else."""

    def __init__(self):
        if not MAIN.exists():
            raise RuntimeError(f"{MAIN} does not exist. Run `npm run build` first.")
        self._folder = tempfile.mkdtemp(prefix="burgee-python-")
        # PostgreSQL runs under another account when we are root, and has to get through.
        os.chmod(self._folder, 0o711)
        self._errors = open(Path(self._folder) / "errors.log", "w+", encoding="utf8")
        self._process = subprocess.Popen(
            ["node", str(MAIN)],
            cwd=self._folder,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            encoding="utf8",
        )
        atexit.register(self.stop)
        try:
            self.url = self._wait_until_ready()
        except BaseException:
            self.stop()
            raise

    def _environment(self):
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        return {
            **kept,
            "NODE_ENV": "test",
            "PORT": "0",
            "BURGEE_DATA_DIR": str(Path(self._folder) / "data"),
            "BURGEE_PROJECT_API_KEY": PROJECT_API_KEY,
            "BURGEE_PERSONAL_API_KEY": PERSONAL_API_KEY,
            "BURGEE_PROJECT_SECRET_KEY": PROJECT_SECRET_KEY,
            "BURGEE_ENCRYPTION_KEYS": "an-encryption-key-for-python-tests",
        }

    def _wait_until_ready(self):
        timer = threading.Timer(START_SECONDS, self._process.kill)
        timer.start()
        try:
            for line in self._process.stdout:
                ready = READY.search(line)
                if ready:
                    # What it prints later must not fill the pipe and block it.
                    threading.Thread(target=self._process.stdout.read, daemon=True).start()
                    return ready.group(1)
        finally:
            timer.cancel()
        raise RuntimeError(f"Burgee did not get ready.\n{self.log()}")

    def log(self):
        """What it has logged so far."""
        return Path(self._errors.name).read_text(encoding="utf8")

    def stop(self):
        """Returns the exit code. It may be called twice."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        try:
            code = self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        self._errors.close()
        shutil.rmtree(self._folder, ignore_errors=True)
        return code

    def events(self, **filters):
        """At most a thousand stored events, newest first."""
        query = urllib.parse.urlencode({"limit": 1000, **filters})
        return self.send("GET", f"/api/projects/1/events/?{query}")["results"]

    def send(self, method, path, body=None):
        """Sends JSON with the personal API key and returns the JSON of the reply."""
        request = urllib.request.Request(
            self.url + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "content-type": "application/json",
                "authorization": f"Bearer {PERSONAL_API_KEY}",
            },
        )
        with urllib.request.urlopen(request, timeout=15) as reply:
            return json.load(reply)

    def read_text(self, path):
        """The body of a page that everybody may read."""
        with urllib.request.urlopen(self.url + path, timeout=15) as reply:
            return reply.read().decode()

    def create_flag(self, key, **fields):
        """Creates a flag of the first project."""
        return self.send("POST", "/api/projects/1/feature_flags/", {"key": key, **fields})
