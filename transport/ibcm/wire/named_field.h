// The named fields of CM messages, for fault plans and tables. The layout of each message is a
// table of such fields.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "verbs/wire/layout.h"

namespace anyrdma::ibcm::wire {

struct NamedField {
  std::string_view name;  ///< "path_mtu"
  anyrdma::wire::Field field;
};

/// Whether the fields cover a message without gap or overlap. Used in static_assert.
template <std::size_t N>
[[nodiscard]] constexpr bool tiles(const std::array<NamedField, N>& layout, std::size_t size) {
  std::array<anyrdma::wire::Field, N> fields{};
  for (std::size_t i = 0; i < N; ++i) fields[i] = layout[i].field;
  return anyrdma::wire::tiles(fields, size);
}

/// Returns the fields of the MAD header, which every message has. Positions count from the header's
/// beginning.
[[nodiscard]] std::span<const NamedField> header_fields();
[[nodiscard]] std::span<const NamedField> req_fields();
[[nodiscard]] std::span<const NamedField> mra_fields();
[[nodiscard]] std::span<const NamedField> rej_fields();
[[nodiscard]] std::span<const NamedField> rep_fields();
[[nodiscard]] std::span<const NamedField> rtu_fields();
[[nodiscard]] std::span<const NamedField> dreq_fields();
[[nodiscard]] std::span<const NamedField> drep_fields();
[[nodiscard]] std::span<const NamedField> sidr_req_fields();
[[nodiscard]] std::span<const NamedField> sidr_rep_fields();
[[nodiscard]] std::span<const NamedField> lap_fields();
[[nodiscard]] std::span<const NamedField> apr_fields();

}  // namespace anyrdma::ibcm::wire
