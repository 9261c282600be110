"""Serves Python hooks: one JSON line in, one JSON line out, until stdin ends.

    {"import": "pkg.mod.func"}                       -> {"ok": true} | {"missing": why}
    {"call": "pkg.mod.func", "cwd": dir, "event": {}} -> {"result": {}} | {"other": value}
                                                       | {"raised": why, "trace": text}

Every answer also has "prints". Two things are kept apart from the hooks: the channel
(their stdin is empty, their stdout goes to stderr, a process they fork never speaks) and
the modules of the standard library (a file beside the configuration cannot stand in
for one of them).

What cannot be passed on is named and left out, field by field: a deny must arrive
whatever else the answer holds.
"""
import os
import sys

# Not from here: nothing of the project may be imported before it is asked for.
sys.path[:] = interpreter_path = [entry for entry in sys.path if entry not in ("", os.getcwd())]

# The channel, before anything of a hook can run.
_channel_in = os.fdopen(os.dup(0), "rb")
_channel_out = os.fdopen(os.dup(1), "wb", buffering=0)
_nothing = os.open(os.devnull, os.O_RDONLY)
os.dup2(_nothing, 0)
os.close(_nothing)
os.dup2(2, 1)

import enum
import importlib
import importlib.machinery
import importlib.util
import io
import json
from datetime import datetime, timezone

# An answer may have 4 MiB: what is printed (at worst six bytes a character) and what is
# returned have their parts of it. Numbers and depth are what the other side can read.
PRINTS_KEPT = 1 << 18
FIELDS_KEPT = 2 << 20
DEEPEST = 100


class _Prints(io.TextIOBase):
    """Takes the place of sys.stdout and sys.stderr: text goes back with the answer."""

    encoding, errors, name, mode = "utf-8", "replace", "<hook>", "w"

    def __init__(self, fd):
        self._fd, self._parts, self._size = fd, [], 0

    def close(self):
        pass

    def reconfigure(self, **_):
        pass

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError("write() argument must be str, not " + type(text).__name__)
        if self._size < PRINTS_KEPT:
            self._parts.append(text[: PRINTS_KEPT - self._size])
        self._size += len(text)
        return len(text)

    def writable(self):
        return True

    def fileno(self):
        return self._fd

    @property
    def buffer(self):
        return _Bytes(self)

    def take(self):
        text = "".join(self._parts)
        if self._size > PRINTS_KEPT:
            text += "\n[SDLC_OUTPUT_TRUNCATED]\n"
        self._parts, self._size = [], 0
        return text


class _Bytes:
    def __init__(self, prints):
        self._prints = prints

    def write(self, data):
        self._prints.write(bytes(data).decode("utf-8", "replace"))
        return len(data)

    def flush(self):
        pass


_prints = sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = _Prints(2)


# ---- what hooks import from massgen.mcp_tools.hooks -------------------------------

class HookType(enum.Enum):
    PRE_TOOL_USE = "PreToolUse"
    POST_TOOL_USE = "PostToolUse"


FIELDS = ("hook_type", "session_id", "orchestrator_id", "agent_id", "timestamp", "tool_name", "tool_input", "tool_output")


def _moment(text):
    try:
        at = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except (AttributeError, ValueError):
        return text
    return at if at.tzinfo else at.replace(tzinfo=timezone.utc)


class HookEvent:
    """One firing. The fields are attributes; by key there is also whatever else was sent."""

    def __init__(self, hook_type, session_id="", orchestrator_id="", agent_id=None, timestamp=None, tool_name="",
                 tool_input=None, tool_output=None, **more):
        self.hook_type = hook_type
        self.session_id = session_id
        self.orchestrator_id = orchestrator_id
        self.agent_id = agent_id
        self.timestamp = datetime.now(timezone.utc) if timestamp is None else timestamp
        self.tool_name = tool_name
        self.tool_input = {} if tool_input is None else tool_input
        self.tool_output = tool_output
        self._more = more

    @classmethod
    def from_dict(cls, data):
        fields = dict(data)
        fields["timestamp"] = _moment(fields.get("timestamp"))
        return cls(**fields)

    @classmethod
    def from_json(cls, text):
        return cls.from_dict(json.loads(text))

    def to_dict(self):
        fields = {name: getattr(self, name) for name in FIELDS}
        at = fields["timestamp"]
        fields["timestamp"] = at.isoformat() if isinstance(at, datetime) else at
        return fields

    def to_json(self):
        return json.dumps(self.to_dict())

    def __getattr__(self, name):
        try:
            return self.__dict__["_more"][name]
        except KeyError:
            raise AttributeError(name) from None

    def keys(self):
        return [*FIELDS, *self._more]

    def __iter__(self):
        return iter(self.keys())

    def __contains__(self, name):
        return name in FIELDS or name in self._more

    def __getitem__(self, name):
        if name in FIELDS:
            return self.to_dict()[name] if name == "timestamp" else getattr(self, name)
        return self._more[name]

    def get(self, name, default=None):
        return self[name] if name in self else default

    def __repr__(self):
        return "HookEvent(%r)" % (self.to_dict(),)


