#include "check/retried.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace anyrdma::check {
namespace {

std::string name_of(const Retried::Request& request, const Retried::Where& where) {
  return "the " + request.operation + " with wr_id " + std::to_string(request.wr_id) + " on " +
         where.device + " QP " + std::to_string(where.qp);
}

std::string time_of(const Retried::Where& where) {
  return " (posted at " + seconds_text(where.at.time_since_epoch()) + " s)";
}

}  // namespace

struct Retried::Tracked {
  Request request;
  Where where;
  std::string program;
  std::string peer;
  std::uint64_t number = 0;  ///< within its stream and class, from 1
  bool known = false;
  bool executed = false;
  std::weak_ptr<Tracked> first{};  ///< the request that this one repeats
  Handle again{};                  ///< the request that repeats this one
};

Retried::Handle Retried::on_posted(const Stream& stream, Effect effect, const Request& request,
                                   const Where& where, bool known) {
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return nullptr;
  Class& of = found->second.classes[static_cast<std::size_t>(effect)];
  auto made = std::make_shared<Tracked>();
  made->request = request;
  made->where = where;
  made->number = ++of.posted;
  const auto program = owners_.find(stream.from);
  const auto peer = owners_.find(stream.to);
  made->known = known && program != owners_.end() && peer != owners_.end();
  if (made->known) {
    made->program = program->second;
    made->peer = peer->second;
    const auto same = std::ranges::find_if(unknown_, [&](const Handle& each) {
      const Request& earlier = each->request;
      return each->program == made->program && each->peer == made->peer &&
             (each->where.qp != where.qp || each->where.device != where.device) &&
             each->again == nullptr && earlier.operation == request.operation &&
             earlier.length == request.length && earlier.digest == request.digest;
    });
    if (same != unknown_.end()) {
      made->first = *same;
      (*same)->again = made;
    }
  }
  if (!found->second.lost) of.waiting.push_back(made);
  settle(of);
  return made;
}

// A responder may be heard of before the requester.
void Retried::settle(Class& of) {
  while (!of.waiting.empty() &&
         (of.waiting.front()->executed || of.waiting.front()->number <= of.executed)) {
    const Handle request = std::move(of.waiting.front());
    of.waiting.pop_front();
    note_executed(*request);
  }
}

void Retried::on_executed(const Stream& stream, Effect effect) {
  const auto found = streams_.find(stream);
  if (found == streams_.end() || found->second.lost) return;
  Class& of = found->second.classes[static_cast<std::size_t>(effect)];
  ++of.executed;
  settle(of);
}

void Retried::on_lost_track(const Stream& stream) {
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return;
  found->second.lost = true;
  for (Class& each : found->second.classes) each.waiting.clear();
}

void Retried::on_requester_gone(const Stream& stream) {
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return;
  const auto is_done = [](Class& each) {
    std::erase_if(each.waiting, [](const Handle& request) { return request->executed; });
    return each.waiting.empty();
  };
  if (std::ranges::all_of(found->second.classes, is_done)) streams_.erase(found);
}

void Retried::note_executed(Tracked& request) {
  if (std::exchange(request.executed, true)) return;
  if (const Handle first = request.first.lock()) judge(*first, request);
  if (request.again != nullptr) judge(request, *request.again);
}

void Retried::on_success(const Handle& request) {
  if (request != nullptr) note_executed(*request);
}

void Retried::on_unknown(const Handle& request) {
  if (request == nullptr || !request->known) return;
  unknown_.push_back(request);
  if (unknown_.size() > kRemembered) unknown_.pop_front();
}

void Retried::judge(const Tracked& first, const Tracked& again) {
  if (!first.executed || !again.executed) return;
  remarks_.push_back(
      {first.program,
       name_of(first.request, first.where) + time_of(first.where) + " failed, but " + first.peer +
           " had executed it, and has executed it again as " + name_of(again.request, again.where) +
           time_of(again.where) +
           ". A lost acknowledgement looks like a lost request. Let the peer recognise a request "
           "that it has had, or find out what became of the first one"});
}

std::vector<Retried::Remark> Retried::take_remarks() {
  return std::exchange(remarks_, {});
}

}  // namespace anyrdma::check
