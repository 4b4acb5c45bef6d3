"""How the server begins and ends."""

import asyncio
import os
import subprocess
import sys
import time

import pytest

SECONDS = 60


def test_without_pygls_one_sentence_says_what_to_install():
    code = (
        "import sys; sys.modules['pygls'] = None; sys.argv = ['kdoctor', 'server']; "
        "from kdoctor.cli.app import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("kdoctor: the language server needs pygls: ")
    assert "pip install 'keras-doctor[lsp]'" in done.stderr
    assert done.stderr.count("\n") == 1


def test_it_ends_with_the_pipe_and_says_nothing_on_it():
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "kdoctor", "server"],
        input=b"",
        capture_output=True,
        check=False,
        timeout=SECONDS,
    )
    assert (done.returncode, done.stdout, done.stderr) == (1, b"", b"")
    assert time.monotonic() - started < SECONDS


@pytest.mark.skipif(os.name != "posix", reason="only POSIX tells whether a process lives")
def test_it_ends_when_the_editors_process_is_gone_though_the_pipe_is_open(editing):
    editors = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)

    async def conversation(editor):
        editors.kill()
        editors.wait()
        assert await asyncio.wait_for(editor.process.wait(), SECONDS) == 1

    editing(conversation, process_id=editors.pid, ends=1)


def test_a_process_that_is_none_of_this_machines_ends_nothing(editing):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()

    async def conversation(editor):
        await asyncio.sleep(3)
        assert editor.process.returncode is None

    editing(conversation, process_id=gone.pid)


def test_an_end_without_warning_is_an_error(editing):
    async def conversation(editor):
        editor.client.exit(None)
        assert await asyncio.wait_for(editor.process.wait(), SECONDS) == 1

    editing(conversation, ends=1)
