#include "tools/nftjit/unsupported.h"

#include <nlohmann/json.hpp>
#include <ostream>

namespace nftjit::cli {

std::string ChainText(const ir::Program& program, ir::ChainId id) {
  const ir::Chain& chain = program.chains[id.index];
  return std::string(nft::Name(chain.family)) + " " + chain.table + " " + chain.name;
}

std::string UnsupportedText(const ir::Program& program, const ir::UnsupportedRule& unsupported) {
  const ir::RuleInfo& rule = program.rules[unsupported.rule.index];
  std::string text = ToString(rule.where);
  if (!text.empty()) text += ": ";
  text += ChainText(program, rule.chain) + " handle " + std::to_string(rule.handle);
  if (!rule.comment.empty()) text += " \"" + rule.comment + "\"";
  return text + ": " + unsupported.what + " is not supported";
}

void PrintUnsupported(std::ostream& out, const ir::Program& program, bool json) {
  for (const ir::UnsupportedRule& unsupported : program.unsupported) {
    if (!json) {
      out << UnsupportedText(program, unsupported) << '\n';
      continue;
    }
    const ir::RuleInfo& rule = program.rules[unsupported.rule.index];
    const ir::Chain& chain = program.chains[rule.chain.index];
    nlohmann::ordered_json object;
    object["version"] = 1;
    object["unsupported"] = unsupported.what;
    object["file"] = rule.where.file.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(rule.where.file);
    object["line"] = rule.where.line == 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(rule.where.line);
    object["table"] = std::string(nft::Name(chain.family)) + " " + chain.table;
    object["chain"] = chain.name;
    object["handle"] = rule.handle;
    object["comment"] = rule.comment.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(rule.comment);
    object["expression"] = unsupported.expression;
    out << object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
  }
}

}  // namespace nftjit::cli
