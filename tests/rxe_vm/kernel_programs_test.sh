#!/usr/bin/env bash
# The cases of tests/programs in one machine: what they ask of the drop-in is true of the kernel. Left out are the cases
# about fabrics and users, the longest, for emulation is slow, and perftest -R, whose server stops listening for a moment:
# a client that meets that crashes, on any stack.
set -uo pipefail
. tests/rxe_vm/lib.sh

in_machine --deadline 1700 -- bash -c '
  export EMULATED=1 ON_KERNEL=10.9.0.1
  status=0
  suite() { echo "$SECONDS s: $1"; "tests/programs/$1_test.sh" "${@:2}" || status=1; }
  suite rping both_sides_exit_0 own_queue_pairs_work data_are_shown_and_wrap_around events_are_shown \
    a_source_address_may_be_named another_port_may_be_named wildcard_server_serves_loopback \
    death_of_the_client_disconnects_the_server death_of_the_server_disconnects_the_client \
    second_server_on_one_port_is_refused client_without_a_server_is_refused
  suite ucmatose one_connection a_hundred_connections_migrate a_type_of_service_may_be_set \
    an_acknowledgement_timeout_may_be_set no_message_at_all_is_fine long_messages_work \
    the_port_space_may_be_infinibands_own both_sides_may_name_addresses
  suite udaddy one_path the_largest_datagrams_work client_without_a_server_fails
  suite mckey three_receivers a_sender_may_join_to_send_only groups_do_not_hear_each_other
  suite rdma_client
  suite cmtime a_hundred_connections the_client_may_bind a_server_serves_one_client_after_the_other
  suite perftest ib_{send,write,read}_{bw,lat}_over_sockets ib_send_bw_with_a_shared_receive_queue \
    ib_send_lat_with_datagrams
  exit $status'
