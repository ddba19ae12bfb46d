// How long one message takes to write and to read. No assertion: figures to compare in one run.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>

#include "transport/ibcm/wire/rep.h"
#include "transport/ibcm/wire/req.h"
#include "verbs/soft/icrc.h"
#include "verbs/soft/wire/headers.h"

namespace {

using namespace anyrdma;

constexpr std::array<std::uint8_t, 92> kPrivateData{1, 2, 3};

ibcm::wire::Req sample_req() {
  ibcm::wire::Req req;
  req.transaction_id = 0x1122334455667788;
  req.local_comm_id = wire::CommId{0x10203040};
  req.service_id = wire::ServiceId{0x01061c06};
  req.local_ca_guid = wire::Guid{0x5054'00ff'fe00'0002};
  req.local_qpn = wire::Qpn{0x12};
  req.starting_psn = wire::Psn(0xabcdef);
  req.path_mtu = 5;
  req.private_data = kPrivateData;
  return req;
}

void req_encode(benchmark::State& state) {
  const ibcm::wire::Req req = sample_req();
  std::array<std::uint8_t, ibcm::wire::kMadSize> mad{};
  for ([[maybe_unused]] auto _ : state) {
    req.serialize(mad);
    benchmark::DoNotOptimize(mad);
  }
}
BENCHMARK(req_encode);

void req_decode(benchmark::State& state) {
  std::array<std::uint8_t, ibcm::wire::kMadSize> mad{};
  sample_req().serialize(mad);
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(mad);
    benchmark::DoNotOptimize(ibcm::wire::Req::parse(mad));
  }
}
BENCHMARK(req_decode);

void rep_encode(benchmark::State& state) {
  ibcm::wire::Rep rep;
  rep.local_comm_id = wire::CommId{0x10203040};
  rep.remote_comm_id = wire::CommId{0x50607080};
  rep.private_data = kPrivateData;
  std::array<std::uint8_t, ibcm::wire::kMadSize> mad{};
  for ([[maybe_unused]] auto _ : state) {
    rep.serialize(mad);
    benchmark::DoNotOptimize(mad);
  }
}
BENCHMARK(rep_encode);

/// The headers of an RDMA WRITE First packet: BTH and RETH.
roce::Headers sample_write() {
  roce::Headers headers;
  headers.bth.opcode = 0x06;
  headers.bth.destination = wire::Qpn{0x11};
  headers.bth.psn = wire::Psn(7);
  return headers;
}

void write_headers_encode(benchmark::State& state) {
  const roce::Headers headers = sample_write();
  std::array<std::uint8_t, 28> bytes{};
  for ([[maybe_unused]] auto _ : state) {
    roce::encode(headers, bytes);
    benchmark::DoNotOptimize(bytes);
  }
}
BENCHMARK(write_headers_encode);

void write_headers_decode(benchmark::State& state) {
  std::array<std::uint8_t, 28 + 64 + roce::kIcrcBytes> datagram{};
  roce::encode(sample_write(), std::span(datagram).first<28>());
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(datagram);
    benchmark::DoNotOptimize(roce::decode(datagram));
  }
}
BENCHMARK(write_headers_decode);

/// ICRC of a packet of range(0) payload bytes.
void icrc(benchmark::State& state) {
  verbs::soft::PacketPool pool;
  verbs::soft::PacketPtr packet = pool.take();
  packet->size = static_cast<std::uint16_t>(12 + state.range(0) + 4);
  for (std::uint8_t& byte : packet->payload()) byte = 0x5a;
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(roce::icrc_of(*packet));
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(icrc)->Arg(256)->Arg(4096);

}  // namespace
