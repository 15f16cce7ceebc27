"""Runs Schemathesis over the contract against the built service, once for each kind of caller."""

import os
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from burgee_process import PERSONAL_API_KEY, PROJECT_API_KEY, REPOSITORY, BurgeeProcess  # noqa: E402
from links import declared_links, followed_links  # noqa: E402

FOLDER = Path(__file__).resolve().parent
CONTRACT = REPOSITORY / "openapi.yaml"
SCHEMATHESIS = Path(sys.executable).with_name("schemathesis")
SEED = os.environ.get("SCHEMATHESIS_SEED", "20261121")
MAX_EXAMPLES = os.environ.get("SCHEMATHESIS_EXAMPLES", "20")
LIMIT_SECONDS = 900
STORED_PERSONS = 40

# The part of the declared links that the caller with every scope has to follow. Which ones it does
# differs a little between runs, since ids and times of replies do.
FOLLOWED_PART = 0.5

# Each caller with the headers that it sends.
STRANGER = "a stranger"
CALLERS = {
    "a caller with every scope": ["-H", f"Authorization: Bearer {PERSONAL_API_KEY}"],
    STRANGER: [],
}


def run(name, headers, burgee):
    """True when Schemathesis has no finding for this caller and follows enough links."""
    print(f"\n-- Schemathesis as {name}, seed {SEED}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.ndjson"
        command = [
            str(SCHEMATHESIS),
            "--config-file",
            str(FOLDER / "schemathesis.toml"),
            "run",
            str(CONTRACT),
            "--url",
            burgee.url,
            "--seed",
            SEED,
            "--max-examples",
            MAX_EXAMPLES,
            "--report-ndjson-path",
            str(report),
            *headers,
        ]
        environment = {
            **os.environ,
            "SCHEMATHESIS_HOOKS": str(FOLDER / "hooks.py"),
            "SCHEMATHESIS_OWN_KEY_ID": burgee.send("GET", "/api/personal_api_keys/")[0]["id"],
        }
        status = subprocess.run(command, cwd=folder, env=environment, timeout=LIMIT_SECONDS, check=False).returncode
        # A stranger is refused nearly everywhere, so that there is hardly a reply to go on from.
        follows = name == STRANGER or follows_links(report)
    return status == 0 and follows


def follows_links(report):
    """Prints which declared links were not followed; false when those are too many."""
    declared = declared_links(CONTRACT)
    followed = followed_links(report) & declared
    print(f"{len(followed)} of {len(declared)} declared links were followed. These were not:")
    print("\n".join(f"  {name}" for name in sorted(declared - followed)), flush=True)
    return len(followed) >= max(1, FOLLOWED_PART * len(declared))


def store_something(burgee):
    """Persons, groups and events of the first project, for links to lead to."""
    batch = []
    for number in range(STORED_PERSONS):
        person = {"distinct_id": f"person-{number}", "properties": {"$set": {"number": number}}}
        group = {"$group_type": "company", "$group_key": f"company-{number}", "$group_set": {"number": number}}
        batch.append({"event": "stored before the run", "uuid": str(uuid.uuid4()), **person})
        batch.append({"event": "$groupidentify", "distinct_id": f"person-{number}", "properties": group})
    burgee.send("POST", "/batch/", {"api_key": PROJECT_API_KEY, "batch": batch})


def main():
    """Prints how many callers found nothing, and whether the log has no fault; fails unless all is so."""
    burgee = BurgeeProcess()
    try:
        store_something(burgee)
        results = [run(name, headers, burgee) for name, headers in CALLERS.items()]
        # Fails if the caller has lost its key on the way, and was a stranger for the rest of it.
        burgee.send("GET", "/api/users/@me/")
        faults = [line for line in burgee.log().splitlines() if '"level":50' in line]
        print("\n".join(faults))
        results.append(not faults)
    finally:
        burgee.stop()
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
