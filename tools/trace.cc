#include "tools/trace.h"

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>

#include "recording/page/story_page.h"
#include "recording/view/filter.h"
#include "recording/view/json.h"
#include "recording/view/pcapng.h"
#include "recording/view/perfetto.h"
#include "recording/view/story.h"
#include "recording/view/text.h"
#include "base/printable.h"
#include "tools/exit.h"
#include "tools/start.h"
#include "transport/fault/plan/scalars.h"

namespace anyrdma::tools {
namespace {

using recording::Filter;
using recording::Record;
using recording::Story;

constexpr int kTrouble = static_cast<int>(Exit::kUsage);

/// nullopt: there is none, which has been said.
std::optional<Story> read_or_say(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || file.bad()) {
    say("'" + path + "' cannot be read. Check the path.");
    return std::nullopt;
  }
  recording::Told told = recording::tell(bytes);
  if (!told.story) {
    say("'" + path + "': " + told.problem + ".");
    return std::nullopt;
  }
  if (told.story->truncated)
    say("'" + path + "' is truncated: what follows is the part that exists.");
  return std::move(*told.story);
}

bool read_time(const std::string& option, const std::string& text,
               std::optional<recording::Duration>& time) {
  if (text.empty()) return true;
  recording::Duration read{};
  const std::string problem = fault::parse_word(option, text, read);
  if (!problem.empty()) {
    say("--" + option + " '" + text + "' is no time. Write a time such as 10ms or 2s.");
    return false;
  }
  time = read;
  return true;
}

std::optional<Filter> filter_of(const TraceOptions& options, const Story& story) {
  Filter filter{.hosts = options.hosts, .ids = options.ids, .queue_pairs = options.queue_pairs};
  for (const std::string& each : options.kinds) {
    const auto kind = recording::record_kind(each);
    if (!kind) {
      say("there is no kind '" + each +
          "'. Kinds: message, call, state, event, completion, wait, fault, note, finding.");
      return std::nullopt;
    }
    filter.kinds.push_back(*kind);
  }
  if (!read_time("from", options.from, filter.from) || !read_time("to", options.to, filter.to))
    return std::nullopt;
  if (const std::string unknown = filter.unknown_in(story); !unknown.empty()) {
    say("the recording has no " + unknown + ". `anyrdma trace " + options.file +
        "` shows what it has.");
    return std::nullopt;
  }
  return filter;
}

void print(std::string_view line) {
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fputc('\n', stdout);
}

bool write_or_say(const std::string& path, const std::vector<std::uint8_t>& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  if (file.flush()) return true;
  say("'" + path + "' cannot be written. Check the path.");
  return false;
}

bool page_or_say(const std::vector<const Story*>& stories, const std::string& path) {
  const std::string problem = recording::write_story_page(stories, path);
  if (!problem.empty()) say(problem + ".");
  return problem.empty();
}

/// Whether the reader of the output has taken all of it.
int flushed(int result) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return result;
  say("the output cannot be written.");
  return kTrouble;
}

}  // namespace

int trace(const TraceOptions& options) {
  const auto story = read_or_say(options.file);
  if (!story) return kTrouble;
  const auto filter = filter_of(options, *story);
  if (!filter) return kTrouble;
  if (!options.pcapng.empty() || !options.perfetto.empty() || !options.html.empty()) {
    if (!filter->empty() || options.json) {
      say("--pcapng, --perfetto and --html write the whole recording. Use filters and --json "
          "without them.");
      return kTrouble;
    }
    const bool written =
        (options.pcapng.empty() || write_or_say(options.pcapng, recording::pcapng_of(*story))) &&
        (options.perfetto.empty() ||
         write_or_say(options.perfetto, recording::perfetto_of(*story))) &&
        (options.html.empty() || page_or_say({&*story}, options.html));
    return written ? 0 : kTrouble;
  }
  const auto wanted = [&](const Record& record) { return filter->passes(*story, record); };
  if (options.json) {
    recording::write_json(*story, wanted, print);
    return flushed(0);
  }
  for (std::size_t i = 0; i < story->records.size(); ++i) {
    if (!wanted(story->records[i])) continue;
    print((options.numbers ? "#" + std::to_string(i) + " " : "") +
          (options.raw ? recording::raw_line_of(*story, i) : recording::line_of(*story, i)));
  }
  return flushed(0);
}

int trace_summary(const std::string& file) {
  const auto story = read_or_say(file);
  if (!story) return kTrouble;
  std::fputs(printable(recording::summary_of(*story)).c_str(), stdout);
  return flushed(0);
}

int trace_diff(const std::string& left, const std::string& right, const std::string& html) {
  const auto one = read_or_say(left);
  const auto other = read_or_say(right);
  if (!one || !other) return kTrouble;
  if (!html.empty() && !page_or_say({&*one, &*other}, html)) return kTrouble;
  const auto difference = recording::difference_of(*one, *other);
  if (!difference) return 0;
  std::fputs(printable(difference->text).c_str(), stdout);
  return flushed(static_cast<int>(Exit::kFailed));
}

}  // namespace anyrdma::tools
