"""A command in a sandbox, by the program sbx."""

import json
import os
import pickle
import re
import shlex
import shutil
import subprocess
import sys
from unittest import mock

from .helpers import InSandbox, program, root, sbx

READ_ONLY = {"access_mode": "read-only"}
WRITABLE = {"access_mode": "workspace-write"}


class Run(InSandbox):
    def test_the_command_has_what_it_is_given(self):
        script = 'cat; echo "$NAMED $0 $1"; pwd; echo to stderr >&2; : >made; exit 3'
        args = ["sh", "-c", script, "a b", "--"]
        done = self.run_in(args, input="in\n", env={**os.environ, "NAMED": "é"})
        stdout = f"in\né a b --\n{self.dir}\n"
        self.assertEqual((done.args, done.returncode, done.stdout, done.stderr), (args, 3, stdout, "to stderr\n"))
        self.assertEqual((done.record.state, done.record.command.cwd), ("exited", self.dir))
        self.assertEqual((done.record.exit.code, done.record.exit.ended_by), (3, "command"))
        self.assertTrue(os.path.exists(self.dir + "/made"))
        with open(self.dir + "/out", "wb") as out:
            there = self.run_in(["echo", "x"], capture_output=False, stdout=out, text=None)
        self.assertEqual((there.stdout, open(self.dir + "/out", "rb").read()), (None, b"x\n"))
        self.assertEqual(self.run_in(["echo", "x"], text=None).stdout, b"x\n")
        killed = self.run_in(["sh", "-c", "kill -9 $$"])
        self.assertEqual((killed.returncode, killed.record.exit.signal), (128 + 9, 9))

    def test_the_spec_holds_and_the_record_tells_of_a_denial(self):
        write = ["sh", "-c", "echo x >made && echo written"]
        control = self.run_in(write, spec=WRITABLE)
        self.assertEqual((control.returncode, control.stdout, control.record.access_mode), (0, "written\n", "workspace-write"))
        denied = self.run_in(write, spec=READ_ONLY)
        self.assertEqual((denied.returncode, denied.stdout, denied.record.access_mode), (2, "", "read-only"))
        self.assertIn("made: Read-only file system", denied.stderr)
        if "opens for writing" in denied.record.raw.get("observed_filesystem", []):
            violations = [(v.kind, v.target, v.count) for v in denied.record.violations]
            self.assertEqual(violations, [("filesystem", self.dir + "/made", 1)])

    def test_without_a_spec_no_file_of_the_folder_counts(self):
        os.mkdir(self.dir + "/.sbx")
        with open(self.dir + "/.sbx/spec.yaml", "w") as file:
            file.write("access_mode: read-only\n")
        write = ["sh", "-c", "echo x >made && echo written"]
        self.assertEqual(self.run_in(write).stdout, "written\n")
        self.assertEqual(self.run_in(write, spec=self.dir + "/.sbx/spec.yaml").stdout, "")

    def test_what_did_not_start_is_refused(self):
        open(self.dir + "/plain", "w").close()
        for args, spec, code, field, on, why in [
            (["true"], {**WRITABLE, "working_dir": "/nowhere"}, 125, "working_dir", "spec", "/nowhere does not exist"),
            (["true"], {**WRITABLE, "limits": {"timeuot": "1s"}}, 125, "limits.timeuot", "spec", "unknown field"),
            (["true"], {"access_mode": None}, 125, "access_mode", "spec", "cannot read the spec"),
            (["no-such-command"], None, 127, "", "no-such-command", "in no directory of PATH"),
            (["./plain"], None, 126, "", "./plain", "cannot run"),
        ]:
            with self.subTest(args=args, spec=spec):
                with self.assertRaises(sbx.Refused) as caught:
                    self.run_in(args, spec=spec)
                refused = caught.exception
                self.assertIsInstance(refused, sbx.SbxError)
                self.assertEqual((refused.returncode, refused.field, refused.on), (code, field, on))
                self.assertIn(why, refused.why)
                self.assertTrue(str(refused).endswith(refused.why))
                self.assertEqual((refused.record.state, refused.record.error.field), ("refused", field))
                again = pickle.loads(pickle.dumps(refused))
                self.assertEqual((str(again), again.field, again.help), (str(refused), field, refused.help))
        self.assertEqual(self.run_in(["true"], spec=WRITABLE).returncode, 0)  # the control

    def test_a_status_is_an_error_where_check_asks_for_it(self):
        args = ["sh", "-c", "echo out; exit 4"]
        done = self.run_in(args)
        self.assertEqual(done.returncode, 4)
        self.assertRaises(subprocess.CalledProcessError, done.check_returncode)
        with self.assertRaises(subprocess.CalledProcessError) as caught:
            self.run_in(args, check=True)
        error = caught.exception
        self.assertEqual((error.returncode, error.cmd, error.stdout), (4, args, "out\n"))
        self.assertEqual(self.run_in(["true"], check=True).returncode, 0)

    def test_a_spec_counts_from_where_it_says_and_is_on_no_command_line(self):
        os.makedirs(self.dir + "/at/work")
        with open(self.dir + "/at/work/secret", "w") as secret:
            secret.write("told")
        spec = {**WRITABLE, "working_dir": "at/work", "filesystem": {"hide": ["secret"]}, "environment": {"set": {"NAMED": "in-the-document"}}}
        before = json.dumps(spec)
        with open(self.dir + "/spec.yaml", "w") as file:
            file.write(before)
        script = r"pwd; cat secret; echo $NAMED; tr '\0' ' ' </proc/1/cmdline"
        for given, cwd in [(spec, self.dir), (self.dir + "/spec.yaml", "/")]:
            pwd, named, *line = self.run_in(["sh", "-c", script], spec=given, cwd=cwd).stdout.split("\n")
            self.assertEqual((pwd, named), (self.dir + "/at/work", "in-the-document"))
            self.assertNotIn("in-the-document", "".join(line))
        self.assertEqual(json.dumps(spec), before)
        self.assertEqual(self.run_in(["cat", "at/work/secret"]).stdout, "told")  # the control

    def test_what_json_cannot_hold_is_no_spec(self):
        for spec in [{"max_turns": float("nan")}, {"filesystem": {"hide": {"a"}}}, {"limits": object()}]:
            self.assertRaises((TypeError, ValueError), self.run_in, ["true"], spec=spec)
        for args, error in [("true", TypeError), ([], ValueError), ([""], ValueError), ([b"true"], TypeError), (["true", 1], TypeError)]:
            self.assertRaises(error, self.run_in, args)
        self.assertEqual(self.run_in(["true"], spec={"filesystem": {"hide": ["a"]}}).returncode, 0)  # the control

    def test_the_program_is_looked_for_where_no_other_can_be_put(self):
        before = os.environ["PATH"]
        if shutil.which("sbx"):
            self.skipTest("another sbx is along PATH")
        beside = self.own_directory()
        for name in ["sbx", "sbx-egress"]:
            shutil.copy(os.path.join(os.path.dirname(program), name), beside)

        def status(search, **more):
            with mock.patch.dict(os.environ, PATH=search):
                return self.run_in(["true"], **{"path": None, **more}).returncode

        with self.assertRaisesRegex(sbx.SbxError, "no sbx along PATH"):
            status(before)
        with self.assertRaisesRegex(sbx.SbxError, "cannot start .*No such file"):
            status(before, path=self.dir + "/sbx")
        here = os.getcwd()
        self.addCleanup(os.chdir, here)
        os.chdir(beside)
        with self.assertRaisesRegex(sbx.SbxError, "no sbx along PATH"):
            status(".::" + before, cwd=beside)
        self.assertRaises(sbx.SbxError, status, before, env={"PATH": beside + ":" + before})  # which is the command's
        self.assertEqual(status(before, path="./sbx"), 0)
        self.assertEqual(status(beside + ":" + before), 0)

    def test_without_a_record_there_is_an_error_with_what_there_is(self):
        fake = self.dir + "/fake"
        with open(fake, "w") as file:
            file.write("#!/bin/sh\necho out; echo no space >&2; exit 125\n")
        os.chmod(fake, 0o755)
        with self.assertRaisesRegex(sbx.SbxError, "(?s)no record was left.*no space") as caught:
            self.run_in(["true"], path=fake)
        self.assertNotIsInstance(caught.exception, sbx.Refused)
        self.assertEqual((caught.exception.returncode, caught.exception.stdout), (125, "out\n"))

    def test_the_example_of_the_readme_does_what_it_says(self):
        with open(root / "sdk/python/README.md") as readme:
            pattern = r"```sh\n(.*?)```.*?```python\n(.*?)```.*?```text\n(.*?)```"
            install, example, output = re.search(pattern, readme.read(), re.S).groups()
        path = os.path.dirname(program) + os.pathsep + os.environ["PATH"]
        env = {**os.environ, "PATH": path, "PYTHONPATH": ""}

        def runs(first):
            script = f"cd {shlex.quote(str(root))}\n{first}cd {shlex.quote(self.dir)}\nexec \"$0\" -c \"$1\""
            return subprocess.run(["sh", "-c", script, sys.executable, example], env=env, capture_output=True, text=True)

        self.assertIn("No module named 'sbx'", runs("").stderr)
        done = runs(install)
        self.assertEqual((done.returncode, done.stdout), (0, output), done.stderr)
