"""Messages of a shape that nobody vouches for are read, mended and written, never a traceback."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unremember.formats import anthropic, openai_chat, openai_responses
from unremember.testing import check_anthropic, check_openai, check_responses

KINDS = (
    "text tool_use tool_result thinking redacted_thinking image image_url input_text output_text "
    "message reasoning function_call function_call_output custom_tool_call custom_tool_call_output "
    "web_search_call function custom odd"
).split()
ROLES = "system developer user assistant tool function tourist".split()
NAMES = (
    "type role content text id name call_id tool_use_id tool_call_id arguments input output "
    "function custom tool_calls function_call thinking signature data source url summary "
    "image_url is_error reasoning_content refusal"
).split()

scalars: st.SearchStrategy[Any] = st.sampled_from(
    (None, True, 0, "", " ", "a", "b", "c:1", *ROLES, *KINDS, "{}", "x\n")
)
values: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(NAMES), inner, max_size=5)
    ),
    max_leaves=6,
)
blocks = st.fixed_dictionaries(
    {"type": st.sampled_from(KINDS)},
    optional=dict.fromkeys(("text", "id", "tool_use_id", "content", "signature"), values),
)
items = st.fixed_dictionaries(
    {"role": st.sampled_from(ROLES), "content": st.one_of(values, st.lists(blocks, max_size=4))},
    optional={name: values for name in NAMES if name not in ("role", "content")},
)


@pytest.mark.parametrize(
    "form", [openai_chat, anthropic, openai_responses], ids=lambda form: form.NAME
)
@given(st.lists(items, max_size=6))
def test_broken_items_are_read_and_written(form: ModuleType, given_items: list[dict[str, Any]]):
    """Whatever stands in the fields of messages, each form reads it and all forms write it."""
    for found in form.read(given_items):
        openai_chat.write(found.history)
        openai_responses.write(found.history)
        anthropic.request(found.history)


@given(st.lists(items, max_size=6))
def test_other_forms_of_broken_items_are_valid(given_items: list[dict[str, Any]]):
    """Broken messages of one form are valid requests in the others, where all is built anew."""
    for form in (openai_chat, anthropic):
        for found in form.read(given_items):
            assert check_responses(openai_responses.write(found.history)) == []
    for found in openai_chat.read(given_items):
        made = anthropic.request(found.history)
        assert check_anthropic(made["messages"], made.get("system")) == []
    for found in anthropic.read(given_items):
        assert check_openai(openai_chat.write(found.history)) == []
