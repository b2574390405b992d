// What a Program tells of its rules, chains, counters and logs.
#include "nftjit/program.h"

#include <utility>

#include "lib/engine/program_data.h"

namespace nftjit {
namespace {

LogDescription Describe(const ir::LogInfo& log) {
  LogDescription out;
  out.rule = log.rule.index;
  if (log.options.prefix) out.prefix = *log.options.prefix;
  if (log.options.group) {
    out.group = *log.options.group;
    out.level = -1;
  } else if (log.options.level) {
    out.level = static_cast<int>(*log.options.level);
  }
  return out;
}

}  // namespace

void DescribeProgram(ProgramData& data) {
  const ir::Program& program = data.program();
  for (const ir::Chain& chain : program.chains) {
    data.chains.push_back({static_cast<Family>(chain.family), chain.table, chain.name, chain.base.has_value()});
  }
  for (const ir::RuleInfo& rule : program.rules) {
    data.rules.push_back({rule.chain.index, rule.handle, rule.comment, ToString(rule.where)});
  }
  for (const ir::LogInfo& log : program.logs) data.logs.push_back(Describe(log));
  for (const ir::UnsupportedRule& rule : program.unsupported) {
    data.unsupported.push_back({rule.rule.index, rule.expression, rule.what});
  }
}

Program::Program(std::unique_ptr<const ProgramData> data) : data_(std::move(data)) {}
Program::~Program() = default;

std::string_view Program::engine_name() const { return data_->engine->name(); }
size_t Program::code_bytes() const { return data_->code->code_bytes(); }
double Program::compile_seconds() const { return data_->compile_seconds; }
std::span<const ChainDescription> Program::chains() const { return data_->chains; }
std::span<const RuleDescription> Program::rules() const { return data_->rules; }
std::span<const LogDescription> Program::logs() const { return data_->logs; }
std::span<const UnsupportedDescription> Program::unsupported() const { return data_->unsupported; }
std::string Program::Disassemble() const { return data_->code->Disassemble(); }

std::string_view EngineName(const EngineInterface& engine) { return engine.name(); }

}  // namespace nftjit
