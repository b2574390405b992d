// Runs one lane of a benchmark on a known number of packets, so that callgrind can count the instructions of
// RunCounted. Prints that number of packets. scripts/instructions is the way to call it.
#include <charconv>
#include <cstring>
#include <iostream>
#include <string_view>

#include "benchmarks/linear_case.h"
#include "benchmarks/server_case.h"

namespace nftjit::bench {
namespace {

constexpr size_t kWarm = 64, kCounted = 1024;

}  // namespace

// The name that callgrind is told to collect in.
[[gnu::noinline]] void RunCounted(const Lane& lane) { lane(kWarm, kCounted); }

namespace {

int Usage() {
  std::cerr << "usage: nftjit_count_instructions LANE linear RULES TRAFFIC | LANE server PERCENT\n";
  return 2;
}

bool Number(const char* text, size_t* out) {
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, *out);
  return error == std::errc() && stop == end;
}

int Count(const std::vector<NamedLane>& lanes, std::string_view name) {
  for (const NamedLane& lane : lanes) {
    if (lane.name != name) continue;
    lane.run(0, kWarm);
    RunCounted(lane.run);
    std::cout << kCounted << '\n';
    return 0;
  }
  std::cerr << "no lane " << name << "; there are:";
  for (const NamedLane& lane : lanes) std::cerr << ' ' << lane.name;
  std::cerr << '\n';
  return 2;
}

int Main(int argc, char** argv) {
  size_t first = 0, second = 0;
  if (argc == 5 && std::string_view(argv[2]) == "linear" && Number(argv[3], &first) && Number(argv[4], &second) &&
      first >= 1 && second <= 2) {
    LinearCase linear(first, static_cast<PrefixTraffic>(second));
    return Count(linear.lanes(), argv[1]);
  }
  if (argc == 4 && std::string_view(argv[2]) == "server" && Number(argv[3], &first) && first <= 100) {
    ServerCase server(static_cast<int>(first));
    return Count(server.lanes(), argv[1]);
  }
  return Usage();
}

}  // namespace
}  // namespace nftjit::bench

int main(int argc, char** argv) { return nftjit::bench::Main(argc, argv); }
