"""`sarrus completion SHELL`: a script that completes commands, options, mechanisms and files.

It holds the commands and options of the installed version as text, so that completing starts no Python.
"""

from __future__ import annotations

from typing import Any

from sarrus import library
from sarrus.errors import InputError

from .answers import Answer

SHELLS = ("bash", "zsh", "fish")
BASH = """# completion of sarrus for bash
_sarrus() {
  local word=${COMP_WORDS[COMP_CWORD]} words="COMMANDS"
  if [ "$COMP_CWORD" -gt 1 ]; then
    case "${COMP_WORDS[1]}" in
CASES
      *) words="" ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  if [ "$COMP_CWORD" -gt 1 ]; then COMPREPLY+=($(compgen -f -- "$word")); fi
}
complete -o filenames -F _sarrus sarrus
"""
ZSH = """# completion of sarrus for zsh
autoload -U +X compinit && compinit
autoload -U +X bashcompinit && bashcompinit
"""


def commands_of(app: Any) -> dict[str, tuple[str, list[str]]]:
    """Help and options of every command of a `typer.Typer` application."""
    from typer.main import get_command

    group: Any = get_command(app)
    found = {}
    for name, command in group.commands.items():
        options = sorted({option for p in command.params for option in p.opts if option.startswith("-")})
        found[name] = (command.help or "").split(".")[0], options
    return found


def completion(shell: str, commands: dict[str, tuple[str, list[str]]]) -> Answer:
    """The script for a shell, as an answer."""
    if shell not in SHELLS:
        raise InputError(f"no completion for {shell!r}; the shells are {', '.join(SHELLS)}.")
    text = script(shell, commands).rstrip()
    return Answer(text, {"shell": shell, "script": text})


def script(shell: str, commands: dict[str, tuple[str, list[str]]]) -> str:
    """The script for a shell."""
    names = " ".join(library.MECHANISMS)
    if shell == "fish":
        return fish(commands, names)
    cases = []
    for name, (_, options) in commands.items():
        cases.append(f'      {name}) words="{" ".join(options)} {names}" ;;')
    bash = BASH.replace("COMMANDS", " ".join([*commands, "--help", "--version"]))
    bash = bash.replace("CASES", "\n".join(cases))
    return bash if shell == "bash" else ZSH + bash


def fish(commands: dict[str, tuple[str, list[str]]], names: str) -> str:
    """The script for fish."""
    lines = ["# completion of sarrus for fish"]
    for name, (said, options) in commands.items():
        text = said.replace("'", "").replace("\n", " ")
        lines.append(f"complete -c sarrus -f -n __fish_use_subcommand -a {name} -d '{text}'")
        here = f"'__fish_seen_subcommand_from {name}'"
        lines.append(f"complete -c sarrus -n {here} -a '{names}'")
        lines += [f"complete -c sarrus -n {here} -l {x.lstrip('-')}" for x in options if x.startswith("--")]
    return "\n".join(lines) + "\n"
