#!/usr/bin/env bash
# Hosts with two interfaces, each with an RDMA device: each rail works, and what happens to one leaves the other alone.
. tests/simulated/lib.sh
. tests/simulated/rails.sh

# Two pairs at once, each over its rail.
pairs=("server:sh -c 'rping -s -a 10.0.0.1 -C 20 & rping -s -a 10.0.1.1 -C 20; wait'"
  "client:sh -c '(rping -c -a 10.0.0.1 -C 20; echo rail0 \$?) & rping -c -a 10.0.1.1 -C 20; echo rail1 \$?; wait'")

# --- what there is ---
says='server/ibv_devices: +mlx5_1 '
rails devices_with_names server:ibv_devices
says='client/ibv_devices: +anyrdma1 '
rails devices_without_names client:ibv_devices
says='server/ibv_devinfo: hca_id:.mlx5_1'
rails device_by_its_name 'server:ibv_devinfo -d mlx5_1 -v'
says='server/cat: mlx5_1$'
rails sysfs 'server:cat /sys/class/infiniband_verbs/uverbs1/ibdev'
says='server/ls: uverbs1$'
rails device_nodes 'server:ls /dev/infiniband'
says='server/ls: rail1$'
rails interface_of_a_device 'server:ls /sys/class/infiniband/mlx5_1/device/net'
says='server/ip: 3: rail1 +inet 10\.0\.1\.1/24 '
rails network_interfaces 'server:ip -o -4 address show rail1'

# --- each rail ---
says='client/sh: rail0 0'
rails rping_over_each "${pairs[@]}"
says='client/sh: rail1 0'
rails rping_to_any_address '+server:rping -s -P -a 0.0.0.0' "${pairs[1]}"
says='client/ib_write_bw ended with status 0'
rails ib_write_bw_on_the_first 'server:ib_write_bw -d mlx5_0 -n 100 -F' \
  'client:ib_write_bw -d anyrdma0 -n 100 -F 10.0.0.1'
rails ib_write_bw_on_the_second 'server:ib_write_bw -d mlx5_1 -n 100 -F' \
  'client:ib_write_bw -d anyrdma1 -n 100 -F 10.0.1.1'
says='client/ibv_rc_pingpong: 20 iters'
rails pingpong_on_the_second 'server:ibv_rc_pingpong -d mlx5_1 -g 1 -n 20' \
  'client:ibv_rc_pingpong -d anyrdma1 -g 1 -n 20 10.0.1.1'
says='client/udaddy: return status 0'
rails datagrams_on_the_second 'server:udaddy -b 10.0.1.1' 'client:udaddy -s 10.0.1.1'
says='server/mckey: return status 0'
rails multicast_on_the_second 'server:mckey -m 239.1.1.1 -b 10.0.1.1' \
  'client:mckey -m 239.1.1.1 -b 10.0.1.2 -s'
says='server/sh: client 0'
rails from_one_device_to_the_other 'server:rping -s -a 10.0.1.1 -C 3' \
  "server:sh -c 'rping -c -I 10.0.0.1 -a 10.0.1.1 -C 3; echo client \$?'"

# --- one fails ---
says='client/sh: rail0 0'
plan 'on server completion RECV 20: remove client anyrdma1'
rails remove_second "${pairs[@]}"
plan 'on server completion RECV 20: port-down server mlx5_1'
rails port_down_second "${pairs[@]}"
says='server/sh: cq completion failed status 12'
rails port_down_ends_what_is_sent "${pairs[@]}"
says='client/sh: rail1 0'
plan 'on server completion RECV 20: remove client anyrdma0'
rails remove_first "${pairs[@]}"

# Who waits for a message of a rail that is cut waits for ever.
expected=1
plan 'on server completion RECV 20: cut-rail server rail0'
rails cut_first "${pairs[@]}"
says='client/sh: rail0 0'
plan 'on server completion RECV 20: cut-rail server rail1'
rails cut_second "${pairs[@]}"
expected=0

# A device that was removed before a program began is not there.
plan 'at 1ms: remove server mlx5_0'
says='server/ibv_devices: +mlx5_1 '
rails removed_before 'server:sleep 1' 'server:ibv_devices'
# The event is that of its device.
plan 'at 1s: port-down server mlx5_1'
says='server/ibv_asyncwatch: +event_type IBV_EVENT_PORT_ERR .10., port 1'
rails event_of_the_second '+server:ibv_asyncwatch -d mlx5_1' 'server:sleep 2'
plan 'at 1s: port-down server mlx5_1' 'at 2s: port-up server mlx5_1'
says='server/ibv_devinfo: \s*state:\s+PORT_ACTIVE'
rails port_up_again 'server:sleep 3' 'server:ibv_devinfo -d mlx5_1'
settings=()

finish
