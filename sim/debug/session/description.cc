#include "sim/debug/session/description.h"

#include <cpuid.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace anyrdma::sim::debug {
namespace {

/// Where the bytes of a register come from.
enum class From : std::uint8_t {
  kGeneral,   ///< user_regs_struct, at `at`
  kExtended,  ///< XSAVE area, at `at`
  kTag,       ///< the x87 tag word, of which XSAVE has only whether each register is in use
  kUpper,     ///< the upper halves of the AVX registers, at `at` in their part of the XSAVE area
};

struct Register {
  std::string name;
  std::size_t bytes;
  std::string type;
  From from;
  std::size_t at;
  std::size_t offset = 0;  ///< in the bytes of all
};

struct Feature {
  std::string name;
  std::vector<Register> registers;
};

#define GENERAL(name) offsetof(user_regs_struct, name)
constexpr std::size_t kWord = 8;
constexpr std::size_t kHalf = 4;
// Of the legacy part of the XSAVE area.
constexpr std::size_t kControlAt = 0;
constexpr std::size_t kStatusAt = 2;
constexpr std::size_t kTagAt = 4;
constexpr std::size_t kOpcodeAt = 6;
constexpr std::size_t kInstructionAt = 8;
constexpr std::size_t kInstructionSegmentAt = 12;
constexpr std::size_t kOperandAt = 16;
constexpr std::size_t kOperandSegmentAt = 20;
constexpr std::size_t kMxcsrAt = 24;
constexpr std::size_t kStackAt = 32;
constexpr std::size_t kXmmAt = 160;
constexpr std::size_t kInUseAt = 512;  // XSTATE_BV
constexpr std::size_t kSlot = 16;
constexpr std::size_t kFloatBytes = 10;

/// Of the AVX part. 0: the processor has none.
std::size_t upper_halves_at() {
  static const std::size_t at = [] {
    unsigned size = 0;
    unsigned offset = 0;
    unsigned c = 0;
    unsigned d = 0;
    constexpr unsigned kLeaf = 0xd;
    constexpr unsigned kAvx = 2;
    return __get_cpuid_count(kLeaf, kAvx, &size, &offset, &c, &d) != 0 && size != 0 ? offset : 0u;
  }();
  return at;
}

Register general(const char* name, std::size_t at, const char* type = "int64",
                 std::size_t bytes = kWord) {
  return {name, bytes, type, From::kGeneral, at};
}

Feature core_feature() {
  Feature core{"org.gnu.gdb.i386.core",
               {general("rax", GENERAL(rax)),
                general("rbx", GENERAL(rbx)),
                general("rcx", GENERAL(rcx)),
                general("rdx", GENERAL(rdx)),
                general("rsi", GENERAL(rsi)),
                general("rdi", GENERAL(rdi)),
                general("rbp", GENERAL(rbp), "data_ptr"),
                general("rsp", GENERAL(rsp), "data_ptr"),
                general("r8", GENERAL(r8)),
                general("r9", GENERAL(r9)),
                general("r10", GENERAL(r10)),
                general("r11", GENERAL(r11)),
                general("r12", GENERAL(r12)),
                general("r13", GENERAL(r13)),
                general("r14", GENERAL(r14)),
                general("r15", GENERAL(r15)),
                general("rip", GENERAL(rip), "code_ptr"),
                general("eflags", GENERAL(eflags), "eflags", kHalf),
                general("cs", GENERAL(cs), "int32", kHalf),
                general("ss", GENERAL(ss), "int32", kHalf),
                general("ds", GENERAL(ds), "int32", kHalf),
                general("es", GENERAL(es), "int32", kHalf),
                general("fs", GENERAL(fs), "int32", kHalf),
                general("gs", GENERAL(gs), "int32", kHalf)}};
  for (std::size_t i = 0; i < 8; ++i) {
    core.registers.push_back(
        {"st" + std::to_string(i), kFloatBytes, "i387_ext", From::kExtended, kStackAt + i * kSlot});
  }
  const auto control = [&](const char* name, std::size_t at, std::size_t bytes,
                           From from = From::kExtended) {
    // gdb has four bytes for it, whatever the processor has.
    core.registers.push_back({name, bytes, "int32", from, at});
  };
  control("fctrl", kControlAt, 2);
  control("fstat", kStatusAt, 2);
  control("ftag", kTagAt, 2, From::kTag);
  control("fiseg", kInstructionSegmentAt, 2);
  control("fioff", kInstructionAt, kHalf);
  control("foseg", kOperandSegmentAt, 2);
  control("fooff", kOperandAt, kHalf);
  control("fop", kOpcodeAt, 2);
  return core;
}

std::vector<Feature> make_features() {
  const Feature core = core_feature();
  Feature sse{"org.gnu.gdb.i386.sse", {}};
  for (std::size_t i = 0; i < 16; ++i) {
    sse.registers.push_back(
        {"xmm" + std::to_string(i), kSlot, "vec128", From::kExtended, kXmmAt + i * kSlot});
  }
  sse.registers.push_back({"mxcsr", kHalf, "int32", From::kExtended, kMxcsrAt});
  Feature system{"org.gnu.gdb.i386.linux", {general("orig_rax", GENERAL(orig_rax), "int")}};
  Feature segments{
      "org.gnu.gdb.i386.segments",
      {general("fs_base", GENERAL(fs_base), "int"), general("gs_base", GENERAL(gs_base), "int")}};
  std::vector<Feature> all{core, sse, system, segments};
  if (upper_halves_at() != 0) {
    Feature avx{"org.gnu.gdb.i386.avx", {}};
    for (std::size_t i = 0; i < 16; ++i) {
      avx.registers.push_back(
          {"ymm" + std::to_string(i) + "h", kSlot, "uint128", From::kUpper, i * kSlot});
    }
    all.push_back(std::move(avx));
  }
  std::size_t offset = 0;
  for (Feature& feature : all) {
    for (Register& each : feature.registers) {
      each.offset = offset;
      offset += each.type == "int32" ? kHalf : each.bytes;
    }
  }
  return all;
}
#undef GENERAL

const std::vector<Feature>& features() {
  static const std::vector<Feature> all = make_features();
  return all;
}

const std::vector<Register>& registers() {
  static const std::vector<Register> all = [] {
    std::vector<Register> flat;
    for (const Feature& feature : features())
      flat.insert(flat.end(), feature.registers.begin(), feature.registers.end());
    return flat;
  }();
  return all;
}

std::size_t shown_bytes(const Register& one) {
  return one.type == "int32" ? kHalf : one.bytes;
}

/// Two bits for each of the eight: 0 in use, 3 empty. What is in use is not told apart further.
std::uint16_t whole_tag(std::uint8_t in_use) {
  std::uint16_t tag = 0;
  for (unsigned i = 0; i < 8; ++i) {
    if ((in_use >> i & 1) == 0) tag = static_cast<std::uint16_t>(tag | 3u << 2 * i);
  }
  return tag;
}

std::uint8_t short_tag(std::uint16_t whole) {
  std::uint8_t in_use = 0;
  for (unsigned i = 0; i < 8; ++i) {
    if ((whole >> 2 * i & 3) != 3) in_use = static_cast<std::uint8_t>(in_use | 1u << i);
  }
  return in_use;
}

/// The place of a register's bytes; nullptr: this thread's state has none.
std::byte* place_in(const Register& one, const ThreadState& state) {
  std::size_t at = one.at;
  if (one.from == From::kGeneral) return reinterpret_cast<std::byte*>(&state.general) + at;
  if (one.from == From::kUpper) at += upper_halves_at();
  return at + one.bytes <= state.extended.size() ? state.extended.data() + at : nullptr;
}

const char* vector_types() {
  return R"(<vector id="v4f" type="ieee_single" count="4"/>
<vector id="v2d" type="ieee_double" count="2"/>
<vector id="v16i8" type="int8" count="16"/>
<vector id="v8i16" type="int16" count="8"/>
<vector id="v4i32" type="int32" count="4"/>
<vector id="v2i64" type="int64" count="2"/>
<union id="vec128">
<field name="v4_float" type="v4f"/>
<field name="v2_double" type="v2d"/>
<field name="v16_int8" type="v16i8"/>
<field name="v8_int16" type="v8i16"/>
<field name="v4_int32" type="v4i32"/>
<field name="v2_int64" type="v2i64"/>
<field name="uint128" type="uint128"/>
</union>
)";
}

