"""The effective record of a run. docs/reference/record.md tells what each key means."""

from __future__ import annotations

import dataclasses
import json
import os
import stat
from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Optional, Type, TypeVar, Union, get_args, get_origin, get_type_hints

RECORD_VERSION = 1
MAX_RECORD = 32 << 20

T = TypeVar("T")


@dataclass(frozen=True)
class Command:
    """A command as it was started; arguments that look like credentials are redacted."""

    argv: List[str] = field(default_factory=list)
    cwd: str = ""
    executable: str = ""


@dataclass(frozen=True)
class Enforcement:
    """What became of one field of the spec."""

    field: str = ""
    asked: str = ""
    status: str = ""  # "enforced", "degraded", "observed" or "unavailable"
    by: str = ""  # the mechanisms
    reason: str = ""


@dataclass(frozen=True)
class ProgramCount:
    """How often the program of a name was started."""

    name: str = ""
    count: int = 0


@dataclass(frozen=True)
class Commands:
    """The count of programs."""

    by: str = ""  # the counter
    attempted: int = 0
    started: int = 0
    refused: int = 0
    programs: List[ProgramCount] = field(default_factory=list)  # the most used


@dataclass(frozen=True)
class Violation:
    """Something that was denied, or that should not have been."""

    kind: str = ""  # "filesystem", "network", "command", "syscall", "limit" or "tool"
    at: str = ""  # of the first
    pid: Optional[int] = None
    program: str = ""
    action: str = ""
    target: str = ""
    rule: str = ""  # the line of the spec that denied
    allow_with: str = ""  # the line that would allow
    opens: str = ""  # the directory that it would open, where that is more than target
    count: int = 0


@dataclass(frozen=True)
class Swept:
    """A protected name that was moved away."""

    path: str = ""
    moved_to: str = ""
    kind: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Exit:
    """How the command ended."""

    code: Optional[int] = None  # the exit status of sbx exec
    signal: Optional[int] = None  # that ended the command
    # "command", "signal", "timeout", "max_commands", "max_turns", "tool", "memory" or "supervisor"
    ended_by: str = ""


@dataclass(frozen=True)
class Usage:
    """What the command and all that it started used."""

    wall_ms: Optional[int] = None
    user_ms: Optional[int] = None
    system_ms: Optional[int] = None
    max_rss_bytes: Optional[int] = None  # of the largest process
    memory_peak_bytes: Optional[int] = None  # of all at once
    read_bytes: Optional[int] = None
    written_bytes: Optional[int] = None


@dataclass(frozen=True)
class Error:
    """Why the command did not start."""

    field: str = ""
    on: str = ""
    reason: str = ""
    help: str = ""


@dataclass(frozen=True)
class Record:
    """What was requested, enforced, used and denied. What nobody could observe is None
    or "", never 0. raw has every key, and those that are not here."""

    id: str = ""
    state: str = ""  # "exited", "refused", or "lost" where sbx was killed
    started_at: str = ""  # UTC, to the millisecond
    ended_at: str = ""
    command: Command = field(default_factory=Command)
    warnings: List[str] = field(default_factory=list)
    access_mode: str = ""  # what was enforced, never what was requested; "" where files were free
    enforcement: List[Enforcement] = field(default_factory=list)
    commands_used: Optional[int] = None  # programs that were started
    commands: Optional[Commands] = None
    turns_used: Optional[int] = None  # of an agent that is known
    tools_used: Optional[List[str]] = None
    violations: List[Violation] = field(default_factory=list)
    violations_omitted: int = 0  # further ones
    observed_kinds: List[str] = field(default_factory=list)  # of violations that could be seen at all
    swept: List[Swept] = field(default_factory=list)  # protected names that were created
    exit: Exit = field(default_factory=Exit)
    usage: Usage = field(default_factory=Usage)
    error: Optional[Error] = None  # of a command that did not start
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False)


def _typed(kind: Any, value: Any, at: str) -> Any:
    """A value of JSON as a type of this module; what is of another type is a ValueError."""
    if get_origin(kind) is Union:  # Optional, of a value that is there
        kind = next(one for one in get_args(kind) if one is not type(None))
    if get_origin(kind) is list:
        if not isinstance(value, list):
            raise ValueError(f"{at} is not a list")
        (item,) = get_args(kind)
        return [_typed(item, one, f"{at}[{i}]") for i, one in enumerate(value)]
    if dataclasses.is_dataclass(kind):
        if not isinstance(value, dict):
            raise ValueError(f"{at} is not an object")
        return _object(kind, value, at)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ValueError(f"{at} is not of type {kind.__name__}")
    return value


def _object(kind: Type[T], members: Dict[str, Any], at: str) -> T:
    hints = get_type_hints(kind)
    return kind(**{name: _typed(hint, members[name], f"{at}.{name}") for name, hint in hints.items() if name in members and name != "raw"})


def parse(text: bytes) -> Record:
    """The record in a file of a run that has ended."""
    raw = json.loads(text)
    version = raw.get("record_version") if isinstance(raw, dict) else None
    if version != RECORD_VERSION:
        raise ValueError(f"a record of version {version}; this package reads {RECORD_VERSION}")
    if raw.get("state") == "running":  # and sbx has ended
        raw["state"] = "lost"
    return dataclasses.replace(_object(Record, raw, "record"), raw=raw)


def read_plain(path: str) -> bytes:
    """Reads a regular file. Where nothing was constrained the command could have put
    anything in its place: it is bounded, and never waited for."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError("it is not a regular file")
        with open(fd, "rb", closefd=False) as file:
            text = file.read(MAX_RECORD + 1)
    finally:
        os.close(fd)
    if len(text) > MAX_RECORD:
        raise OSError(f"it has more than {MAX_RECORD} bytes")
    return text
