#include "tools/bundle/manifest.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <optional>
#include <span>
#include <type_traits>

#include "base/text.h"
#include "tools/bundle/archive.h"

namespace anyrdma::tools {
namespace {

constexpr std::string_view kFirst = "anyrdma bundle 1";

/// The word before the next blank, which `rest` loses. nullopt: no word follows.
std::optional<std::string> next_word(std::string_view& rest) {
  const std::size_t blank = rest.find(' ');
  if (blank == 0 || blank == std::string_view::npos) return std::nullopt;
  std::string word(rest.substr(0, blank));
  rest.remove_prefix(blank + 1);
  return word;
}

bool take_file(std::string_view rest, bool has_copy, std::vector<BundledFile>& files) {
  BundledFile file;
  const auto id = next_word(rest);
  if (!id) return false;
  file.id = *id;
  if (has_copy) {
    const auto copy = next_word(rest);
    if (!copy || !is_archive_name(*copy)) return false;
    file.copy = *copy;
  }
  if (rest.empty()) return false;
  file.path = rest;
  files.push_back(std::move(file));
  return true;
}

bool take_hash(std::string_view text, std::uint64_t& hash) {
  constexpr std::size_t kDigits = 16;
  if (text.size() != kDigits) return false;
  hash = 0;
  for (const char c : text) {
    const std::size_t digit = std::string_view("0123456789abcdef").find(c);
    if (digit == std::string_view::npos) return false;
    hash = hash << 4 | digit;
  }
  return true;
}

bool take_line(std::string_view line, Manifest& into) {
  const auto behind = [line](std::string_view word) {
    return line.size() > word.size() && line.starts_with(word)
               ? std::optional(line.substr(word.size()))
               : std::nullopt;
  };
  if (const auto rest = behind("written by ")) return !(into.writer = *rest).empty();
  if (const auto rest = behind("scenario "))
    return is_archive_name(*rest) && !(into.scenario = *rest).empty();
  if (const auto rest = behind("trial ")) return !(into.trial = *rest).empty();
  if (line == "option buffered") return into.buffered = true;
  if (line == "option strict") return into.strict = true;
  if (const auto rest = behind("hash ")) return take_hash(*rest, into.hash);
  if (const auto rest = behind("program ")) return take_file(*rest, true, into.programs);
  if (const auto rest = behind("input "))
    return into.inputs.empty() && take_file(*rest, true, into.inputs);
  if (const auto rest = behind("library ")) return take_file(*rest, false, into.libraries);
  return false;
}

template <class Value>
std::optional<Value> read_at(std::ifstream& file, std::uint64_t at) {
  static_assert(std::is_trivially_copyable_v<Value>);
  Value value;
  file.clear();
  if (!file.seekg(static_cast<std::streamoff>(at)) ||
      !file.read(reinterpret_cast<char*>(&value), sizeof value))
    return std::nullopt;
  return value;
}

/// In the notes of one segment.
std::string build_id_in(std::ifstream& file, std::uint64_t at, std::uint64_t bytes) {
  constexpr std::uint64_t kNotesMax = 1 << 20;
  constexpr std::uint32_t kIdMax = 64;
  const std::uint64_t end = at + std::min(bytes, kNotesMax);
  const auto padded = [](std::uint64_t size) { return (size + 3) / 4 * 4; };
  while (at < end) {
    const auto note = read_at<Elf64_Nhdr>(file, at);
    if (!note) return {};
    const auto name = read_at<std::array<char, 4>>(file, at + sizeof *note);
    const std::uint64_t content = at + sizeof *note + padded(note->n_namesz);
    const bool is_gnu = name && note->n_namesz == 4 && std::memcmp(name->data(), "GNU", 4) == 0;
    if (is_gnu && note->n_type == NT_GNU_BUILD_ID && note->n_descsz <= kIdMax) {
      const auto id = read_at<std::array<std::uint8_t, kIdMax>>(file, content);
      return id ? hex_text(std::span(*id).first(note->n_descsz)) : std::string();
    }
    at = content + padded(note->n_descsz);
  }
  return {};
}

std::string build_id_of(std::ifstream& file) {
  const auto head = read_at<Elf64_Ehdr>(file, 0);
  if (!head || std::memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
      head->e_ident[EI_CLASS] != ELFCLASS64)
    return {};
  for (std::uint64_t i = 0; i < head->e_phnum; ++i) {
    const auto segment = read_at<Elf64_Phdr>(file, head->e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment) return {};
    if (segment->p_type != PT_NOTE) continue;
    const std::string id = build_id_in(file, segment->p_offset, segment->p_filesz);
    if (!id.empty()) return id;
  }
  return {};
}

/// FNV-1a.
std::uint64_t hash_of(std::ifstream& file) {
  std::uint64_t hash = 0xcbf29ce484222325;
  std::array<char, 65536> piece;
  file.clear();
  file.seekg(0);
  while (file.read(piece.data(), piece.size()) || file.gcount() > 0) {
    for (std::streamsize i = 0; i < file.gcount(); ++i)
      hash =
          (hash ^ static_cast<unsigned char>(piece[static_cast<std::size_t>(i)])) * 0x100000001b3;
  }
  return hash;
}

}  // namespace

std::string Manifest::to_text() const {
  std::string text = std::string(kFirst) + "\nwritten by " + writer + "\nscenario " + scenario +
                     "\ntrial " + trial + "\n";
  if (buffered) text += "option buffered\n";
  if (strict) text += "option strict\n";
  append(text, "hash %016llx\n", static_cast<unsigned long long>(hash));
  for (const BundledFile& each : programs)
    text += "program " + each.id + " " + each.copy + " " + each.path + "\n";
  for (const BundledFile& each : inputs)
    text += "input " + each.id + " " + each.copy + " " + each.path + "\n";
  for (const BundledFile& each : libraries) text += "library " + each.id + " " + each.path + "\n";
  return text;
}

verbs::OrWhyNot<Manifest> Manifest::parse(std::string_view text) {
  Manifest manifest;
  const auto refuse = [](std::size_t line) {
    return verbs::WhyNot{"line " + std::to_string(line) +
                         " of its bundle.txt is not understood. Use this version of anyrdma for "
                         "both sides."};
  };
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (++number == 1 ? line != kFirst : !take_line(line, manifest)) return refuse(number);
  }
  if (manifest.writer.empty() || manifest.scenario.empty() || manifest.trial.empty())
    return refuse(number + 1);
  return manifest;
}

std::string file_id(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || file.peek() == std::ifstream::traits_type::eof()) return {};
  if (const std::string id = build_id_of(file); !id.empty()) return "build-id:" + id;
  std::string text = "content:";
  append(text, "%016llx", static_cast<unsigned long long>(hash_of(file)));
  return text;
}

}  // namespace anyrdma::tools
