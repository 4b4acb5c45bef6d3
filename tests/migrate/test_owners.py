"""A file belongs to whom the last rule of `CODEOWNERS` that fits names."""

from __future__ import annotations

import pytest

from kdoctor.migrate.owners import code_owners

# After the examples of GitHub's page on code owners.
RULES = r"""# Comment
*       @global-owner1 @global-owner2
*.js    @js-owner #inline comment
*.go docs@example.com
/build/logs/ @doctocat
docs/* docs@example.com
apps/ @octocat
/scripts/ @doctocat @octocat
**/logs @logger
/apps/github
/my\ notes/ @notes
[Section] @nobody
^[Optional]
!negated @nobody
"""


@pytest.fixture
def owners(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".github").mkdir()
    (tmp_path / ".github/CODEOWNERS").write_text(RULES)
    (tmp_path / "CODEOWNERS").write_text("* @not-asked\n")
    (tmp_path / "src").mkdir()
    return code_owners(tmp_path / "src")


@pytest.mark.parametrize(
    ("path", "owner"),
    [
        ("a.py", "@global-owner1 @global-owner2"),
        ("src/a.py", "@global-owner1 @global-owner2"),
        ("src/a.js", "@js-owner"),
        ("a.go", "docs@example.com"),
        ("build/logs/a.py", "@logger"),
        ("build/logs/b/a.py", "@logger"),
        ("docs/a.py", "docs@example.com"),
        ("docs/build-app/a.py", "@global-owner1 @global-owner2"),
        ("src/docs/a.py", "@global-owner1 @global-owner2"),
        ("apps/a.py", "@octocat"),
        ("src/apps/b/a.py", "@octocat"),
        ("apps/github/a.py", ""),
        ("scripts/a.py", "@doctocat @octocat"),
        ("my notes/a.py", "@notes"),
    ],
)
def test_the_last_rule_that_fits_names_the_owners(owners, tmp_path, path, owner):
    assert owners.owner_of(str(tmp_path / path)) == owner


def test_a_repository_without_the_file_names_nobody(tmp_path):
    (tmp_path / ".git").mkdir()
    assert code_owners(tmp_path) is None


def test_what_is_no_text_names_nobody(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "CODEOWNERS").write_bytes(b"\xff\xfe* \x00@a\n")
    assert code_owners(tmp_path).owner_of(str(tmp_path / "a.py")) == ""
