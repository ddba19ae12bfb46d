#include "tools/fuzz/fuzz_bundle.h"

#include <sstream>
#include <string>
#include <string_view>

#include "tools/bundle/archive.h"
#include "tools/bundle/manifest.h"
#include "verbs/assert.h"

namespace anyrdma::tools::fuzz {

int fuzz_bundle(const std::uint8_t* data, std::size_t size) {
  const std::string text =
      size == 0 ? std::string() : std::string(reinterpret_cast<const char*>(data), size);
  std::istringstream in(text);
  std::uint64_t left = 0;
  const auto files = read_archive(in, {.begin =
                                           [&](const ArchivedFile& file) {
                                             CM_ASSERT(left == 0);
                                             CM_ASSERT(is_archive_name(file.name));
                                             left = file.bytes;
                                             return true;
                                           },
                                       .content =
                                           [&](std::string_view piece) {
                                             CM_ASSERT(piece.size() <= left);
                                             left -= piece.size();
                                             return true;
                                           }});
  CM_ASSERT(files ? left == 0 : !files.error().sentence.empty());
  const auto manifest = Manifest::parse(text);
  if (!manifest) {
    CM_ASSERT(manifest.error().sentence.starts_with("line "));
    return 0;
  }
  const auto again = Manifest::parse(manifest->to_text());
  CM_ASSERT(again && again->to_text() == manifest->to_text());
  return 0;
}

}  // namespace anyrdma::tools::fuzz
