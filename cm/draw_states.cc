// A filter that brings the diagrams of a page up to date: draw_states < PAGE.
#include <array>
#include <cstdio>
#include <string>

#include "cm/state_diagram.h"

int main() {
  std::string text;
  std::array<char, 4096> piece{};
  while (const std::size_t got = std::fread(piece.data(), 1, piece.size(), stdin)) {
    text.append(piece.data(), got);
  }
  const std::string page = anyrdma::cm::with_diagrams(text);
  return std::fwrite(page.data(), 1, page.size(), stdout) == page.size() ? 0 : 1;
}
