#include "sim/unasked_recordings.h"

namespace anyrdma::sim {
namespace {

UnaskedRecordings* the_recordings = nullptr;

}  // namespace

void UnaskedRecordings::install(UnaskedRecordings* recordings) {
  the_recordings = recordings;
}

UnaskedRecordings* UnaskedRecordings::installed() {
  return the_recordings;
}

}  // namespace anyrdma::sim
