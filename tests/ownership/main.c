#include "tests/ownership/mistakes.h"

int main(int argc, char** argv) {
  return run_mistake(argc, (const char* const*)argv);
}
