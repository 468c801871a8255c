"""A script that completes commands and options in a shell: bash, zsh or fish.

For bash: eval "$(sondage completion bash)", for instance in ~/.bashrc.
"""

from __future__ import annotations

import argparse

EXAMPLE = "sondage completion bash"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``sondage completion`` takes on the command line."""
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="for which shell")


def run(args: argparse.Namespace) -> int:
    """Print the script that completes commands and options."""
    options = _options()
    if args.shell == "fish":
        print("complete -c sondage -n __fish_use_subcommand -f -a '" + " ".join(options) + "'")
        for command, words in options.items():
            for word in words:
                flag = f"-l {word[2:]}" if word.startswith("--") else f"-s {word[1:]}"
                print(f"complete -c sondage -n '__fish_seen_subcommand_from {command}' {flag}")
        return 0
    cases = "\n".join(f"    {command}) words='{' '.join(words)}' ;;" for command, words in options.items())
    if args.shell == "zsh":
        print("autoload -U +X bashcompinit && bashcompinit")
    print(
        f"""_sondage() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" words=''
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=( $(compgen -W '{" ".join(options)}' -- "$word") )
    return
  fi
  case "${{COMP_WORDS[1]}}" in
{cases}
  esac
  case "$word" in
    -*) COMPREPLY=( $(compgen -W "$words" -- "$word") ) ;;
    *) COMPREPLY=( $(compgen -f -- "$word") ) ;;
  esac
}}
complete -o filenames -F _sondage sondage"""
    )
    return 0


def _options() -> dict[str, list[str]]:
    """The options that every command takes, by its name."""
    from sondage.cli import commands

    found = {}
    for name, module in commands().items():
        parser = argparse.ArgumentParser(prog=name)
        module.arguments(parser)
        found[name] = sorted(word for action in parser._actions for word in action.option_strings)
    return found
