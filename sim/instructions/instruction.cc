#include "sim/instructions/instruction.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace anyrdma::sim::instructions {
namespace {

/// What follows an opcode.
enum class Form : std::uint8_t {
  kNone,         // nothing
  kByte,         // a byte
  kWord,         // two
  kWordAndByte,  // three: ENTER
  kFull,         // as the operands are: four bytes, or two
  kFour,         // four whatever they are
  kWhole,        // as kFull, or eight: MOV to a register
  kOffset,       // as an address is: eight, or four
  kModrm,        // an operand in memory or a register
  kModrmByte,    // and a byte
  kModrmFull,    // and as kFull
  kGroup3Byte,   // and a byte if it is TEST
  kGroup3Full,   // and as kFull if it is TEST
  kPop,          // kModrm, or XOP
  kInvalid,
};

using Row = std::array<Form, 16>;

constexpr Form N = Form::kNone;
constexpr Form B = Form::kByte;
constexpr Form F = Form::kFull;
constexpr Form M = Form::kModrm;
constexpr Form MB = Form::kModrmByte;
constexpr Form MF = Form::kModrmFull;
constexpr Form X = Form::kInvalid;  // and prefixes, which are gone by then

constexpr std::array<Row, 16> kOneByte{{
    {M, M, M, M, B, F, X, X, M, M, M, M, B, F, X, X},
    {M, M, M, M, B, F, X, X, M, M, M, M, B, F, X, X},
    {M, M, M, M, B, F, X, X, M, M, M, M, B, F, X, X},
    {M, M, M, M, B, F, X, X, M, M, M, M, B, F, X, X},
    {X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X},
    {N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N},
    {X, X, X, M, X, X, X, X, F, MF, B, MB, N, N, N, N},
    {B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B},
    {MB, MF, X, MB, M, M, M, M, M, M, M, M, M, M, M, Form::kPop},
    {N, N, N, N, N, N, N, N, N, N, X, N, N, N, N, N},
    {Form::kOffset, Form::kOffset, Form::kOffset, Form::kOffset, N, N, N, N, B, F, N, N, N, N, N,
     N},
    {B, B, B, B, B, B, B, B, Form::kWhole, Form::kWhole, Form::kWhole, Form::kWhole, Form::kWhole,
     Form::kWhole, Form::kWhole, Form::kWhole},
    {MB, MB, Form::kWord, N, X, X, MB, MF, Form::kWordAndByte, N, Form::kWord, N, N, B, X, N},
    {M, M, M, M, X, X, X, N, M, M, M, M, M, M, M, M},
    {B, B, B, B, B, B, B, B, Form::kFour, Form::kFour, X, B, N, N, N, N},
    {X, N, X, X, N, N, Form::kGroup3Byte, Form::kGroup3Full, N, N, N, N, N, N, M, M},
}};

constexpr std::array<Row, 16> kTwoBytes{{
    {M, M, M, M, X, N, N, N, N, N, X, N, X, M, N, MB},
    {M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M},
    {M, M, M, M, X, X, X, X, M, M, M, M, M, M, M, M},
    {N, N, N, N, N, N, X, N, X, X, X, X, X, X, X, X},
    {M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M},
    {M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M},
    {M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M},
    {MB, MB, MB, MB, M, M, M, N, M, M, X, X, M, M, M, M},
    {Form::kFour, Form::kFour, Form::kFour, Form::kFour, Form::kFour, Form::kFour, Form::kFour,
     Form::kFour, Form::kFour, Form::kFour, Form::kFour, Form::kFour, Form::kFour, Form::kFour,
     Form::kFour, Form::kFour},
    {M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M},
    {N, N, N, M, MB, M, X, X, N, N, N, M, MB, M, M, M},
    {M, M, M, M, M, M, M, M, M, M, MB, M, M, M, M, M},
    {M, M, MB, M, MB, MB, MB, M, N, N, N, N, N, N, N, N},
    {M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M},
    {M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M},
    {M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M},
}};

Form look_up(const std::array<Row, 16>& table, std::uint8_t opcode) {
  return table[opcode >> 4][opcode & 15];
}

/// Of opcodes whose map an extended prefix names: all have operands.
Form extended(unsigned map, std::uint8_t opcode) {
  constexpr unsigned kTwo = 1;
  constexpr unsigned kThreeByte = 3;
  if (map == kTwo) return look_up(kTwoBytes, opcode);
  return map == kThreeByte ? MB : M;
}

class Decoder {
 public:
  explicit Decoder(std::span<const std::uint8_t> code)
      : code_(code.first(std::min(code.size(), kLongest))) {}

