# For tests of a page that must agree with the tests: sourced, not run. The work tree behind the runfiles becomes the
# working folder; $scratch is an empty one, to copy parts of it to and spoil them.
# shellcheck shell=bash
set -euo pipefail
export PYTHONDONTWRITEBYTECODE=1
root=$(dirname "$(readlink -f WORKSPACE)")
cd "$root"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# notices CHECKER COMPLAINT...: the checker is content with the work tree, and complains of all that in $scratch.
notices() {
  local said complaint
  python3 "$1" .
  said=$(python3 "$1" "$scratch") && { echo "FAILED: it is satisfied"; exit 1; }
  for complaint in "${@:2}"; do
    grep -qF "$complaint" <<<"$said" || { echo "FAILED: no word of '$complaint' in: $said"; exit 1; }
  done
  echo PASSED
}
