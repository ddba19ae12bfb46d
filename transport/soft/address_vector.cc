#include "transport/soft/address_vector.h"

#include <cstring>

namespace anyrdma::transport::soft {

ibv_ah_attr address_vector(const ibcm::Path& path, int gid_index, std::uint8_t port) {
  ibv_ah_attr vector{};
  vector.is_global = 1;
  vector.port_num = port;
  std::memcpy(vector.grh.dgid.raw, path.destination.data(), path.destination.size());
  vector.grh.sgid_index = static_cast<std::uint8_t>(gid_index);
  vector.grh.hop_limit = path.hop_limit;
  vector.grh.traffic_class = path.traffic_class;
  vector.grh.flow_label = path.flow_label;
  return vector;
}

}  // namespace anyrdma::transport::soft
