#include "recording/page/story_page.h"

#include <fstream>
#include <utility>

#include "page/page.h"
#include "recording/view/json.h"

namespace anyrdma::recording {
namespace {

/// The header, with a further member.
std::string with_explanation(std::string_view header, std::string_view explanation) {
  std::string line(header.substr(0, header.rfind('}')));
  return line.append(",\"explanation\":").append(explanation).append("}");
}

}  // namespace

std::string write_story_page(const std::vector<const Story*>& stories, const std::string& path,
                             std::string_view explanation) {
  std::vector<page::PackedRun> runs;
  page::Complaint complaint;
  for (const Story* story : stories) {
    page::PackedRun& run = runs.emplace_back();
    bool explains = runs.size() == 1 && !explanation.empty();
    write_json(*story, nullptr, [&](std::string_view line) {
      const page::Complaint found =
          run.add(std::exchange(explains, false) ? with_explanation(line, explanation) : line);
      if (complaint.empty()) complaint = found;
    });
  }
  if (!complaint.empty()) return complaint;
  std::ofstream file(path, std::ios::binary);
  if (file.is_open()) page::write_page(runs, file);
  if (file.is_open() && file.flush()) return {};
  return "'" + path + "' cannot be written. Check the path";
}

}  // namespace anyrdma::recording
