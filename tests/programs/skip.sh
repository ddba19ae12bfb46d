# shellcheck shell=bash

# Ends the whole test as skipped, with the reason; ./dev test counts it as that by what the XML says.
skip_all() {
  echo "SKIPPED: $*"
  [ -z "${XML_OUTPUT_FILE:-}" ] || cat >"$XML_OUTPUT_FILE" <<XML
<testsuites><testsuite name="${TEST_TARGET:-}" tests="1"><testcase name="all" result="skipped"/></testsuite></testsuites>
XML
  exit 0
}

# rdma-core 56's cmtime serves one client, which asks it twice, and has other tables than Debian 12's, and other bugs.
cmtime_serves_one_client() { grep -q 'cm connect' "$(command -v cmtime)"; }

# The command that starts ucx_perftest: a newer one believes that MPI has started it, unless it is told otherwise.
ucx_perftest_by_itself() {
  if grep -q 'MPI mode' <(ucx_perftest -h 2>&1); then echo 'ucx_perftest -P 0'; else echo ucx_perftest; fi
}

# mckey's sender destroys its queue pair without having waited for its sends. The Soft-RoCE of Linux 6.1 has sent them by
# then; newer ones send from a work queue, and what has not left is lost. Says so, where it is so.
mckey_loses_sends() {
  [ "$(printf '%s\n' 6.4 "$(uname -r)" | sort -V | head -n 1)" = 6.4 ] || return
  echo "mckey does not wait for its sends, which this kernel's Soft-RoCE makes later"
}

# Once an rping has said goodbye, its main thread closes the event channel. Its other thread, which reads there, may
# find the channel closed and exit with 255 before the main thread does with 0: on any stack, and on the kernel as well.
rping_met_its_own_race() { # LOG STATUS
  [ "$2" = 255 ] && grep -q 'DISCONNECT EVENT' "$1" && ! grep -q 'device removal' "$1" &&
    grep -q '^rdma_get_cm_event: Bad file descriptor$' "$1"
}
