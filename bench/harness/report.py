"""The figures as tables for a terminal and for bench/RESULTS.md."""

from statistics import median

from .tools import BY_NAME, EVIDENCE

NONE = "–"
BEGIN = "<!-- generated: measurements, by bench/run --into -->"
END = "<!-- end: measurements -->"


class Table:
    """Rows of text under a heading."""

    def __init__(self, title: str, columns: list[str], left: int = 1) -> None:
        self.title, self.columns, self.left = title, columns, left
        self.rows: list[list[str]] = []

    def markdown(self) -> str:
        aligned = ["---"] * self.left + ["---:"] * (len(self.columns) - self.left)
        rows = [self.columns, aligned, *self.rows]
        return f"**{self.title}**\n\n" + "\n".join(f"| {' | '.join(row)} |" for row in rows)

    def text(self) -> str:
        rows = [[cell.replace("`", "").replace("**", "") for cell in row] for row in [self.columns, *self.rows]]
        widths = [max(len(row[column]) for row in rows) for column in range(len(self.columns))]
        lines = []
        for row in rows:
            pads = [str.ljust if column < self.left else str.rjust for column in range(len(row))]
            lines.append("  ".join(pad(cell, width) for pad, cell, width in zip(pads, row, widths)).rstrip())
        return self.title.replace("`", "") + "\n" + "\n".join(lines)


def middle(runs: list[dict], name: str) -> float:
    return median(run[name] for run in runs)


def seconds(value: float) -> str:
    return f"{value:,.1f}" if value >= 100 else f"{value:.2f}"


