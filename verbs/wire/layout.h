// Message layouts as rows of (byte, bit, width), in the order of the specification's tables. A
// layout is an array of Fields, reserved bits included. static_assert(tiles(...)) proves that the
// array covers the message without gap or overlap. Code accesses single fields, whose positions the
// compiler resolves.
#pragma once

#include <array>
#include <boost/endian/conversion.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace anyrdma::wire {

/// The bits of one field of a message. `bit` counts from the most significant bit of `byte`, as
/// IBTA draws it.
struct Field {
  unsigned byte;
  unsigned bit;
  unsigned width;

  [[nodiscard]] constexpr unsigned first_bit() const { return byte * 8 + bit; }
};

/// Whether the fields, in order, cover exactly `size` bytes.
template <std::size_t N>
[[nodiscard]] constexpr bool tiles(const std::array<Field, N>& layout, std::size_t size) {
  unsigned next = 0;
  for (const Field& field : layout) {
    if (field.first_bit() != next || field.width == 0) return false;
    next += field.width;
  }
  return next == size * 8;
}

/// The smallest unsigned type that holds `Width` bits (up to 64).
template <unsigned Width>
using UintFor = std::conditional_t<
    (Width <= 8), std::uint8_t,
    std::conditional_t<(Width <= 16), std::uint16_t,
                       std::conditional_t<(Width <= 32), std::uint32_t, std::uint64_t>>>;

/// Returns the value of a field of at most 64 bits, most significant bit first. `bytes` must reach
/// to the end of the message: parsers check the length once, before they read the first field.
template <Field F>
[[nodiscard]] constexpr UintFor<F.width> get(const std::uint8_t* bytes) {
  static_assert(F.width <= 64 && F.bit + F.width <= 64);
  // Reads the whole field at once, because g++ at -O2 makes no single load of the loop below.
  if constexpr (F.bit == 0 && (F.width == 16 || F.width == 32 || F.width == 64)) {
    if (!std::is_constant_evaluated()) {
      return boost::endian::endian_load<UintFor<F.width>, F.width / 8, boost::endian::order::big>(
          bytes + F.byte);
    }
  }
  constexpr unsigned kEnd = F.bit + F.width;
  constexpr unsigned kBytes = (kEnd + 7) / 8;
  std::uint64_t value = 0;
  for (unsigned i = 0; i < kBytes; ++i) value = (value << 8) | bytes[F.byte + i];
  value >>= kBytes * 8 - kEnd;
  if constexpr (F.width < 64) value &= (std::uint64_t{1} << F.width) - 1;
  return static_cast<UintFor<F.width>>(value);
}

/// Writes a field of at most 64 bits and leaves the other bits of its bytes unchanged. Bits of the
/// value beyond the field's width are ignored.
template <Field F>
constexpr void put(std::uint8_t* bytes, std::type_identity_t<UintFor<F.width>> number) {
  static_assert(F.width <= 64 && F.bit + F.width <= 64);
  // Writes the whole field at once. For adjacent fields, g++ makes vector stores of the loop below,
  // and a later read of one field has to wait for them.
  if constexpr (F.bit == 0 && (F.width == 16 || F.width == 32 || F.width == 64)) {
    if (!std::is_constant_evaluated()) {
      return boost::endian::endian_store<UintFor<F.width>, F.width / 8, boost::endian::order::big>(
          bytes + F.byte, number);
    }
  }
  constexpr unsigned kEnd = F.bit + F.width;
  constexpr unsigned kBytes = (kEnd + 7) / 8;
  constexpr unsigned kShift = kBytes * 8 - kEnd;
  constexpr std::uint64_t kMask =
      (F.width < 64 ? (std::uint64_t{1} << (F.width % 64)) - 1 : ~std::uint64_t{0}) << kShift;
  std::uint64_t value = (static_cast<std::uint64_t>(number) << kShift) & kMask;
  // Reads the other bits only if the field shares bytes with them; for a field of whole bytes,
  // compilers make one store of the loop.
  if constexpr (F.bit != 0 || F.width % 8 != 0) {
    for (unsigned i = 0; i < kBytes; ++i) {
      const std::uint64_t kept = bytes[F.byte + i] & ~(kMask >> (8 * (kBytes - 1 - i)));
      value |= (kept & 0xff) << (8 * (kBytes - 1 - i));
    }
  }
  for (unsigned i = 0; i < kBytes; ++i) {
    bytes[F.byte + i] = static_cast<std::uint8_t>(value >> (8 * (kBytes - 1 - i)));
  }
}

/// Reads and writes `Bytes` bytes, beginning at byte `Byte` of a message, as one number, most
/// significant byte first. For headers with small fields, one access to such a word is faster than
/// one access for each field.
template <unsigned Byte, unsigned Bytes>
struct Word {
  using Number = UintFor<Bytes * 8>;
  static_assert(sizeof(Number) == Bytes);

  [[nodiscard]] static Number load(const std::uint8_t* bytes) {
    return boost::endian::endian_load<Number, Bytes, boost::endian::order::big>(bytes + Byte);
  }
  static void store(std::uint8_t* bytes, Number word) {
    boost::endian::endian_store<Number, Bytes, boost::endian::order::big>(bytes + Byte, word);
  }
  /// Returns the value of a field in the word.
  template <Field F>
  [[nodiscard]] static constexpr UintFor<F.width> get(Number word) {
    return static_cast<UintFor<F.width>>(static_cast<std::uint64_t>(word) >> shift<F>() &
                                         mask<F>());
  }
  /// Returns a word in which the field has the value `number` and all other bits are zero. Bits of
  /// the value beyond the field's width are ignored.
  template <Field F>
  [[nodiscard]] static constexpr Number only(std::type_identity_t<UintFor<F.width>> number) {
    return static_cast<Number>((number & mask<F>()) << shift<F>());
  }

 private:
  template <Field F>
  [[nodiscard]] static constexpr unsigned shift() {
    static_assert(F.byte >= Byte && F.first_bit() + F.width <= (Byte + Bytes) * 8);
    return (Byte + Bytes) * 8 - F.first_bit() - F.width;
  }
  template <Field F>
  [[nodiscard]] static constexpr std::uint64_t mask() {
    static_assert(F.width < 64);
    return (std::uint64_t{1} << F.width) - 1;
  }
};

/// Returns a field of whole bytes (a GID or private data, for example) as a view.
template <Field F>
[[nodiscard]] std::span<const std::uint8_t, F.width / 8> bytes_of(const std::uint8_t* bytes) {
  static_assert(F.bit == 0 && F.width % 8 == 0);
  return std::span<const std::uint8_t, F.width / 8>(bytes + F.byte, F.width / 8);
}
template <Field F>
[[nodiscard]] std::span<std::uint8_t, F.width / 8> bytes_of(std::uint8_t* bytes) {
  static_assert(F.bit == 0 && F.width % 8 == 0);
  return std::span<std::uint8_t, F.width / 8>(bytes + F.byte, F.width / 8);
}

}  // namespace anyrdma::wire
