#include "transport/fabric/near_members.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>

#include "transport/fabric/placement.h"
#include "verbs/assert.h"

namespace anyrdma::transport::fabric {
namespace {

/// Copied at once: who withdraws memory waits for so much.
constexpr std::uint64_t kStep = 1u << 20;
/// Looks at another's mark before asking whether it lives.
constexpr unsigned kLooks = 1u << 16;
constexpr int kChildMilliseconds = 10'000;

bool is_open(std::uint64_t version) {
  return version != 0 && (version & 1) == 0;
}

bool same(const ibv_gid& a, const ibv_gid& b) {
  return a.global.subnet_prefix == b.global.subnet_prefix &&
         a.global.interface_id == b.global.interface_id;
}

/// Of a pidfd, as this process sees it; not positive: not to be seen, or none.
pid_t pid_of(const realtime::Descriptor& process) {
  std::ifstream info("/proc/self/fdinfo/" + std::to_string(process.get()));
  std::string word;
  pid_t pid = 0;
  while (info >> word)
    if (word == "Pid:") info >> pid;
  return pid;
}

bool alive(const realtime::Descriptor& process) {
  pollfd entry{process.get(), POLLIN, 0};
  return ::poll(&entry, 1, 0) == 0;
}

}  // namespace

/// Another member's segment, mapped here.
struct NearMembers::View {
  View() = default;
  View(const View&) = delete;
  View& operator=(const View&) = delete;
  ~View() {
    if (segment != nullptr) ::munmap(static_cast<void*>(segment), size);
  }
  [[nodiscard]] bool map();