  [[nodiscard]] std::size_t length() {
    skip_prefixes();
    const Form form = opcode();
    return form != Form::kInvalid && operands(form) && at_ <= code_.size() ? at_ : 0;
  }

 private:
  static constexpr std::size_t kLongest = 15;

  [[nodiscard]] std::uint8_t next() { return at_ < code_.size() ? code_[at_++] : cut_off(); }
  [[nodiscard]] std::uint8_t peek() const {
    return at_ < code_.size() ? code_[at_] : std::uint8_t{0};
  }
  /// More than there is.
  std::uint8_t cut_off() {
    at_ = kLongest + 1;
    return 0;
  }

  void skip_prefixes() {
    using namespace std::string_view_literals;
    constexpr std::string_view kPrefixes = "\x26\x2e\x36\x3e\x64\x65\x66\x67\xf0\xf2\xf3"sv;
    while (at_ < code_.size() && kPrefixes.find(static_cast<char>(code_[at_])) != kPrefixes.npos) {
      short_operands_ |= code_[at_] == 0x66;
      short_addresses_ |= code_[at_] == 0x67;
      ++at_;
    }
    if ((peek() & 0xf0) == 0x40) wide_ = (next() & 8) != 0;
  }

  Form opcode() {
    constexpr std::uint8_t kEscape = 0x0f;
    constexpr std::uint8_t kVex2 = 0xc5;
    constexpr std::uint8_t kVex3 = 0xc4;
    constexpr std::uint8_t kEvex = 0x62;
    const std::uint8_t first = next();
    switch (first) {
      case kEscape:
        return behind_escape();
      case kVex2:
        (void)next();
        return extended(1, next());
      case kVex3: {
        const unsigned map = next() & 31;
        (void)next();
        return map >= 1 && map <= 3 ? extended(map, next()) : Form::kInvalid;
      }
      case kEvex: {
        const unsigned map = next() & 7;
        at_ += 2;
        return map == 0 || map == 4 || map == 7 ? Form::kInvalid : extended(map, next());
      }
      default: {
        const Form form = look_up(kOneByte, first);
        return form == Form::kPop ? pop_or_xop() : form;
      }
    }
  }

  Form behind_escape() {
    const std::uint8_t second = next();
    if (second == 0x38) return extended(2, next());
    if (second == 0x3a) return extended(3, next());
    return look_up(kTwoBytes, second);
  }

  /// XOP's maps are numbered from where no POP has them.
  Form pop_or_xop() {
    const unsigned map = peek() & 31;
    if (map < 8) return Form::kModrm;
    at_ += 2;
    (void)next();
    return map == 8 ? Form::kModrmByte : map == 9 ? Form::kModrm : Form::kInvalid;
  }

  [[nodiscard]] bool operands(Form form) {
    const std::size_t full = short_operands_ && !wide_ ? 2 : 4;
    const bool tests = (peek() >> 3 & 7) < 2;
    switch (form) {
      case Form::kNone:
        return true;
      case Form::kByte:
        return skip(1);
      case Form::kWord:
        return skip(2);
      case Form::kWordAndByte:
        return skip(3);
      case Form::kFull:
        return skip(full);
      case Form::kFour:
        return skip(4);
      case Form::kWhole:
        return skip(wide_ ? 8 : full);
      case Form::kOffset:
        return skip(short_addresses_ ? 4 : 8);
      case Form::kModrm:
        return modrm();
      case Form::kModrmByte:
        return modrm() && skip(1);
      case Form::kModrmFull:
        return modrm() && skip(full);
      case Form::kGroup3Byte:
        return modrm() && skip(tests ? 1 : 0);
      case Form::kGroup3Full:
        return modrm() && skip(tests ? full : 0);
      case Form::kPop:
      case Form::kInvalid:
        return false;
    }
    return false;
  }