def times(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def peak(runs: list[dict]) -> str:
    largest = max(run["peak"] for run in runs)
    return f"< {largest:.0f}" if all(run["small"] for run in runs) else f"{largest:.1f}"


def ratio(runs: list[dict], base: list[dict], name: str) -> float | None:
    """The median of the rounds' ratios; rounds in which one of them failed do not count."""
    pairs = [run[name] / other[name] for run, other in zip(runs, base) if other[name]]
    return median(pairs) if pairs else None


def groups(cells: list[dict]) -> dict[tuple[int, int], dict[str, dict]]:
    """Cells by size and latency, then by tool."""
    found: dict[tuple[int, int], dict[str, dict]] = {}
    for cell in cells:
        found.setdefault((cell["repositories"], cell["latency"]), {})[cell["tool"]] = cell
    return found


def compared(cells: list[dict]) -> Table:
    table = Table(
        "The same job, side by side",
        ["repositories", "latency", "tool", "wall, s", "to `evidence`", "CPU, s", "to `evidence`", "peak, MB"]
        + ["requests", "connections", "at once", "host's CPU, s"],
        left=3,
    )
    for (repositories, latency), tools in groups(cells).items():
        base = tools.get(EVIDENCE.name, {}).get("runs", [])
        head = [f"{repositories:,}", f"{latency} ms"]
        for name, cell in tools.items():
            runs = cell["runs"]
            shown = f"**{name}**" if name == EVIDENCE.name else name
            if cell["failed"]:
                figures = ["failed"] + [NONE] * 8
            elif not runs:
                figures = [NONE] * 9
            else:
                walls, cpus = ratio(runs, base, "wall"), ratio(runs, base, "cpu")
                figures = [
                    seconds(middle(runs, "wall")),
                    times(walls) if walls is not None else NONE,
                    seconds(middle(runs, "cpu")),
                    times(cpus) if cpus is not None else NONE,
                    peak(runs),
                    f"{middle(runs, 'requests'):,.0f}",
                    f"{middle(runs, 'connections'):,.0f}",
                    f"{max(run['highest_concurrency'] for run in runs):,}",
                    seconds(middle(runs, "host_cpu")),
                ]
            table.rows.append([*head, shown, *figures])
            head = ["", ""]
    return table


def best_possible(requests: float, in_flight: int, latency: int) -> float:
    return -(-requests // in_flight) * latency / 1000


def network(cells: list[dict], in_flight: int) -> Table:
    table = Table(
        "The network phase: from the first request to the last answer, as the host saw it",
        ["repositories", "latency", "tool", "least possible, s", "network, s", "ratio", "before it, s", "after it, s"],
        left=3,
    )
    for (repositories, latency), tools in groups(cells).items():
        head = [f"{repositories:,}", f"{latency} ms"]
        for name in (EVIDENCE.name, "floor", "floor-gzip", "curl-parallel", "httpx"):
            runs = tools.get(name, {}).get("runs", [])
            if not runs or not latency:
                continue
            least = best_possible(middle(runs, "requests"), in_flight, latency)
            took = middle(runs, "network")
            shown = f"**{name}**" if name == EVIDENCE.name else name
            rest = [seconds(middle(runs, "before")), seconds(middle(runs, "after"))]
            table.rows.append([*head, shown, seconds(least), seconds(took), times(took / least), *rest])
            head = ["", ""]
    return table


def bundled(bundle: dict) -> Table:
    table = Table(
        f"A bundle of {bundle['artifacts']:,} artifacts, {bundle['bytes'] / 1e6:.1f} MB in files, "
        f"{bundle['archive_bytes'] / 1e6:.1f} MB packed",
        ["step", "wall, s", "CPU, s", "peak, MB"],
    )
    for name, runs in bundle["steps"].items():
        if name in bundle["problems"] or not runs:
            table.rows.append([name, f"failed: {bundle['problems'].get(name, '')}", NONE, NONE])
            continue
        cpu = NONE if runs[0]["cpu"] is None else seconds(middle(runs, "cpu"))
        table.rows.append([name, seconds(middle(runs, "wall")), cpu, peak(runs)])
    return table


def targets(report: dict) -> Table:
    """The project's goals, and the results of this run. Marks goals that were not measured."""
    table = Table("Targets", ["what", "wanted", "figure", ""])
    found = groups(report["cells"])

    def row(text: str, bound: float, value: float | None, form: str, at_least: bool = False) -> None:
        wanted = f"at {'least' if at_least else 'most'} {form.format(bound)}"
        if value is None:
            table.rows.append([text, wanted, "not measured", ""])
            return
        met = value >= bound if at_least else value <= bound
        table.rows.append([text, wanted, form.format(value), "met" if met else "**missed**"])

    def runs_of(repositories: int, latency: int, tool: str = EVIDENCE.name) -> list[dict]:
        return found.get((repositories, latency), {}).get(tool, {}).get("runs", [])

    for latency, bound in ((80, 1.10), (20, 1.20)):
        runs = runs_of(5000, latency)
        value = None
        if runs:
            least = best_possible(middle(runs, "requests"), report["in_flight"], latency)
            value = middle(runs, "network") / least
        row(f"network phase to the least possible, 5,000 repositories, {latency} ms", bound, value, "{:.2f}")
    for latency in (0, 20, 80):
        for floor in ("floor", "floor-gzip"):
            value = ratio(runs_of(5000, latency), runs_of(5000, latency, floor), "cpu")
            row(f"CPU to the bare loop ({floor}), 5,000 repositories, {latency} ms", 2, value, "{:.2f}")
    for repositories, bound in ((500, 40), (50000, 64)):
        every = [run for latency in (0, 20, 80) for run in runs_of(repositories, latency)]
        value = max((run["peak"] for run in every), default=None)
        row(f"peak of memory, {repositories:,} repositories", bound, value, "{:.1f} MB")
    bundle = report.get("bundle")
    steps = bundle["steps"] if bundle else {}

    def between(name: str, other: str) -> float | None:
        one, two = steps.get(name), [runs for step, runs in steps.items() if step.startswith(other)]
        return ratio(one, two[0], "wall") if one and two and two[0] else None

    size = f"{bundle['artifacts']:,} artifacts" if bundle else "20,000 artifacts"
    stock = f"`{bundle['compressor']}` and `sha256sum`" if bundle else "`pigz -p2` and `sha256sum`"
    row(f"hash, sign and write to {stock}, {size}", 0.9, between("evidence: hash, sign, write", "sha256sum, tar"), "{:.2f}")
    whole = between("evidence: after the last answer", "sha256sum, tar")
    if whole is not None:
        also = f"all that the tool does after the last answer, verification included, to the same, {size}"
        table.rows.append([also, NONE, f"{whole:.2f}", ""])
    quicker = between("tar, openssl, sha256sum -c", "evidence verify")
    row(f"how many times faster `verify` is than tar, openssl and sha256sum, {size}", 3, quicker, "{:.1f}", at_least=True)
    verify = steps.get("evidence verify")
    row(f"peak of memory of `verify`, {size}", 32, max(run["peak"] for run in verify) if verify else None, "{:.1f} MB")
    return table


def about(report: dict) -> list[str]:
    machine, versions = report["machine"], report["versions"]
    lines = [
        f"{machine['date']}; {machine['cores']} cores of {machine['processor']}, {machine['memory']}, "
        f"{machine['kernel']}, load {machine['load before']} before it began. "
        f"{report['runs']} run{'s' if report['runs'] != 1 else ''} of each, "
        f"{report['in_flight']} in flight. Command: `{report['command']}`.",
        "; ".join(f"{name} {version}" for name, version in versions.items()) + ".",
    ]
    return [report["note"], *lines] if report.get("note") else lines


def notes(report: dict) -> list[str]:
    """Why cells are empty."""
    lines, reasons = [], {}
    for cell in report["cells"]:
        if cell["failed"] or cell["left_out"]:
            why = f"failed: {cell['failed']}" if cell["failed"] else cell["left_out"]
            reasons.setdefault((cell["tool"], why), []).append(f"{cell['repositories']:,} at {cell['latency']} ms")
    for (tool, why), where in reasons.items():
        lines.append(f"{tool}, {', '.join(where)}: {why}")
    return lines


def tables(report: dict) -> list[Table]:
    made = [targets(report)]
    if report["cells"]:
        made += [compared(report["cells"]), network(report["cells"], report["in_flight"])]
    if report.get("bundle"):
        made.append(bundled(report["bundle"]))
    return [table for table in made if table.rows]


def text(report: dict) -> str:
    empty = [f"{NONE}  {line}" for line in notes(report)]
    return "\n\n".join(["\n".join(about(report)), *(table.text() for table in tables(report)), "\n".join(empty)])


def markdown(report: dict) -> str:
    """The block of bench/RESULTS.md."""
    parts = [*about(report), *(table.markdown() for table in tables(report))]
    names = {cell["tool"] for cell in report["cells"]}
    if names:
        parts.append("\n".join(f"- **{name}**: {tool.what}." for name, tool in BY_NAME.items() if name in names))
    empty = notes(report)
    if empty:
        parts.append("Left out or failed:\n\n" + "\n".join(f"- {line}" for line in empty))
    return "\n\n".join([BEGIN, *parts, END])


def into(page: str, report: dict) -> str:
    """The page with the block replaced."""
    before, found, rest = page.partition(BEGIN)
    _, ended, after = rest.partition(END)
    if not found or not ended:
        raise ValueError("the page has no block for the measurements")
    return before + markdown(report) + after
