"""Tests the harness: it detects omitted work, and combines figures correctly.

`python3 -B -m unittest discover bench/tests`; it needs bash, tar and OpenSSL 3, and measures nothing.
"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(BENCH))

from harness import bundle, check, report  # noqa: E402
from harness.host import expected_files, fewest_requests  # noqa: E402
from harness.launch import Failed  # noqa: E402

EXPECTED = expected_files(20)


class Output(unittest.TestCase):
    """An output in the form of the shell scripts, and its possible faults."""

    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.output = Path(directory.name)
        check.SCRATCH = self.output
        self.files = self.output / "files"
        self.files.mkdir()
        self.key, self.public_key = self.output / "key.pem", self.output / "key.pub.pem"
        self.run_in(["openssl", "genpkey", "-algorithm", "ed25519", "-out", str(self.key)])
        self.run_in(["openssl", "pkey", "-in", str(self.key), "-pubout", "-out", str(self.public_key)])
        for name in EXPECTED:
            (self.files / name).write_text('{"a": 1}')
        self.one = self.files / sorted(EXPECTED)[3]

    def run_in(self, command: list[str]) -> None:
        subprocess.run(command, cwd=self.files, check=True, env={**os.environ, "BENCH_KEY": str(self.key)})

    def pack(self) -> None:
        self.run_in([str(BENCH / "tools/pack.sh"), str(self.output)])

    def pack_again(self) -> None:
        """Changes only the archive; list and signature stay."""
        self.run_in(["tar", "-czf", "../bundle.tar.gz", "."])

    def refused(self, why: str) -> None:
        with self.assertRaisesRegex(Failed, why):
            check.complete(self.output, EXPECTED, self.public_key)

    def test_whole(self) -> None:
        self.pack()
        check.complete(self.output, EXPECTED, self.public_key)

    def test_a_file_is_missing(self) -> None:
        self.one.unlink()
        self.pack()
        self.refused("1 files are missing and 0 too many")

    def test_a_file_too_many(self) -> None:
        (self.files / "other.json").write_text("{}")
        self.pack()
        self.refused("0 files are missing and 1 too many")

    def test_an_answer_that_was_cut(self) -> None:
        self.one.write_text('{"a')
        self.pack()
        self.refused("cannot be read")

    def test_changed_after_the_list(self) -> None:
        self.pack()
        self.one.write_text('{"a": 2}')
        self.pack_again()
        self.refused("does not say what is in the archive")

    def test_a_bad_signature(self) -> None:
        self.pack()
        signature = self.files / "signature.sig"
        signature.write_bytes(bytes([signature.read_bytes()[0] ^ 1]) + signature.read_bytes()[1:])
        self.pack_again()
        self.refused("the signature is not good")

    def test_no_signature(self) -> None:
        self.pack()
        (self.files / "signature.sig").unlink()
        self.pack_again()
        self.refused("there is no signature")

    def test_no_archive(self) -> None:
        self.refused("0 archives")


class Figures(unittest.TestCase):
    def test_what_there_is(self) -> None:
        # Of 50: 2 without protection, 5 without CODEOWNERS, 10 with it in the second place.
        self.assertEqual(len(expected_files(50)), 1 + 48 + 45)
        self.assertEqual(fewest_requests(50), 1 + 1 + 100 + 10)
        self.assertEqual(len(expected_files(bundle.repositories_for(2000))), 2001)

    def test_ratios_are_of_the_same_round(self) -> None:
        runs, base = [{"wall": 2.0}, {"wall": 30.0}, {"wall": 4.0}], [{"wall": 1.0}, {"wall": 10.0}, {"wall": 4.0}]
        self.assertEqual(report.ratio(runs, base, "wall"), 2.0)
        self.assertEqual(report.ratio(runs[:1], base, "wall"), 2.0)
        self.assertIsNone(report.ratio([], base, "wall"))

    def test_the_least_possible(self) -> None:
        self.assertAlmostEqual(report.best_possible(1006, 64, 80), 16 * 0.08)
        self.assertAlmostEqual(report.best_possible(1024, 64, 20), 16 * 0.02)

    def test_the_page_keeps_its_text(self) -> None:
        empty = {"cells": [], "bundle": None, "machine": dict.fromkeys(["cores", "processor", "memory", "kernel"], "")}
        empty["machine"].update({"load before": "", "date": ""})
        empty.update({"versions": {}, "runs": 1, "in_flight": 64, "command": ""})
        page = f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n"
        once = report.into(page, empty)
        self.assertTrue(once.startswith("before\n") and once.endswith("\nafter\n") and "old" not in once)
        self.assertEqual(report.into(once, empty), once)
        self.assertIn("not measured", once)
        with self.assertRaises(ValueError):
            report.into("no block", empty)


if __name__ == "__main__":
    unittest.main()
