"""Obligations, failures and phrases, in several languages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded import CHINESE, ENGLISH, JAPANESE, KOREAN

from unremember.evaluation.prose import failures, found_phrases, obligations, telling_phrases


@pytest.mark.parametrize("rule", [*ENGLISH, *KOREAN, *CHINESE, *JAPANESE])
def test_a_rule_is_one_in_every_language(rule: str):
    """A sentence that obliges is recognised alone, in a list, and between others."""
    assert list(obligations(rule)) == [rule]
    assert list(obligations(f"- {rule}\nHello there, my friend.")) == [rule]


def test_chatter_is_no_rule():
    """Sentences that oblige to nothing, and very short ones, do not count."""
    text = "The parser reads two files. Keep! 오늘 날씨가 좋네요.\n今日は天気です。"
    assert list(obligations(text)) == []


@pytest.mark.parametrize(
    "line",
    [
        "ValueError: limit is missing",
        "src/a.py:12: error: incompatible types",
        "error[E0308]: mismatched types",
        "FAILED tests/test_a.py::test_b - assert 1 == 2",
        "bash: rg: command not found",
        "grep: src/x.ts: No such file or directory",
        "thread 'main' panicked at src/main.rs:4:5",
        "ld: undefined reference to `load'",
    ],
)
def test_a_reported_failure_is_recognised(line: str):
    """Lines of interpreters, compilers, shells and test runners that report a failure."""
    assert list(failures(f"fine\n   {line}\nfine")) == [line]


@pytest.mark.parametrize(
    "line",
    [
        "    raise ValueError('limit is missing')",
        "   14\t        except KeyError: pass",
        "+    raise LookupError(name)",
        "# it raises ValueError: see below",
        "12 passed, 0 errors in 0.4 s",
    ],
)
def test_source_that_handles_errors_reports_none(line: str):
    """A line of code that raises or catches, as in a file that was read, is no failure."""
    assert list(failures(line)) == []


def test_scripts_without_spaces_have_phrases():
    """Six signs of Chinese or Japanese are a phrase, wherever in a sentence they begin."""
    phrases = telling_phrases("缓存的公共接口")
    assert found_phrases(phrases, "不要修改缓存的公共接口。") == phrases != set()
    assert not found_phrases(phrases, "接口公共的缓存")
    assert telling_phrases("캐시의 인터페이스를 바꿨습니다") != set()


def test_empty_talk_is_no_phrase():
    """Three short words say nothing that could be remembered."""
    assert telling_phrases("let me see now if it is so") == set()


@given(st.text(max_size=80), st.text(max_size=20), st.text(max_size=20))
def test_a_phrase_is_found_in_any_text_that_holds_it(text: str, before: str, after: str):
    """What comes before and behind on lines of its own does not hide a phrase."""
    wanted = telling_phrases(text)
    assert found_phrases(wanted, f"{before}\n{text}\n{after}") == wanted
