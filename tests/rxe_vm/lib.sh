# For tests on a real kernel's connection manager: sourced, not run.
# shellcheck shell=bash
. tests/programs/skip.sh

reason=$(tools/vm/rxe --check 2>&1) || skip_all "${reason#rxe: }"

in_machine() { # [OPTION... --] COMMAND ARGUMENT...
  case "$1" in -*) ;; *) set -- -- "$@" ;; esac
  local status=0
  tools/vm/rxe --deadline 850 "$@" || status=$? # a later --deadline wins
  [ $status = 123 ] || return $status
  # A kernel that has lost an id shows nothing more; another one does.
  echo "Again, on a new one." >&2
  tools/vm/rxe --deadline 850 "$@"
}
