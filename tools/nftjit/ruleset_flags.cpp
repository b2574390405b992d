#include "tools/nftjit/ruleset_flags.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <iterator>

#include "lib/nft/ruleset.h"

namespace nftjit::cli {

void RulesetFlags::AddTo(CLI::App& parser) {
  parser.add_option("-f,--file", file, "Ruleset: nft text or an image; '-': standard input")->required();
  parser.add_option("-D,--define", defines, "Define a variable of the ruleset: NAME=VALUE; repeatable");
  parser.add_option("-I,--includepath", include_paths, "Folder to look for included files in; repeatable");
  HostFlags::AddTo(parser);
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