class HookResult:
    """What a hook decides. The first three may be given by position."""

    def __init__(self, allowed=True, metadata=None, modified_args=None, decision="allow", reason=None,
                 updated_input=None, inject=None, hook_errors=None, **display):
        if decision == "deny" or not allowed:
            decision, allowed = "deny", False
        self.allowed = allowed
        self.metadata = {} if metadata is None else metadata
        self.modified_args = modified_args
        self.decision = decision
        self.reason = reason
        self.updated_input = updated_input
        self.inject = inject
        self.hook_errors = [] if hook_errors is None else hook_errors
        self.hook_name = display.get("hook_name")
        self.hook_type = display.get("hook_type")
        self.execution_time_ms = display.get("execution_time_ms")
        self.executed_hooks = display.get("executed_hooks") or []

    @classmethod
    def allow(cls, **more):
        return cls(**more)

    @classmethod
    def deny(cls, reason=None, **more):
        return cls(allowed=False, decision="deny", reason=reason, **more)

    @classmethod
    def ask(cls, reason=None, **more):
        return cls(decision="ask", reason=reason, **more)

    @classmethod
    def from_dict(cls, data):
        return cls(**{name: data[name] for name in ANSWERS if name in data})

    def to_dict(self):
        return {name: getattr(self, name) for name in ANSWERS}

    def add_error(self, text):
        self.hook_errors.append(text)

    def has_errors(self):
        return bool(self.hook_errors)


ANSWERS = ("decision", "allowed", "reason", "updated_input", "modified_args", "inject", "metadata", "hook_errors")


def _only_a_name(name):
    def refuse(self, *_, **__):
        raise NotImplementedError(name + " is here for its name only: ona takes hooks from the YAML configuration")

    return type(name, (), {"__init__": refuse, "__module__": STAND_IN})


# ---- finding modules --------------------------------------------------------------

STAND_IN = "massgen.mcp_tools.hooks"


class _Finder:
    """Stands in for the one massgen module hooks need, and steps aside for the real
    package as soon as a hook asks for more of it."""

    def __init__(self):
        self.on = True

    def find_spec(self, name, path=None, target=None):
        if not self.on or name.split(".")[0] != "massgen":
            return None
        if name in ("massgen", "massgen.mcp_tools", STAND_IN):
            return importlib.machinery.ModuleSpec(name, self, is_package=name != STAND_IN)
        self.step_aside()
        return importlib.util.find_spec(name)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        if module.__name__ == STAND_IN:
            module.HookType, module.HookEvent, module.HookResult = HookType, HookEvent, HookResult
            for name in ("PatternHook", "PythonCallableHook", "GeneralHookManager"):
                setattr(module, name, _only_a_name(name))
        else:
            module.__getattr__ = lambda name: self.real(module.__name__, name)

    def step_aside(self):
        """The real package, or an ImportError with everything as it was."""
        names = [name for name in sys.modules if name.split(".")[0] == "massgen"]
        kept = {name: sys.modules.pop(name) for name in names}
        self.on = False
        try:
            importlib.import_module("massgen")
        except BaseException:
            sys.modules.update(kept)
            self.on = True
            raise

    def real(self, module, name):
        if name.startswith("__") or not self.on:
            raise AttributeError(name)
        try:
            self.step_aside()
        except ImportError:
            raise AttributeError(name) from None
        return getattr(importlib.import_module(module), name)


class _StandardFirst:
    """Modules of the standard library come from the standard library."""

    names = frozenset(getattr(sys, "stdlib_module_names", ()))

    def find_spec(self, name, path=None, target=None):
        if path is not None or name not in self.names or name in own_modules:
            return None
        return importlib.machinery.PathFinder.find_spec(name, interpreter_path)


