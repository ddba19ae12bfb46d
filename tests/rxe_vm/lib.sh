# For tests on a real kernel's connection manager: sourced, not run.
# shellcheck shell=bash
. tests/programs/skip.sh

reason=$(tools/vm/rxe --check 2>&1) || skip_all "${reason#rxe: }"

in_machine() { # COMMAND ARGUMENT...
  tools/vm/rxe --deadline 240 -- "$@"
}
