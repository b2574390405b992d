// The public Ruleset: from text, file or image.
#include "nftjit/ruleset.h"

#include <filesystem>
#include <optional>
#include <string>

#include "lib/control/frontend.h"
#include "lib/control/listing.h"
#include "lib/environment/host.h"
#include "lib/netlink/image.h"
#include "lib/nft/listing_parser.h"
#include "lib/nft/ruleset.h"
#include "lib/support/read_file.h"

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

absl::StatusOr<Ruleset> CompileText(const std::string& text, const RulesetOptions& options) {
  absl::StatusOr<Prepared> prepared = Prepare(options);
  if (!prepared.ok()) return prepared.status();
  prepared->options.host = &prepared->host;
  return Wrap(control::CompileNftText(text, prepared->options));
}

}  // namespace

absl::StatusOr<Ruleset> Ruleset::FromImage(const std::string& bytes) {
  return Wrap(netlink::ReadImage(bytes, "image"));
}

absl::StatusOr<Ruleset> Ruleset::FromFile(const std::string& path, const RulesetOptions& options) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return text.status();
  if (path == "-") return FromText(*text, options);
  if (netlink::LooksLikeImage(*text)) return Wrap(netlink::ReadImage(*text, path));
  if (nft::LooksLikeListing(*text)) {
    ListingOptions listing = options.listing;
    listing.file_name = path;
    return FromListing(*text, listing);
  }
  // What cannot be read twice (a pipe) has been read now.
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return CompileText(*text, options);
  absl::StatusOr<Prepared> prepared = Prepare(options);
  if (!prepared.ok()) return prepared.status();
  prepared->options.host = &prepared->host;
  return Wrap(control::CompileNftFile(path, prepared->options));
}

absl::StatusOr<Ruleset> Ruleset::FromText(const std::string& text, const RulesetOptions& options) {
  if (netlink::LooksLikeImage(text)) return FromImage(text);
  if (nft::LooksLikeListing(text)) return FromListing(text, options.listing);
  return CompileText(text, options);
}

absl::StatusOr<Ruleset> Ruleset::FromListing(const std::string& text, const ListingOptions& options) {
  control::ListingContext context;
  context.file_name = options.file_name;
  context.hook = options.hook;
  context.assume_lost = options.assume_lost;
  if (!options.family.empty()) {
    const std::optional<nft::Family> family = nft::FamilyFromName(options.family);
    if (!family)
      return absl::InvalidArgumentError("family " + options.family +
                                        ": ip, ip6, inet, arp, bridge or netdev is expected");
    context.family = *family;
  }
  if (options.dialect == "legacy") {
    context.dialect = nft::ListingDialect::kLegacy;
  } else if (options.dialect == "current") {
    context.dialect = nft::ListingDialect::kCurrent;
  } else if (!options.dialect.empty()) {
    return absl::InvalidArgumentError("dialect " + options.dialect + ": legacy or current is expected");
  }
  return Wrap(control::CompileListing(text, context));
}

}  // namespace nftjit
