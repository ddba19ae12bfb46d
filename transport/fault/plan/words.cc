#include "transport/fault/plan/words.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <utility>

#include "transport/fault/plan/scalars.h"

namespace anyrdma::fault {
namespace {

/// Turns fields into words.
class Writer {
 public:
  std::vector<Word> words;

  void name(const char* key, const std::string& name) { put(key, name); }
  void any_host(const char* key, const std::string& host) { put(key, host_text(host)); }
  void rails(const char* key, const std::string& from, const std::string& from_interface,
             const std::string& to, const std::string& to_interface) {
    const auto end = [](const std::string& host, const std::string& interface) {
      return host_text(host) + (interface.empty() ? "" : "/" + interface);
    };
    put(key, end(from, from_interface) + "->" + end(to, to_interface));
  }
  void device_or_port(const char* key, const std::string& device, std::uint8_t port) {
    put(key, device + (port == 0 ? "" : "/" + std::to_string(port)));
  }
  void path(const char* key, const std::string& from, const std::string& to, bool both) {
    put(key, host_text(from) + (both ? "<->" : "->") + host_text(to));
  }
  void host_or_id(const char* key, const std::string& host, std::uint64_t id) {
    put(key, host_text(host) + (id == 0 ? "" : "#" + std::to_string(id)));
  }
  void object(const char* key, const std::string& host, std::string_view kind,
              const ObjectName& name) {
    put(key, host_text(host) + "#" + word_of(kind, name));
  }
  void host_or_object(const char* key, const std::string& host, std::string_view kind,
                      const ObjectName& name) {
    if (name == ObjectName{}) return any_host(key, host);
    object(key, host, kind, name);
  }
  void host_or_program(const char* key, const std::string& host, const std::string& program,
                       std::uint32_t number) {
    std::string text = host;
    if (!program.empty()) text += "/" + program;
    if (number != 1) text += "#" + std::to_string(number);
    put(key, std::move(text));
  }
  void host_or_thread(const char* key, const std::string& host, const std::string& program,
                      std::uint32_t number, std::uint32_t thread) {
    host_or_program(key, host, program, number);
    if (thread != 0) words.back().text += "/" + std::to_string(thread);
  }
  void scalar(const char* key, const auto& value) { put(key, word_of(value)); }
  void one_of(const char* key, const std::string& word, std::span<const std::string_view>) {
    put(key, word);
  }
  void data(const char* key, const std::vector<std::uint8_t>& data) {
    if (!data.empty()) scalar(key, data);
  }
  void option(const char* key, const char* word, bool on) {
    if (on) put(key, word);
  }

 private:
  static std::string host_text(const std::string& host) { return host.empty() ? "*" : host; }
  void put(const char* key, std::string text) { words.push_back({key, std::move(text), 0}); }
};

/// Turns words into fields; keeps the first problem.
class Reader {
 public:
  Reader(const Phrase& phrase, Order order) : phrase_(phrase), order_(order) {
    used_.resize(phrase.words.size());
  }

  void name(const char* key, std::string& name) {
    const Word* word = need(key);
    if (word == nullptr) return;
    name = word->text;
    if (!is_name(name)) fail(*word, in_quotes(name) + " is no name");
  }
  void any_host(const char* key, std::string& host) {
    if (const Word* word = need(key)) take_host(*word, word->text, host);
  }
  void rails(const char* key, std::string& from, std::string& from_interface, std::string& to,
             std::string& to_interface) {
    bool both = false;
    path(key, from, to, both);
    if (both) fail_last("a message has one direction; write HOST->HOST");
    take_interface(from, from_interface);
    take_interface(to, to_interface);
  }
  void device_or_port(const char* key, std::string& device, std::uint8_t& port);
  void path(const char* key, std::string& from, std::string& to, bool& both);
  void host_or_id(const char* key, std::string& host, std::uint64_t& id);
  void object(const char* key, std::string& host, std::string_view kind, ObjectName& name) {
    const Word* word = take_host_and_object(key, host, kind, name);
    if (word != nullptr && name == ObjectName{}) {
      fail(*word, in_quotes(word->text) + " lacks its #" + std::string(kind));
    }
  }
  void host_or_object(const char* key, std::string& host, std::string_view kind, ObjectName& name) {
    (void)take_host_and_object(key, host, kind, name);
  }
  void host_or_program(const char* key, std::string& host, std::string& program,
                       std::uint32_t& number);
  void host_or_thread(const char* key, std::string& host, std::string& program,
                      std::uint32_t& number, std::uint32_t& thread);
  void scalar(const char* key, auto& value) {
    const Word* word = need(key);
    if (word == nullptr) return;
    std::string reason = parse_word(key, word->text, value);
    if (!reason.empty()) fail(*word, std::move(reason));
  }
  void one_of(const char* key, std::string& value, std::span<const std::string_view> words) {
    const Word* word = need(key);
    if (word == nullptr) return;
    value = word->text;
    const bool known = std::find(words.begin(), words.end(), value) != words.end();
    if (!known) fail(*word, std::string("no such ") + key + " " + in_quotes(value));
  }
  void data(const char* key, std::vector<std::uint8_t>& data) {
    if (find(key) != nullptr) scalar(key, data);
  }
  void option(const char* key, const char* expected, bool& on) {
    const Word* word = find(key);
    on = word != nullptr;
    if (!on) return;
    (void)need(key);
    if (word->text != expected) fail(*word, "expected " + in_quotes(expected));
  }

