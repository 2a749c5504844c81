"""What docs/editors.md tells people to write into their editors: it is read as they read it, and Neovim runs it."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.compiling import ROOT
from tests.effort import PATIENCE
from tests.test_docs import environment

pytestmark = pytest.mark.slow

PAGE = (ROOT / "docs/editors.md").read_text("utf-8")
NVIM = shutil.which("nvim")
SCRIPT = """
local function wait(is_right)
  assert(vim.wait(60000, is_right, 20), "the server did not answer")
end
local function diagnostics()
  return vim.diagnostic.get(0)
end
local lines = vim.api.nvim_buf_get_lines(0, 0, -1, false)
local row
for number, line in ipairs(lines) do
  if line:find("numNodes: 8", 1, true) then row = number end
end
wait(function() return vim.lsp.buf_get_clients(0) and next(vim.lsp.buf_get_clients(0)) ~= nil end)
local _, client = next(vim.lsp.buf_get_clients(0))
wait(function() return client.initialized end)
vim.api.nvim_buf_set_lines(0, row - 1, row, false, { '    numNodes: "8"' })
wait(function() return #diagnostics() == 1 end)
print(diagnostics()[1].code, diagnostics()[1].lnum, diagnostics()[1].col)
local params = vim.lsp.util.make_given_range_params({ row, 0 }, { row, 20 })
params.context = { diagnostics = {} }
local answers = vim.lsp.buf_request_sync(0, "textDocument/codeAction", params, 60000)
local action
for _, answer in pairs(answers) do
  for _, one in ipairs(answer.result) do
    if one.kind == "quickfix" then action = one end
  end
end
vim.lsp.util.apply_workspace_edit(action.edit, client.offset_encoding or "utf-16")
wait(function() return #diagnostics() == 0 end)
print(vim.api.nvim_buf_get_lines(0, row - 1, row, false)[1])
local function ask(method, column)
  vim.api.nvim_win_set_cursor(0, { row, column })
  local answers = vim.lsp.buf_request_sync(0, method, vim.lsp.util.make_position_params(0, "utf-16"), 60000)
  for _, answer in pairs(answers) do return answer.result end
end
local hover = ask("textDocument/hover", 6).contents
print("HOVER " .. (hover.value or hover):gsub("\\n", " "))
vim.api.nvim_buf_set_lines(0, row, row, false, { "    im" })
row = row + 1
local completion = ask("textDocument/completion", 6)
for _, item in ipairs(completion.items or completion) do
  if item.label == "image" then print("COMPLETION " .. item.label) end
end
vim.cmd("qall!")
"""


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def test_the_settings_of_helix_and_zed_are_what_they_read() -> None:
    (helix,) = map(tomllib.loads, blocks("toml"))
    server = helix["language-server"]["trainc"]
    assert [server["command"], *server["args"]] == ["trainc", "lsp"]
    assert "trainc" in helix["language"][0]["language-servers"]
    (zed,) = map(json.loads, blocks("json"))
    assert zed["languages"]["YAML"]["language_servers"] == ["trainc", "..."]


def test_the_commands_of_the_page_are_commands() -> None:
    assert "trainc[lsp]" in PAGE
    for command in re.findall(r'"trainc", "(\w+)"', PAGE):
        assert command == "lsp"


@pytest.mark.skipif(NVIM is None, reason="nvim is not installed")
def test_neovim_underlines_a_mistake_makes_the_quick_fix_hovers_and_completes(tmp_path: Path) -> None:
    platform = Path(shutil.copytree(ROOT / "examples/platform", tmp_path / "platform"))
    home = tmp_path / "home"
    home.mkdir()
    version = subprocess.run([str(NVIM), "--version"], check=True, capture_output=True, text=True).stdout
    numbers = re.search(r"v(\d+)\.(\d+)", version)
    assert numbers is not None
    is_new = (int(numbers[1]), int(numbers[2])) >= (0, 11)
    (tmp_path / "init.lua").write_text(blocks("lua")[0 if is_new else 1], "utf-8")
    (tmp_path / "script.lua").write_text(SCRIPT, "utf-8")
    words = [str(NVIM), "--headless", "-u", str(tmp_path / "init.lua"), "jobs/llm/base-7b.yaml"]
    done = subprocess.run(
        [*words, "-c", f"luafile {tmp_path / 'script.lua'}", "-c", "cquit"],
        check=False,
        capture_output=True,
        text=True,
        cwd=platform,
        env={
            **environment(str(home), Path(sys.executable).parent),
            "HOME": str(home),
            "XDG_STATE_HOME": str(home),
            "TERM": os.environ.get("TERM", "dumb"),
        },
        timeout=PATIENCE,
    )
    said = done.stderr.replace("\r", "").split("\n")
    assert done.returncode == 0, done.stderr
    assert "invalid-field 10 14" in said, done.stderr
    assert "    numNodes: 8" in said, done.stderr
    assert any(line.startswith("HOVER") and "numNodes" in line for line in said), done.stderr
    assert "COMPLETION image" in said, done.stderr
