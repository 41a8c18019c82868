"""Runs the tests of sdk/python and prints the events of go test -json, for testsum. A
test is called sdk/python.FILE/NAME."""

import json
import os
import sys
import time
import unittest

PACKAGE = "sdk/python"


def emit(action, **more):
    print(json.dumps({"Action": action, "Package": PACKAGE, **more}), flush=True)


class Events(unittest.TestResult):
    """Subtests that fail are output of their test, which fails once."""

    def name(self, test):
        *_, file, _, method = test.id().split(".")  # of a class that cannot be set up there is none
        return f"{file}/{method}" if method.startswith("test") else str(test)

    def startTest(self, test):
        super().startTest(test)
        self.outcome = "pass"
        emit("run", Test=self.name(test))

    def failed(self, test, err):
        self.outcome = "fail"
        name = self.name(test)
        emit("output", Test=name, Output=f"--- FAIL: {name}\n{self._exc_info_to_string(err, test)}\n")

    def addError(self, test, err):
        super().addError(test, err)
        if not isinstance(test, unittest.TestCase):  # what is done for a class or a file
            emit("run", Test=str(test))
            emit("output", Test=str(test), Output=self._exc_info_to_string(err, test))
            emit("fail", Test=str(test))
            return
        self.failed(test, err)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.failed(test, err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.failed(test, err)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.outcome = "skip"
        emit("output", Test=self.name(test), Output=f"{test.__module__}.py:1: {reason}\n")

    def stopTest(self, test):
        super().stopTest(test)
        emit(self.outcome, Test=self.name(test))


def main():
    top = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), PACKAGE)
    began = time.monotonic()
    result = Events()
    unittest.TestLoader().discover(os.path.join(top, "tests"), top_level_dir=top).run(result)
    ok = result.wasSuccessful() and result.testsRun > 0
    emit("pass" if ok else "fail", Elapsed=time.monotonic() - began)
    return 0 if ok else 1


sys.dont_write_bytecode = True  # no one's sources get files of another user
sys.exit(main())
