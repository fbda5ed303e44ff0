"""Completion scripts, made from the parsers themselves."""

from bglang.cli import COMMANDS, parser_for


def script(shell: str) -> str:
    flags = {name: sorted(_flags(name)) for name in COMMANDS}
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](flags)


def _flags(name: str) -> list[str]:
    parser = parser_for(name)
    return [word for action in parser._actions for word in action.option_strings if word.startswith("--")]


def _bash(flags: dict[str, list[str]]) -> str:
    cases = "\n".join(f'    {name}) words="{" ".join(words)}" ;;' for name, words in flags.items())
    return f"""\
_bglang() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{" ".join(flags)}" -- "$current")); return
  fi
  case "${{COMP_WORDS[1]}}" in
{cases}
  esac
  if [[ $current == -* ]]; then COMPREPLY=($(compgen -W "$words" -- "$current"))
  else COMPREPLY=($(compgen -f -- "$current")); fi
}}
complete -o filenames -F _bglang bglang
"""


def _zsh(flags: dict[str, list[str]]) -> str:
    commands = " ".join(f"'{name}:{COMMANDS[name][1]}'" for name in flags)
    cases = "\n".join(f"    {name}) compadd -- {' '.join(words)} ;;" for name, words in flags.items())
    return f"""\
#compdef bglang
_bglang() {{
  local -a commands=({commands})
  if (( CURRENT == 2 )); then _describe command commands; return; fi
  if [[ $PREFIX == -* ]]; then case $words[2] in
{cases}
  esac
  else _files; fi
}}
compdef _bglang bglang
"""


def _fish(flags: dict[str, list[str]]) -> str:
    lines = list[str]()
    for name, words in flags.items():
        summary = COMMANDS[name][1].replace("'", "\\'")
        lines.append(f"complete -c bglang -n __fish_use_subcommand -f -a {name} -d '{summary}'")
        lines += [f"complete -c bglang -n '__fish_seen_subcommand_from {name}' -l {word[2:]}" for word in words]
    return "\n".join(lines) + "\n"
