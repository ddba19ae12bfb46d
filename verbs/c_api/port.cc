// A port and its tables.
#include <infiniband/verbs.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "verbs/c_api/c_result.h"
#include "verbs/c_api/newer_functions.h"
#include "verbs/provider.h"

#undef ibv_query_port

namespace anyrdma::c_api {
namespace {

using verbs::provider_of;

/// Both sides may be older or newer: copy what both know, and leave no byte undefined.
void copy_entry(void* to, std::size_t size, const ibv_gid_entry& from) {
  std::memset(to, 0, size);
  std::memcpy(to, &from, std::min(size, sizeof from));
}

Result<void> query_gid(ibv_context* context, std::uint8_t port, int index, ibv_gid* gid) {
  if (index < 0) return errno_code(EINVAL);
  const auto entry =
      provider_of(context).query_gid(context, port, static_cast<std::uint32_t>(index));
  if (!entry && entry.error() != errno_code(ENODATA)) return entry.error();
  *gid = entry ? entry->gid : ibv_gid{};  // an empty index reads as zeros
  return {};
}

Result<int> table_length(ibv_context* context, std::uint8_t port) {
  ibv_port_attr attr{};
  if (auto queried = provider_of(context).query_port(context, port, &attr); !queried) {
    return queried.error();
  }
  return attr.gid_tbl_len;
}

/// All filled entries of all ports. EINVAL: they are more than there is room for.
Result<std::size_t> gid_table(ibv_context* context, std::byte* entries, std::size_t room,
                              std::size_t entry_size) {
  ibv_device_attr device{};
  if (auto queried = provider_of(context).query_device(context, &device); !queried) {
    return queried.error();
  }
  std::size_t filled = 0;
  for (std::uint8_t port = 1; port <= device.phys_port_cnt; ++port) {
    const Result<int> length = table_length(context, port);
    if (!length) return length.error();
    for (int index = 0; index < *length; ++index) {
      const auto entry =
          provider_of(context).query_gid(context, port, static_cast<std::uint32_t>(index));
      if (!entry) continue;
      if (filled == room) return errno_code(EINVAL);
      copy_entry(entries + filled++ * entry_size, entry_size, *entry);
    }
  }
  return filled;
}

/// The index of a partition key, -1 when it is not in the table.
int pkey_index(ibv_context* context, std::uint8_t port, __be16 pkey) {
  for (int index = 0;; ++index) {
    const auto entry = provider_of(context).query_pkey(context, port, index);
    if (!entry) return -1;
    if (*entry == pkey) return index;
  }
}

/// Returns the speed of a lane in units of 100 Mb/s. `code`: ibv_port_attr::active_speed.
std::uint64_t lane_speed(unsigned code) {
  switch (code) {
    case 1:  // SDR
      return 25;
    case 2:  // DDR
      return 50;
    case 4:  // QDR
    case 8:  // FDR10
      return 100;
    case 16:  // FDR
      return 140;
    case 32:  // EDR
      return 250;
    case 64:  // HDR
      return 500;
    case 128:  // NDR
      return 1000;
  }
  return 0;
}

/// `code`: ibv_port_attr::active_width.
std::uint64_t lanes(unsigned code) {
  switch (code) {
    case 1:
      return 1;
    case 2:
      return 4;
    case 4:
      return 8;
    case 8:
      return 12;
    case 16:
      return 2;
  }
  return 0;
}

}  // namespace
}  // namespace anyrdma::c_api

using namespace anyrdma::c_api;

extern "C" {

// Programs built before ibv_query_port became an inline function pass a structure without its last
// field.
int ibv_query_port(ibv_context* context, std::uint8_t port_num, _compat_ibv_port_attr* port_attr) {
  if (context == nullptr || port_attr == nullptr) return EINVAL;
  ibv_port_attr full{};
  const int error =
      errno_on_error([&] { return provider_of(context).query_port(context, port_num, &full); });
  if (error != 0) return error;
  std::memcpy(static_cast<void*>(port_attr), &full, offsetof(ibv_port_attr, port_cap_flags2));
  return 0;
}

int ibv_query_gid(ibv_context* context, std::uint8_t port_num, int index, ibv_gid* gid) {
  if (context == nullptr || gid == nullptr) return fail(EINVAL);
  return minus_one_on_error([&] { return query_gid(context, port_num, index, gid); });
}

int _ibv_query_gid_ex(ibv_context* context, std::uint32_t port_num, std::uint32_t gid_index,
                      ibv_gid_entry* entry, std::uint32_t flags, std::size_t entry_size) {
  if (context == nullptr || entry == nullptr || port_num > 0xff) return EINVAL;
  if (flags != 0) return EOPNOTSUPP;
  return errno_on_error([&]() -> Result<void> {
    const auto found =
        provider_of(context).query_gid(context, static_cast<std::uint8_t>(port_num), gid_index);
    if (!found) return found.error();
    copy_entry(entry, entry_size, *found);
    return {};
  });
}

ssize_t _ibv_query_gid_table(ibv_context* context, ibv_gid_entry* entries, std::size_t max_entries,
                             std::uint32_t flags, std::size_t entry_size) {
  if (context == nullptr || (entries == nullptr && max_entries != 0)) return -EINVAL;
  if (flags != 0) return -EOPNOTSUPP;
  const auto filled = guarded([&] {
    return gid_table(context, reinterpret_cast<std::byte*>(entries), max_entries, entry_size);
  });
  return filled ? static_cast<ssize_t>(*filled) : -filled.error().value();
}

int ibv_query_pkey(ibv_context* context, std::uint8_t port_num, int index, __be16* pkey) {
  if (context == nullptr || pkey == nullptr) return fail(EINVAL);
  return minus_one_on_error([&]() -> Result<void> {
    const auto found = provider_of(context).query_pkey(context, port_num, index);
    if (!found) return found.error();
    *pkey = *found;
    return {};
  });
}

int ibv_get_pkey_index(ibv_context* context, std::uint8_t port_num, __be16 pkey) {
  if (context == nullptr) return fail(EINVAL);
  const auto index = guarded([&] { return Result<int>(pkey_index(context, port_num, pkey)); });
  return index ? *index : fail(index.error().value());
}

// Private between rdma-core's libraries and its tools; ibv_devinfo asks it.
int ibv_query_gid_type(ibv_context* context, std::uint8_t port_num, unsigned index, int* type) {
  if (context == nullptr || type == nullptr) return fail(EINVAL);
  return minus_one_on_error([&]() -> Result<void> {
    constexpr int kIbOrRoceV1 = 0;
    constexpr int kRoceV2 = 1;
    const auto found = provider_of(context).query_gid(context, port_num, index);
    if (!found && found.error() != errno_code(ENODATA)) return found.error();
    *type = found && found->gid_type == IBV_GID_TYPE_ROCE_V2 ? kRoceV2 : kIbOrRoceV1;
    return {};
  });
}

/// All lanes together, in units of 100 Mb/s.
int ibv_query_port_speed(ibv_context* context, std::uint32_t port_num, std::uint64_t* port_speed) {
  return errno_on_error([&]() -> Result<void> {
    if (context == nullptr || port_speed == nullptr || port_num == 0 || port_num > 0xff)
      return errno_code(EINVAL);
    ibv_port_attr attr{};
    const auto port = static_cast<std::uint8_t>(port_num);
    if (auto queried = provider_of(context).query_port(context, port, &attr); !queried)
      return queried.error();
    *port_speed = lane_speed(attr.active_speed) * lanes(attr.active_width);
    return {};
  });
}

}  // extern "C"
