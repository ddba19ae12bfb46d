// handles: asks the verbs it is started with what control calls answer when a struct's handle is
// wrong, and prints it, one line for each call and way of being wrong. tests/rxe_vm holds the
// drop-in's answers against the kernel's.
//
// Every line has a device of its own, opened twice, with one object of each kind; whether the call
// has changed anything else is found out by using the genuine objects and destroying them.
//
// Left out are what only libibverbs looks at: completion channels are destroyed by closing their
// descriptor, and posting and polling follow the program's pointer on a kernel, too. Handles are
// changed in the genuine struct where the provider in user space would look behind a copy.
#include <infiniband/verbs.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace {

constexpr int kOthers = 200;  // domains of the second context, so that its handles are high
constexpr std::uint32_t kNobodys = 0x7fff'fff0;

char memory[4096];
ibv_device* device = nullptr;

template <class T>
T* made(T* object, const char* call) {
  if (object != nullptr) return object;
  std::perror(call);
  std::exit(1);
}

ibv_ah_attr to_ourselves(ibv_context* context) {
  ibv_ah_attr attr{};
  attr.is_global = 1;
  attr.port_num = 1;
  // An IPv4-mapped GID, or else the first: a link-local one has no route to itself everywhere.
  for (int i = 0; i < 16; ++i) {
    ibv_gid gid{};
    if (ibv_query_gid(context, 1, i, &gid) != 0) break;
    if (gid.raw[10] != 0xff || gid.raw[11] != 0xff) continue;
    attr.grh.sgid_index = static_cast<std::uint8_t>(i);
    attr.grh.dgid = gid;
    break;
  }
  return attr;
}

ibv_gid group() {
  ibv_gid gid{};
  gid.raw[10] = gid.raw[11] = 0xff;
  gid.raw[12] = 239;
  gid.raw[15] = 7;
  return gid;
}

ibv_qp_init_attr datagrams(ibv_cq* send, ibv_cq* receive, ibv_srq* srq) {
  ibv_qp_init_attr attr{};
  attr.send_cq = send;
  attr.recv_cq = receive;
  attr.srq = srq;
  attr.cap = {4, 4, 1, 1, 0};
  attr.qp_type = IBV_QPT_UD;
  return attr;
}

ibv_srq_init_attr shared() {
  ibv_srq_init_attr attr{};
  attr.attr = {4, 1, 0};
  return attr;
}

// One object of each kind.
struct Objects {
  ibv_context* context = nullptr;
  ibv_pd* pd = nullptr;
  ibv_comp_channel* channel = nullptr;
  ibv_cq* cq = nullptr;
  ibv_cq* second = nullptr;  ///< another one, which nothing is wrong with
  ibv_srq* srq = nullptr;
  ibv_qp* qp = nullptr;
  ibv_mr* mr = nullptr;
  ibv_mw* mw = nullptr;
  ibv_ah* ah = nullptr;
};

struct Opened : Objects {
  explicit Opened(int others) {
    context = made(ibv_open_device(device), "ibv_open_device");
    for (int i = 0; i < others; ++i) domains.push_back(made(ibv_alloc_pd(context), "others"));
    pd = made(ibv_alloc_pd(context), "ibv_alloc_pd");
    channel = made(ibv_create_comp_channel(context), "ibv_create_comp_channel");
    cq = made(ibv_create_cq(context, 8, nullptr, channel, 0), "ibv_create_cq");
    second = made(ibv_create_cq(context, 8, nullptr, nullptr, 0), "ibv_create_cq");
    ibv_srq_init_attr queue = shared();
    srq = made(ibv_create_srq(pd, &queue), "ibv_create_srq");
    ibv_qp_init_attr pair = datagrams(cq, cq, nullptr);
    qp = made(ibv_create_qp(pd, &pair), "ibv_create_qp");
    mr = made(ibv_reg_mr(pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE), "ibv_reg_mr");
    mw = made(ibv_alloc_mw(pd, IBV_MW_TYPE_1), "ibv_alloc_mw");
    ibv_ah_attr path = to_ourselves(context);
    ah = made(ibv_create_ah(pd, &path), "ibv_create_ah");
  }