  /// Once all fields were visited: what is wrong.
  [[nodiscard]] WordProblem finish();

 private:
  [[nodiscard]] const Word* find(std::string_view key) const;
  [[nodiscard]] const Word* need(const char* key);
  void fail(const Word& word, std::string reason) { fail_at(word.line, std::move(reason)); }
  void fail_last(std::string reason) { fail_at(last_line_, std::move(reason)); }
  void fail_at(std::size_t line, std::string reason) {
    if (problem_.reason.empty()) problem_ = {line, std::move(reason)};
  }
  void take_host(const Word& word, std::string_view text, std::string& host) {
    host = text == "*" ? "" : text;
    if (!host.empty() && is_name(host)) return;
    if (text != "*") fail(word, in_quotes(text) + " is no host");
  }

  /// Of HOST/INTERFACE, the host stays.
  void take_interface(std::string& host, std::string& interface) {
    const std::size_t slash = host.find('/');
    if (slash == std::string::npos) return;
    interface = host.substr(slash + 1);
    host.resize(slash);
    if (host.empty() || host == "*" || interface.empty() || interface.find('/') != interface.npos)
      fail_last("an interface of a host is HOST/INTERFACE");
  }

  const Word* take_host_and_object(const char* key, std::string& host, std::string_view kind,
                                   ObjectName& name);
  void take_program(const Word& word, std::string_view text, std::string& host,
                    std::string& program, std::uint32_t& number);

