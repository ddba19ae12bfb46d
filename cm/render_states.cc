// Writes the state tables for readers: render_states [--text]. Output replaces docs/id-states.md or
// cm/testdata/id_states.txt.
#include <cstdio>
#include <string>
#include <string_view>

#include "cm/state_table.h"

int main(int argc, char** argv) {
  const bool text = argc > 1 && std::string_view(argv[1]) == "--text";
  const std::string page =
      text ? anyrdma::cm::state_tables_as_text() : anyrdma::cm::state_tables_as_markdown();
  return std::fwrite(page.data(), 1, page.size(), stdout) == page.size() ? 0 : 1;
}
