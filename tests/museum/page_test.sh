#!/usr/bin/env bash
# docs/museum.md is what the exhibits say, and each names its report. Reads the work tree behind the
# runfiles.
set -euo pipefail
root=$(dirname "$(readlink -f WORKSPACE)")
export PYTHONDONTWRITEBYTECODE=1
cd "$root"
python3 tests/museum/museum.py .

# And it would notice: a test without its exhibit, an exhibit without its report, one that is gone.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/docs"
cp --parents tests/museum/*_test.cc docs/museum.md "$scratch"
cat >"$scratch/tests/museum/zoo_test.cc" <<'END'
// Section Z: Animals
// Exhibit 1: a bear without a report.
TEST(Zoo, Bear) {}
TEST(Zoo, Lion) {}
END
sed -i 's/^\/\/ Exhibit 14:/\/\/ Entry 14:/' "$scratch/tests/museum/ordering_test.cc"
said=$(python3 tests/museum/museum.py "$scratch") && { echo "FAILED: it is satisfied"; exit 1; }
for complaint in "entry 1: no address" "Zoo.Lion names no exhibit" "entry 14 is neither" "out of date"; do
  grep -q "$complaint" <<<"$said" || { echo "FAILED: no word of '$complaint' in: $said"; exit 1; }
done
echo PASSED
