#!/usr/bin/env bash
# The Debian package in fresh roots of Debian 12 and 13 (tools/root/fresh): it installs with what it depends on, runs rping,
# links a program, and is removed without a trace. One that is made on Debian 13 depends on its libraries. Debian 13's has
# the RDMA programs already: tests/programs/newer_test.sh has it, too.
. tests/programs/skip.sh
set -uo pipefail
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }

declare -A bases=()
in_root() { # SECONDS SUITE COMMAND...: all of a suite's in one root
  ANYRDMA_FRESH=$work/$2 ANYRDMA_FRESH_BASE=${bases[$2]:-} ANYRDMA_FRESH_SHARE=$work/share \
    timeout "$1" tools/root/fresh --bare "${@:2}"
}

suites=() # those that can be had; the others have said why not
older=$(. /etc/os-release && [ "${VERSION_CODENAME:-}" != bookworm ] || echo bookworm)
mkdir "$work/share"
for suite in $older trixie; do
  if { [ "$suite" != trixie ] || bases[trixie]=$(timeout 2400 tools/root/make trixie); } 2>"$work/why" &&
    in_root 2400 "$suite" true 2>"$work/why"; then suites+=("$suite"); else cat "$work/why"; fi
done
[ ${#suites[@]} != 0 ] || skip_all "$(tail -n 1 "$work/why")"

packaging/package tools/bin tools/kit "$work/share" >"$work/package.log" 2>&1 || { cat "$work/package.log"; exit 1; }
cp tests/package/consumer/devices.c "$work/share"
if command -v rping >/dev/null; then
  printf 'host server 10.0.0.1\nhost client 10.0.0.2\non server rping -s -a 10.0.0.1 -C 3\non client rping -c -a server -C 3\n' >"$work/run.txt"
  tools/bin/anyrdma replay "$work/run.txt" 'seed 1' --bundle "$work/share/run.tar" >"$work/bundle.log" 2>&1 || fail "$(cat "$work/bundle.log")"
fi
cat >"$work/share/inside" <<'INSIDE'
set -eu
export DEBIAN_FRONTEND=noninteractive
quietly() { "$@" >/tmp/log 2>&1 || { cat /tmp/log; exit 1; }; }
files() { find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /mnt -o -path /var -o -path /root \) -prune \
  -o -print | grep -v '^/etc/ld.so.cache$' | sort; }

quietly apt-get update
apt-get install -s rdmacm-utils >/tmp/log 2>&1 || { echo "no archive"; exit 77; }
quietly apt-get install -qy --no-install-recommends rdmacm-utils gcc libc6-dev pkgconf libibverbs-dev librdmacm-dev libdw1 libnl-3-200
files >/tmp/before
quietly apt-get install -qy --no-install-recommends /mnt/anyrdma_*.deb
anyrdma --version

timeout 300 anyrdma sim --host server=10.0.0.1 --host client=10.0.0.2 \
  --on server 'rping -s -a 10.0.0.1 -C 3 -v' --on client 'rping -c -a server -C 3 -v'
setpriv --reuid=nobody --regid=nogroup --clear-groups timeout 300 anyrdma sim --quiet --host server=10.0.0.1 --host client=10.0.0.2 \
  --on server 'rping -s -a 10.0.0.1 -C 3' --on client 'rping -c -a server -C 3'

if [ -e /mnt/run.tar ]; then # programs and libraries of another Debian are named, and the run is repeated with them
  mkdir /tmp/elsewhere
  (cd /tmp/elsewhere && timeout 300 anyrdma replay /mnt/run.tar) >/tmp/said 2>&1 || true
  grep '^client/rping ended with status 0' /tmp/said >/dev/null || { cat /tmp/said; exit 1; }
fi

gcc /mnt/devices.c -o /tmp/devices $(pkg-config --libs anyrdma-dropin)
/tmp/devices
grep -q '^ii' <<<"$(dpkg -l anyrdma | tail -n 1)"

quietly apt-get purge -qy anyrdma
files >/tmp/after
if ! diff /tmp/before /tmp/after; then echo "these are left behind, or gone"; exit 1; fi
! dpkg -l anyrdma 2>/dev/null | grep -q '^[ir][ci]'
echo "all well"
INSIDE

for suite in "${suites[@]}"; do
  status=0
  in_root 2400 "$suite" bash /mnt/inside >"$work/$suite.log" 2>&1 || status=$?
  case $status in
    0) grep -q '^all well$' "$work/$suite.log" || fail "$suite does not come to its end" ;;
    77) echo "SKIPPED: $suite has no archive to install from." ;;
    *) fail "$suite: status $status" && tail -n 30 "$work/$suite.log" ;;
  esac
done

[ "$failures" = 0 ] && echo PASSED
exit "$((failures > 0))"
