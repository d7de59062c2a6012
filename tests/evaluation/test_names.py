"""What counts as a name, and when a name still stands in a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unremember.evaluation.names import handholds, names, quotes, stands


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cat ./src/app/store.py | head", {"src/app/store.py"}),
        ("pytest tests/test_store.py::TestStore::test_load_order", {
            "tests/test_store.py", "TestStore", "test_load_order"}),
        ("git show 3fa9c1e and 1234567", {"3fa9c1e"}),
        ("call self.load_all and then loadAll()", {"load_all", "loadAll"}),
        ("open setup.py, then conf.d", {"setup.py"}),
        ("django.db.models has it", {"django.db.models"}),
        ('{"path": "a\\nbuild_tree"}', {"build_tree"}),
        ("읽어 주세요 config_v2.yaml을 그리고 load_all이", {"config_v2.yaml", "load_all"}),
        ("修改load_all函数", {"load_all"}),
        ("docs/설계.md", {"docs/설계.md"}),
        ("plain words, well-known, e.g. 1.2.3 and 10/12", set[str]()),
    ],
)  # fmt: skip
def test_names_are_what_somebody_coined(text: str, expected: set[str]):
    """Paths, files, identifiers, tests and hashes are names; words and numbers are none."""
    assert names(text) == expected


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("src/app/store.py", "edited app/store.py", True),
        ("src/app/store.py", "see store.py", True),
        ("src/app/store.py", "the store of the app", False),
        ("models.load_all", "load_all()", True),
        ("load_all", "load_all_items()", False),
        ("load_all", "修改load_all函数", True),
    ],
)
def test_a_name_stands_by_its_telling_part(name: str, text: str, expected: bool):
    """The end of a path or of a dotted name is enough; a part of another word is not."""
    assert stands(name, handholds(text)) is expected


@given(st.text(alphabet=st.sampled_from("aB_/.-@:3 é한漢\n\\\"'"), max_size=60))
def test_every_name_stands_in_its_own_text(text: str):
    """Whatever is taken for a name in a text can be found in that text."""
    there = handholds(text)
    assert all(stands(name, there) for name in names(text))


def test_quotes_are_strings_without_names_and_long_flags():
    """Quoted words and long flags count; a quoted path is a name already."""
    found = quotes("""grep -rn "no limit of its own" 'src/app/store.py' --include x `a b`""")
    assert found == {"no limit of its own", "--include"}