  realtime::Descriptor fd;
  realtime::Descriptor process;  ///< pidfd
  pid_t pid = 0;
  NearSegment* segment = nullptr;
  std::uint64_t size = 0;
  NearMark* mark = nullptr;
  bool attachable = true;  ///< the kernel lets us
};

/// Maps all there is by now. Only marks and pages can be written.
bool NearMembers::View::map() {
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return false;
  const auto larger = static_cast<std::uint64_t>(status.st_size);
  if (larger < sizeof(NearSegment)) return false;
  void* at = ::mmap(nullptr, larger, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (at == MAP_FAILED) return false;
  (void)::madvise(at, larger, MADV_DONTFORK);
  (void)::madvise(at, larger, MADV_DONTDUMP);
  auto* const fresh = static_cast<NearSegment*>(at);
  const std::size_t records = sizeof(NearSegment) - offsetof(NearSegment, ends);
  (void)::mprotect(static_cast<void*>(&fresh->ends), records, PROT_READ);
  if (segment != nullptr) {
    mark = &fresh->marks[static_cast<std::size_t>(mark - segment->marks.data())];
    ::munmap(static_cast<void*>(segment), size);
  }
  segment = fresh;
  size = larger;
  return true;
}

/// One of our ends, and what it has found at the other.
struct NearMembers::Link {
  End self{};
  std::uint64_t end_version = 0;  ///< 0: nothing was found
  End end{};
  std::uint64_t region_version = 0;
  std::uint32_t region_key = 0;
};

/// Scope of using another's segment: from here on it does not change under us.
struct NearMembers::Use {
  explicit Use(const View& used) : view(used) {
    // Before any version is read: whoever withdraws writes the version first, then looks here.
    view.mark->use.fetch_add(1, std::memory_order_seq_cst);
  }
  ~Use() {
    std::atomic<std::uint64_t>& use = view.mark->use;
    use.store(use.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  const View& view;  // may be mapped anew meanwhile
};

// --- life ---------------------------------------------------------------------------------------

std::unique_ptr<NearMembers> NearMembers::create(Registry& registry, const Config& config) {
  if (::sysconf(_SC_PAGESIZE) != kNearPage) return nullptr;
  realtime::Descriptor fd(::memfd_create("anyrdma", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  realtime::Descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  if (!fd || !process || ::ftruncate(fd.get(), sizeof(NearSegment)) != 0) return nullptr;
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) != 0) return nullptr;
  void* const at =
      ::mmap(nullptr, sizeof(NearSegment), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (at == MAP_FAILED) return nullptr;
  (void)::madvise(at, sizeof(NearSegment), MADV_DONTFORK);
  auto& segment = *static_cast<NearSegment*>(at);
  segment.incarnation = registry.incarnation();
  segment.open.store(1);
  segment.magic.store(kNearMagic);
  // Where Yama restricts ptrace, and with it process_vm_writev(2), to parents. Elsewhere an error.
  (void)::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  std::unique_ptr<NearMembers> members(
      new NearMembers(registry, config, std::move(fd), std::move(process), segment));
  return members;
}

NearMembers::NearMembers(Registry& registry, const Config& config, realtime::Descriptor fd,
                         realtime::Descriptor process, NearSegment& segment)
    : registry_(registry),
      config_(config),
      fd_(std::move(fd)),
      process_(std::move(process)),
      segment_(&segment),
      pages_(fd_.get(), sizeof(NearSegment)) {}

NearMembers::~NearMembers() {
  if (guarded_) {
    const auto no_forks = realtime::hold_off_forks();
    realtime::forget(*this);
  }
  close();
  if (segment_ == nullptr) return;
  for (const auto& ranges : ranges_) pages_.release(ranges);
  ::munmap(static_cast<void*>(segment_), sizeof(NearSegment));
}

void NearMembers::guard_forks() {
  realtime::remember(*this);
  guarded_ = true;
}

void NearMembers::close() {
  if (std::exchange(closed_, true)) return;
  pause();
  for (auto& view : views_) view.reset();
}

// --- what others may do here --------------------------------------------------------------------

/// Until all who are in the middle of something have ended it, or are gone.
void NearMembers::wait_for_users() {
  for (std::uint32_t slot = 0; slot < kSlotCount; ++slot) {
    if ((segment_->users[slot / 64].load() >> slot % 64 & 1) == 0) continue;
    std::atomic<std::uint64_t>& mark = segment_->marks[slot].use;
    std::uint64_t seen = mark.load();
    unsigned looks = 0;
    while ((seen & 1) != 0 && mark.load() == seen) {
      if (++looks % kLooks != 0) continue;
      ::sched_yield();
      const auto others = registry_.others();
      if (std::ranges::find(others, Slot{static_cast<std::uint16_t>(slot)}) == others.end())
        mark.compare_exchange_strong(seen, seen + 1);
    }
  }
}

template <class Record>
void NearMembers::withdraw(Record& record) {
  const std::uint64_t version = record.version.load();
  if (!is_open(version)) return;
  record.version.store(version + 1);
  wait_for_users();
}

template <class Record, class Fill>
void NearMembers::change(Record& record, Fill fill) {
  withdraw(record);
  fill(record);
  record.version.store((record.version.load() | 1) + 1);
}

void NearMembers::pause() {
  segment_->open.store(0);
  wait_for_users();
}

void NearMembers::resume() {
  segment_->open.store(open_ && !closed_ ? 1 : 0);
}

void NearMembers::set_open(bool open) {
  open_ = open;
  if (closed_) return;
  open ? resume() : pause();
}

void NearMembers::set_end(const End& end) {
  if (closed_) return;
  const std::uint32_t index = end.number - first_qpn(registry_.slot());
  CM_ASSERT(index < kNearEnds);
  if (index >= links_.size()) links_.resize(index + 1);
  links_[index] = {.self = end};
  NearEndRecord& record = segment_->ends[index];
  if (!end.answers) return withdraw(record);
  change(record, [&end](NearEndRecord& fresh) { fresh.end = end; });
}

void NearMembers::forget_end(std::uint32_t number) {
  if (closed_) return;
  const std::uint32_t index = number - first_qpn(registry_.slot());
  if (index >= links_.size()) return;
  links_[index] = {};
  withdraw(segment_->ends[index]);
}

void NearMembers::add_region(const Region& region) {
  const std::uint32_t index = region.key >> 8;
  if (closed_ || index >= kNearRegions) return;
  std::vector<NearRange> ranges;
  if (config_.share_pages && (region.access & IBV_ACCESS_ON_DEMAND) == 0) {
    pause();  // nobody may write to pages that are being moved, through other regions
    ranges = pages_.share(region.address, region.address + region.length);
    resume();
  }
  if (index >= ranges_.size()) ranges_.resize(index + 1);
  change(segment_->regions[index], [&](NearRegionRecord& record) {
    record.region = region;
    record.ranges_used = static_cast<std::uint32_t>(ranges.size());
    std::ranges::copy(ranges, record.ranges.begin());
  });
  ranges_[index] = std::move(ranges);
}

void NearMembers::forget_region(std::uint32_t key) {
  const std::uint32_t index = key >> 8;
  if (closed_ || index >= ranges_.size()) return;
  withdraw(segment_->regions[index]);
  const auto ranges = std::exchange(ranges_[index], {});
  if (ranges.empty()) return;
  pause();
  pages_.release(ranges);
  resume();
}

// --- the others ---------------------------------------------------------------------------------

void NearMembers::on_gifts(Slot slot, std::uint64_t incarnation, realtime::Descriptor segment,
                           realtime::Descriptor process) {
  std::unique_ptr<View>& place = views_[value(slot)];
  if (closed_ || slot == registry_.slot()) return;
  if (place && place->segment->incarnation == incarnation) return;
  auto view = std::make_unique<View>();
  view->pid = pid_of(process);
  view->fd = std::move(segment);
  view->process = std::move(process);
  // Only what cannot shrink under us is mapped.
  const int seals = ::fcntl(view->fd.get(), F_GET_SEALS);
  if (view->pid <= 0 || seals < 0 || (seals & F_SEAL_SHRINK) == 0 || !view->map()) return;
  NearSegment& theirs = *view->segment;
  if (theirs.magic.load() != kNearMagic || theirs.incarnation != incarnation) return;
  const std::uint32_t self = value(registry_.slot());
  view->mark = &theirs.marks[self];
  view->mark->use.store(registry_.incarnation() << 32);
  theirs.users[self / 64].fetch_or(std::uint64_t{1} << self % 64);
  place = std::move(view);
}

void NearMembers::on_gone(Slot slot) {
  views_[value(slot)].reset();
  for (Link& link : links_)
    if (slot_of(wire::Qpn{link.self.peer}) == slot) link = {.self = link.self};
}

// --- what may be done there ---------------------------------------------------------------------

NearMembers::Link* NearMembers::link_of(std::uint32_t number) {
  if (closed_ || !open_) return nullptr;
  const std::uint32_t index = number - first_qpn(registry_.slot());
  if (index >= links_.size() || !links_[index].self.asks) return nullptr;
  return &links_[index];
}

/// Whether the other end takes what ours sends. In use.
bool NearMembers::admit(Link& link, const View& view) {
  if (view.segment->open.load(std::memory_order_relaxed) == 0) return false;
  const std::uint32_t index = (link.self.peer & ((1u << kQpnShift) - 1)) - kFirstQpn;
  if (index >= kNearEnds) return false;
  const NearEndRecord& record = view.segment->ends[index];
  const std::uint64_t version = record.version.load(std::memory_order_acquire);
  if (version == link.end_version && version != 0) return true;
  if (!is_open(version)) return false;
  const End& end = record.end;
  const End& self = link.self;
  if (end.number != self.peer || end.peer != self.number || end.mtu != self.mtu ||
      end.first_expected != self.first_sent || !same(end.source, self.destination) ||
      !same(end.destination, self.source))
    return false;
  link.end = end;
  link.end_version = version;
  link.region_version = 0;
  return true;
}

/// The record of a region that grants all that is wanted; null if none does. In use, admitted.
const NearRegionRecord* NearMembers::find(Link& link, View& view, const Region& wanted) {
  const std::uint32_t index = wanted.key >> 8;
  if (index >= kNearRegions) return nullptr;
  const NearRegionRecord& record = view.segment->regions[index];
  const std::uint64_t version = record.version.load(std::memory_order_acquire);
  const Region& region = record.region;
  if (version != link.region_version || wanted.key != link.region_key) {
    if (!is_open(version) || region.key != wanted.key || region.domain != link.end.domain)
      return nullptr;
    link.region_version = version;
    link.region_key = wanted.key;
    const bool shared = record.ranges_used > 0;
    if (shared &&
        record.ranges[record.ranges_used - 1].at + (record.ranges[record.ranges_used - 1].end -
                                                    record.ranges[record.ranges_used - 1].begin) >
            view.size &&
        !view.map())
      return nullptr;
    return find(link, view, wanted);
  }
  const std::uint64_t offset = wanted.iova - region.iova;
  if (offset > region.length || wanted.length > region.length - offset) return nullptr;
  if ((region.access & link.end.access & wanted.access) != wanted.access) return nullptr;
  return &record;
}

/// Where [address, address + size) of the owner begins, and how far it goes on there.
NearMembers::Target NearMembers::resolve(const NearRegionRecord& record, View& view,
                                         std::uint64_t address, std::uint64_t size) {
  Target target{.at = nullptr, .address = address, .size = size};
  for (std::uint32_t i = 0; i < record.ranges_used && i < kNearRanges; ++i) {
    const NearRange& range = record.ranges[i];
    if (address >= range.end) continue;
    if (address < range.begin) {
      target.size = std::min(size, range.begin - address);
      return target;
    }
    const std::uint64_t at = range.at + (address - range.begin);
    target.size = std::min(size, range.end - address);
    if (at + target.size <= view.size)
      target.at = reinterpret_cast<std::uint8_t*>(view.segment) + at;
    return target;
  }
  return target;
}

bool NearMembers::through_kernel(Direction direction, View& view, const Target& target,
                                 std::uint8_t* here) {
  // Its number may be somebody else's by now.
  if (!view.attachable || !alive(view.process)) return false;
  const iovec local{here, target.size};
  const iovec remote{reinterpret_cast<void*>(target.address), target.size};
  const ssize_t done = direction == Direction::kWrite
                           ? ::process_vm_writev(view.pid, &local, 1, &remote, 1, 0)
                           : ::process_vm_readv(view.pid, &local, 1, &remote, 1, 0);
  if (done < 0 && (errno == EPERM || errno == ENOSYS)) view.attachable = false;
  counters_.attached += done > 0 ? static_cast<std::uint64_t>(done) : 0;
  return done == static_cast<ssize_t>(target.size);
}

/// `wanted` is all that is left of the request; `piece` its next part.
bool NearMembers::transfer_piece(Direction direction, Link& link, View& view, Region wanted,
                                 const Piece& piece) {
  for (std::uint64_t done = 0; done < piece.size;) {
    const Use use(view);
    if (!admit(link, view)) return false;
    const NearRegionRecord* const record = find(link, view, wanted);
    if (record == nullptr) return false;
    const std::uint64_t address = record->region.address + (wanted.iova - record->region.iova);
    const Target target = resolve(*record, view, address, std::min(piece.size - done, kStep));
    std::uint8_t* const here = piece.at + done;
    if (target.at == nullptr) {
      if (!through_kernel(direction, view, target, here)) return false;
    } else if (direction == Direction::kWrite) {
      place(target.at, here, target.size);
    } else {
      std::memcpy(here, target.at, target.size);
    }
    if (target.at != nullptr) counters_.mapped += target.size;
    done += target.size;
    wanted.iova += target.size;
    wanted.length -= target.size;
  }
  return true;
}

bool NearMembers::transfer(Direction direction, std::uint32_t number, std::uint32_t key,
                           std::uint64_t address, std::span<const Piece> pieces) {
  Link* const link = link_of(number);
  if (link == nullptr) return false;
  View* const view = views_[value(slot_of(wire::Qpn{link->self.peer}))].get();
  if (view == nullptr) return false;
  const bool is_read = direction == Direction::kRead;
  Region wanted{.key = key,
                .access = is_read ? std::uint32_t{IBV_ACCESS_REMOTE_READ}
                                  : std::uint32_t{IBV_ACCESS_REMOTE_WRITE},
                .iova = address};
  for (const Piece& piece : pieces) wanted.length += piece.size;
  if (wanted.length == 0) {
    // No key to check, but the connection has to be there (IBTA vol 1, 9.4.3).
    const Use use(*view);
    return admit(*link, *view) && (link->end.access & wanted.access) == wanted.access &&
           (!is_read || link->end.reads);
  }
  for (const Piece& piece : pieces) {
    if (!transfer_piece(direction, *link, *view, wanted, piece)) return false;
    if (is_read && !link->end.reads) return false;
    wanted.iova += piece.size;
    wanted.length -= piece.size;
  }
  return true;
}

bool NearMembers::write(std::uint32_t number, std::uint32_t key, std::uint64_t address,
                        std::span<const Piece> from) {
  return transfer(Direction::kWrite, number, key, address, from);
}

bool NearMembers::read(std::uint32_t number, std::uint32_t key, std::uint64_t address,
                       std::span<const Piece> to) {
  return transfer(Direction::kRead, number, key, address, to);
}

std::optional<std::uint64_t> NearMembers::atomic(std::uint32_t number, std::uint32_t key,
                                                 std::uint64_t address,
                                                 const verbs::soft::AtomicRequest& request) {
  Link* const link = link_of(number);
  if (link == nullptr) return std::nullopt;
  View* const view = views_[value(slot_of(wire::Qpn{link->self.peer}))].get();
  if (view == nullptr) return std::nullopt;
  const Use use(*view);
  if (!admit(*link, *view) || !link->end.reads) return std::nullopt;
  const Region wanted{.key = key, .access = IBV_ACCESS_REMOTE_ATOMIC, .iova = address, .length = 8};
  const NearRegionRecord* const record = find(*link, *view, wanted);
  if (record == nullptr) return std::nullopt;
  const std::uint64_t there = record->region.address + (address - record->region.iova);
  const Target target = resolve(*record, *view, there, 8);
  if (target.at == nullptr || target.size != 8 || !verbs::soft::is_atomic_address(there) ||
      !verbs::soft::is_atomic_address(address))
    return std::nullopt;
  counters_.mapped += 8;
  return verbs::soft::execute_atomic(target.at, request);
}

// --- fork ---------------------------------------------------------------------------------------

void NearMembers::before_fork() {
  if (!pages_.any()) return;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return;
  child_done_ = realtime::Descriptor(ends[0]);
  child_here_ = realtime::Descriptor(ends[1]);
}

/// Until the child has its own copies, or is gone, or never came into being.
void NearMembers::after_fork_in_parent() {
  child_here_.reset();
  if (!child_done_) return;
  pollfd entry{child_done_.get(), POLLIN, 0};
  (void)::poll(&entry, 1, kChildMilliseconds);
  child_done_.reset();
}

void NearMembers::after_fork_in_child() {
  if (pages_.any()) pages_.copy_for_child();
  child_here_.reset();
  child_done_.reset();
  // What was mapped for work with others was not inherited.
  closed_ = true;
  segment_ = nullptr;
  for (auto& view : views_) {
    if (view) view->segment = nullptr;
    view.reset();
  }
  fd_.reset();
}

}  // namespace anyrdma::transport::fabric
