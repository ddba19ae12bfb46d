#!/usr/bin/env bash
# Open MPI over verbs, as Debian installs it, with a program that checks each byte.
. tests/programs/lib.sh

need mpirun mpicc

# rings NAME OPTION...: of 2 and of 4 ranks, with these OPTIONs of mpirun
rings() {
  local name=$1 ranks
  shift
  mpicc -O1 -o "$work/ring" tests/programs/openmpi_ring.c || { fail "mpicc" && return; }
  for ranks in 2 4; do
    run "$name$ranks" env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
      mpirun --oversubscribe -n "$ranks" "$@" "$work/ring"
    expect_status "mpirun -n $ranks" 0 $?
    expect_line "$name$ranks" "^ring of $ranks: every byte right\$"
  done
}

# Debian 12's openib connects by InfiniBand's management datagrams alone (its CPC is udcm, not rdmacm). leave_pinned would
# have it hook into the allocator.
case_openib() {
  if ! grep -q 'MCA btl: openib' <(ompi_info); then
    skip "this Open MPI has no openib any more"
    return
  fi
  fault_options=(--link-layer infiniband)
  rings openib --mca pml ob1 --mca btl openib,self --mca btl_openib_allow_ib 1 \
    --mca btl_openib_warn_no_device_params_found 0 --mca mpi_leave_pinned 0
}

# Its way since Open MPI 5. Without another transport of UCX it is ours or nothing.
case_ucx() {
  if ! grep -q 'MCA pml: ucx' <(ompi_info); then
    skip "this Open MPI is made without UCX"
    return
  fi
  UCX_NET_DEVICES=anyrdma0:1 UCX_TLS=rc,self rings ucx --mca pml ucx --mca pml_ucx_tls any --mca pml_ucx_devices any
}

run_cases "$@"
