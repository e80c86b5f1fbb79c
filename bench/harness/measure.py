"""Runs one command and measures it, as a separate program to keep it small.

The kernel counts the peak of memory of a process from what it had before it became the command: that is this program,
of some 9 MB. A command that takes less shows as that, and `own_kilobytes` says where that begins.

Usage: measure.py <result file> <seconds at most> <working directory> <command> [arguments ...]
"""

import os
import signal
import sys
import time


def own_peak_kilobytes() -> int:
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1])
    return 0


def main() -> None:
    result, limit, directory, *command = sys.argv[1:]
    os.chdir(directory)
    own = own_peak_kilobytes()
    timed_out = []
    started_at, started = time.time(), time.perf_counter()
    child = os.posix_spawnp(command[0], command, os.environ, setpgroup=0)

    def give_up(_signal: int, _frame: object) -> None:
        timed_out.append(True)
        os.killpg(child, signal.SIGKILL)

    # Ctrl-C reaches this process group; the command has its own.
    signal.signal(signal.SIGALRM, give_up)
    signal.signal(signal.SIGINT, give_up)
    signal.signal(signal.SIGTERM, give_up)
    signal.alarm(int(limit))
    # The usage of the command and its own children.
    _, status, usage = os.wait4(child, 0)
    wall, ended_at = time.perf_counter() - started, time.time()
    signal.alarm(0)
    code = "null" if timed_out else os.waitstatus_to_exitcode(status)
    with open(result, "w") as out:
        out.write(
            f'{{"exit_code": {code}, "wall": {wall}, "started_at": {started_at}, "ended_at": {ended_at}, '
            f'"cpu": {usage.ru_utime + usage.ru_stime}, "peak_kilobytes": {usage.ru_maxrss}, '
            f'"own_kilobytes": {own}}}\n'
        )


main()
