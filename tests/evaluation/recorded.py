"""Recordings that are made up: an agent that reads files, meets errors, and uses what it saw."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ENGLISH = (
    "Never change the public interface of the cache.",
    "All tests must pass before you commit anything.",
    "Please write every comment in plain words.",
    "Only use the standard library for this work.",
)
KOREAN = (
    "캐시의 공개 인터페이스를 절대 바꾸지 마세요.",
    "커밋하기 전에 모든 테스트가 반드시 통과해야 합니다.",
    "모든 주석은 쉬운 말로 써 주세요.",
    "이 작업에는 표준 라이브러리만 사용해야 합니다.",
)
CHINESE = (
    "不要修改缓存的公共接口。",
    "提交之前所有测试都必须通过。",
    "请用简单的语言写所有注释。",
    "这项工作只能使用标准库。",
)
JAPANESE = (
    "キャッシュの公開インターフェースを変更しないでください。",
    "コミットする前に必ずすべてのテストを通してください。",
    "コメントはすべて平易な言葉で書いてください。",
    "この作業では標準ライブラリのみを使うべきです。",
)

Messages = list[dict[str, Any]]


def talk(rules: Sequence[str] = ENGLISH, *, turns: int = 60, comment: str = "step") -> Messages:
    """A conversation in the form of OpenAI chat; the rules are said at several places.

    Each turn reads a module of its own; later turns come back to names of earlier ones. The
    comment stands in the modules of the first half.
    """
    messages: Messages = [
        {"role": "system", "content": "You mend programs."},
        {"role": "user", "content": f"{rules[0]}\n{rules[1]}"},
    ]
    for turn in range(turns):
        if turn in (turns // 6, turns // 3):
            messages.append({"role": "user", "content": rules[2 if turn == turns // 6 else 3]})
        path = f"src/app/part_{turn:02}.py"
        old = turn // 2
        search = f'grep -n "upper limit of part {old}" --include {path} loadPart{old}'
        command = search if turn % 3 == 0 else f"cat {path}"
        note = comment if turn < turns // 2 else "step"
        body = [f"def load_part_{turn}_{n}(value):  # {note} {n}" for n in range(26)]
        body += [f"class loadPart{turn}:", f"    # upper limit of part {turn}", "    limit = 12"]
        if turn % 5 == 0:
            body.append(f"ValueError: part {turn} has no limit of its own")
        prose = f"The upper limit of part {old} comes first."
        messages += _step(f"c{turn}", prose, command, "\n".join(body))
    return messages


def _step(id: str, prose: str, command: str, output: str) -> Messages:
    function = {"name": "bash", "arguments": json.dumps({"command": command})}
    call = {"id": id, "type": "function", "function": function}
    return [
        {"role": "assistant", "content": prose, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": id, "content": output},
    ]


def save(path: Path, messages: Messages) -> Path:
    """Writes a recording to a file."""
    path.write_text(json.dumps(messages, ensure_ascii=False), encoding="utf-8")
    return path
