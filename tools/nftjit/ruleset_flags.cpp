#include "tools/nftjit/ruleset_flags.h"

#include <CLI/CLI.hpp>

#include "lib/nft/ruleset.h"
#include "lib/support/read_file.h"

namespace nftjit::cli {

void RulesetFlags::AddTo(CLI::App& parser) {
  parser.add_option("-f,--file", file, "Ruleset: nft text, an image or a listing; '-': standard input")->required();
  parser.add_option("-D,--define", defines, "Define a variable of the ruleset: NAME=VALUE; repeatable");
  parser.add_option("-I,--includepath", include_paths, "Folder to look for included files in; repeatable");
  parser.add_option("--dialect", listing.dialect, "Of a listing that does not show it")
      ->check(CLI::IsMember({"legacy", "current"}));
  parser.add_flag("--assume-lost", listing.assume_lost, "Assume what nft does usually where a listing lost something");
  HostFlags::AddTo(parser);
}

void RulesetFlags::AddListingPlaceTo(CLI::App& parser) {
  parser.add_option("--hook", listing.hook, "Hook of a listing's chains")
      ->check(CLI::IsMember({"prerouting", "input", "forward", "output", "postrouting", "ingress", "egress"}));
  parser.add_option("--family", listing.family, "Family of a listing's rules without a header (default inet)")
      ->check(CLI::IsMember({"inet", "ip", "arp", "netdev", "bridge", "ip6"}));
}

absl::StatusOr<Ruleset> RulesetFlags::Load(Host& host, bool locate) {
  nftjit::RulesetOptions options;
  for (const Interface& interface : host.interfaces()) {
    options.interfaces.push_back({interface.name.data(), interface.index});
  }
  options.host_file = host_file;
  options.listing = listing;
  options.dns = resolve_names;
  options.locate_rules = locate;
  for (const std::string& define : defines) options.nft_arguments.push_back("--define=" + define);
  for (const std::string& folder : include_paths) {
    options.nft_arguments.push_back("--includepath");
    options.nft_arguments.push_back(folder);
  }
  if (file == "-" && !standard_input_) {
    absl::StatusOr<std::string> text = ReadFile(file);
    if (!text.ok()) return text.status();
    standard_input_ = *std::move(text);
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
