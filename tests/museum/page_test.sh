#!/usr/bin/env bash
# docs/museum.md is what the exhibits say, and each names its report. Reads the work tree behind the
# runfiles.
. "$(dirname "$(readlink -f WORKSPACE)")/tests/docs/page.sh"

# It would notice: a test without its exhibit, an exhibit without its report, one that is gone.
mkdir -p "$scratch/docs"
cp --parents tests/museum/*_test.cc docs/museum.md "$scratch"
cat >"$scratch/tests/museum/zoo_test.cc" <<'END'
// Section Z: Animals
// Exhibit 1: a bear without a report.
TEST(Zoo, Bear) {}
TEST(Zoo, Lion) {}
END
sed -i 's/^\/\/ Exhibit 14:/\/\/ Entry 14:/' "$scratch/tests/museum/ordering_test.cc"
notices tests/museum/museum.py "entry 1: no address" "Zoo.Lion names no exhibit" "entry 14 is neither" "out of date"