own_modules = set()
config_dir, working_dir = sys.argv[1], sys.argv[2]
sys.argv[:] = ["ona-hooks"]


def _look_in(cwd):
    """Beside the configuration, then the working directory, then the interpreter's own."""
    global working_dir
    working_dir = cwd
    sys.path[:] = [config_dir, cwd, *interpreter_path]


_look_in(working_dir)
sys.meta_path.insert(0, _StandardFirst())
sys.meta_path.insert(0, _Finder())


# ---- serving ----------------------------------------------------------------------

handlers = {}
_loop = None


def _why(error):
    text = " ".join(str(error)[:PRINTS_KEPT].split())
    return type(error).__name__ + (": " + text if text else "")


def _load(handler):
    """Kept once found; a failure is tried again the next time."""
    if handler in handlers:
        return handlers[handler]
    module, dot, name = handler.rpartition(".")
    if not dot or not module or not name:
        raise ImportError("%r is not module.function" % handler)
    own_modules.add(module.split(".")[0])
    importlib.invalidate_caches()
    found = getattr(importlib.import_module(module), name)
    if isinstance(found, type) and "__call__" in dir(found):
        # A class whose objects can be called: one of them is the hook.
        found = found()
    if not callable(found):
        raise ImportError("%s cannot be called" % handler)
    handlers[handler] = found
    return found


def _awaited(result):
    global _loop
    if not hasattr(result, "__await__"):
        return result
    import asyncio

    if _loop is None:
        _loop = asyncio.new_event_loop()
        asyncio.set_event_loop(_loop)

    async def waited():
        return await result

    return _loop.run_until_complete(waited())


def _plain(value, room=FIELDS_KEPT):
    """The value as JSON has it, if the other side can read it, and how long it is."""
    text = json.dumps(value, default=str, allow_nan=False)
    if len(text) > room:
        raise ValueError("the answer is too long")
    value = json.loads(text)
    _check(value, DEEPEST)
    return value, len(text)


def _check(value, deeper):
    if isinstance(value, (dict, list)):
        if not deeper:
            raise ValueError("it is nested too deeply")
        for inner in value.values() if isinstance(value, dict) else value:
            _check(inner, deeper - 1)
    elif isinstance(value, int):
        float(value)


UNFIT = (TypeError, ValueError, RecursionError, OverflowError)


def _answer(result):
    """None, a mapping or an object with a decision; anything else decides nothing."""
    if result is None:
        return {"result": {}}
    if hasattr(result, "keys") and hasattr(result, "__getitem__"):
        fields = {name: result[name] for name in result.keys() if name in ANSWERS}
    elif any(hasattr(result, name) for name in ("decision", "allowed", "updated_input", "modified_args", "inject")):
        fields = {name: getattr(result, name) for name in ANSWERS if hasattr(result, name)}
    else:
        try:
            return {"other": _plain(result)[0]}
        except UNFIT:
            return {"other": type(result).__name__}
    if isinstance(fields.get("decision"), enum.Enum):
        fields["decision"] = fields["decision"].value
    plain, lost, room = {}, [], FIELDS_KEPT
    for name in (name for name in ANSWERS if name in fields):
        try:
            plain[name], used = _plain(fields[name], room)
            room -= used
        except UNFIT as error:
            lost.append("%s cannot be passed on: %s" % (name, _why(error)))
    return {"result": plain, "lost": lost}


def _serve(request):
    handler = request.get("import") or request["call"]
    try:
        function = _load(handler)
    except BaseException as error:
        return {"missing": _why(error)}
    if "import" in request:
        return {"ok": True}
    cwd = request["cwd"]
    try:
        # Every time: the hook before may have gone elsewhere.
        os.chdir(cwd)
    except OSError as error:
        return {"raised": _why(error), "trace": ""}
    if cwd != working_dir:
        _look_in(cwd)
    try:
        return _answer(_awaited(function(HookEvent.from_dict(request["event"]))))
    except BaseException as error:
        import traceback

        return {"raised": _why(error), "trace": "".join(traceback.format_tb(error.__traceback__)[1:])}


_server = os.getpid()

for _line in _channel_in:
    _reply = _serve(json.loads(_line))
    if os.getpid() != _server:
        # A process that a hook forked came back from it: it must not answer as well.
        os._exit(0)
    _reply["prints"] = _prints.take()
    # Half a surrogate, as in a name that is no UTF-8, is no text for the other side.
    _data = json.dumps(_reply, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
    while _data:
        _data = _data[_channel_out.write(_data):]
