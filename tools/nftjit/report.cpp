#include "tools/nftjit/report.h"

#include <iomanip>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>
#include <string>

#include "tools/nftjit/packet_options.h"

namespace nftjit::cli {
namespace {

using Json = nlohmann::ordered_json;

// Names come from rulesets and need not be UTF-8: what is not becomes U+FFFD.
std::string Line(const Json& object) { return object.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string TableText(Family family, std::string_view table) {
  return std::string(FamilyText(family)) + " " + std::string(table);
}

Json OrNull(std::string_view text) { return text.empty() ? Json() : Json(std::string(text)); }

std::string_view RejectText(RejectKind kind) {
  switch (kind) {
    case RejectKind::kNone:
      return "none";
    case RejectKind::kIcmp:
      return "icmp";
    case RejectKind::kTcpReset:
      return "tcp reset";
    case RejectKind::kIcmpx:
      return "icmpx";
  }
  return "none";
}

}  // namespace

std::string_view VerdictText(Verdict verdict) {
  switch (verdict) {
    case Verdict::kDrop:
      return "drop";
    case Verdict::kAccept:
      return "accept";
    case Verdict::kUnknown:
      return "unknown";
  }
  return "unknown";
}

void Report::PacketAtHook(uint64_t packet, HookSite site, const Result& result) {
  if (summary_) return Tally(result);
  if (json_) return PacketAsJson(packet, site, result);
  out_ << packet << ' ' << HookText(site.hook) << ' ' << VerdictText(result.verdict);
  if (result.reject != RejectKind::kNone) {
    out_ << " (reject with " << RejectText(result.reject);
    if (result.reject != RejectKind::kTcpReset) out_ << ' ' << int{result.reject_code};
    out_ << ')';
  }
  out_ << "  " << Where(result) << '\n';
}

std::string Report::Where(const Result& result) const {
  std::ostringstream text;
  if (result.rule != Result::kNone) {
    const RuleDescription& rule = program_.rules()[result.rule];
    const ChainDescription& chain = program_.chains()[rule.chain];
    text << TableText(chain.family, chain.table) << ' ' << chain.name << " handle " << rule.handle;
    if (!rule.comment.empty()) text << " \"" << rule.comment << '"';
  } else if (result.base_chain != Result::kNone) {
    const ChainDescription& chain = program_.chains()[result.base_chain];
    text << TableText(chain.family, chain.table) << ' ' << chain.name
         << (result.decided_by == DecidedBy::kHeader    ? " (not run: header)"
             : result.decided_by == DecidedBy::kMissing ? " (not run: header not captured)"
                                                        : " policy");
  } else {
    text << (result.decided_by == DecidedBy::kMissing ? "way not captured" : "no chain");
  }
  return text.str();
}

void Report::Tally(const Result& result) {
  const bool by_rule = result.rule != Result::kNone;
  Decided& decided = decided_[{!by_rule, by_rule ? result.rule : result.base_chain, result.decided_by}];
  if (decided.where.empty()) decided.where = Where(result);
  const size_t column = result.verdict == Verdict::kAccept ? 0 : result.verdict == Verdict::kDrop ? 1 : 2;
  ++decided.packets[column];
}

void Report::Verdicts() {
  if (!summary_ || json_) return;
  bool unknown = false;
  for (const auto& [decider, decided] : decided_) unknown = unknown || decided.packets[2] != 0;
  out_ << std::setw(12) << "accepted" << std::setw(14) << "dropped";
  if (unknown) out_ << std::setw(12) << "unknown";
  out_ << "  decided by\n";
  for (const auto& [decider, decided] : decided_) {
    out_ << std::setw(12) << decided.packets[0] << std::setw(14) << decided.packets[1];
    if (unknown) out_ << std::setw(12) << decided.packets[2];
    out_ << "  " << decided.where << '\n';
  }
}

void Report::PacketAsJson(uint64_t packet, HookSite site, const Result& result) {
  Json object = {{"version", 1},
                 {"packet", packet},
                 {"hook", std::string(HookText(site.hook))},
                 {"verdict", std::string(VerdictText(result.verdict))}};
  uint32_t chain_index = result.base_chain;
  Json rule_handle, comment;
  if (result.rule != Result::kNone) {
    const RuleDescription& rule = program_.rules()[result.rule];
    chain_index = rule.chain;
    rule_handle = rule.handle;
    comment = OrNull(rule.comment);
  }
  Json table, chain_name;
  if (chain_index != Result::kNone) {
    const ChainDescription& chain = program_.chains()[chain_index];
    table = TableText(chain.family, chain.table);
    chain_name = std::string(chain.name);
  }
  object["table"] = table;
  object["chain"] = chain_name;
  object["rule"] = rule_handle;
  object["comment"] = comment;
  if (result.reject != RejectKind::kNone) {
    object["reject"] = std::string(RejectText(result.reject));
    if (result.reject != RejectKind::kTcpReset) object["reject_code"] = result.reject_code;
  }
  out_ << Line(object) << '\n';
}

void Report::Counters(uint64_t packets, uint64_t unknown, const Instance& instance) {
  if (json_) {
    CountersAsJson(packets, unknown, instance);
    return;
  }
  out_ << std::setw(12) << "packets" << std::setw(14) << "bytes"
       << "  counter\n";
  for (const CounterReading& reading : instance.counters()) {
    out_ << std::setw(12) << reading.packets << std::setw(14) << reading.bytes << "  "
         << TableText(reading.family, reading.table) << ' ';
    if (!reading.set.empty()) {
      out_ << "element of @" << reading.set;
    } else if (reading.rule_handle == 0) {
      out_ << reading.chain << " policy";
    } else {
      out_ << reading.chain << " handle " << reading.rule_handle;
    }
    if (!reading.comment.empty()) out_ << " \"" << reading.comment << '"';
    out_ << '\n';
  }
}

void Report::CountersAsJson(uint64_t packets, uint64_t unknown, const Instance& instance) {
  Json counters = Json::array();
  for (const CounterReading& reading : instance.counters()) {
    if (reading.rule_handle == 0) continue;  // Policies and elements have no rule to name.
    counters.push_back({{"table", TableText(reading.family, reading.table)},
                        {"chain", std::string(reading.chain)},
                        {"handle", reading.rule_handle},
                        {"comment", OrNull(reading.comment)},
                        {"packets", reading.packets},
                        {"bytes", reading.bytes}});
  }
  Json object = {{"version", 1}, {"packets", packets}};
  if (unknown != 0) object["unknown"] = unknown;
  object["counters"] = std::move(counters);
  out_ << Line(object) << '\n';
}

}  // namespace nftjit::cli
