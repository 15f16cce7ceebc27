"""Runs Schemathesis over the contract against the built service, once for each kind of caller."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from burgee_process import PERSONAL_API_KEY, REPOSITORY, BurgeeProcess  # noqa: E402

FOLDER = Path(__file__).resolve().parent
SCHEMATHESIS = Path(sys.executable).with_name("schemathesis")
SEED = os.environ.get("SCHEMATHESIS_SEED", "20261121")
MAX_EXAMPLES = os.environ.get("SCHEMATHESIS_EXAMPLES", "20")
LIMIT_SECONDS = 900

# Where Schemathesis looks for the hooks that its configuration names.
ENVIRONMENT = {**os.environ, "SCHEMATHESIS_HOOKS": str(FOLDER / "hooks.py")}

# Each caller with the headers that it sends.
CALLERS = {
    "a caller with every scope": ["-H", f"Authorization: Bearer {PERSONAL_API_KEY}"],
    "a stranger": [],
}


def run(name, headers, burgee):
    """True when Schemathesis has no finding for this caller."""
    print(f"\n-- Schemathesis as {name}, seed {SEED}", flush=True)
    command = [
        str(SCHEMATHESIS),
        "--config-file",
        str(FOLDER / "schemathesis.toml"),
        "run",
        str(REPOSITORY / "openapi.yaml"),
        "--url",
        burgee.url,
        "--seed",
        SEED,
        "--max-examples",
        MAX_EXAMPLES,
        *headers,
    ]
    with tempfile.TemporaryDirectory() as folder:
        return (
            subprocess.run(command, cwd=folder, env=ENVIRONMENT, timeout=LIMIT_SECONDS, check=False).returncode == 0
        )


def main():
    """Prints how many callers found nothing, and whether the log has no fault; fails unless all is so."""
    burgee = BurgeeProcess()
    try:
        results = [run(name, headers, burgee) for name, headers in CALLERS.items()]
        faults = [line for line in burgee.log().splitlines() if '"level":50' in line]
        print("\n".join(faults))
        results.append(not faults)
    finally:
        burgee.stop()
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
