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
  const auto run = PackedRun::read(lines);
  if (!run) return run.error();
  write_page({*run}, html);
  return {};
}

Complaint write_comparison(std::istream& left, std::istream& right, std::ostream& html) {
  std::vector<PackedRun> runs;
  for (std::istream* lines : {&left, &right}) {
    auto run = PackedRun::read(*lines);
    if (!run) return (runs.empty() ? "the first run, " : "the second run, ") + run.error();
    runs.push_back(std::move(*run));
  }
  write_page(runs, html);
  return {};
}

}  // namespace anyrdma::page
