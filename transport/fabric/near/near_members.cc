#include "transport/fabric/near/near_members.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "transport/realtime/file_limit.h"
#include "transport/realtime/guarded_access.h"
#include "verbs/assert.h"
#include "verbs/wire/gid.h"

namespace anyrdma::transport::fabric {
namespace {

using wire::same;

/// Copied at once: who withdraws memory may have to wait for so much of the kernel's work.
constexpr std::uint64_t kStep = 1u << 20;
/// A gather list's, and the last word.
constexpr std::size_t kPartsMax = 34;
constexpr std::size_t kWord = 8;

/// The place of a QPN within its slot; kNearEnds: none.
std::uint32_t index_of(std::uint32_t number) {
  const std::uint32_t within = number & ((1u << kQpnShift) - 1);
  return within < kFirstQpn ? kNearEnds : std::min(within - kFirstQpn, kNearEnds);
}

/// Lists bytes of pieces, for a system call.
class Parts {
 public:
  using Piece = verbs::soft::NearMemory::Piece;
  explicit Parts(std::span<const Piece> pieces) : left_(pieces) {}

  /// Adds the next bytes. False: they are in too many pieces.
  [[nodiscard]] bool add(std::uint64_t size) {
    while (size > 0) {
      if (used_ == kPartsMax) return false;
      const Piece& piece = left_.front();
      const std::uint64_t part = std::min<std::uint64_t>(size, piece.size - taken_);
      if (part > 0) parts_[used_++] = {piece.at + taken_, part};
      size -= part;
      taken_ += part;
      if (taken_ == piece.size) {
        left_ = left_.subspan(1);
        taken_ = 0;
      }
    }
    return true;
  }
  [[nodiscard]] std::span<const iovec> list() const { return {parts_.data(), used_}; }
  void clear() { used_ = 0; }

 private:
  std::span<const Piece> left_;
  std::uint64_t taken_ = 0;  ///< of the first
  std::array<iovec, kPartsMax> parts_{};
  std::size_t used_ = 0;
};

/// Looks at every page that is to be copied. False: one is not there.
bool touch(std::span<const iovec> parts) {
  return realtime::guarded(
      [](void* context) {
        constexpr std::size_t kPage = 4096;
        for (const iovec& part : *static_cast<std::span<const iovec>*>(context)) {
          const auto* const bytes = static_cast<const volatile std::uint8_t*>(part.iov_base);
          for (std::size_t at = 0; at < part.iov_len; at += kPage) (void)bytes[at];
          (void)bytes[part.iov_len - 1];
        }
      },
      &parts);
}

std::uint64_t size_of(std::span<const verbs::soft::NearMemory::Piece> pieces) {
  std::uint64_t size = 0;
  for (const auto& piece : pieces) size += piece.size;
  return size;
}

const NearSegment* map_theirs(const realtime::Descriptor& fd, std::uint64_t incarnation) {
  // Only what can neither shrink nor change its size is mapped.
  const int seals = ::fcntl(fd.get(), F_GET_SEALS);
  struct stat status {};
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || ::fstat(fd.get(), &status) != 0 ||
      status.st_size != static_cast<off_t>(sizeof(NearSegment)))
    return nullptr;
  void* const at = ::mmap(nullptr, sizeof(NearSegment), PROT_READ, MAP_SHARED, fd.get(), 0);
  if (at == MAP_FAILED) return nullptr;
  (void)::madvise(at, sizeof(NearSegment), MADV_DONTFORK);
  (void)::madvise(at, sizeof(NearSegment), MADV_DONTDUMP);
  const auto* const segment = static_cast<const NearSegment*>(at);
  if (segment->magic.load() == kNearMagic && segment->incarnation.load() == incarnation)
    return segment;
  ::munmap(at, sizeof(NearSegment));
  return nullptr;
}

}  // namespace

