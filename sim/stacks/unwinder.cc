#include "sim/stacks/unwinder.h"

#include <cxxabi.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <utility>

#include "sim/stacks/function_name.h"

namespace anyrdma::sim::stacks {
namespace {

std::string hex(std::uint64_t number) {
  char text[2 + 16 + 1];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(number));
  return text;
}

/// What Debian's packages of debug information bring. The library's own way would also ask servers
/// that the user's environment names, for as long as they like.
int find_debug_file(Dwfl_Module* module, void** /*data*/, const char* /*name*/, Dwarf_Addr /*base*/,
                    const char* /*file*/, const char* /*link*/, GElf_Word /*checksum*/,
                    char** /*found*/) {
  const unsigned char* bits = nullptr;
  GElf_Addr address = 0;
  const int size = dwfl_module_build_id(module, &bits, &address);
  if (size <= 1) return -1;
  std::string path = "/usr/lib/debug/.build-id/";
  for (const unsigned char byte : std::span(bits, static_cast<std::size_t>(size))) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", byte);
    path += digits;
    if (&byte == bits) path += '/';
  }
  return ::open((path + ".debug").c_str(), O_RDONLY | O_CLOEXEC);
}

const Dwfl_Callbacks kCallbacks{.find_elf = dwfl_linux_proc_find_elf,
                                .find_debuginfo = find_debug_file,
                                .section_address = nullptr,
                                .debuginfo_path = nullptr};

std::string last_part(const char* path) {
  const char* const slash = path == nullptr ? nullptr : std::strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path != nullptr ? path : "?";
}

std::string readable(const char* symbol) {
  int status = 0;
  char* const text = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
  std::string name = status == 0 ? short_name(text) : symbol;
  std::free(text);
  return name;
}

/// `pc` is where the frame goes on, `at` within what it does.
std::string describe(Dwfl_Module* module, Dwarf_Addr pc, Dwarf_Addr at) {
  if (module == nullptr) return hex(pc);
  Dwarf_Addr start = 0;
  Dwarf_Addr end = 0;
  const char* const file =
      dwfl_module_info(module, nullptr, &start, &end, nullptr, nullptr, nullptr, nullptr);
  if (at >= end) return hex(pc);  // the last file is taken for all that comes behind it
  GElf_Off offset = 0;
  GElf_Sym symbol{};
  const char* const name =
      dwfl_module_addrinfo(module, at, &offset, &symbol, nullptr, nullptr, nullptr);
  std::string text =
      name != nullptr ? readable(name) + "+" + hex(offset + (pc - at)) : hex(pc - start);
  text += " (" + last_part(file) + ")";
  int line = 0;
  Dwfl_Line* const source = dwfl_module_getsrc(module, at);
  const char* const where = source == nullptr
                                ? nullptr
                                : dwfl_lineinfo(source, nullptr, &line, nullptr, nullptr, nullptr);
  return where == nullptr ? text : text + " " + last_part(where) + ":" + std::to_string(line);
}

struct Walk {
  Dwfl* session;
  std::size_t at_most;
  std::vector<std::string> frames{};
};

int take_frame(Dwfl_Frame* frame, void* argument) {
  auto& walk = *static_cast<Walk*>(argument);
  Dwarf_Addr pc = 0;
  bool interrupted = false;
  if (!dwfl_frame_pc(frame, &pc, &interrupted)) return DWARF_CB_ABORT;
  const Dwarf_Addr at = interrupted ? pc : pc - 1;  // a call may be the last that a function does
  walk.frames.push_back(describe(dwfl_addrmodule(walk.session, at), pc, at));
  return walk.frames.size() < walk.at_most ? DWARF_CB_OK : DWARF_CB_ABORT;
}

}  // namespace

void Unwinder::End::operator()(Dwfl* session) const {
  dwfl_end(session);
}

Unwinder::Unwinder(pid_t pid) : session_(dwfl_begin(&kCallbacks)) {
  if (session_ == nullptr) return;
  attached_ = dwfl_linux_proc_report(session_.get(), pid) == 0 &&
              dwfl_report_end(session_.get(), nullptr, nullptr) == 0 &&
              dwfl_linux_proc_attach(session_.get(), pid, true) == 0;
}

Unwinder::~Unwinder() = default;

std::vector<std::string> Unwinder::frames(pid_t tid, std::size_t at_most) const {
  if (!attached_) return {};
  Walk walk{.session = session_.get(), .at_most = at_most};
  // It says of some threads that their last frame was an error: what came before is as it is.
  (void)dwfl_getthread_frames(session_.get(), tid, take_frame, &walk);
  return std::move(walk.frames);
}

std::string Unwinder::frame(std::uintptr_t address) const {
  const Dwarf_Addr at = address - 1;
  return describe(attached_ ? dwfl_addrmodule(session_.get(), at) : nullptr, address, at);
}

}  // namespace anyrdma::sim::stacks