  bool skip(std::size_t bytes) {
    at_ += bytes;
    return true;
  }

  bool modrm() {
    const std::uint8_t byte = next();
    const unsigned mode = byte >> 6;
    if (mode == 3) return true;
    const bool has_index = (byte & 7) == 4;
    const unsigned base = has_index ? next() & 7u : byte & 7u;
    if (mode == 1) return skip(1);
    return skip(mode == 2 || base == 5 ? 4 : 0);
  }

  std::span<const std::uint8_t> code_;
  std::size_t at_ = 0;
  bool short_operands_ = false;
  bool short_addresses_ = false;
  bool wide_ = false;
};

}  // namespace

std::size_t length_of(std::span<const std::uint8_t> code) {
  return Decoder(code).length();
}

bool reads_time_stamp(std::span<const std::uint8_t> instruction) {
  constexpr std::array<std::uint8_t, 2> kRdtsc{0x0f, 0x31};
  constexpr std::array<std::uint8_t, 3> kRdtscp{0x0f, 0x01, 0xf9};
  return std::ranges::equal(instruction, kRdtsc) || std::ranges::equal(instruction, kRdtscp);
}

bool asks_for_identity(std::span<const std::uint8_t> instruction) {
  constexpr std::array<std::uint8_t, 2> kCpuid{0x0f, 0xa2};
  return std::ranges::equal(instruction, kCpuid);
}

std::optional<Target> asks_for_processor(std::span<const std::uint8_t> instruction) {
  constexpr std::uint8_t kRepeat = 0xf3;
  constexpr std::uint8_t kRex = 0x40;
  constexpr std::uint8_t kFirstModrm = 0xf8;
  if (instruction.empty() || instruction.front() != kRepeat) return std::nullopt;
  instruction = instruction.subspan(1);
  std::uint8_t rex = 0;
  if (instruction.size() == 4 && (instruction.front() & 0xf0) == kRex) {
    rex = instruction.front();
    instruction = instruction.subspan(1);
  }
  if (instruction.size() != 3 || instruction[0] != 0x0f || instruction[1] != 0xc7 ||
      instruction[2] < kFirstModrm)
    return std::nullopt;
  const unsigned number = (instruction[2] & 7u) | (rex & 1u) << 3;
  return Target{.number = static_cast<std::uint8_t>(number), .bytes = 8};
}

std::optional<Target> asks_for_chance(std::span<const std::uint8_t> instruction) {
  constexpr std::uint8_t kShortOperands = 0x66;
  constexpr std::uint8_t kRex = 0x40;
  constexpr std::uint8_t kFirstModrm = 0xf0;  // RDRAND of register 0; RDSEED of 7 is the last one
  const auto take = [&](auto matches) -> std::optional<std::uint8_t> {
    if (instruction.empty() || !matches(instruction.front())) return std::nullopt;
    const std::uint8_t byte = instruction.front();
    instruction = instruction.subspan(1);
    return byte;
  };
  const bool is_short = take([](std::uint8_t byte) { return byte == kShortOperands; }).has_value();
  const std::uint8_t rex =
      take([](std::uint8_t byte) { return (byte & 0xf0) == kRex; }).value_or(0);
  if (instruction.size() != 3 || instruction[0] != 0x0f || instruction[1] != 0xc7 ||
      instruction[2] < kFirstModrm)
    return std::nullopt;
  const bool is_wide = (rex & 8) != 0;
  const unsigned number = (instruction[2] & 7u) | (rex & 1u) << 3;
  return Target{.number = static_cast<std::uint8_t>(number),
                .bytes = static_cast<std::uint8_t>(is_wide    ? 8
                                                   : is_short ? 2
                                                              : 4)};
}

}  // namespace anyrdma::sim::instructions