  const Phrase& phrase_;
  Order order_;
  std::vector<bool> used_;
  std::size_t next_ = 0;
  std::size_t last_line_ = 0;
  WordProblem problem_;
};

const Word* Reader::find(std::string_view key) const {
  const auto& words = phrase_.words;
  if (order_ == Order::kByPlace) return next_ < words.size() ? &words[next_] : nullptr;
  const auto found =
      std::find_if(words.begin(), words.end(), [key](const Word& word) { return word.key == key; });
  return found == words.end() ? nullptr : &*found;
}

const Word* Reader::need(const char* key) {
  const Word* word = find(key);
  if (word == nullptr) {
    fail_at(phrase_.line, in_quotes(phrase_.kind) + " lacks its " + key);
    return nullptr;
  }
  used_[static_cast<std::size_t>(word - phrase_.words.data())] = true;
  last_line_ = word->line;
  ++next_;
  return word;
}

void Reader::path(const char* key, std::string& from, std::string& to, bool& both) {
  const Word* word = need(key);
  if (word == nullptr) return;
  const std::string_view text = word->text;
  const std::size_t arrow = text.find("->");
  if (arrow == std::string_view::npos) {
    return fail(*word, in_quotes(text) + " is no path; write HOST->HOST");
  }
  both = arrow > 0 && text[arrow - 1] == '<';
  const std::string_view left = text.substr(0, arrow - (both ? 1 : 0));
  const std::string_view right = text.substr(arrow + 2);
  if (left.empty() || right.empty()) {
    return fail(*word, "a host is missing in " + in_quotes(text) + "; * means any");
  }
  take_host(*word, left, from);
  take_host(*word, right, to);
}

void Reader::device_or_port(const char* key, std::string& device, std::uint8_t& port) {
  const Word* word = need(key);
  if (word == nullptr) return;
  const std::size_t slash = std::min(word->text.find('/'), word->text.size());
  device = word->text.substr(0, slash);
  if (!is_name(device)) fail(*word, in_quotes(device) + " is no name");
  if (slash == word->text.size()) return;
  const std::string_view number = std::string_view(word->text).substr(slash + 1);
  if (!parse_number(number, port) || port == 0)
    fail(*word, in_quotes(number) + " is no number of a port: from 1");
}

void Reader::host_or_id(const char* key, std::string& host, std::uint64_t& id) {
  const Word* word = need(key);
  if (word == nullptr) return;
  const std::string_view text = word->text;
  const std::size_t mark = std::min(text.find('#'), text.size());
  take_host(*word, text.substr(0, mark), host);
  if (mark == text.size()) return;
  if (host.empty()) return fail(*word, "an id needs its host; write HOST#NUMBER");
  if (!parse_number(text.substr(mark + 1), id) || id == 0) {
    fail(*word, in_quotes(text.substr(mark + 1)) + " is no id: a number from 1");
  }
}

const Word* Reader::take_host_and_object(const char* key, std::string& host, std::string_view kind,
                                         ObjectName& name) {
  const Word* word = need(key);
  if (word == nullptr) return nullptr;
  const std::string_view text = word->text;
  const std::size_t mark = std::min(text.find('#'), text.size());
  take_host(*word, text.substr(0, mark), host);
  if (mark == text.size()) return word;
  if (host.empty()) fail(*word, "an object needs its host; write HOST#NAME");
  std::string reason = parse_object(kind, text.substr(mark + 1), name);
  if (!reason.empty()) fail(*word, std::move(reason));
  return word;
}

void Reader::host_or_program(const char* key, std::string& host, std::string& program,
                             std::uint32_t& number) {
  if (const Word* word = need(key)) take_program(*word, word->text, host, program, number);
}

void Reader::take_program(const Word& word, std::string_view text, std::string& host,
                          std::string& program, std::uint32_t& number) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  host = text.substr(0, slash);
  if (!is_name(host)) fail(word, in_quotes(host) + " is no name");
  if (slash == text.size()) return;
  const std::string_view named = text.substr(slash + 1);
  const std::size_t mark = std::min(named.find('#'), named.size());
  program = named.substr(0, mark);
  if (!is_name(program)) {
    fail(word, in_quotes(text) + " names no program: HOST/PROGRAM, or HOST/PROGRAM#2");
  }
  if (mark == named.size()) return;
  if (!parse_number(named.substr(mark + 1), number) || number == 0) {
    fail(word, in_quotes(named.substr(mark + 1)) + " is no number of a program: from 1");
  }
}

void Reader::host_or_thread(const char* key, std::string& host, std::string& program,
                            std::uint32_t& number, std::uint32_t& thread) {
  const Word* word = need(key);
  if (word == nullptr) return;
  std::string_view text = word->text;
  const std::size_t first = std::min(text.find('/'), text.size());
  const std::size_t second = text.find('/', std::min(first + 1, text.size()));
  if (second != std::string_view::npos) {
    if (!parse_number(text.substr(second + 1), thread) || thread == 0) {
      fail(*word, in_quotes(text.substr(second + 1)) + " is no number of a thread: from 1");
    }
    text = text.substr(0, second);
  }
  take_program(*word, text, host, program, number);
}

WordProblem Reader::finish() {
  if (!problem_.reason.empty()) return problem_;
  for (std::size_t i = 0; i < used_.size(); ++i) {
    if (used_[i]) continue;
    const Word& word = phrase_.words[i];
    const std::string& what = word.key.empty() ? word.text : word.key;
    return {word.line, in_quotes(phrase_.kind) + " takes no " + in_quotes(what)};
  }
  return {};
}

// --- kinds --------------------------------------------------------------------------------------

/// Its alternatives' kinds, in their order.
template <class... Parts>
constexpr auto kinds_of(const std::variant<Parts...>*) {
  return std::array<std::string_view, sizeof...(Parts)>{Parts::kKind...};
}
template <class Variant>
constexpr auto kKinds = kinds_of(static_cast<const Variant*>(nullptr));

template <class Variant>
constexpr std::string_view kWhat = "trigger";
template <>
constexpr std::string_view kWhat<ActionKinds> = "action";

/// Makes `variant` its alternative number `index`, with default fields.
template <class Variant, std::size_t I = 0>
void become(Variant& variant, std::size_t index) {
  if constexpr (I < std::variant_size_v<Variant>) {
    if (index != I) return become<Variant, I + 1>(variant, index);
    variant.template emplace<I>();
  }
}

template <class Variant>
Phrase write(const Variant& variant) {
  return std::visit(
      []<class Part>(const Part& part) {
        Writer writer;
        Part::visit(writer, part);
        return Phrase{std::string(Part::kKind), std::move(writer.words), 0};
      },
      variant);
}

template <class Variant>
WordProblem read(const Phrase& phrase, Order order, Variant& variant) {
  const auto& kinds = kKinds<Variant>;
  const auto kind = std::find(kinds.begin(), kinds.end(), phrase.kind);
  if (kind == kinds.end()) {
    return {phrase.line, "no such " + std::string(kWhat<Variant>) + " " + in_quotes(phrase.kind)};
  }
  become(variant, static_cast<std::size_t>(kind - kinds.begin()));
  Reader reader(phrase, order);
  std::visit([&reader]<class Part>(Part& part) { Part::visit(reader, part); }, variant);
  return reader.finish();
}

}  // namespace

Phrase phrase_of(const Trigger& trigger) {
  return write(trigger);
}

Phrase phrase_of(const FaultAction& action) {
  return write(action);
}

WordProblem read_phrase(const Phrase& phrase, Order order, Trigger& trigger) {
  return read<TriggerKinds>(phrase, order, trigger);
}

WordProblem read_phrase(const Phrase& phrase, Order order, FaultAction& action) {
  return read<ActionKinds>(phrase, order, action);
}

std::span<const std::string_view> trigger_kinds() {
  return kKinds<TriggerKinds>;
}

std::span<const std::string_view> action_kinds() {
  return kKinds<ActionKinds>;
}

bool is_trigger_kind(std::string_view word) {
  const auto& kinds = kKinds<TriggerKinds>;
  return word != OnMessage::kKind && word != AtTime::kKind && word != BetweenTimes::kKind &&
         std::find(kinds.begin(), kinds.end(), word) != kinds.end();
}

}  // namespace anyrdma::fault
