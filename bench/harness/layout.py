"""The locations of files. All results are below `target/bench`, which is not committed."""

import os
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent
ROOT = BENCH.parent
TOOLS = BENCH / "tools"

MADE = ROOT / "target" / "bench"
VENV = MADE / "venv"
NODE = MADE / "node"
# In memory if possible: writing a file for each answer would measure the disk instead of the tools.
MEMORY = Path("/dev/shm")
SCRATCH = MEMORY / f"evidence-bench-{os.getuid()}" if MEMORY.is_dir() else MADE / "scratch"
RESULTS = MADE / "results"
LOGS = MADE / "logs"
