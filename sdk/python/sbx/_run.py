from __future__ import annotations

import dataclasses
import json
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from typing import IO, Any, Dict, List, Mapping, Optional, Sequence, Union

from ._errors import Refused, SbxError
from ._record import Error, Record, parse, read_plain

StrPath = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class Result:
    """A command that ran and ended."""

    args: List[str]
    returncode: int  # of sbx exec: the command's own, 128+n where signal n ended it, 124 where a limit of the spec did
    stdout: Any  # None where it was not captured
    stderr: Any
    record: Record

    def check_returncode(self) -> None:
        """Raises subprocess.CalledProcessError where the status is not 0."""
        if self.returncode:
            raise subprocess.CalledProcessError(self.returncode, self.args, self.stdout, self.stderr)


def run(
    args: Sequence[StrPath],
    *,
    spec: Union[None, Mapping[str, Any], StrPath] = None,
    stdin: Union[None, int, IO[Any]] = None,
    input: Union[None, str, bytes] = None,
    stdout: Union[None, int, IO[Any]] = None,
    stderr: Union[None, int, IO[Any]] = None,
    capture_output: bool = False,
    cwd: Optional[StrPath] = None,
    env: Optional[Mapping[str, str]] = None,
    check: bool = False,
    text: Optional[bool] = None,
    encoding: Optional[str] = None,
    errors: Optional[str] = None,
    path: Optional[StrPath] = None,
) -> Result:
    """Runs a command in a sandbox, to its end. What is not said here is as in subprocess.run.

    spec is what the command may do: a mapping, whose relative paths count from cwd, or a
    file, JSON or YAML, from which they count. None is access_mode workspace-write in cwd,
    without a network. How long the command may take is its limits.timeout.

    env is the environment of sbx, of which the command gets what the spec passes.

    path is the program sbx, which no command may be able to write; None is the one along
    this process's own PATH.

    Raises Refused where the command did not start, SbxError where sbx could not be
    started or left no record, and with check subprocess.CalledProcessError.
    """
    command = _command(args)
    program = _program(path)
    here = os.fspath(cwd) if cwd is not None else os.curdir
    # The directory is its own user's alone; in a sandbox nobody sees it.
    private = tempfile.mkdtemp(prefix="sbx-", dir=os.path.abspath(tempfile.gettempdir()))
    try:
        document, effective = os.path.join(private, "spec.json"), os.path.join(private, "effective.json")
        line = ["sbx", "exec", "-q", "--effective", effective]
        if isinstance(spec, Mapping):
            _write(document, _moved(spec, here))
            line += ["--spec", document]
        elif spec is not None:
            line += ["--spec", os.path.abspath(os.fspath(spec))]
        else:
            line += ["--no-project-spec"]
        try:
            done = subprocess.run(
                [*line, "--", *command], executable=program, stdin=stdin, input=input, stdout=stdout, stderr=stderr,
                capture_output=capture_output, cwd=cwd, env=env, text=text, encoding=encoding, errors=errors,
            )  # fmt: skip
        except OSError as error:
            raise SbxError(f"cannot start {program} in {here}: {error.strerror or error}") from error
        return _result(command, done, effective, document, check)
    finally:
        shutil.rmtree(private, ignore_errors=True)


def _result(command: List[str], done: "subprocess.CompletedProcess[Any]", effective: str, document: str, check: bool) -> Result:
    code = done.returncode if done.returncode >= 0 else 128 - done.returncode
    try:
        record = parse(read_plain(effective))
    except (OSError, ValueError, RecursionError) as error:
        said = done.stderr if code in (2, 125) else None
        text = said.decode(errors="replace") if isinstance(said, bytes) else said or ""
        raise SbxError(f"no record was left: {error}\n{text}".strip(), code, done.stdout, done.stderr) from error
    if record.error is not None:
        why = record.error
        if why.on.startswith(document):  # a place in a file that is gone
            why = dataclasses.replace(why, on="spec")
        raise _refused(why, record, code, done)
    result = Result(command, code, done.stdout, done.stderr, record)
    if check:
        result.check_returncode()
    return result


def _refused(why: Error, record: Record, code: int, done: "subprocess.CompletedProcess[Any]") -> Refused:
    return Refused(why.field, why.on, why.reason, why.help, record, code, done.stdout, done.stderr)


def _command(args: Sequence[StrPath]) -> List[str]:
    if isinstance(args, (str, bytes, os.PathLike)):
        raise TypeError("args is to be a list: no shell takes a line apart")
    command = [os.fspath(arg) for arg in args]
    if not all(isinstance(arg, str) for arg in command):
        raise TypeError("args is to be a list of strings")
    if not command or not command[0]:
        raise ValueError("there is no command")
    return command


def _program(path: Optional[StrPath]) -> str:
    """The program sbx by its absolute path."""
    if path is not None:
        return os.path.abspath(os.fspath(path))
    # Entries that count from the current directory are left out: who writes there would
    # choose the program.
    for entry in os.environ.get("PATH", "").split(os.pathsep):
        program = os.path.join(entry, "sbx")
        if os.path.isabs(entry) and os.path.isfile(program) and os.access(program, os.X_OK):
            return program
    raise SbxError("there is no sbx along PATH: install it, or give its path")


def _moved(spec: Mapping[str, Any], base: str) -> bytes:
    """A spec as the text of a file that may lie anywhere: what counts from its directory
    counts from base."""
    moved: Dict[str, Any] = dict(spec)
    _within(moved, "working_dir", base)
    if isinstance(moved.get("sandbox"), Mapping):
        moved["sandbox"] = dict(moved["sandbox"])
        _within(moved["sandbox"], "root", base)
    return json.dumps(moved, allow_nan=False).encode()


def _within(members: Dict[str, Any], key: str, base: str) -> None:
    value = members.get(key)
    if isinstance(value, str) and value and value[0] not in "/~":
        members[key] = os.path.join(os.path.abspath(base), value)


def _write(path: str, text: bytes) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(fd, "wb") as file:
        file.write(text)
