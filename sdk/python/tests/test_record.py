"""The types of the record, and its file."""

import dataclasses
import json
import os
import subprocess
import tempfile
import typing
import unittest

from .helpers import program, root, sbx
from sbx import _record

WHOLE = b'{"record_version": 1, "id": "x", "state": "running", "commands_used": 2, "new_key": {"a": 1}}'


class RecordTypes(unittest.TestCase):
    def test_each_field_is_a_key_of_the_schema(self):
        schema = json.loads(subprocess.run([program, "schema", "record"], check=True, stdout=subprocess.PIPE).stdout)
        self.assertGreater(self.follow("record", sbx.Record, schema), 60)

    def follow(self, at, kind, schema):
        """Holds a type to its schema, and counts the keys."""
        if typing.get_origin(kind) is typing.Union:
            kind = next(one for one in typing.get_args(kind) if one is not type(None))
        keys = 0
        if typing.get_origin(kind) is list:
            want = "array"
            keys = self.follow(at + "[]", typing.get_args(kind)[0], schema.get("items", {}))
        elif dataclasses.is_dataclass(kind):
            want = "object"
            for name, hint in typing.get_type_hints(kind).items():
                if name == "raw":
                    continue
                self.assertIn(name, schema.get("properties", {}), at)
                keys += 1 + self.follow(f"{at}.{name}", hint, schema["properties"][name])
        else:
            want = {str: "string", int: "integer"}[kind]
        if "type" in schema or "enum" not in schema:
            self.assertEqual(schema.get("type"), want, at)
        return keys

    def test_what_is_not_there_is_none_and_what_is_new_is_kept(self):
        record = _record.parse(WHOLE)
        self.assertEqual((record.state, record.commands_used, record.turns_used, record.error), ("lost", 2, None, None))
        self.assertEqual(record.raw["new_key"], {"a": 1})
        nested = _record.parse(json.dumps({"record_version": 1, "violations": [{"kind": "network", "count": 3, "new": 1}], "exit": {"code": 0}}).encode())
        self.assertEqual((nested.violations[0].kind, nested.violations[0].pid, nested.exit.code, nested.exit.signal), ("network", None, 0, None))

    def test_what_is_no_record_is_not_believed(self):
        for text, why in [
            (WHOLE[:40], ""),
            (b"null", "version None"),
            (WHOLE.replace(b": 1,", b": 2,"), "version 2"),
            (WHOLE.replace(b'"x"', b"1"), "record.id is not of type str"),
            (WHOLE.replace(b": 2,", b": true,"), "record.commands_used is not of type int"),
            (WHOLE.replace(b'"x",', b'"x", "exit": [],'), "record.exit is not an object"),
            (WHOLE.replace(b'"x",', b'"x", "violations": {},'), "record.violations is not a list"),
        ]:
            with self.subTest(text=text):
                self.assertRaisesRegex(ValueError, why, _record.parse, text)

    def test_a_file_that_is_none_is_not_waited_for(self):
        with tempfile.TemporaryDirectory() as dir:
            with open(dir + "/whole", "wb") as file:
                file.write(WHOLE)
            self.assertEqual(_record.read_plain(dir + "/whole"), WHOLE)
            os.mkfifo(dir + "/fifo")
            os.symlink("whole", dir + "/link")
            with open(dir + "/large", "wb") as file:
                file.truncate(_record.MAX_RECORD + 1)
            for name, why in [("none", "No such file"), ("fifo", "not a regular file"), (".", "not a regular file"), ("link", "symbolic links"), ("large", "more than")]:
                with self.subTest(name=name):
                    self.assertRaisesRegex(OSError, why, _record.read_plain, f"{dir}/{name}")


class Package(unittest.TestCase):
    def test_it_has_the_licence_and_names_what_there_is(self):
        self.assertEqual((root / "sdk/python/LICENSE").read_text(), (root / "LICENSE").read_text())
        self.assertEqual(sorted(sbx.__all__), sorted(name for name, value in vars(sbx).items() if getattr(value, "__module__", "").startswith("sbx.")))
