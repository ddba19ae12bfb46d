#include "recording/page/story_page.h"

#include <fstream>
#include <string_view>

#include "page/page.h"
#include "recording/view/json.h"

namespace anyrdma::recording {

std::string write_story_page(const std::vector<const Story*>& stories, const std::string& path) {
  std::vector<page::PackedRun> runs;
  page::Complaint complaint;
  for (const Story* story : stories) {
    page::PackedRun& run = runs.emplace_back();
    write_json(*story, nullptr, [&](std::string_view line) {
      const page::Complaint found = run.add(line);
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
