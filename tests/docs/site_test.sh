#!/usr/bin/env bash
# What `./dev docs` makes: doxygen has nothing to complain of, each type of the installed headers is explained, no link is dead.
headers=$PWD/tools/kit/include
. tests/programs/skip.sh
command -v doxygen >/dev/null || skip_all "doxygen is not installed"
. "$(dirname "$(readlink -f WORKSPACE)")/tests/docs/page.sh"

tools/dev/docs "$headers" "$scratch/site"
python3 tests/docs/links.py "$scratch/site"
fail() { echo "FAILED: $*"; exit 1; }
for page in index docs_tutorials_binary docs_cm_connections classanyrdma_1_1cm_1_1Id classanyrdma_1_1sim_1_1World; do
  [ -s "$scratch/site/$page.html" ] || fail "no page $page"
done
grep -q 'href="docs_tutorials_binary.html"' "$scratch/site/index.html" || fail "the site does not begin with the start page"

# It would notice: a link that leads nowhere, a page that is gone, types that say nothing, a comment that names what is not there.
rm "$scratch/site/docs_verbs.html"
said=$(python3 tests/docs/links.py "$scratch/site") && fail "nobody misses docs_verbs.html"
grep -qF 'index.html: no file docs_verbs.html' <<<"$said" || fail "no word of docs_verbs.html in: $said"

for each in *; do
  case $each in bazel-* | bin | docs | tools) ;; *) ln -s "$root/$each" "$scratch/$each" ;; esac
done
mkdir -p "$scratch/tools/dev" "$scratch/include/made"
cp -r docs "$scratch"
cp tools/dev/docs "$scratch/tools/dev"
echo '[nowhere](sim.md#nowhere)' >>"$scratch/docs/async.md"
cat >"$scratch/include/made/up.h" <<'HEADER'
// Made up.
namespace anyrdma::cm {

struct OneOfTwo {
  int one = 1;
};

struct TheOther {
  int other = 2;
};

/// Gives `value` back.
/// @param amount of it
int same(int value);

}  // namespace anyrdma::cm
HEADER
said=$("$scratch/tools/dev/docs" "$scratch/include" "$scratch/none" 2>&1) && fail "it is content with mistakes"
for complaint in "reference to 'docs_sim_nowhere'" "OneOfTwo is not documented" "TheOther is not documented" "'amount' of command @param is not found"; do
  grep -qF "$complaint" <<<"$said" || fail "no word of '$complaint' in: $said"
done
[ ! -e "$scratch/none" ] || fail "it makes a site all the same"

# Nobody's folder is lost for a site.
mkdir "$scratch/mine" && touch "$scratch/mine/letter"
said=$(tools/dev/docs "$headers" "$scratch/mine" 2>&1) && fail "it replaces any folder"
grep -q 'choose another folder' <<<"$said" || fail "it says nothing of the folder: $said"
[ -e "$scratch/mine/letter" ] || fail "a folder is lost"
echo PASSED
