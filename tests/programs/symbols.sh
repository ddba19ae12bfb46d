# What a shared library exports: sourced by tests.
# shellcheck shell=bash

# "name version" of every exported default symbol.
exports() {
  objdump -T "$1" | awk '$2 ~ /^[guw]/ && !/\*UND\*/ && !/\*ABS\*/ {
    version = $(NF - 1); if (version !~ /^\(/) print $NF, version }' | sort
}

# The same of other versions of a name, which only programs have that were linked long ago, or with another rdma-core.
old_exports() {
  objdump -T "$1" | awk '$2 ~ /^[guw]/ && !/\*UND\*/ && $(NF - 1) ~ /^\(/ { print $NF, $(NF - 1) }' | sort
}

# Both, as one who asks for a name in a version sees them.
all_versions() { { exports "$1" && old_exports "$1" | tr -d '()'; } | sort; }

# The nodes with their parents, without the numbers that depend on their order.
nodes() {
  objdump -p "$1" | awk '/^Version definitions:/ { on = 1; next } /^Version References:|^$/ { on = 0 }
    on && /^[0-9]/ { if (line != "") print line; line = $4 } on && /^\t/ { line = line " <- " $1 }
    END { if (line != "") print line }' | sort
}
