"""Where things are. Everything that is made lies below `target/bench`, which is not committed."""

from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent
ROOT = BENCH.parent
TOOLS = BENCH / "tools"

MADE = ROOT / "target" / "bench"
VENV = MADE / "venv"
NODE = MADE / "node"
SCRATCH = MADE / "scratch"
RESULTS = MADE / "results"
LOGS = MADE / "logs"