/// What another member shows and has given.
struct NearMembers::View {
  View(const NearSegment& shown, ProcessMemory given, std::uint64_t number)
      : segment(shown), memory(std::move(given)), grant(number) {}
  View(const View&) = delete;
  View& operator=(const View&) = delete;
  ~View() { ::munmap(const_cast<NearSegment*>(&segment), sizeof(NearSegment)); }

  const NearSegment& segment;
  ProcessMemory memory;
  std::uint64_t grant;  ///< the memory's number
};

/// One of our ends, and what it has found at the other.
struct NearMembers::Link {
  using Version = NearRecord<End>::Version;
  End self{};
  Version end_version = 0;  ///< 0: nothing was found
  End end{};
  Version region_version = 0;
  Region region{};
};

/// What was found to be allowed, and whether it still is.
struct NearMembers::Passage {
  const Link* link = nullptr;
  View* view = nullptr;
  const std::atomic<std::uint64_t>* grant = nullptr;
  const NearRecord<End>* end = nullptr;
  const NearRecord<Region>* region = nullptr;  ///< null: no byte is concerned
  std::uint64_t address = 0;                   ///< as the owner's processor has it

  [[nodiscard]] bool is_still_allowed() const {
    return view->segment.open.load(std::memory_order_acquire) != 0 &&
           grant->load(std::memory_order_acquire) == view->grant &&
           end->is_still(link->end_version) &&
           (region == nullptr || region->is_still(link->region_version));
  }
};

// --- life ---------------------------------------------------------------------------------------

