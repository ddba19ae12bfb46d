#!/usr/bin/env bash
# Open MPI over verbs, as Debian installs it, with a program that checks each byte.
. tests/programs/lib.sh

need mpirun mpicc
deadline=120

# Debian's openib connects by InfiniBand's management datagrams alone (its CPC is udcm, not rdmacm). leave_pinned would
# have it hook into the allocator.
case_openib() {
  local ranks
  ompi_info | grep -q 'MCA btl: openib' || {
    skip "this Open MPI has no openib any more: Open MPI 5 goes over UCX and libfabric"
    return
  }
  fault_options=(--link-layer infiniband)
  mpicc -O1 -o "$work/ring" tests/programs/openmpi_ring.c || { fail "mpicc" && return; }
  for ranks in 2 4; do
    run "ring$ranks" env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
      mpirun --oversubscribe -n "$ranks" --mca pml ob1 --mca btl openib,self \
      --mca btl_openib_allow_ib 1 --mca btl_openib_warn_no_device_params_found 0 --mca mpi_leave_pinned 0 "$work/ring"
    expect_status "mpirun -n $ranks" 0 $?
    expect_line "ring$ranks" "^ring of $ranks: every byte right\$"
  done
}

run_cases "$@"
