#!/bin/bash
# completion.sh SYCLCTL FOLDER loads the completion files in their shells and compares their words with the help, which is made of the same
# table. zsh and fish are tested if they are installed.
set -u
syclctl=$1
files=$2
failed=0
PATH=$(dirname "$syclctl"):$PATH
# In these tests the file for bash runs other programs only for sessions and users.
# shellcheck source=/dev/null
. "$files/bash-completion/completions/syclctl" || exit 1

# ask WORD...: prints the words that bash offers for the last one.
ask() {
  COMP_WORDS=(syclctl "$@")
  COMP_CWORD=$#
  COMPREPLY=()
  "$(complete -p syclctl | sed 's/.*-F \([^ ]*\).*/\1/')"
  printf '%s\n' "${COMPREPLY[@]}" | sed 's/ *$//' | sort -u
}

# same WHAT EXPECTED OFFERED
same() {
  [ "$2" = "$3" ] && [ -n "$2" ] && return
  echo "$1: expected '$2', offered '$3'"
  failed=1
}

verbs=$("$syclctl" help | sed -n 's/^  \([a-z][a-z]*\)\( .*\)*$/\1/p' | sort -u)
[ "$(echo "$verbs" | wc -l)" -ge 13 ] || { echo "too few verbs in the help: $verbs"; exit 1; }
same "bash, verbs" "$verbs" "$(ask '')"
same "bash, a verb that is begun" "accounts" "$(ask acc)"
same "bash, help" "$verbs" "$(ask help '')"
for verb in $verbs; do
  options=$("$syclctl" help "$verb" | sed -n 's/^  \(--[a-z-]*\) .*/\1/p' | sort -u)
  same "bash, options of $verb" "$options" "$(ask "$verb" --)"
done
same "bash, values of --by" "$(printf 'cgroup\ndevice\njob\nsession\nuid')" "$(ask accounts --by '')"
same "bash, a limit" "builds=" "$(ask limit builds)"
same "bash, a limit of the service" "share_max=" "$(ask limit share_ma)"
same "bash, kinds of what is shown" "$(printf 'device\nsession\nuser')" "$(ask show '')"
same "bash, a user to show" "root" "$(ask show user roo | grep -x root)"
sessions() {
  # shellcheck disable=SC2317
  syclctl() { printf '{"sessions": [{"id": 4, "uid": 1}, {"id": 17, "uid": 2}]}\n'; }
  ask "$@"
}
same "bash, a session to show" "$(printf '17\n4')" "$(sessions show session '')"
same "bash, a session to limit" "$(printf '17\n4')" "$(sessions limit weight=5 '')"
same "bash, shells" "$(printf 'bash\nfish\nzsh')" "$(ask completion '')"
same "bash, after an option with a value" "$verbs" "$(ask --runtime-dir /tmp '')"
same "bash, a user" "root" "$(ask drain --uid roo | grep -x root)"
# Names of users may come from a foreign directory. bash expands the words that it is given, so such a name could run a program.
offered=$(
  # shellcheck disable=SC2016,SC2317
  getent() { printf '%s:x:1:\n' 'b$(echo ad)' '`echo bad`' bea 'b*' 'b$' b.e@c; }
  ask drain --user b
)
same "bash, names that are not plain" "$(printf 'b.e@c\nbea')" "$offered"

if command -v zsh >/dev/null; then
  zsh_verbs=$(zsh -f -c '
    compdef() { true; }
    _describe() { local -a list; list=("${(@P)2}"); print -l -- "${list[@]%%:*}"; }
    source '"$files"'/zsh/site-functions/_syclctl
    words=(syclctl "") CURRENT=2; _syclctl' | sort -u)
  same "zsh, verbs" "$verbs" "$zsh_verbs"
  for verb in $verbs; do
    options=$("$syclctl" help "$verb" | sed -n 's/^  \(--[a-z-]*\) .*/\1/p' | sort -u)
    zsh_options=$(zsh -f -c '
      compdef() { true; }
      _arguments() { print -l -- "$@"; }
      source '"$files"'/zsh/site-functions/_syclctl
      words=(syclctl '"$verb"' --) CURRENT=3; _syclctl' | sed -n 's/^\(--[a-z-]*\).*/\1/p' | sort -u)
    same "zsh, options of $verb" "$options" "$zsh_options"
  done
else
  echo "zsh is not installed: its file was not asked"
fi

if command -v fish >/dev/null; then
  # ask_fish LINE
  ask_fish() {
    HOME=$(mktemp -d) fish --no-config -c "source $files/fish/vendor_completions.d/syclctl.fish; complete -C '$1'" | cut -f1 | sort -u
  }
  same "fish, verbs" "$verbs" "$(ask_fish 'syclctl ')"
  for verb in $verbs; do
    options=$("$syclctl" help "$verb" | sed -n 's/^  \(--[a-z-]*\) .*/\1/p' | sort -u)
    same "fish, options of $verb" "$options" "$(ask_fish "syclctl $verb --")"
  done
  same "fish, a limit" "builds=" "$(ask_fish 'syclctl limit builds')"
  same "fish, kinds of what is shown" "$(printf 'device\nsession\nuser')" "$(ask_fish 'syclctl show ')"
  same "fish, a user to show" "root" "$(ask_fish 'syclctl show user roo' | grep -x root)"
else
  echo "fish is not installed: its file was not asked"
fi
exit $failed
