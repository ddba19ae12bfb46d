#!/usr/bin/env bash
# Programs that look for the calls of a vendor first (mlx5dv, efadv), and then use plain verbs.
. tests/programs/lib.sh
need gcc

case_each_entry_point_is_refused() {
  [ -e /usr/include/infiniband/mlx5dv.h ] && [ -e /usr/include/infiniband/efadv.h ] ||
    { skip 'no headers of mlx5dv and efadv'; return; }
  gcc -O1 -Wall -o "$work/direct_verbs" tests/programs/direct_verbs.c -lmlx5 -lefa -libverbs ||
    { fail 'gcc' && return; }
  run refused "$work/direct_verbs"
  expect_status direct_verbs 0 $?
  expect_line refused '^ok +!mlx5dv_is_supported'
  expect_line refused '^0 wrong$'
}

case_ucx_takes_plain_verbs() {
  command -v ucx_info >/dev/null || { skip 'ucx_info is not installed'; return; }
  run info env UCX_NET_DEVICES=anyrdma0:1 ucx_info -d
  expect_status ucx_info 0 $?
  expect_line info '^#  +Transport: rc_verbs'
  expect_line info '^#  +Transport: ud_verbs'
  ! grep -E 'Transport: (rc|ud|dc)_(mlx5|x)' "$work/info.log" || fail 'a transport of mlx5 is there'
}

case_libfabric_takes_plain_verbs() {
  command -v fi_info >/dev/null || { skip 'fi_info is not installed'; return; }
  run info fi_info
  expect_status fi_info 0 $?
  expect_line info '^ *provider: verbs'
  ! grep -E 'provider: efa$' "$work/info.log" || fail 'the provider of EFA has a device'
}

run_cases "$@"
