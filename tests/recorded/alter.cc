// Makes a recording of a correct run into the recording of a run in which a connection manager or a
// device makes one mistake, for tests of `anyrdma check`.
//
//   alter MISTAKE RECORDING NEW_RECORDING
//
// MISTAKE is the name of the checker that must find it. Status 3: the run has no entry that can be
// altered so.
#include <rdma/rdma_cma.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "recording/entry.h"
#include "recording/reader.h"
#include "recording/sink.h"
#include "recording/writer.h"

namespace {

using anyrdma::recording::Entry;
using anyrdma::recording::EntryKind;

/// Writes the entries of a run, one of them altered.
class Alterer {
 public:
  Alterer(std::string mistake, anyrdma::recording::Writer& writer)
      : mistake_(std::move(mistake)), writer_(writer) {}

  void take(const Entry& entry) {
    if (done_) return writer_.write(entry);
    Entry altered = entry;
    if (mistake_ == "legality") return add_event(entry);
    if (mistake_ == "ledger") return repeat_if(entry, entry.kind == EntryKind::kAcknowledged);
    if (mistake_ == "work") return repeat_if(entry, is_send_completion(entry));
    if (mistake_ == "announcements") return add_last_receives(entry);
    if (mistake_ == "keys") return close_key(entry);
    if (mistake_ == "private data") {
      done_ = entry.kind == EntryKind::kGiven && entry.texts[0] == "connect";
      text_ = "?" + std::string(entry.texts[2]);
      if (done_) altered.texts[2] = text_;
    } else if (mistake_ == "agreement") {
      done_ = entry.kind == EntryKind::kGiven && entry.texts[0] == "connect";
      if (done_) ++altered.numbers[2];  // the queue pair
    } else if (mistake_ == "payload") {
      const bool is_send = entry.kind == EntryKind::kPosted && entry.texts[0] == "SEND";
      done_ = is_send && (entry.numbers[4] & anyrdma::recording::kHasDigest) != 0;
      if (done_) ++altered.numbers[7];
    }
    writer_.write(altered);
  }
  [[nodiscard]] bool done() const { return done_; }

 private:
  [[nodiscard]] static bool is_send_completion(const Entry& entry) {
    return entry.kind == EntryKind::kCompleted &&
           (entry.numbers[6] & anyrdma::recording::kOfReceive) == 0;
  }
  void repeat_if(const Entry& entry, bool wanted) {
    writer_.write(entry);
    if (wanted) writer_.write(entry);
    done_ = wanted;
  }
  /// An id hears of a disconnection as soon as its address is resolved.
  void add_event(const Entry& entry) {
    writer_.write(entry);
    done_ = entry.kind == EntryKind::kQueued && entry.numbers[3] == RDMA_CM_EVENT_ADDR_RESOLVED;
    if (!done_) return;
    Entry event = entry;
    event.numbers[3] = RDMA_CM_EVENT_DISCONNECTED;
    writer_.write(event);
  }
  /// A queue pair has its last receive twice.
  void add_last_receives(const Entry& entry) {
    writer_.write(entry);
    done_ = entry.kind == EntryKind::kOpened;
    if (!done_) return;
    Entry event;
    event.kind = EntryKind::kAsync;
    event.time = entry.time;
    event.numbers = {entry.numbers[0], IBV_EVENT_QP_LAST_WQE_REACHED, entry.numbers[1]};
    writer_.write(event);
    writer_.write(event);
  }
  /// The peer's device closes a key before a request that names it and succeeds.
  void close_key(const Entry& entry) {
    if (entry.kind == EntryKind::kOpened) lanes_.push_back(entry.numbers[0]);
    const bool names_key = entry.kind == EntryKind::kPosted && entry.numbers[6] != 0 &&
                           entry.texts[0].starts_with("RDMA_");
    for (const std::uint64_t lane : lanes_) {
      if (!names_key || done_ || lane == entry.numbers[0]) continue;
      Entry key;
      key.kind = EntryKind::kKey;
      key.time = entry.time;
      key.numbers = {lane, entry.numbers[6], 0};
      writer_.write(key);
      done_ = true;
    }
    writer_.write(entry);
  }

  const std::string mistake_;
  anyrdma::recording::Writer& writer_;
  std::vector<std::uint64_t> lanes_;  ///< those of devices with queue pairs
  std::string text_;
  bool done_ = false;
};

int alter(const std::string& mistake, const char* from, const char* to) {
  std::ifstream file(from, std::ios::binary);
  const std::vector<char> read((std::istreambuf_iterator<char>(file)), {});
  const std::vector<std::uint8_t> bytes(read.begin(), read.end());
  anyrdma::recording::Reader reader(bytes);
  const auto sink = std::make_shared<anyrdma::recording::MemorySink>(4 * bytes.size() + (1 << 20));
  auto writer = std::make_unique<anyrdma::recording::Writer>(sink);
  Alterer alterer(mistake, *writer);
  Entry entry;
  while (reader.next(entry)) {
    if (entry.kind == EntryKind::kEnd) {
      writer->end(entry.time, entry.texts[0], entry.numbers[0]);
    } else {
      alterer.take(entry);
    }
  }
  if (!reader.problem().empty() || reader.truncated()) {
    std::fprintf(stderr, "alter: '%s' is cut off, or %s\n", from, reader.problem().c_str());
    return 1;
  }
  writer.reset();
  const auto written = sink->bytes();
  std::ofstream out(to, std::ios::binary);
  out.write(reinterpret_cast<const char*>(written.data()),
            static_cast<std::streamsize>(written.size()));
  if (!out.flush()) return 1;
  return alterer.done() ? 0 : 3;
}

}  // namespace

int main(int count, char** words) {
  if (count == 4) return alter(words[1], words[2], words[3]);
  std::fprintf(stderr, "usage: alter MISTAKE RECORDING NEW_RECORDING\n");
  return 2;
}
