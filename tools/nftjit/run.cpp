// nftjit run: packets through the hooks.
#include <absl/strings/str_cat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>

#include "lib/engine/program_data.h"
#include "nftjit/compile.h"
#include "nftjit/instance.h"
#include "tools/nftjit/commands.h"
#include "tools/nftjit/compile_or_explain.h"
#include "tools/nftjit/exit_status.h"
#include "tools/nftjit/output_file.h"
#include "tools/nftjit/packet_options.h"
#include "tools/nftjit/packet_path.h"
#include "tools/nftjit/report.h"
#include "tools/nftjit/ruleset_flags.h"

namespace nftjit::cli {
namespace {

struct RunOptions {
  RulesetFlags ruleset;
  PacketOptions packets;
  EngineFlags engine;
  std::string write_file;
  bool json = false, summary = false;
};

bool ReadsConntrack(const ir::Program& program) {
  for (const ir::Row& row : program.rows) {
    if (row.op == ir::Op::kCt) return true;
  }
  return false;
}

// What the reader of the results should know of the input, on standard error.
void Remark(const RunOptions& options, const Capture& capture, const ir::Program& program) {
  if (capture.short_packets() != 0) {
    std::cerr
        << "nftjit: note: " << capture.short_packets()
        << " packets were captured short: the reference engine runs all, and what depends on bytes that the capture "
           "lacks is unknown\n";
  }
  if (options.packets.ct_state.empty() && ReadsConntrack(program)) {
    std::cerr << "nftjit: note: rules read conntrack and --ct-state was not given: the state is invalid, as before "
                 "conntrack\n";
  }
}

// Runs every packet along its path. Returns what became of each.
std::vector<Verdict> RunAll(const PacketPath& path, const Facts& facts, Capture& capture, Worker& worker,
                            Report& report) {
  std::vector<Verdict> verdicts(capture.size(), Verdict::kAccept);
  for (size_t i = 0; i < capture.size(); ++i) {
    Packet packet = capture.At(i);
    facts.ApplyTo(packet);
    bool reported = false;
    HookSite last;
    const PacketSites path_of_packet = path.SitesFor(packet);
    for (const HookSite& site : path_of_packet.sites) {
      const Result result = worker.Run(site, packet);
      last = site;
      if (result.decided_by != DecidedBy::kNoChain) {
        report.PacketAtHook(i + 1, site, result);
        reported = true;
      }
      verdicts[i] = result.verdict;
      if (result.verdict != Verdict::kAccept) break;
    }
    if (verdicts[i] == Verdict::kAccept && path_of_packet.ends_unknown) {
      verdicts[i] = Verdict::kUnknown;
      report.PacketAtHook(i + 1, last, {Verdict::kUnknown, DecidedBy::kMissing});
    } else if (!reported) {
      report.PacketAtHook(i + 1, last, Result{});
    }
  }
  return verdicts;
}

size_t Count(const std::vector<Verdict>& verdicts, Verdict verdict) {
  return static_cast<size_t>(std::count(verdicts.begin(), verdicts.end(), verdict));
}

absl::StatusOr<std::optional<OutputFile>> OpenOutput(const std::string& path) {
  if (path.empty()) return std::nullopt;
  if (path == "-") return absl::InvalidArgumentError("-w: a file is expected; standard output has the verdicts");
  absl::StatusOr<OutputFile> output = OutputFile::Open(path);
  if (!output.ok()) return output.status();
  return *std::move(output);
}

absl::Status WriteAccepted(const Capture& capture, const std::vector<Verdict>& verdicts, OutputFile& output) {
  std::vector<bool> accepted;
  accepted.reserve(verdicts.size());
  for (const Verdict verdict : verdicts) accepted.push_back(verdict == Verdict::kAccept);
  const absl::StatusOr<std::string> pcap = capture.Pcap(accepted);
  if (!pcap.ok()) return absl::InvalidArgumentError(absl::StrCat("-w: ", pcap.status().message()));
  return output.Commit(*pcap);
}

int Run(RunOptions& options) {
  if (!options.packets.given()) {
    return Fail(absl::InvalidArgumentError("run: -r CAPTURE or --hex PACKET is expected"));
  }
  const absl::StatusOr<const EngineInterface*> engine = options.engine.Find();
  if (!engine.ok()) return Fail(engine.status());
  options.ruleset.listing.hook = options.packets.hook;
  options.ruleset.listing.family = options.packets.family;
  absl::StatusOr<Host> host = options.ruleset.LoadHost();
  if (!host.ok()) return Fail(host.status());
  absl::StatusOr<Capture> capture = options.packets.LoadPackets();
  if (!capture.ok()) return Fail(capture.status());
  // Optimised rules load whole fields where the lowered ones load what they test, so less would be known.
  const bool cut = capture->short_packets() != 0;
  const CompileOptions compile{.engine = cut ? &ReferenceEngine() : *engine,
                               .optimise = !options.engine.no_optimise && !cut,
                               .partial = options.engine.partial};
  const absl::StatusOr<std::shared_ptr<const Program>> program =
      CompileOrExplain(options.ruleset, *host, compile, std::cerr);
  if (!program.ok()) return Fail(program.status());
  const absl::StatusOr<Facts> facts = Facts::From(options.packets, *host);
  if (!facts.ok()) return Fail(facts.status());
  const absl::StatusOr<PacketPath> path = PacketPath::From(options.packets, (*program)->data().lowered, *host);
  if (!path.ok()) return Fail(path.status());
  Remark(options, *capture, (*program)->data().lowered);

  absl::StatusOr<std::optional<OutputFile>> output = OpenOutput(options.write_file);
  if (!output.ok()) return Fail(output.status());

  Instance instance(*program);
  Worker worker = instance.NewWorker();
  Report report(std::cout, **program, options.json, options.summary);
  const std::vector<Verdict> verdicts = RunAll(*path, *facts, *capture, worker, report);
  const size_t unknown = Count(verdicts, Verdict::kUnknown);
  if (options.summary && !options.json) {
    std::cout << capture->size() << " packets: " << Count(verdicts, Verdict::kAccept) << " accepted, "
              << Count(verdicts, Verdict::kDrop) << " dropped";
    if (cut) std::cout << ", " << unknown << " unknown";
    std::cout << '\n';
  }
  report.Verdicts();
  report.Counters(capture->size(), unknown, instance);
  if (!output->has_value()) return kDone;
  const absl::Status written = WriteAccepted(*capture, verdicts, **output);
  return written.ok() ? kDone : Fail(written);
}

}  // namespace

Command AddRun(CLI::App& app) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* parser = app.add_subcommand("run", "Run packets through the hooks: verdicts and counters");
  options->ruleset.AddTo(*parser);
  options->packets.AddTo(*parser);
  options->engine.AddTo(*parser);
  parser->add_option("-w,--write", options->write_file, "Write the packets that were accepted to this capture");
  parser->add_flag("--json", options->json, "One JSON object a line");
  parser->add_flag("--summary", options->summary, "Only totals and counters");
  return {parser, [options] { return Run(*options); }};
}

}  // namespace nftjit::cli
