#include "cm/event_record.h"

#include <algorithm>

#include "cm/id.h"
#include "verbs/assert.h"

namespace anyrdma::cm {

EventRecord::EventRecord() {
  raw.owner = this;
}

EventRecord::~EventRecord() = default;

void EventRecord::set_private_data(std::span<const std::uint8_t> data) {
  CM_ASSERT(data.size() <= kPrivateDataBytes);
  std::copy(data.begin(), data.end(), private_data.begin());
  raw.event.param.conn.private_data = data.empty() ? nullptr : private_data.data();
  raw.event.param.conn.private_data_len = static_cast<std::uint8_t>(data.size());
}

EventPool::~EventPool() {
  free_.clear_and_dispose([](EventRecord* record) { delete record; });
}

EventRecord& EventPool::take() {
  EventRecord* record = nullptr;
  if (free_.empty()) {
    record = new EventRecord;
    record->pool = this;
  } else {
    record = &free_.front();
    free_.pop_front();
    record->raw.event = {};
  }
  ++in_use_;
  return *record;
}

void EventPool::give_back(EventRecord& record) {
  EventPool& pool = *record.pool;
  CM_ASSERT(pool.in_use_ > 0);
  CM_ASSERT(record.request == nullptr);
  record.charged = nullptr;
  record.membership = nullptr;
  record.fetched = false;
  record.shown = false;
  record.own = false;
  pool.free_.push_front(record);  // the warmest first
  --pool.in_use_;
  if (pool.abandoned_ && pool.in_use_ == 0) delete &pool;
}

void EventPool::abandon(EventPool* pool) {
  pool->abandoned_ = true;
  if (pool->in_use_ == 0) delete pool;
}

}  // namespace anyrdma::cm
