#include "tools/bundle.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>
#include <vector>

#include "recording/page/story_page.h"
#include "recording/view/story.h"
#include "sim/machines/executable.h"
#include "tools/bundle/archive.h"
#include "tools/start.h"
#include "tools/text_file.h"
#include "tools/verification.h"
#include "tools/version.h"
#include "tools/words.h"

namespace anyrdma::tools {
namespace {

constexpr const char* kManifest = "bundle.txt";

/// The file that a scenario's word names on this machine. Empty: there is none.
std::string program_here(const std::string& scenario, const std::string& word) {
  const char* const search = std::getenv("PATH");
  const auto found =
      sim::find_program(path_beside(scenario, word), search == nullptr ? "/usr/bin:/bin" : search);
  std::error_code error;
  return found ? std::filesystem::absolute(*found, error).string() : std::string();
}

/// Letters, digits and the like of a file's name, for a name in the archive.
std::string plain(const std::string& path) {
  std::string name = std::filesystem::path(path).filename();
  for (char& c : name) {
    const bool kept = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    if (!kept && c != '.' && c != '-' && c != '_' && c != '+') c = '_';
  }
  constexpr std::size_t kLongest = 64;
  name.resize(std::min(name.size(), kLongest));
  return name.empty() || name == "." || name == ".." ? "file" : name;
}

/// Adds a file under a name of its own, and to the list. Returns a sentence, or nothing.
std::string add(ArchiveWriter& archive, const std::string& folder, const std::string& named,
                const std::string& file, std::vector<BundledFile>& list) {
  BundledFile entry{.path = named,
                    .id = file_id(file),
                    .copy = folder + "/" + std::to_string(list.size()) + "/" + plain(file)};
  if (entry.id.empty()) return "'" + file + "' cannot be read. Check the path.";
  list.push_back(entry);
  return archive.add_file(entry.copy, file);
}

std::string add_programs(ArchiveWriter& archive, const ProgramScenario& scenario,
                         Manifest& manifest) {
  std::set<std::string> known;
  for (const auto* all : {&scenario.background, &scenario.programs}) {
    for (const Placed& each : *all) {
      const std::string word = words_of(each.command).value().front();
      if (!known.insert(word).second) continue;
      const auto copy = scenario.copies.find(word);
      const std::string file =
          copy != scenario.copies.end() ? copy->second : program_here(scenario.file, word);
      if (file.empty()) return "the program '" + word + "' is gone. Start the replay again.";
      if (std::string why = add(archive, "programs", word, file, manifest.programs); !why.empty())
        return why;
    }
  }
  if (scenario.input.empty()) return {};
  return add(archive, "input", scenario.input, scenario.input, manifest.inputs);
}

/// The page of the recording, in a file beside it.
std::string write_page(const std::string& recording, const std::string& page) {
  std::ifstream file(recording, std::ios::binary);
  const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
  const recording::Told told = recording::tell(bytes);
  if (!told.story) return "the recording '" + recording + "' cannot be read.";
  const std::string problem = recording::write_story_page({&*told.story}, page);
  return problem.empty() ? problem : "the page cannot be written: " + problem + ".";
}

std::string fill(ArchiveWriter& archive, const BundledRun& run) {
  Manifest manifest{.writer = version_line(),
                    .scenario = "scenario/" + plain(run.scenario.file),
                    .trial = run.trial,
                    .buffered = run.scenario.buffered,
                    .strict = run.scenario.strict,
                    .hash = run.hash};
  if (std::string why = archive.add_file(manifest.scenario, run.scenario.file); !why.empty())
    return why;
  if (std::string why = add_programs(archive, run.scenario, manifest); !why.empty()) return why;
  for (const std::string& each : run.libraries) {
    // A file that was deleted meanwhile has no id.
    if (std::string id = file_id(each); !id.empty()) manifest.libraries.push_back({each, id});
  }
  const std::string page = run.recording + ".html";
  if (std::string why = write_page(run.recording, page); !why.empty()) return why;
  std::error_code none;
  std::string why = archive.add_file("run.recording", run.recording);
  if (why.empty()) why = archive.add_file("page.html", page);
  std::filesystem::remove(page, none);
  if (!why.empty()) return why;
  archive.add("trial.txt", run.trial + "\n");
  archive.add(kManifest, manifest.to_text());
  return {};
}

}  // namespace

std::string write_bundle(const std::string& path, const BundledRun& run) {
  ArchiveWriter archive(path);
  const std::string why = fill(archive, run);
  const bool written = archive.finish();
  if (why.empty() && written) return {};
  std::error_code none;
  if (std::filesystem::is_regular_file(path, none)) std::filesystem::remove(path, none);
  return "the bundle '" + path + "' cannot be written: " +
         (why.empty() ? "check the path, and the space that is left." : why);
}

std::string OpenBundle::place_of(const std::string& name) const {
  return (directory_.path() / name).string();
}

std::string OpenBundle::scenario() const {
  return place_of(manifest_.scenario);
}

std::string OpenBundle::input() const {
  return manifest_.inputs.empty() ? std::string() : place_of(manifest_.inputs.front().copy);
}

std::unique_ptr<OpenBundle> OpenBundle::open(const std::string& path) {
  std::unique_ptr<OpenBundle> bundle(new OpenBundle);
  if (bundle->directory_.path().empty()) {
    say("a bundle needs a directory for temporary files, and there is none. Set TMPDIR.");
    return nullptr;
  }
  if (const std::string why = unpack_archive(path, bundle->directory_.path()); !why.empty()) {
    say(why);
    return nullptr;
  }
  const auto text = read_text_file("the bundle's list", bundle->place_of(kManifest));
  if (!text) {
    say("the archive '" + path + "' is no bundle: it has no bundle.txt. Use one of --bundle.");
    return nullptr;
  }
  auto manifest = Manifest::parse(*text);
  if (!manifest) {
    say("the bundle '" + path + "' is not usable: " + manifest.error().sentence);
    return nullptr;
  }
  bundle->manifest_ = std::move(*manifest);
  std::vector<std::string> needed{bundle->manifest_.scenario};
  for (const auto* all : {&bundle->manifest_.programs, &bundle->manifest_.inputs})
    for (const BundledFile& each : *all) needed.push_back(each.copy);
  for (const std::string& each : needed) {
    std::error_code none;
    if (std::filesystem::is_regular_file(bundle->place_of(each), none)) continue;
    say("the bundle '" + path + "' is not usable: it lacks '" + each + "'. Copy it again.");
    return nullptr;
  }
  return bundle;
}

std::map<std::string, std::string> OpenBundle::programs() const {
  std::map<std::string, std::string> all;
  for (const BundledFile& each : manifest_.programs) {
    const std::string here = program_here(scenario(), each.path);
    all[each.path] = !here.empty() && file_id(here) == each.id ? here : place_of(each.copy);
  }
  return all;
}

std::vector<std::string> OpenBundle::differences() const {
  std::vector<std::string> all;
  if (manifest_.writer != version_line())
    all.push_back("the bundle was made by " + manifest_.writer + ", and this is " + version_line() +
                  ".");
  for (const BundledFile& each : manifest_.programs) {
    const std::string here = program_here(scenario(), each.path);
    const std::string id = here.empty() ? here : file_id(here);
    if (id == each.id) continue;
    all.push_back("the program '" + each.path + "' " +
                  (here.empty()
                       ? "is missing on this machine"
                       : "of this machine is another one (" + id + ", not " + each.id + ")") +
                  ": the copy in the bundle is used.");
  }
  for (const BundledFile& each : manifest_.libraries) {
    const std::string id = file_id(each.path);
    if (id == each.id) continue;
    all.push_back("the library '" + each.path + "' " +
                  (id.empty() ? "is missing on this machine."
                              : "of this machine is another one (" + id + ", not " + each.id +
                                    "). The run may differ."));
  }
  return all;
}

}  // namespace anyrdma::tools
