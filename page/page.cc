#include "page/page.h"

#include "page/parts.h"

namespace anyrdma::page {

void write_page(const std::vector<PackedRun>& runs, std::ostream& html) {
  html << kHead << "<style>\n";
  for (const std::string_view part : kStyle) html << part;
  html << "</style>\n" << kBody;
  for (const PackedRun& run : runs) {
    html << "<script type=\"application/json\" class=\"run\">\n" << run.json() << "\n</script>\n";
  }
  html << "<script>\n\"use strict\";\n(() => {\n";
  for (const std::string_view part : kScript) html << part;
  html << "start();\n})();\n</script>\n</body>\n</html>\n";
}

Complaint write_page(std::istream& lines, std::ostream& html) {
  std::vector<PackedRun> run(1);
  if (const Complaint complaint = run.front().read(lines); !complaint.empty()) return complaint;
  write_page(run, html);
  return {};
}

Complaint write_comparison(std::istream& left, std::istream& right, std::ostream& html) {
  std::vector<PackedRun> runs;
  for (std::istream* lines : {&left, &right}) {
    const char* const which = runs.empty() ? "the first run, " : "the second run, ";
    const Complaint complaint = runs.emplace_back().read(*lines);
    if (!complaint.empty()) return which + complaint;
  }
  write_page(runs, html);
  return {};
}

}  // namespace anyrdma::page