std::unique_ptr<NearMembers> NearMembers::create(Slot self, std::uint64_t incarnation) {
  if (!realtime::may_be_so_long(sizeof(NearSegment))) return nullptr;
  realtime::Descriptor fd(::memfd_create("anyrdma", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd || ::ftruncate(fd.get(), sizeof(NearSegment)) != 0) return nullptr;
  void* const at =
      ::mmap(nullptr, sizeof(NearSegment), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (at == MAP_FAILED) return nullptr;
  (void)::madvise(at, sizeof(NearSegment), MADV_DONTFORK);
  std::unique_ptr<NearMembers> members(
      new NearMembers(self, incarnation, std::move(fd), *static_cast<NearSegment*>(at)));
  // Who maps it from now on cannot write to it.
  constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;
  if (::fcntl(members->fd_.get(), F_ADD_SEALS, kSeals) != 0) return nullptr;
  return members;
}

NearMembers::NearMembers(Slot self, std::uint64_t incarnation, realtime::Descriptor fd,
                         NearSegment& segment)
    : self_(self), fd_(std::move(fd)), segment_(&segment) {
  segment_->incarnation.store(incarnation);
  segment_->open.store(1);
  segment_->magic.store(kNearMagic);
}

NearMembers::~NearMembers() {
  close();
  if (segment_ != nullptr) ::munmap(segment_, sizeof(NearSegment));
}

void NearMembers::close() {
  if (std::exchange(closed_, true)) return;
  segment_->open.store(0);
  interrupt();
  granted_.clear();
  for (auto& view : views_) view.reset();
}

void NearMembers::abandon() {
  closed_ = true;
  segment_ = nullptr;  // neither our table nor the others' was inherited
  fd_.reset();
  for (auto& [slot, memory] : granted_) memory.abandon();
  granted_.clear();
  for (auto& view : views_) {
    if (!view) continue;
    view->memory.abandon();
    (void)view.release();
  }
}

// --- what others may do here --------------------------------------------------------------------

/// From here on, every writer has read the table after the change.
void NearMembers::interrupt() {
  for (auto grant = granted_.begin(); grant != granted_.end();) {
    if (grant->second.move_to(ProcessMemory::kNowhere)) {
      ++grant;
    } else {
      // The program has closed it. Who is in the middle of something cannot be stopped.
      segment_->grants[value(grant->first)].store(0);
      grant = granted_.erase(grant);
    }
  }
}

template <class Record>
void NearMembers::withdraw(Record& record) {
  if (record.withdraw()) interrupt();
}

void NearMembers::set_open(bool open) {
  open_ = open;
  if (closed_) return;
  segment_->open.store(open ? 1 : 0);
  if (!open) interrupt();
}

void NearMembers::set_awake(bool awake) {
  if (!closed_) segment_->awake.store(awake ? 1 : 0, std::memory_order_relaxed);
}

void NearMembers::set_end(const End& end) {
  if (closed_) return;
  const std::uint32_t index = index_of(end.number);
  CM_ASSERT(index < kNearEnds);
  if (index >= links_.size()) links_.resize(index + 1);
  links_[index] = {.self = end};
  withdraw(segment_->ends[index]);
  if (end.answers) segment_->ends[index].set(end);
}

void NearMembers::forget_end(std::uint32_t number) {
  const std::uint32_t index = index_of(number);
  if (closed_ || index >= links_.size()) return;
  links_[index] = {};
  withdraw(segment_->ends[index]);
}

void NearMembers::add_region(const Region& region) {
  const std::uint32_t index = region.key >> 8;
  if (closed_ || index >= kNearRegions) return;
  withdraw(segment_->regions[index]);
  segment_->regions[index].set(region);
}

void NearMembers::forget_region(std::uint32_t key) {
  const std::uint32_t index = key >> 8;
  if (closed_ || index >= kNearRegions) return;
  withdraw(segment_->regions[index]);
}

// --- the others ---------------------------------------------------------------------------------

std::vector<int> NearMembers::gifts_for(Slot slot) {
  revoke(slot);
  if (closed_ || slot == self_) return {};
  const std::uint64_t number = ++grants_;
  std::optional<ProcessMemory> memory = ProcessMemory::open_own(ProcessMemory::kNowhere + number);
  if (!memory) return {};
  const int fd = memory->fd();
  granted_.emplace(slot, std::move(*memory));
  segment_->grants[value(slot)].store(number);
  return {fd_.get(), fd};
}

/// It may be closed now: a member that still has the descriptor writes nowhere, and finds that it
/// is no longer valid.
void NearMembers::revoke(Slot slot) {
  const auto grant = granted_.find(slot);
  if (grant == granted_.end()) return;
  segment_->grants[value(slot)].store(0);
  (void)grant->second.move_to(ProcessMemory::kNowhere);
  granted_.erase(grant);
}

void NearMembers::on_gifts(Slot slot, std::uint64_t incarnation, realtime::Descriptor segment,
                           realtime::Descriptor memory) {
  if (closed_ || slot == self_) return;
  views_[value(slot)].reset();
  std::optional<ProcessMemory> given = ProcessMemory::adopt(std::move(memory));
  if (!given) return;
  const std::uint64_t number = given->position() - ProcessMemory::kNowhere;
  if (const NearSegment* const shown = map_theirs(segment, incarnation))
    views_[value(slot)] = std::make_unique<View>(*shown, std::move(*given), number);
}

void NearMembers::on_gone(Slot slot) {
  views_[value(slot)].reset();
  revoke(slot);
  for (Link& link : links_)
    if (slot_of(wire::Qpn{link.self.peer}) == slot) link = {.self = link.self};
}

// --- what may be done there ---------------------------------------------------------------------

/// Whether the other end takes what ours sends.
bool NearMembers::meet(Link& link, const View& view) {
  const std::uint32_t index = index_of(link.self.peer);
  if (index >= kNearEnds) return false;
  const NearRecord<End>& record = view.segment.ends[index];
  if (link.end_version != 0 && record.is_still(link.end_version)) return true;
  link.region_version = 0;
  link.end_version = record.read(link.end);
  const End& end = link.end;
  const End& self = link.self;
  const bool fits = end.number == self.peer && end.peer == self.number && end.mtu == self.mtu &&
                    end.first_expected == self.first_sent && same(end.source, self.destination) &&
                    same(end.destination, self.source);
  if (!fits) link.end_version = 0;
  return link.end_version != 0;
}

/// Whether the other end may be shown that region.
bool NearMembers::look_up(Link& link, const View& view, std::uint32_t key) {
  const std::uint32_t index = key >> 8;
  if (index >= kNearRegions) return false;
  const NearRecord<Region>& record = view.segment.regions[index];
  if (link.region_version != 0 && link.region.key == key && record.is_still(link.region_version))
    return true;
  link.region_version = record.read(link.region);
  if (link.region.key != key || link.region.domain != link.end.domain) link.region_version = 0;
  return link.region_version != 0;
}

bool NearMembers::find(std::uint32_t number, std::uint32_t key, std::uint64_t address,
                       std::uint64_t size, std::uint32_t access, Passage& passage) {
  const std::uint32_t index = index_of(number);
  if (closed_ || !open_ || index >= links_.size() || !links_[index].self.asks) return false;
  Link& link = links_[index];
  const Slot slot = slot_of(wire::Qpn{link.self.peer});
  View* const view = views_[value(slot)].get();
  if (view == nullptr || !meet(link, *view)) return false;
  if (access == IBV_ACCESS_REMOTE_READ && !link.end.reads) return false;
  passage = {.link = &link,
             .view = view,
             .grant = &view->segment.grants[value(self_)],
             .end = &view->segment.ends[index_of(link.self.peer)]};
  // Of nothing no key is checked, but the connection has to be there (IBTA vol 1, 9.4.3).
  if (size == 0) return (link.end.access & access) == access;
  if (!look_up(link, *view, key)) return false;
  const Region& region = link.region;
  const std::uint64_t offset = address - region.iova;
  passage.region = &view->segment.regions[key >> 8];
  passage.address = region.address + offset;
  return offset <= region.length && size <= region.length - offset &&
         (region.access & link.end.access & access) == access;
}

bool NearMembers::is_awake(std::uint32_t number) const {
  const std::uint32_t index = index_of(number);
  if (closed_ || index >= links_.size()) return false;
  const View* const view = views_[value(slot_of(wire::Qpn{links_[index].self.peer}))].get();
  return view != nullptr && view->segment.awake.load(std::memory_order_relaxed) != 0;
}

bool NearMembers::write(std::uint32_t number, std::uint32_t key, std::uint64_t address,
                        std::span<const Piece> from) {
  std::uint64_t left = size_of(from);
  Passage passage;
  if (!find(number, key, address, left, IBV_ACCESS_REMOTE_WRITE, passage)) return false;
  if (left == 0) return passage.is_still_allowed();
  Parts parts(from);
  for (std::uint64_t at = passage.address; left > 0;) {
    const std::uint64_t size = std::min(left, kStep);
    // Who looks at the last byte finds the others there, and an aligned word comes in one piece:
    // the kernel copies no part before it is done with the one before.
    const std::uint64_t in_last_word = std::min(size, ((at + size - 1) & (kWord - 1)) + 1);
    parts.clear();
    if (!parts.add(size - in_last_word) || !parts.add(in_last_word)) return false;
    const std::span<const iovec> list = parts.list();
    if (!touch(list)) return false;
    if (!passage.view->memory.move_to(at) || !passage.is_still_allowed()) return false;
    if (!passage.view->memory.write(list)) return false;
    at += size;
    left -= size;
  }
  return true;
}

bool NearMembers::read(std::uint32_t number, std::uint32_t key, std::uint64_t address,
                       std::span<const Piece> to) {
  std::uint64_t left = size_of(to);
  Passage passage;
  if (!find(number, key, address, left, IBV_ACCESS_REMOTE_READ, passage)) return false;
  Parts parts(to);
  for (std::uint64_t at = passage.address; left > 0;) {
    const std::uint64_t size = std::min(left, kStep);
    parts.clear();
    if (!parts.add(size) || !passage.view->memory.read(parts.list(), at)) return false;
    at += size;
    left -= size;
  }
  // What was read before this look was there.
  std::atomic_thread_fence(std::memory_order_acquire);
  return passage.is_still_allowed();
}

}  // namespace anyrdma::transport::fabric
