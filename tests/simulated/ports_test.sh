#!/usr/bin/env bash
# Hosts whose RDMA device has two ports: each port works, and what happens to one leaves the other alone.
. tests/simulated/lib.sh

hosts=(--host server=mlx5_0/1=10.0.0.1/24,mlx5_0/2=10.0.1.1/24
  --host client=mlx5_0/1=10.0.0.2/24,mlx5_0/2=10.0.1.2/24)

# ports NAME PROGRAM...: PROGRAM is HOST:COMMAND, or +HOST:COMMAND for one that runs in the background
ports() {
  local name=$1 each options=("${hosts[@]}") commands=()
  shift
  for each in "$@"; do
    local where=--on
    [[ $each != +* ]] || { where=--background && each=${each#+}; }
    options+=("$where" "${each%%:*}" "${each#*:}")
    commands+=("${each#*:}")
  done
  table_row "$name" "${commands[*]@Q}" "${options[@]}"
}

# Two pairs at once, each over its port.
pairs=("server:sh -c 'rping -s -a 10.0.0.1 -C 20 & rping -s -a 10.0.1.1 -C 20; wait'"
  "client:sh -c '(rping -c -a 10.0.0.1 -C 20; echo port1 \$?) & rping -c -a 10.0.1.1 -C 20; echo port2 \$?; wait'")

plan() {
  printf '%s\n' "$@" >"$work/plan"
  settings=(--faults "$work/plan")
}

# --- what there is ---
says='server/ibv_devinfo: \s*phys_port_cnt:\s+2'
ports devinfo 'server:ibv_devinfo -d mlx5_0'
says='server/ibv_devinfo: \s*GID\[ +1\]:\s+::ffff:10\.0\.1\.1'
ports gids_of_the_second 'server:ibv_devinfo -d mlx5_0 -i 2 -v'
says='server/cat: 4: ACTIVE'
ports sysfs 'server:cat /sys/class/infiniband/mlx5_0/ports/2/state'
says='server/cat: eth1'
ports interface_of_a_port 'server:cat /sys/class/infiniband/mlx5_0/ports/2/gid_attrs/ndevs/0'
says='server/ls: eth1'
ports interfaces_of_the_device 'server:ls /sys/class/infiniband/mlx5_0/device/net'

# --- each port ---
says='client/sh: port1 0'
ports rping_over_each "${pairs[@]}"
says='client/sh: port2 0'
ports rping_to_any_address '+server:rping -s -P -a 0.0.0.0' "${pairs[1]}"
says='client/ibv_rc_pingpong: 20 iters'
ports pingpong_on_the_second 'server:ibv_rc_pingpong -i 2 -g 0 -c -n 20' \
  'client:ibv_rc_pingpong -i 2 -g 0 -c -n 20 10.0.1.1'
says='client/ib_write_bw ended with status 0'
ports ib_write_bw_on_the_second 'server:ib_write_bw -i 2 -n 100 -F' \
  'client:ib_write_bw -i 2 -n 100 -F 10.0.1.1'
says='client/ibv_ud_pingpong: 20 iters'
ports datagrams_on_the_second 'server:ibv_ud_pingpong -i 2 -g 0 -n 20' \
  'client:ibv_ud_pingpong -i 2 -g 0 -n 20 10.0.1.1'
says='server/mckey: return status 0'
ports multicast_on_the_second 'server:mckey -m 239.1.1.1 -b 10.0.1.1' \
  'client:mckey -m 239.1.1.1 -b 10.0.1.2 -s'

# --- one fails ---
says='client/sh: port1 0'
plan 'on server completion RECV 20: port-down server mlx5_0/2'
ports port_down_second "${pairs[@]}"
says='server/sh: cq completion failed status 12'
ports port_down_ends_what_is_sent "${pairs[@]}"
says='client/sh: port2 0'
plan 'on server completion RECV 20: port-down server mlx5_0/1'
ports port_down_first "${pairs[@]}"
expected=1
says='client/sh: port1 0'
plan 'on server completion RECV 20: cut-rail server mlx5_0/2'
ports cut_second "${pairs[@]}"
expected=0
plan 'at 1s: port-down server mlx5_0/2'
says='server/ibv_asyncwatch: +event_type IBV_EVENT_PORT_ERR .10., port 2'
ports event_of_the_second '+server:ibv_asyncwatch -d mlx5_0' 'server:sleep 2'
says='server/sh: \s*state:\s+PORT_DOWN'
ports state_of_the_second 'server:sleep 2' 'server:sh -c "sleep 2; ibv_devinfo -d mlx5_0 -i 2"'
plan 'at 1s: device-event server mlx5_0/2 LID_CHANGE'
says='server/ibv_asyncwatch: +event_type IBV_EVENT_LID_CHANGE .11., port 2'
ports device_event_of_the_second '+server:ibv_asyncwatch -d mlx5_0' 'server:sleep 2'
plan 'at 1s: flap server mlx5_0/2 100ms every 300ms for 1s'
says='server/ibv_asyncwatch: +event_type IBV_EVENT_PORT_ACTIVE .9., port 2'
ports flapping_second '+server:ibv_asyncwatch -d mlx5_0' 'server:sleep 3'
plan 'at 1s: add-address server mlx5_0/2 10.0.1.77/24'
says='server/sh: .*GID\[ +2\]:\s+::ffff:10\.0\.1\.77'
ports address_of_the_second 'server:sleep 2' 'server:sh -c "sleep 2; ibv_devinfo -d mlx5_0 -i 2 -v"'
plan 'at 1s: remove server mlx5_0' 'at 2s: return server mlx5_0'
says='server/sh: port2 0'
ports returned '+server:sh -c "sleep 3; rping -s -a 10.0.1.1 -C 3"' \
  'server:sh -c "sleep 4; rping -c -I 10.0.0.1 -a 10.0.1.1 -C 3; echo port2 \$?"'
plan 'at 1ms: remove server mlx5_0'
says='server/sh: Failed to get IB devices list: No such device'
ports removed_before 'server:sh -c "sleep 1; ibv_devinfo 2>&1; true"'
settings=()

# --- LIDs: each port has its own, and a program that addresses by LID reaches its peer ---
export ANYRDMA_LINK_LAYER=infiniband
says='client/ibv_rc_pingpong: .*local address: +LID 0x0003'
ports lid_of_the_first 'server:ibv_rc_pingpong -c -n 20' 'client:ibv_rc_pingpong -c -n 20 10.0.0.1'
says='client/ibv_rc_pingpong: .*remote address: +LID 0x0002'
ports pingpong_by_lid 'server:ibv_rc_pingpong -i 2 -c -n 20' \
  'client:ibv_rc_pingpong -i 2 -c -n 20 10.0.0.1'
says='client/ibv_ud_pingpong: 20 iters'
ports datagrams_by_lid 'server:ibv_ud_pingpong -i 2 -n 20' \
  'client:ibv_ud_pingpong -i 2 -n 20 10.0.0.1'
says='client/cat: 0x4'
ports lid_in_sysfs 'client:cat /sys/class/infiniband/mlx5_0/ports/2/lid'
unset ANYRDMA_LINK_LAYER

finish
