"""Groups failures by cause, to say what to work on next."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping

from .results import CRASHED, Outcome

# First match wins: category, pattern of the test id, pattern of the message ("" matches nothing).
RULES: tuple[tuple[str, str, str], ...] = (
    ("missing name", "", r"npconform: missing name|module '\S+' has no attribute|cannot import name"),
    ("exceptions: none, or another", "", r"DID NOT RAISE|not raised|Regex pattern did not match|did not match"),
    ("warnings: none, or too many", "", r"DID NOT WARN|^\w*Warning|[Ww]arnings? (was|were|not)"),
    ("C API: helper or extension takes numpy.ndarray only", r"test_cython|test_limited_api|test_mem_policy",
     r"npconform: C helper|Cannot convert \S+ to numpy\.ndarray|must be NumPy arrays"),
    ("objects whose __array__ gives a foreign array", "", r"__array__ method not producing an array"),
    ("signatures of functions and methods", r"[Ss]ignature", r"Signature|_ParameterKind"),
    ("identity of the module", "", r"assert <module 'numpy'|is <module|__array_namespace__"),
    ("buffer protocol, memoryview", r"[Bb]uffer|PEP3118|memoryview", r"memoryview|bytes-like object|buffer interface"),
    ("pickle, copy", r"pickle|Pickle|deepcopy", r"[Pp]ickl|__reduce|__setstate__"),
    ("reference counts, lifetime", r"refcount|Refcount|[Ll]eak|weakref|[Ll]ifetime",
     r"refcount|[Rr]eferences? (to|another)|weak reference"),
    ("subclasses of ndarray", r"[Ss]ubclass|[Ff]inalize|array_wrap|ArrayWrap|subok|[Mm]atrix|[Mm]emmap|recarray",
     r"__array_finalize__|__array_wrap__|not a subtype|subclass of|[Mm]asked\w*"),
    ("overriding: __array_ufunc__, __array_function__", r"[Oo]verride|array_ufunc|array_function|[Mm]ixin",
     r"NotImplemented\b|__array_ufunc__|__array_function__|no implementation found"),
    ("ctypes, raw addresses", r"ctypes", r"ctypes"),
    ("DLPack", r"[Dd]lpack|DLPack", r"[Dd]lpack|DLPack"),
    ("exact type of a result", "", r"isinstance\(|<class '|type\(|is not an instance|Types are not the same"),
    ("structured dtypes", r"[Ss]truct|[Vv]oid|[Rr]ecord", r"fields|structured|void"),
    ("object dtype", r"[Oo]bject", r"dtype\('O'\)"),
    ("datetime64", r"[Dd]ate[Tt]ime|timedelta", r"datetime|timedelta"),
    ("strings", r"string|[Uu]nicode|char", r"StringDType|str_"),
    ("random", r"/random/", ""),
    ("masked arrays", r"/ma/", ""),
    ("values", "", r"[Nn]ot equal|Arrays are not|Mismatched elements|^AssertionError"),
)  # fmt: skip
OTHER = "other"
# What varies between failures of one kind: quoted text, numbers, addresses.
_VARYING = re.compile(r"'[^']*'|\"[^\"]*\"|\b0x[0-9a-f]+\b|-?\d+(\.\d+)?(e[+-]?\d+)?")


def category(name: str, outcome: Outcome) -> str:
    """The cause of a failure, as far as its id and message tell."""
    if outcome.result == CRASHED:
        return "crash or time limit of the file"
    if "Timeout (>" in outcome.message:
        return "time limit of the test"
    for title, in_name, in_message in RULES:
        if (in_message and re.search(in_message, outcome.message)) or (in_name and re.search(in_name, name)):
            return title
    return OTHER


def signature(outcome: Outcome) -> str:
    """The first line of a message with what varies left out, and the place it came from."""
    lines = outcome.message.strip().splitlines()
    first = _VARYING.sub("…", lines[0])[:100] if lines else outcome.result
    return f"{first}  @ {outcome.where}" if outcome.where else first


def report(failing: Mapping[str, Outcome], lost: Mapping[str, tuple[int, str]], examples: int = 2) -> str:
    """Groups by cause with counts and examples; then the same failures by message and place."""
    groups: dict[str, list[str]] = defaultdict(list)
    same: dict[str, list[str]] = defaultdict(list)
    for name, outcome in failing.items():
        groups[category(name, outcome)].append(name)
        same[signature(outcome)].append(name)
    absent = sum(count for count, _ in lost.values())
    lines = [f"{len(failing)} tests fail; {absent} more are lost with their files", ""]
    for path, (count, why) in sorted(lost.items(), key=lambda item: -item[1][0]):
        lines.append(f"{count:6d} lost  {path}: {why}")
    lines += ["", "By cause", ""]
    for title, names in sorted(groups.items(), key=lambda item: -len(item[1])):
        lines.append(f"{len(names):6d} {title}")
        for name in names[:: max(1, len(names) // examples)][:examples]:
            lines.append(f"         {name}\n             {signature(failing[name])}")
    lines += ["", "By message and place", ""]
    for text, names in sorted(same.items(), key=lambda item: -len(item[1]))[:40]:
        files = Counter(name.partition("::")[0].rpartition("/")[2] for name in names)
        spread = ", ".join(f"{file} {count}" for file, count in files.most_common(3))
        lines.append(f"{len(names):6d} {text}\n         {spread}; e.g. {names[0].partition('::')[2][:110]}")
    return "\n".join(lines)
