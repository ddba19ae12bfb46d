#!/usr/bin/env bash
# The drop-in's symbol tables against Debian's libraries: same sonames, same version nodes, no name
# that Debian lacks or has under another version, and of libibverbs none less, old versions included; all that the tested programs, and the drivers that
# programs are linked against, ask for; and docs/dropin.md speaks of every name. Debian's are those of this machine and, by
# what is written in newer_names.txt, those of Debian 13 and unstable, against which newer_test.sh holds that file.
set -euo pipefail
. tests/programs/symbols.sh

PATH=$PATH:/usr/sbin:/sbin  # ldconfig
libraries=tools/bin/lib
failures=0

fail() { printf 'FAILED: %s\n' "$*"; failures=$((failures + 1)); }

# "name version" of every symbol a program takes from the two libraries.
needs() {
  objdump -T "$1" | awk '/\*UND\*/ && /(IBVERBS|RDMACM)_/ {
    version = $(NF - 1); gsub(/[()]/, "", version); print $NF, version }' | sort
}

soname() { objdump -p "$1" | awk '$1 == "SONAME" { print $2 }'; }

# To the end of the list: who hangs up on ldconfig fails with it.
debian() { ldconfig -p | awk -v name="$1" '$1 == name && /x86-64/ && !found++ { print $NF }'; }

# What newer Debians export; nobody has libraries of the releases between them to compare with.
recorded() { awk -v library="$1" '$1 == library { print $2, $3 }' tests/programs/newer_names.txt | sort; }
between='IBVERBS_PRIVATE_(57|59|64)$'

check_library() {
  local ours=$libraries/$1 theirs extra lacking
  theirs=$(debian "$1")
  if [ -z "$theirs" ]; then echo "SKIPPED: $1 of Debian is not installed"; return; fi
  [ "$(soname "$ours")" = "$1" ] || fail "$1 has the soname '$(soname "$ours")'"
  lacking=$(comm -23 <(nodes "$theirs") <(nodes "$ours"))
  [ -z "$lacking" ] || fail "$1: version nodes that Debian has: $lacking"
  extra=$(comm -13 <({ all_versions "$theirs" && recorded "$1"; } | sort -u) <(all_versions "$ours") | grep -vE "$between" || true)
  [ -z "$extra" ] || fail "$1 exports what no Debian's does: $extra"
}

# The versions that a program is linked with, those that it may have been linked with long ago, and those of newer Debians.
check_verbs_names() {
  local theirs ours=$libraries/libibverbs.so.1 lacking
  theirs=$(debian libibverbs.so.1)
  [ -n "$theirs" ] || return 0
  lacking=$(comm -23 <(exports "$theirs") <(exports "$ours") && comm -23 <(old_exports "$theirs") <(old_exports "$ours") &&
    comm -23 <(recorded libibverbs.so.1) <(all_versions "$ours"))
  [ -z "$lacking" ] || fail "libibverbs.so.1 lacks: $lacking"
}

# Of the connection manager nothing may be missing either.
check_rdma_names() {
  local theirs ours=$libraries/librdmacm.so.1 lacking
  theirs=$(debian librdmacm.so.1)
  [ -n "$theirs" ] || return 0
  lacking=$(comm -23 <(exports "$theirs") <(exports "$ours") | grep '^rdma_' || true
    comm -23 <(recorded librdmacm.so.1) <(exports "$ours") | grep -E '^(rdma|repoll)_' || true)
  [ -z "$lacking" ] || fail "librdmacm.so.1 lacks: $lacking"
}

check_program() { # PROGRAM, or SONAME
  local path lacking
  case "$1" in *.so.*) path=$(debian "$1") ;; *) path=$(command -v "$1" || true) ;; esac
  [ -n "$path" ] || { echo "SKIPPED: $1 is not installed"; return; }
  [ -n "$(needs "$path")" ] || fail "$1 needs no symbol at all: is this objdump's output?"
  lacking=$(comm -23 <(needs "$path") <(all_exports))
  [ -z "$lacking" ] || fail "$1 would lack: $lacking"
}

all_exports() { for library in "$libraries"/lib{ibverbs,rdmacm}.so.1; do exports "$library"; done | sort; }

check_docs() {
  local name
  for name in $(exports "$libraries/$1" | cut -d' ' -f1 | grep -v '^ibv_cmd_'); do
    grep -qw "$name" docs/dropin.md || fail "docs/dropin.md does not mention $name of $1"
  done
}

check_core() {
  local foreign
  foreign=$(nm -DCg --defined-only "$libraries/libanyrdma.so" | cut -c20- | grep -v -e anyrdma -e ANYRDMA || true)
  [ -z "$foreign" ] || fail "libanyrdma.so exports names that are not ours: $foreign"
}

# What comes before libc must be what device_nodes.map says, and need nothing but libc.
check_nodes() {
  local names needed
  names=$(nm -D --defined-only "$libraries/libanyrdma-nodes.so" | cut -d' ' -f3 | sort | xargs)
  [ "$names" = "$(sed -n '/global:/,/local:/p' verbs/c_api/device_nodes.map | grep -oE '[a-z_0-9]+;' | tr -d ';' | sort | xargs)" ] ||
    fail "libanyrdma-nodes.so stands before libc with: $names"
  needed=$(readelf -d "$libraries/libanyrdma-nodes.so" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | xargs)
  [ "$needed" = libc.so.6 ] || fail "libanyrdma-nodes.so needs $needed"
}

for library in libibverbs.so.1 librdmacm.so.1; do
  check_library "$library"
  check_docs "$library"
done
check_verbs_names
check_rdma_names
for program in rping ucmatose udaddy mckey cmtime rdma_{,x}{client,server} ib_{send,write,read}_{bw,lat} \
  lib{mlx4,mlx5,efa,mana}.so.1; do
  check_program "$program"
done
check_core
check_nodes

[ "$failures" = 0 ] && echo PASSED
exit "$((failures > 0))"
