// A page of JSON lines: make RUN.jsonl [OTHER.jsonl] > PAGE.html
#include <cstdio>
#include <fstream>
#include <iostream>
#include <vector>

#include "page/page.h"

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    std::fputs("usage: make RUN [OTHER RUN] > PAGE\n", stderr);
    return 2;
  }
  std::vector<std::ifstream> files;
  for (int i = 1; i < argc; ++i) files.emplace_back(argv[i]);
  const std::string complaint =
      argc == 2 ? anyrdma::page::write_page(files[0], std::cout)
                : anyrdma::page::write_comparison(files[0], files[1], std::cout);
  if (complaint.empty()) return 0;
  std::fprintf(stderr, "make: %s\n", complaint.c_str());
  return 1;
}
