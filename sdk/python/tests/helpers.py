"""What the tests share: where sbx is, and why a test is skipped."""

import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

root = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(root / "sdk/python"))

import sbx  # noqa: E402

program = os.environ.get("SBX") or str(root / "bin/sbx")


def no_sandbox():
    """Why this host cannot hold a sandbox; None where it can."""
    try:
        sbx.run(["true"], spec={"access_mode": "read-only"}, cwd="/", path=program, capture_output=True)
    except sbx.Refused as refused:
        if os.environ.get("SBX_TEST_MUST_RUN") == "1":
            raise
        return f"no sandbox on this host: {refused}"
    return None


class InSandbox(unittest.TestCase):
    """A directory for the command, and another for temporary files, which is to be empty at the end."""

    @classmethod
    def setUpClass(cls):
        cls.without = no_sandbox()

    def setUp(self):
        if self.without:
            self.skipTest(self.without)
        self.dir = self.own_directory()
        tmp = self.own_directory()
        patch = mock.patch.object(tempfile, "tempdir", tmp)
        patch.start()
        self.addCleanup(lambda: self.assertEqual(os.listdir(tmp), []))
        self.addCleanup(patch.stop)

    def own_directory(self):
        made = tempfile.mkdtemp(prefix="sbx-sdk.", dir=os.environ.get("SBX_TEST_ELSEWHERE") or None)
        self.addCleanup(shutil.rmtree, made)
        return made

    def run_in(self, args, **more):
        return sbx.run(args, **{"cwd": self.dir, "path": program, "capture_output": True, "text": True, **more})
