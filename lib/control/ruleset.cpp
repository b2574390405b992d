#include "nftjit/ruleset.h"

#include "lib/control/frontend.h"
#include "lib/environment/host.h"
#include "lib/nft/ruleset.h"

namespace nftjit {
namespace {

// The front end's options with what they point to.
struct Prepared {
  Host host;
  control::NftOptions options;
};

absl::StatusOr<Prepared> Prepare(const RulesetOptions& options) {
  Prepared prepared;
  if (!options.host_file.empty()) {
    absl::StatusOr<Host> host = Host::FromFile(options.host_file);
    if (!host.ok()) return host.status();
    prepared.host = *std::move(host);
  }
  for (const RulesetOptions::NamedInterface& interface : options.interfaces) {
    prepared.options.interfaces.push_back({interface.name, interface.index});
  }
  prepared.options.dns = options.dns;
  prepared.options.locate_rules = options.locate_rules;
  prepared.options.arguments = options.nft_arguments;
  prepared.options.nft_program = options.nft_program;
  prepared.options.timeout = options.timeout;
  return prepared;
}

absl::StatusOr<Ruleset> Wrap(absl::StatusOr<nft::Ruleset> model) {
  if (!model.ok()) return model.status();
  return Ruleset(std::make_shared<const nft::Ruleset>(*std::move(model)));
}

}  // namespace

absl::StatusOr<Ruleset> Ruleset::FromFile(const std::string& path, const RulesetOptions& options) {
  absl::StatusOr<Prepared> prepared = Prepare(options);
  if (!prepared.ok()) return prepared.status();
  prepared->options.host = &prepared->host;
  return Wrap(control::CompileNftFile(path, prepared->options));
}

absl::StatusOr<Ruleset> Ruleset::FromText(const std::string& text, const RulesetOptions& options) {
  absl::StatusOr<Prepared> prepared = Prepare(options);
  if (!prepared.ok()) return prepared.status();
  prepared->options.host = &prepared->host;
  return Wrap(control::CompileNftText(text, prepared->options));
}

}  // namespace nftjit
