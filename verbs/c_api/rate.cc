// Link rates: enumerator, multiple of 2.5 Gb/s, Mb/s (IBTA volume 1, 9.8.3; values of rdma-core
// 44).
#include <infiniband/verbs.h>

#include <algorithm>
#include <array>

namespace {

struct Rate {
  ibv_rate rate;
  int mult;  ///< -1: not a multiple
  int mbps;
};

constexpr std::array kRates{
    Rate{IBV_RATE_2_5_GBPS, 1, 2500},       Rate{IBV_RATE_5_GBPS, 2, 5000},
    Rate{IBV_RATE_10_GBPS, 4, 10000},       Rate{IBV_RATE_14_GBPS, -1, 14062},
    Rate{IBV_RATE_20_GBPS, 8, 20000},       Rate{IBV_RATE_25_GBPS, -1, 25781},
    Rate{IBV_RATE_28_GBPS, 11, 28125},      Rate{IBV_RATE_30_GBPS, 12, 30000},
    Rate{IBV_RATE_40_GBPS, 16, 40000},      Rate{IBV_RATE_50_GBPS, 20, 53125},
    Rate{IBV_RATE_56_GBPS, -1, 56250},      Rate{IBV_RATE_60_GBPS, 24, 60000},
    Rate{IBV_RATE_80_GBPS, 32, 80000},      Rate{IBV_RATE_100_GBPS, -1, 103125},
    Rate{IBV_RATE_112_GBPS, -1, 112500},    Rate{IBV_RATE_120_GBPS, 48, 120000},
    Rate{IBV_RATE_168_GBPS, -1, 168750},    Rate{IBV_RATE_200_GBPS, -1, 206250},
    Rate{IBV_RATE_300_GBPS, -1, 309375},    Rate{IBV_RATE_400_GBPS, 160, 425000},
    Rate{IBV_RATE_600_GBPS, 240, 637500},   Rate{IBV_RATE_800_GBPS, 320, 850000},
    Rate{IBV_RATE_1200_GBPS, 480, 1275000},
};

}  // namespace

extern "C" {

int ibv_rate_to_mult(ibv_rate rate) {
  const auto* row = std::ranges::find(kRates, rate, &Rate::rate);
  return row == kRates.end() ? -1 : row->mult;
}

ibv_rate mult_to_ibv_rate(int mult) {
  const auto* row = mult < 1 ? kRates.end() : std::ranges::find(kRates, mult, &Rate::mult);
  return row == kRates.end() ? IBV_RATE_MAX : row->rate;
}

int ibv_rate_to_mbps(ibv_rate rate) {
  const auto* row = std::ranges::find(kRates, rate, &Rate::rate);
  return row == kRates.end() ? -1 : row->mbps;
}

ibv_rate mbps_to_ibv_rate(int mbps) {
  const auto* row = std::ranges::find(kRates, mbps, &Rate::mbps);
  return row == kRates.end() ? IBV_RATE_MAX : row->rate;
}

}  // extern "C"
