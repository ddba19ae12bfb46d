#!/usr/bin/env bash
# What pages say of commands, options, targets, variables and headings is so. Reads the work tree behind the runfiles.
export BIN=$PWD/tools/bin
. "$(dirname "$(readlink -f WORKSPACE)")/tests/docs/page.sh"

# It would notice: the tree as it is, with a page that promises what is not there, a table that does, and a page that nobody finds.
for each in "$root"/* "$root"/tests/*; do
  each=${each#"$root/"}
  case $each in bazel-* | bin | tests | tests/docs | docs | README.md) continue ;; esac
  mkdir -p "$scratch/tests" && ln -s "$root/$each" "$scratch/$each"
done
ln -s "$root/.github" "$scratch"
cp -r docs README.md "$scratch"
cp -r tests/docs "$scratch/tests"
cat >>"$scratch/README.md" <<'PAGE'
`anyrdma excuse`, `anyrdma run --bogus -- rping --bogus-too`, `anyrdma trace diff A B --perfetto OUT`, `anyrdma rxe add --soft`,
`./dev mend`, `bazel test //cm:no_such_test`, `ANYRDMA_NO`, [no page](docs/no.md), [no heading](docs/page.md#no-heading).
PAGE
sed -i '/`anyrdma merge PATH/d' "$scratch/README.md"
echo '[the start](../README.md)' >"$scratch/docs/cm/lonely.md"
rm "$scratch/page"
cp -r page "$scratch"
echo '// See docs/gone.md.' >>"$scratch/page/page.h"
# Not as one word, which this file would have.
sed -i 's/ANYRDMA_NO`/ANYRDMA_NO''WHERE`/' "$scratch/README.md"
cat >>"$scratch/tests/docs/commands.txt" <<'TABLE'
one
  by //tests/docs:no_such_test tests/docs/page.sh: notices
two
  by //tests/docs:quotes_test tests/docs/quotes_test.sh: what it has not
three
  by //tests/docs:quotes_test tests/docs/verbs_page_test.sh: notices
four
  by somebody
TABLE
notices tests/docs/promises.py "anyrdma has no excuse" "anyrdma run has no --bogus" "anyrdma trace diff has no --perfetto" \
  "anyrdma rxe add has no --soft" "./dev has no mend" "no target //cm:no_such_test" "nothing reads ANYRDMA_NO""WHERE" \
  "no file docs/no.md" "docs/page.md has no heading #no-heading" "no target //tests/docs:no_such_test" \
  "quotes_test.sh has no 'what it has not'" "tests/docs/page.sh is no file of no_such_test" \
  "in which file, by what text? four" "docs/README.md: does not lead to docs/cm/lonely.md" \
  "page/page.h: no page docs/gone.md" "README.md: no \`anyrdma merge\`" "16 promises that are not kept"