  // What of it does not work, or not as if nothing had happened; empty: all does.
  std::string use_and_destroy() {
    std::string broken;
    const auto expect = [&broken](const char* call, int result) {
      if (result != 0) broken += std::string(" ") + call + " " + strerrorname_np(result);
    };
    ibv_qp_attr attr{};
    ibv_qp_init_attr init{};
    expect("query_qp", ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
    if (attr.qp_state != IBV_QPS_RESET) broken += " state";
    attr = {};
    attr.qp_state = IBV_QPS_INIT;
    attr.port_num = 1;
    expect("modify_qp",
           ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
    expect("req_notify_cq", ibv_req_notify_cq(cq, 0));
    ibv_srq_attr limits{};
    expect("query_srq", ibv_query_srq(srq, &limits));
    expect("destroy_ah", ibv_destroy_ah(ah));
    expect("dealloc_mw", ibv_dealloc_mw(mw));
    expect("dereg_mr", ibv_dereg_mr(mr));
    expect("destroy_qp", ibv_destroy_qp(qp));
    expect("destroy_srq", ibv_destroy_srq(srq));
    expect("destroy_cq", ibv_destroy_cq(cq));
    expect("destroy_cq", ibv_destroy_cq(second));
    expect("destroy_comp_channel", ibv_destroy_comp_channel(channel));
    expect("dealloc_pd", ibv_dealloc_pd(pd));
    for (ibv_pd* each : domains) expect("dealloc_pd", ibv_dealloc_pd(each));
    expect("close_device", ibv_close_device(context));
    return broken;
  }

  std::vector<ibv_pd*> domains;
};

// --- the calls ----------------------------------------------------------------------------------

// A pointer's call: its errno; what it made is destroyed.
template <class T>
int outcome(T* object, int (*destroy)(T*)) {
  if (object == nullptr) return errno;
  const int error = destroy(object);
  if (error != 0) std::printf("(what it made is not destroyed: %s) ", strerrorname_np(error));
  return 0;
}

int create_qp(ibv_pd* pd, ibv_cq* send, ibv_cq* receive, ibv_srq* srq) {
  ibv_qp_init_attr attr = datagrams(send, receive, srq);
  return outcome(ibv_create_qp(pd, &attr), ibv_destroy_qp);
}

int create_qp_ex(const Objects& with) {
  ibv_qp_init_attr_ex attr{};
  attr.send_cq = attr.recv_cq = with.cq;
  attr.cap = {4, 4, 1, 1, 0};
  attr.qp_type = IBV_QPT_UD;
  attr.comp_mask = IBV_QP_INIT_ATTR_PD;
  attr.pd = with.pd;
  return outcome(ibv_create_qp_ex(with.pd->context, &attr), ibv_destroy_qp);
}

int create_srq(ibv_pd* pd) {
  ibv_srq_init_attr attr = shared();
  return outcome(ibv_create_srq(pd, &attr), ibv_destroy_srq);
}

int create_ah(ibv_pd* pd) {
  ibv_ah_attr path = to_ourselves(pd->context);
  return outcome(ibv_create_ah(pd, &path), ibv_destroy_ah);
}

int modify_qp(ibv_qp* qp) {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RESET;
  return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}

int query_qp(ibv_qp* qp) {
  ibv_qp_attr attr{};
  ibv_qp_init_attr init{};
  return ibv_query_qp(qp, &attr, IBV_QP_STATE, &init);
}

int modify_srq(ibv_srq* srq) {
  ibv_srq_attr attr{};
  attr.srq_limit = 1;
  return ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT);
}

int query_srq(ibv_srq* srq) {
  ibv_srq_attr attr{};
  return ibv_query_srq(srq, &attr);
}

int attach(ibv_qp* qp) {
  const ibv_gid gid = group();
  const int error = ibv_attach_mcast(qp, &gid, 0);
  if (error == 0) (void)ibv_detach_mcast(qp, &gid, 0);
  return error;
}

int detach(ibv_qp* qp) {
  const ibv_gid gid = group();
  return ibv_detach_mcast(qp, &gid, 0);
}

enum class Kind { kPd, kChannel, kCq, kSrq, kQp, kMr, kMw, kAh };

struct Row {
  const char* call;
  Kind kind;     // of the object that is not what it should be
  bool through;  // the call reaches the device through this very object's context
  bool ends;     // it destroys what it is given
  int (*make)(const Objects&);
};

const Row kRows[] = {
    {"ibv_dealloc_pd", Kind::kPd, true, true,
     [](const Objects& o) { return ibv_dealloc_pd(o.pd); }},
    {"ibv_reg_mr", Kind::kPd, true, false,
     [](const Objects& o) { return outcome(ibv_reg_mr(o.pd, memory, 64, 0), ibv_dereg_mr); }},
    {"ibv_alloc_mw", Kind::kPd, true, false,
     [](const Objects& o) { return outcome(ibv_alloc_mw(o.pd, IBV_MW_TYPE_1), ibv_dealloc_mw); }},
    {"ibv_create_ah", Kind::kPd, true, false, [](const Objects& o) { return create_ah(o.pd); }},
    {"ibv_create_srq", Kind::kPd, true, false, [](const Objects& o) { return create_srq(o.pd); }},
    {"ibv_create_qp, domain", Kind::kPd, true, false,
     [](const Objects& o) { return create_qp(o.pd, o.cq, o.cq, nullptr); }},
    {"ibv_create_qp, send queue", Kind::kCq, false, false,
     [](const Objects& o) { return create_qp(o.pd, o.cq, o.second, nullptr); }},
    {"ibv_create_qp, receive queue", Kind::kCq, false, false,
     [](const Objects& o) { return create_qp(o.pd, o.second, o.cq, nullptr); }},
    {"ibv_create_qp, shared queue", Kind::kSrq, false, false,
     [](const Objects& o) { return create_qp(o.pd, o.cq, o.cq, o.srq); }},
    {"ibv_create_qp_ex, domain", Kind::kPd, true, false, create_qp_ex},
    {"ibv_create_qp_ex, both queues", Kind::kCq, false, false, create_qp_ex},
    {"ibv_create_cq, channel", Kind::kChannel, false, false,
     [](const Objects& o) {
       return outcome(ibv_create_cq(o.context, 4, nullptr, o.channel, 0), ibv_destroy_cq);
     }},
    {"ibv_req_notify_cq", Kind::kCq, true, false,
     [](const Objects& o) { return ibv_req_notify_cq(o.cq, 0); }},
    {"ibv_resize_cq", Kind::kCq, true, false,
     [](const Objects& o) { return ibv_resize_cq(o.cq, 16); }},
    {"ibv_destroy_cq", Kind::kCq, true, true,
     [](const Objects& o) { return ibv_destroy_cq(o.cq); }},
    {"ibv_modify_qp", Kind::kQp, true, false, [](const Objects& o) { return modify_qp(o.qp); }},
    {"ibv_query_qp", Kind::kQp, true, false, [](const Objects& o) { return query_qp(o.qp); }},
    {"ibv_attach_mcast", Kind::kQp, true, false, [](const Objects& o) { return attach(o.qp); }},
    {"ibv_detach_mcast", Kind::kQp, true, false, [](const Objects& o) { return detach(o.qp); }},
    {"ibv_destroy_qp", Kind::kQp, true, true,
     [](const Objects& o) { return ibv_destroy_qp(o.qp); }},
    {"ibv_modify_srq", Kind::kSrq, true, false, [](const Objects& o) { return modify_srq(o.srq); }},
    {"ibv_query_srq", Kind::kSrq, true, false, [](const Objects& o) { return query_srq(o.srq); }},
    {"ibv_destroy_srq", Kind::kSrq, true, true,
     [](const Objects& o) { return ibv_destroy_srq(o.srq); }},
    {"ibv_dereg_mr", Kind::kMr, true, true, [](const Objects& o) { return ibv_dereg_mr(o.mr); }},
    {"ibv_dealloc_mw", Kind::kMw, true, true,
     [](const Objects& o) { return ibv_dealloc_mw(o.mw); }},
    {"ibv_destroy_ah", Kind::kAh, true, true,
     [](const Objects& o) { return ibv_destroy_ah(o.ah); }},
};

// --- ways of being wrong ------------------------------------------------------------------------

// The members that matter of an object of any kind.
struct Named {
  std::uint32_t* handle;
  ibv_context** context;
};

Named named(const Objects& of, Kind kind) {
  switch (kind) {
    case Kind::kPd:
      return {&of.pd->handle, &of.pd->context};
    case Kind::kChannel:  // what names it to the kernel is its descriptor
      return {reinterpret_cast<std::uint32_t*>(&of.channel->fd), &of.channel->context};
    case Kind::kCq:
      return {&of.cq->handle, &of.cq->context};
    case Kind::kSrq:
      return {&of.srq->handle, &of.srq->context};
    case Kind::kQp:
      return {&of.qp->handle, &of.qp->context};
    case Kind::kMr:
      return {&of.mr->handle, &of.mr->context};
    case Kind::kMw:
      return {&of.mw->handle, &of.mw->context};
    case Kind::kAh:
      return {&of.ah->handle, &of.ah->context};
  }
  std::abort();
}

void replace(Objects& in, const Objects& by, Kind kind) {
  switch (kind) {
    case Kind::kPd:
      in.pd = by.pd;
      break;
    case Kind::kChannel:
      in.channel = by.channel;
      break;
    case Kind::kCq:
      in.cq = by.cq;
      break;
    case Kind::kSrq:
      in.srq = by.srq;
      break;
    case Kind::kQp:
      in.qp = by.qp;
      break;
    case Kind::kMr:
      in.mr = by.mr;
      break;
    case Kind::kMw:
      in.mw = by.mw;
      break;
    case Kind::kAh:
      in.ah = by.ah;
      break;
  }
}

// What named an object of this kind until just now.
std::uint32_t stale(const Objects& of, Kind kind) {
  Objects gone = of;
  std::uint32_t handle = 0;
  const auto note = [&] { handle = *named(gone, kind).handle; };
  ibv_ah_attr path = to_ourselves(of.context);
  ibv_srq_init_attr queue = shared();
  ibv_qp_init_attr pair = datagrams(of.cq, of.cq, nullptr);
  switch (kind) {
    case Kind::kPd:
      gone.pd = made(ibv_alloc_pd(of.context), "ibv_alloc_pd");
      return note(), ibv_dealloc_pd(gone.pd), handle;
    case Kind::kChannel:
      gone.channel = made(ibv_create_comp_channel(of.context), "ibv_create_comp_channel");
      return note(), ibv_destroy_comp_channel(gone.channel), handle;
    case Kind::kCq:
      gone.cq = made(ibv_create_cq(of.context, 4, nullptr, nullptr, 0), "ibv_create_cq");
      return note(), ibv_destroy_cq(gone.cq), handle;
    case Kind::kSrq:
      gone.srq = made(ibv_create_srq(of.pd, &queue), "ibv_create_srq");
      return note(), ibv_destroy_srq(gone.srq), handle;
    case Kind::kQp:
      gone.qp = made(ibv_create_qp(of.pd, &pair), "ibv_create_qp");
      return note(), ibv_destroy_qp(gone.qp), handle;
    case Kind::kMr:
      gone.mr = made(ibv_reg_mr(of.pd, memory, 64, 0), "ibv_reg_mr");
      return note(), ibv_dereg_mr(gone.mr), handle;
    case Kind::kMw:
      gone.mw = made(ibv_alloc_mw(of.pd, IBV_MW_TYPE_1), "ibv_alloc_mw");
      return note(), ibv_dealloc_mw(gone.mw), handle;
    case Kind::kAh:
      gone.ah = made(ibv_create_ah(of.pd, &path), "ibv_create_ah");
      return note(), ibv_destroy_ah(gone.ah), handle;
  }
  std::abort();
}

// Of an object of another kind in the same context.
std::uint32_t of_another_kind(const Objects& of, Kind kind) {
  if (kind == Kind::kChannel) return static_cast<std::uint32_t>(of.context->cmd_fd);
  return kind == Kind::kPd ? of.cq->handle : of.pd->handle;
}

// Whether the provider in user space keeps to the public part of the struct, so that a copy of that
// can be given to the call.
bool can_be_copied(const Row& row) {
  if (row.ends) return false;  // the copy would be freed, and the genuine one not
  const std::string call = row.call;
  return call != "ibv_resize_cq" && call != "ibv_modify_srq" && row.kind != Kind::kChannel;
}

enum class Way { kWrong, kAnotherKind, kStale, kForeign, kCopy };

int try_out(const Row& row, Way way, Opened& own, Opened& other) {
  Objects given = own;
  ibv_pd pd = *own.pd;
  ibv_cq cq = *own.cq;
  ibv_srq srq = *own.srq;
  ibv_qp qp = *own.qp;
  const Objects copies{own.context, &pd, own.channel, &cq,    own.second,
                       &srq,        &qp, own.mr,      own.mw, own.ah};
  if (way == Way::kForeign) replace(given, other, row.kind);
  if (way == Way::kCopy) replace(given, copies, row.kind);
  const Named object = named(given, row.kind);
  const std::uint32_t handle = *object.handle;
  ibv_context* const context = *object.context;
  if (way == Way::kWrong) *object.handle = kNobodys;
  if (way == Way::kAnotherKind) *object.handle = of_another_kind(own, row.kind);
  if (way == Way::kStale) *object.handle = stale(own, row.kind);
  if (way == Way::kForeign && row.through) *object.context = own.context;
  const int error = row.make(given);
  *object.handle = handle;
  *object.context = context;
  return error;
}

void ask(const Row& row, Way way, const char* text) {
  Opened own(0);
  Opened other(kOthers);
  std::printf("%s, %s: ", row.call, text);
  std::fflush(stdout);
  const int error = try_out(row, way, own, other);
  const std::string broken = own.use_and_destroy() + other.use_and_destroy();
  std::printf("%s, %s%s\n", error == 0 ? "0" : strerrorname_np(error),
              broken.empty() ? "nothing else changed" : "not any more:", broken.c_str());
  std::fflush(stdout);
}

}  // namespace

int main() {
  int count = 0;
  ibv_device** devices = ibv_get_device_list(&count);
  if (devices == nullptr || count == 0) return 2;
  device = devices[0];
  for (const Row& row : kRows) {
    ask(row, Way::kWrong, "a wrong handle");
    ask(row, Way::kAnotherKind, "another kind's handle");
    ask(row, Way::kStale, "a stale handle");
    ask(row, Way::kForeign, "another context's object");
    if (can_be_copied(row)) ask(row, Way::kCopy, "a copy of the struct");
  }
  ibv_free_device_list(devices);
  return 0;
}
