#include "tools/nftjit/ruleset_flags.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <iostream>
#include <iterator>

#include "lib/nft/ruleset.h"

namespace nftjit::cli {

void RulesetFlags::AddTo(CLI::App& parser) {
  parser.add_option("-f,--file", file, "Ruleset: nft text or an image; '-': standard input")->required();
  parser.add_option("-D,--define", defines, "Define a variable of the ruleset: NAME=VALUE; repeatable");
  parser.add_option("-I,--includepath", include_paths, "Folder to look for included files in; repeatable");
  parser.add_option("--iface", interfaces, "An interface that exists: NAME or NAME=INDEX; repeatable");
  parser.add_option("--host", host_file, "Host file: interfaces, addresses, routes, users, groups");
  parser.add_flag("--dns", resolve_names, "Let nft look host names up");
}

absl::StatusOr<Host> RulesetFlags::LoadHost() const {
  absl::StatusOr<Host> host = host_file.empty() ? absl::StatusOr<Host>(Host()) : Host::FromFile(host_file);
  if (!host.ok()) return host;
  for (const std::string& word : interfaces) {
    const size_t equals = word.find('=');
    uint32_t index = 0;
    if (equals != std::string::npos) {
      const char *first = word.data() + equals + 1, *last = word.data() + word.size();
      const auto [end, error] = std::from_chars(first, last, index);
      if (error != std::errc() || end != last || index == 0) {
        return absl::InvalidArgumentError("--iface " + word +
                                          ": NAME or NAME=INDEX, with an index above 0, is expected");
      }
    }
    if (const auto added = host->AddInterface(word.substr(0, equals), index); !added.ok()) {
      return absl::InvalidArgumentError("--iface " + word + ": " + std::string(added.status().message()));
    }
  }
  return host;
}

absl::StatusOr<Ruleset> RulesetFlags::Load(Host& host, bool locate) {
  nftjit::RulesetOptions options;
  for (const Interface& interface : host.interfaces()) {
    options.interfaces.push_back({interface.name.data(), interface.index});
  }
  options.host_file = host_file;
  options.dns = resolve_names;
  options.locate_rules = locate;
  for (const std::string& define : defines) options.nft_arguments.push_back("--define=" + define);
  for (const std::string& folder : include_paths) {
    options.nft_arguments.push_back("--includepath");
    options.nft_arguments.push_back(folder);
  }
  if (file == "-" && !standard_input_) {
    standard_input_ = std::string(std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>());
  }
  absl::StatusOr<Ruleset> ruleset =
      standard_input_ ? Ruleset::FromText(*standard_input_, options) : Ruleset::FromFile(file, options);
  if (!ruleset.ok()) return ruleset;
  for (const nft::Interface& interface : ruleset->model().interfaces) {
    if (const auto added = host.AddInterface(interface.name, interface.index); !added.ok()) return added.status();
  }
  return ruleset;
}

}  // namespace nftjit::cli
