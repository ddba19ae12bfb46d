#include "verbs/soft/wire/crc32.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

#include "verbs/assert.h"

namespace anyrdma::roce {

namespace {

constexpr std::uint32_t kPolynomial = 0xedb88320;  // reflected
using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    tables[0][i] = crc;
  }
  for (std::size_t t = 1; t < tables.size(); ++t) {
    for (std::size_t i = 0; i < 256; ++i) {
      tables[t][i] = (tables[t - 1][i] >> 8) ^ tables[0][tables[t - 1][i] & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();
static_assert(std::endian::native == std::endian::little, "the eight-byte step loads words");

// Linear maps of the CRC register: the image of each of its bits.
using Map = std::array<std::uint32_t, 32>;

constexpr std::uint32_t image_of(const Map& map, std::uint32_t value) {
  std::uint32_t image = 0;
  for (std::size_t bit = 0; bit < map.size(); ++bit)
    image ^= map[bit] & (0 - (value >> bit & 1));  // without a branch: bits are random
  return image;
}

// Undoes one zero byte: the polynomial's highest bit says which way the register came.
constexpr std::uint32_t step_back(std::uint32_t crc) {
  for (int bit = 0; bit < 8; ++bit)
    crc = (crc & 0x8000'0000) != 0 ? (crc ^ kPolynomial) << 1 | 1 : crc << 1;
  return crc;
}

// Element k undoes 2^k zero bytes.
constexpr auto kStepsBack = [] {
  std::array<Map, 16> maps{};
  for (std::size_t bit = 0; bit < 32; ++bit) maps[0][bit] = step_back(std::uint32_t{1} << bit);
  for (std::size_t k = 1; k < maps.size(); ++k)
    for (std::size_t bit = 0; bit < 32; ++bit)
      maps[k][bit] = image_of(maps[k - 1], maps[k - 1][bit]);
  return maps;
}();

}  // namespace

std::uint32_t crc32_cause(std::uint32_t difference, std::size_t distance) {
  CM_ASSERT(distance >> kStepsBack.size() == 0);
  for (std::size_t k = 0; distance >> k != 0; ++k)
    if ((distance >> k & 1) != 0) difference = image_of(kStepsBack[k], difference);
  return difference;
}

std::uint32_t crc32_update(std::uint32_t crc, std::span<const std::uint8_t> bytes) {
  const std::uint8_t* p = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; left -= 8, p += 8) {
    std::uint32_t low = 0;
    std::uint32_t high = 0;
    std::memcpy(&low, p, 4);
    std::memcpy(&high, p + 4, 4);
    low ^= crc;
    crc = kTables[7][low & 0xff] ^ kTables[6][(low >> 8) & 0xff] ^ kTables[5][(low >> 16) & 0xff] ^
          kTables[4][low >> 24] ^ kTables[3][high & 0xff] ^ kTables[2][(high >> 8) & 0xff] ^
          kTables[1][(high >> 16) & 0xff] ^ kTables[0][high >> 24];
  }
  for (; left > 0; --left, ++p) crc = (crc >> 8) ^ kTables[0][(crc ^ *p) & 0xff];
  return crc;
}

}  // namespace anyrdma::roce
