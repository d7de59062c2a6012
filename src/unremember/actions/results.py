"""What came of a tool call, read off its result: exit status, failure, error lines.

Nothing here runs a regular expression over a whole result. Lines are found by plain substring
search, then looked at one by one and only in their first `LONGEST_LINE` characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from unremember.messages import ToolResult

LONGEST_LINE = 400
"""Characters of a line that are looked at; a message says what it is at its beginning."""

HEAD = 600
TAIL = 1_200
"""Characters at the beginning and the end of a result in which its exit status is looked for."""

_STATUS = re.compile(
    r"<returncode>\s*(-?\d{1,10})"
    r"|\bexit[ _]?(?:code|status)\W{1,4}(-?\d{1,10})\b"
    r"|\b(?:exited|finished|completed|terminated|failed)\s+with\s+(?:an?\s+)?(?:non-zero\s+)?"
    r"(?:exit\s+)?(?:code|status)[:= ]+(-?\d{1,10})\b"
    r"|\bexit(?:ed)?[ _](?:code|status)? ?(-?\d{1,10})\b"
    r"|PROCESS-DONE:(-?\d{1,10})"
    r"|\breturn(?: |_)?code[\"']?[:= ]+(-?\d{1,10})\b",
    re.IGNORECASE,
)

_FRAMED = re.compile(
    r"\A\s*(?:<returncode>|exit code|chunk id|process exited|\{\s*\"(?:output|exit_code|metadata"
    r"|stdout)"
    r"|output:|command:|\[?exit)",
    re.IGNORECASE,
)
"""A result that begins with what the tool says about the command."""

_REFUSED = re.compile(
    r"\A\s*(?:\[?\{[^{}]{0,300}\"response\": \{)?\s*(?:"
    r"<tool_use_error>|error\b[: ]|error:|\{?\"error\":|failed to |no replacement was performed"
    r"|your proposed edit has introduced|\[operation cancelled\]|invalid (?:path|parameter|`"
    r"|argument)"
    r"|tool (?:execution )?(?:failed|error)|the user doesn't want|no changes (?:were )?made"
    r"|string to replace not found"
    r"|file (?:does not exist|not found|has not been read|has been (?:unexpectedly )?modified)"
    r"|(?:text|string) not found|command rejected|aborted|user (?:cancelled|rejected|denied)"
    r"|could not |cannot |unable to |patch failed|apply_patch verification failed"
    r"|execution failed)",
    re.IGNORECASE,
)

_STEMS = (
    "rror", "RROR", "xception", "fail", "FAIL", "Fail", "panic", "atal", "ATAL", "raceback",
    "ot found",
    "o such ", "denied", "annot ", "bort", "illed", "fault", "ndefined", "nresolved", "imed out",
    "not ok ", "nhandled", "E   ", "✗", "✕", "✘", "❌", "mpossible", "nvalid", "ismatch",
    "unexpected",
    "xpected", "arning: unused", "rejected", "ould not ", "o module", "on-zero", "refused", "ERR!",
    "conflict", "CONFLICT",
)  # fmt: skip
"""A line without any of these is no error line; the cheap check before the expression."""

_STEM = re.compile("|".join(map(re.escape, _STEMS)))

_NO_ERROR = re.compile(
    r"\b(?:0|no|zero|without(?: any)?) (?:\w+ )?(?:errors?|failures?|failed|problems|issues)\b"
    r"|\b(?:errors?|failures?|failed)\s*[:=]\s*(?:0\b|\[\]|none\b|null\b|nil\b|false\b)"
    r"|^\s*(?:\d+[:\t→-]\s*)?(?:except\b|raise\b|catch\b|import\b|from\b|def\b|class\b|func\b"
    r"|if\b|elif\b|return\b"
    r"|throw\b|self\.|try\b|with\b|\#|//|/?\*|@)"
    r"|^\s*\d+\s*(?:→|\t)|^[\w./-]+[:-]\d+[:-]\s*(?:except|raise|catch|import|from|def|class|func"
    r"|if|return|throw)\b",
    re.IGNORECASE,
)
"""Counts of nothing, and lines of code that name errors."""

_ERROR = re.compile(
    r"""
    ^(?:E\s{2,}\S|Traceback\ \(most\ recent|not\ ok\ \d|---\ FAIL:|FAIL(?:ED|URE)?\b
        |\s*[✗✕✘❌×]\s|CONFLICT\b)
    | \b[A-Z]\w*(?:Error|Exception|Failure|Interrupt|Exit)\b(?:\ ?:|$|\s\[|\sin\b)
    | \b(?:error|fatal|panic|critical|failure)\b\s*(?:\[[\w./-]+\]|TS\d+|\(\w*\)|CS\d+
    |[A-Z]{1,4}\d+)?\s*[:!]
    | \berror\s(?:TS|CS|E|C|LNK)\d+ | ^\s*\[?(?:ERROR|FATAL|CRITICAL|PANIC|FAILED|FAIL)\b
    | \b(?:ERROR|FATAL)\b | \[rejected\]
    | ^(?:npm\ ERR!|npm\ error\b|ERR!|make(?:\[\d+\])?:\ \*\*\*|ld:\ |Caused\ by:
    |Exception\ in\ thread)
    | \b(?:command\ not\ found|not\ found$|[Nn]o\ such\ file|[Pp]ermission\ denied
    |[Cc]annot\ (?:find|open|read|import|access|resolve|be|stat|create|assign|use|convert|connect)
        |[Cc]onnection\ refused|is\ not\ recognized|undefined(?::|\ (?:reference|symbol|method
        |variable
        |name|is\ not))|[Uu]nresolved\ (?:import|reference|external)
        |[Uu]nhandled\ |core\ dumped|[Ss]egmentation\ fault|assertion\ (?:failed|`)|timed\ out
        |BUILD\ FAIL|Aborted\b|Killed\b
        |No\ module\ named|could\ not\ (?:find|read|resolve|compile|connect|open|be|create|import
        |load|apply)|[Ii]nvalid\ (?:syntax|argument|option|token|value)
        |syntax\ error|type\ mismatch|mismatched\ types|unexpected\ (?:token|EOF|end|indent
        |character|keyword|argument)|[Ee]xpected\s.*\b(?:got|but|received|to\b)
        |exit(?:ed)?\ (?:with\ )?(?:code|status)\ [1-9]|failed\ to\ \w+
        |\d+\ (?:failed|failing|failures?|errors?)\b|\bFAILED\b|(?:tests?|build|compilation
        |assertion)\ failed
        |fatal\ error|panicked\ at|declared\ and\ not\ used|is\ not\ (?:assignable|defined
        |a\ function))
    """,
    re.VERBOSE,
)

_TELLING = re.compile(
    r"^(?:E\s{2,})?(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception)\b ?:|\berror(?:\[\w+\]|\sTS\d+)?:"
    r"|\berror TS\d+|^fatal:|\bpanic(?:ked at|:)"
    r"|command not found|No module named|No such file|[Pp]ermission denied|^E\s{2,}|undefined:"
    r"|declared and not used|\.go:\d+:\d+: "
)
_SUMMARY = re.compile(
    r"Traceback \(most|^=+ |^FAIL(?:ED)?(?:\s|$)|exit(?:ed)? (?:with )?(?:code|status)"
    r"|\bnpm (?:ERR!|error)|^\[?ERROR\]? *$"
    r"|Command (?:failed|exited)|\d+ (?:errors?|failed)|ELIFECYCLE|^make"
)


_STATUS_STEMS = ("xit", "XIT", "status", "code", "returncode", "PROCESS-DONE", "with")


def exit_status(result: ToolResult) -> int | None:
    """The exit status that a result states, in any of the forms known; None if it states none."""
    text = result.text
    head = text[:HEAD]
    # In the middle of an output such words are the program's own.
    if _FRAMED.match(head) and (found := _STATUS.search(head)):
        return _number(found)
    tail = _tail(text)
    if not any(stem in tail for stem in _STATUS_STEMS):
        return None
    last = None
    for found in _STATUS.finditer(tail):
        last = found
    return _number(last) if last else None


def _tail(text: str) -> str:
    """The end of a text, where programs say how they ended: its last three lines."""
    lines = text[-TAIL:].rstrip().rsplit("\n", 3)[-3:]
    return "\n".join(line[-LONGEST_LINE:] for line in lines)


def _number(found: re.Match[str]) -> int:
    return int(next(group for group in found.groups() if group is not None))


def has_failed(result: ToolResult, *, output: bool = False) -> bool:
    """Whether the tool says that it failed: the flag, an exit status, or words of refusal.

    With `output` the text is a program's own and its words do not count, only what the tool says.
    """
    return judge(result, output=output)[1]


def judge(result: ToolResult, *, output: bool = False) -> tuple[int | None, bool]:
    """The exit status and whether it failed, as `exit_status` and `has_failed` say."""
    status = exit_status(result)
    if result.failed or status:
        return status, True
    if status is not None:
        return status, False
    if output:
        return status, was_not_run(result) or result.text.startswith("<tool_use_error>")
    return status, was_refused(result)


_NOT_RUN = re.compile(
    r"\A[\s\[{\"']*(?:error\W{1,4})?(?:<tool_use_error>sibling|\[?operation cancelled"
    r"|the user doesn't want|user (?:cancelled"
    r"|rejected|denied|declined)|command (?:rejected|denied|not allowed)|\[?request interrupted"
    r"|permission to use"
    r"|this command requires approval|execution (?:rejected|denied))",
    re.IGNORECASE,
)


def was_not_run(result: ToolResult) -> bool:
    """Whether the result says that the tool never ran: the user or the program refused it."""
    return bool(_NOT_RUN.match(result.text[:LONGEST_LINE]))


_UNKNOWN = re.compile(
    r"\A\W*(?:no result was recorded|interrupted, outcome unknown)", re.IGNORECASE
)


def is_unknown(result: ToolResult) -> bool:
    """Whether the result stands in for one that never came: the call may have had its effect."""
    return bool(_UNKNOWN.match(result.text[:LONGEST_LINE]))


def was_refused(result: ToolResult) -> bool:
    """Whether the result is an error of the tool rather than an output, by how it begins."""
    text = result.text
    return len(text) < 20_000 and bool(_REFUSED.match(text[: LONGEST_LINE * 2]))


def is_error_line(line: str) -> bool:
    """Whether a line reports an error, in the words of many languages and toolchains.

    Only the first `LONGEST_LINE` characters count. Counts of no errors (`0 failed`) and lines of
    code that handle errors (`except ValueError:`) are none.
    """
    line = line[:LONGEST_LINE]
    if not _STEM.search(line):
        return False
    line = line.strip("\r\n")
    return _ERROR.search(line) is not None and _NO_ERROR.search(line) is None


def error_lines(text: str, most: int = 40) -> list[str]:
    """Error lines of a text in order: the first and the last of them, `most` at the most."""
    first = list(_error_places(text, most // 2, backwards=False))
    if len(first) < most // 2:
        return [line for _, line in first]
    last = [
        found for found in _error_places(text, most // 2, backwards=True) if found[0] > first[-1][0]
    ]
    return [line for _, line in (*first, *reversed(last))]


def _error_places(text: str, most: int, *, backwards: bool) -> Iterator[tuple[int, str]]:
    """Error lines with their places, from the beginning or from the end.

    Every stem is searched on from its own last place, so each character is passed once per stem.
    """
    seen = len(text) if backwards else -1
    find = text.rfind if backwards else text.find
    tries = 0
    nexts = {stem: find(stem) for stem in _STEMS}
    while most and tries < 4_000 and (open_stems := {s: at for s, at in nexts.items() if at >= 0}):
        stem = (max if backwards else min)(open_stems, key=open_stems.__getitem__)
        at = open_stems[stem]
        start = text.rfind("\n", 0, at) + 1
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        tries += 1
        if (start < seen) if backwards else (start > seen):
            seen = start
            line = text[start : min(end, start + LONGEST_LINE)]
            if is_error_line(line):
                most -= 1
                yield start, line.strip()
        # The rest of this line is done for every stem.
        for other, place in nexts.items():
            if backwards and place >= start:
                nexts[other] = text.rfind(other, 0, start)
            elif not backwards and 0 <= place < end:
                nexts[other] = text.find(other, end)


def telling_line(text: str) -> str:
    """The error line that says most about why something failed; "" if there is none."""
    return _most_telling(text, error_lines(text))


def _most_telling(text: str, found: list[str]) -> str:
    if found and (reason := _traceback_reason(text)):
        return reason
    best, worth = "", -1
    for line in found:
        value = 2 if _TELLING.search(line) else 0 if _SUMMARY.search(line) else 1
        # A compiler begins with the reason of all that follows.
        if value > worth:
            best, worth = line, value
    return best


def worst_lines(text: str) -> list[str]:
    """The error line that says most, and the last one that is no mere summary."""
    found = error_lines(text, 16)
    last = [line for line in found if len(line) > 8 and not _SUMMARY.search(line)][-1:]
    return list(dict.fromkeys(line for line in (*last, _most_telling(text, found)) if line))


def _traceback_reason(text: str) -> str:
    """The line that ends the last traceback of Python in a text."""
    at = text.rfind("Traceback (most recent call last)")
    for _ in range(200 if at >= 0 else 0):
        at = text.find("\n", at) + 1
        if not at:
            break
        if text[at : at + 1] not in ("", " ", "\t", "\n", "\r", "|", "+"):
            end = text.find("\n", at, at + LONGEST_LINE)
            return text[at : end if end >= 0 else at + LONGEST_LINE].strip()
    return ""


def squeeze(line: str, most: int) -> str:
    """A line without doubled blanks, cut to `most` characters with an ellipsis."""
    line = " ".join(line[: most * 4].split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"