std::string flag_types() {
  struct Flag {
    const char* name;
    unsigned bit;
  };
  constexpr std::array kFlags{Flag{"CF", 0},  Flag{"PF", 2},  Flag{"AF", 4},  Flag{"ZF", 6},
                              Flag{"SF", 7},  Flag{"TF", 8},  Flag{"IF", 9},  Flag{"DF", 10},
                              Flag{"OF", 11}, Flag{"NT", 14}, Flag{"RF", 16}, Flag{"AC", 18},
                              Flag{"ID", 21}};
  std::string text = "<flags id=\"eflags\" size=\"4\">\n";
  for (const Flag& flag : kFlags) {
    const std::string bit = std::to_string(flag.bit);
    text += std::string("<field name=\"") + flag.name + "\" start=\"" + bit + "\" end=\"" + bit +
            "\"/>\n";
  }
  return text + "</flags>\n";
}

}  // namespace

const std::string& target_description() {
  static const std::string description = [] {
    std::string text =
        "<?xml version=\"1.0\"?>\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n<target>\n"
        "<architecture>i386:x86-64</architecture>\n<osabi>GNU/Linux</osabi>\n";
    for (const Feature& feature : features()) {
      text += "<feature name=\"" + feature.name + "\">\n";
      if (feature.name.ends_with("core")) text += flag_types();
      if (feature.name.ends_with("sse")) text += vector_types();
      for (const Register& each : feature.registers) {
        text += "<reg name=\"" + each.name + "\" bitsize=\"" +
                std::to_string(8 * shown_bytes(each)) + "\" type=\"" +
                (each.type == "int32" ? "int" : each.type) + "\"/>\n";
      }
      text += "</feature>\n";
    }
    return text + "</target>\n";
  }();
  return description;
}

