"""The names of many agents' tools, and of their arguments."""

from __future__ import annotations

import re
from functools import lru_cache

from unremember.actions.action import Kind

TOOLS: dict[str, str] = {
    name: what
    for what, names in {
        "shell": "bash shell exec execcommand executebash executecommand runcommand runshellcommand"
        " runterminalcmd runterminalcommand runinterminal terminal run localshell shellcommand"
        " execute"
        " containerexec powershell cmd bashblock sh shelltool action command runbash"
        " localshellcall zsh",
        "read": "read readfile view viewfile openfile open cat readmanyfiles notebookread getfile"
        " readtextfile getfilecontents readfiles readmultiplefiles fileread viewimage",
        "write": "write writefile create createfile savefile writetofile filewrite createnewfile",
        "edit": "edit editfile multiedit replace strreplace notebookedit applydiff replaceinfile"
        " insert"
        " searchreplace searchandreplace insertcontent editnotebook patchfile fileedit"
        " multieditfile"
        " replacefilecontent multireplacefilecontent findandreplace editexistingfile",
        "list": "ls listdirectory listdir listfiles glob findfile findfiles findfilesbyname"
        " filesearch"
        " globtool list directorytree getworkspacestructure",
        "search": "grep search searchfiles searchfilecontent searchdir searchfile searchtext"
        " ripgrep"
        " codebasesearch grepsearch searchcode grepfiles semanticsearch filegrep searchcodebase",
        "plan": "todowrite updateplan writetodos taskcreate taskupdate tasktracker todo todoread"
        " taskget"
        " tasklist updatetodolist managetodolist writetodo enterplanmode exitplanmode",
        "delegate": "task agent delegate subagent spawnagent dispatchagent delegatetoagent"
        " newtask runagent"
        " codebaseinvestigator calltask sendinput",
        "fetch": "webfetch websearch fetch fetchurl fetchwebpage browse googlewebsearch browser"
        " navigate"
        " browserinteractive browseurl readurl searchweb openurl",
        "editor": "strreplaceeditor strreplacebasededittool editor texteditor strreplacebasededit",
        "patch": "applypatch",
        "code": "executeipythoncell runipython ipython python runpython executepython runcode"
        " executecode"
        " jupyter codeinterpreter",
        "delete": "deletefile removefile delete",
        "quiet": "think finish submit bashoutput killshell killbash writestdin skill message wait"
        " askuserquestion complete done recall calculate",
    }.items()
    for name in names.split()
}

# Arguments that hold a path, a command, a question, the text before and after an edit: best first.
PATHS = (
    "path", "file_path", "filepath", "filename", "file", "absolute_path", "target_file",
    "notebook_path",
    "relative_workspace_path", "AbsolutePath", "TargetFile", "uri", "directory", "dir_path", "dir",
    "folder",
    "relative_path", "source", "paths", "files", "absolutePath", "filePath",
)  # fmt: skip
COMMANDS = (
    "command",
    "cmd",
    "CommandLine",
    "script",
    "commands",
    "shell_command",
    "code",
    "input",
)
QUERIES = (
    "pattern",
    "query",
    "regex",
    "search_term",
    "url",
    "prompt",
    "description",
    "search",
    "q",
    "name",
)
BEFORE = ("old_string", "old_str", "oldText", "old_text", "search", "old", "old_content")
AFTER = (
    "new_string",
    "new_str",
    "newText",
    "new_text",
    "replace",
    "new",
    "new_content",
    "replacement",
)

VERBS: dict[str, Kind] = {
    **dict.fromkeys("read view open show load cat get download".split(), "read"),
    **dict.fromkeys("write save create put".split(), "write"),
    **dict.fromkeys("edit replace update patch modify insert append rename".split(), "edit"),
    **dict.fromkeys("list ls tree glob".split(), "list"),
    **dict.fromkeys("search find grep query lookup".split(), "search"),
}
CHANGING = frozenset(
    "create update delete remove add book cancel send post put submit transfer modify return"
    " exchange publish"
    " deploy insert set upload merge close approve reject pay order purchase refund charge assign"
    " invite move"
    " rename archive schedule register execute trigger start stop restart save write edit reply"
    " comment push"
    " apply install subscribe unsubscribe enable disable grant revoke".split()
)
"""Verbs in the name of an unknown tool that say: it changes something outside."""


@lru_cache(maxsize=512)
def plain_name(name: str) -> str:
    """A tool's name without its server, case and separators: `mcp__fs__read_file` is `readfile`."""
    name = name.rpartition("__")[2] if name.startswith("mcp__") else name.rpartition("/")[2]
    return re.sub(r"[^a-z0-9]", "", name.rpartition("functions.")[2].lower())


def tool_kind(name: str) -> str:
    """The family that a tool belongs to (`shell`, `read`, `editor`, …); "" if it is not known."""
    return TOOLS.get(plain_name(name), "")
