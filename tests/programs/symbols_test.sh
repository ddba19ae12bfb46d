#!/usr/bin/env bash
# The drop-in's symbol tables against Debian's libraries: same sonames, same version nodes, no name
# that Debian lacks or has under another version, and of libibverbs none less, old versions included; all that the tested programs, and the drivers that
# programs are linked against, ask for; and docs/dropin.md speaks of every name.
set -euo pipefail

PATH=$PATH:/usr/sbin:/sbin  # ldconfig
libraries=tools/bin/lib
failures=0

fail() { printf 'FAILED: %s\n' "$*"; failures=$((failures + 1)); }

# "name version" of every exported default symbol.
exports() {
  objdump -T "$1" | awk '$2 ~ /^[guw]/ && !/\*UND\*/ && !/\*ABS\*/ {
    version = $(NF - 1); if (version !~ /^\(/) print $NF, version }' | sort
}

# "name version" of every symbol a program takes from the two libraries.
needs() {
  objdump -T "$1" | awk '/\*UND\*/ && /(IBVERBS|RDMACM)_/ {
    version = $(NF - 1); gsub(/[()]/, "", version); print $NF, version }' | sort
}

# The same of older versions, which only programs have that were linked long ago.
old_exports() {
  objdump -T "$1" | awk '$2 ~ /^[guw]/ && !/\*UND\*/ && $(NF - 1) ~ /^\(/ { print $NF, $(NF - 1) }' | sort
}

# The nodes with their parents, without the numbers that depend on their order.
nodes() {
  objdump -p "$1" | awk '/^Version definitions:/ { on = 1; next } /^Version References:|^$/ { on = 0 }
    on && /^[0-9]/ { if (line != "") print line; line = $4 } on && /^\t/ { line = line " <- " $1 }
    END { if (line != "") print line }' | sort
}

soname() { objdump -p "$1" | awk '$1 == "SONAME" { print $2 }'; }

# To the end of the list: who hangs up on ldconfig fails with it.
debian() { ldconfig -p | awk -v name="$1" '$1 == name && /x86-64/ && !found++ { print $NF }'; }

check_library() {
  local ours=$libraries/$1 theirs extra
  theirs=$(debian "$1")
  if [ -z "$theirs" ]; then echo "SKIPPED: $1 of Debian is not installed"; return; fi
  [ "$(soname "$ours")" = "$1" ] || fail "$1 has the soname '$(soname "$ours")'"
  diff <(nodes "$theirs") <(nodes "$ours") || fail "$1: version nodes differ (< Debian, > ours)"
  extra=$(comm -13 <(exports "$theirs") <(exports "$ours"))
  [ -z "$extra" ] || fail "$1 exports what Debian's does not: $extra"
}

check_verbs_names() {
  local theirs
  theirs=$(debian libibverbs.so.1)
  [ -n "$theirs" ] || return 0
  diff <(exports "$theirs") <(exports "$libraries/libibverbs.so.1") &&
    diff <(old_exports "$theirs") <(old_exports "$libraries/libibverbs.so.1") ||
    fail "libibverbs.so.1: names differ (< Debian, > ours)"
}

# Of the connection manager nothing may be missing either.
check_rdma_names() {
  local theirs
  theirs=$(debian librdmacm.so.1)
  [ -n "$theirs" ] || return 0
  diff <(exports "$theirs" | grep '^rdma_') <(exports "$libraries/librdmacm.so.1" | grep '^rdma_') ||
    fail "librdmacm.so.1: rdma_* differ (< Debian, > ours)"
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

# What comes before libc must be little.
check_nodes() {
  local names
  names=$(nm -D --defined-only "$libraries/libanyrdma-nodes.so" | cut -d' ' -f3 | sort | xargs)
  [ "$names" = "__xstat __xstat64 access stat stat64" ] || fail "libanyrdma-nodes.so stands before libc with: $names"
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