std::optional<RegisterPlace> place_of_register(std::uint64_t number) {
  if (number >= registers().size()) return std::nullopt;
  const Register& one = registers()[number];
  return RegisterPlace{one.offset, shown_bytes(one)};
}

std::size_t bytes_of_registers() {
  const Register& last = registers().back();
  return last.offset + shown_bytes(last);
}

std::string packed(const ThreadState& state) {
  std::string bytes(bytes_of_registers(), '\0');
  for (const Register& each : registers()) {
    const std::byte* const from = place_in(each, state);
    if (from == nullptr) continue;
    if (each.from == From::kTag) {
      const std::uint16_t tag = whole_tag(static_cast<std::uint8_t>(*from));
      std::memcpy(bytes.data() + each.offset, &tag, sizeof tag);
    } else {
      std::memcpy(bytes.data() + each.offset, from, each.bytes);
    }
  }
  return bytes;
}

bool unpack(std::string_view bytes, const ThreadState& state) {
  if (bytes.size() != bytes_of_registers()) return false;
  for (const Register& each : registers()) {
    std::byte* const to = place_in(each, state);
    if (to == nullptr) continue;
    const char* const from = bytes.data() + each.offset;
    if (each.from == From::kTag) {
      std::uint16_t tag = 0;
      std::memcpy(&tag, from, sizeof tag);
      *to = static_cast<std::byte>(short_tag(tag));
    } else {
      std::memcpy(to, from, each.bytes);
    }
  }
  // What is not in use counts as zero, whatever stands there.
  constexpr std::byte kAll{7};
  if (kInUseAt < state.extended.size()) state.extended[kInUseAt] |= kAll;
  return true;
}

}  // namespace anyrdma::sim::debug
