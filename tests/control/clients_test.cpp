// Other stock clients than nft: what they load and list against our server is what they load and list against the
// kernel.
#include <absl/strings/str_format.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <future>
#include <iostream>
#include <regex>

#include "lib/control/frontend.h"
#include "lib/control/programs.h"
#include "tests/control/listing_text.h"
#include "tests/support/network_namespace.h"
#include "tests/support/requirement.h"

namespace nftjit::control {
namespace {

// A shell line in which every client says with what status it ended.
std::string WithStatuses(const std::string& line) {
  std::string script =
      "exec 2>&1\nrun() { \"$@\"; set -- \"$1\" $?; echo \"$1: $2\" >&2; return $2; }\nalias nft='run nft'\n";
  for (const char* family : {"ip", "ip6", "eb", "arp"}) {
    for (const char* program : {"", "-save", "-restore"}) {
      script += absl::StrFormat("alias %1$stables-nft%2$s='run %1$stables-nft%2$s'\n", family, program);
    }
  }
  return script + line + "\necho $?";
}

// What a shell line prints, on both streams, and the statuses.
std::string AgainstServer(Server& server, const std::string& line) {
  const absl::StatusOr<ChildOutcome> outcome = RunClient(server, {"/bin/sh", "-c", WithStatuses(line)});
  REQUIRE(outcome.ok());
  return outcome->output;
}

std::string AgainstServer(const std::string& line) {
  Server server;
  return AgainstServer(server, line);
}

absl::StatusOr<std::string> AgainstKernel(const std::string& line) {
  const auto network = testing::NetworkNamespace::Create();
  if (!network.ok()) return network.status();
  std::string output;
  const absl::Status status = (*network)->Inside([&] {
    return testing::RunProgram({"sh", "-c", WithStatuses(line)}, "", &output);
  });
  if (!status.ok()) return status;
  return output;
}

struct Answers {
  std::string server, kernel;
};

// Both at a time: most of it is the start of programs.
Answers AskBoth(const std::string& line) {
  std::future<absl::StatusOr<std::string>> kernel = std::async(std::launch::async, AgainstKernel, line);
  Answers answers;
  answers.server = AgainstServer(line);
  absl::StatusOr<std::string> from_kernel = kernel.get();
  REQUIRE(from_kernel.ok());
  answers.kernel = *std::move(from_kernel);
  return answers;
}

// The kernel at hand lacks the module of an extension.
bool LacksExtension(const std::string& output) {
  return output.find("failed (No such file or directory)") != std::string::npos ||
         output.find("missing kernel module") != std::string::npos;
}

struct Client {
  const char* list;  // Prints all that the client has made, without dates.
  std::vector<const char*> lines;
};

std::vector<Client> Clients() {
  return {
      {"iptables-nft-save -c | grep -v '^#'; nft -a list ruleset",
       {
           "iptables-nft -A INPUT -p tcp --dport 22 -m comment --comment 'to the office' -j ACCEPT",
           "iptables-nft -A INPUT -s 192.0.2.0/24 -d 198.51.100.1 -i eth0 ! -p udp -j DROP",
           "iptables-nft -A INPUT -m conntrack --ctstate NEW -m limit --limit 3/s -j LOG --log-prefix x",
           "iptables-nft -A INPUT -p tcp -m multiport --dports 1,2,3:5 -j REJECT --reject-with tcp-reset",
           "iptables-nft -A INPUT -m mark --mark 3/7 -j MARK --set-mark 5",
           "iptables-nft -A INPUT -m iprange --src-range 192.0.2.1-192.0.2.9 -j RETURN",
           "iptables-nft -A INPUT -m mac --mac-source 00:11:22:33:44:55 -j DROP",
           "iptables-nft -A INPUT -m addrtype --dst-type LOCAL -j DROP",
           "iptables-nft -A INPUT -m statistic --mode nth --every 3 -j DROP",
           "iptables-nft -A INPUT -m string --string abc --algo bm -j DROP",
           "iptables-nft -A INPUT -m hashlimit --hashlimit-name h --hashlimit-above 5/s --hashlimit-mode srcip -j DROP",
           "iptables-nft -A INPUT -m bpf --bytecode '4,48 0 0 9,21 0 1 6,6 0 0 1,6 0 0 0'",
           "iptables-nft -A INPUT -m u32 --u32 '0&0xf=1'",
           "iptables-nft -A INPUT -p icmp --icmp-type echo-request -j NFLOG --nflog-group 3 --nflog-prefix abc",
           "iptables-nft -A OUTPUT -m owner --uid-owner 0 -j ACCEPT",
           "iptables-nft -t nat -A PREROUTING -p tcp --dport 80 -j DNAT --to 10.0.0.1:8080",
           "iptables-nft -t nat -A POSTROUTING -o eth0 -j MASQUERADE",
           "iptables-nft -t mangle -A FORWARD -p tcp --tcp-flags SYN,RST SYN -j TCPMSS --clamp-mss-to-pmtu",
           "iptables-nft -t raw -A PREROUTING -p udp --dport 53 -j CT --notrack",
           "iptables-nft -A INPUT -j nowhere",
           "iptables-nft -A nowhere -j ACCEPT",
           // NOLINTNEXTLINE(bugprone-suspicious-missing-comma): one line of several commands.
           "iptables-nft -N x; iptables-nft -A x -j RETURN; iptables-nft -A INPUT -g x; iptables-nft -E x y; "
           "iptables-nft -X y; iptables-nft -S",
           "iptables-nft -P INPUT DROP; iptables-nft -A INPUT -j ACCEPT; iptables-nft -I INPUT 1 -s 192.0.2.1; "
           "iptables-nft -R INPUT 1 -s 192.0.2.2; iptables-nft -C INPUT -s 192.0.2.2; "
           "iptables-nft -D INPUT -s 192.0.2.2; iptables-nft -D INPUT -s 192.0.2.3; iptables-nft -L -nv",
           "printf '*filter\\n:INPUT DROP [7:700]\\n:x - [0:0]\\n[3:180] -A INPUT -s 192.0.2.1 -j x\\nCOMMIT\\n' | "
           "iptables-nft-restore -c; iptables-nft-save -c | grep -v '^#'; iptables-nft -Z; iptables-nft -D INPUT 1",
           "printf '*filter\\n-A INPUT -j nowhere\\nCOMMIT\\n' | iptables-nft-restore",
           "iptables-nft -A INPUT -j DROP; iptables-nft -F; iptables-nft -X",
       }},
      {"ip6tables-nft-save -c | grep -v '^#'; nft -a list ruleset",
       {
           "ip6tables-nft -A INPUT -p icmpv6 --icmpv6-type echo-request -s 2001:db8::/32 -j ACCEPT",
           "ip6tables-nft -A FORWARD -m hl --hl-gt 3 -m frag --fragmore -j DROP",
           "ip6tables-nft -t nat -A PREROUTING -p tcp --dport 80 -j DNAT --to '[2001:db8::1]:8080'",
           "printf '*filter\\n:INPUT ACCEPT [0:0]\\n-A INPUT -m rt --rt-type 0 -j DROP\\nCOMMIT\\n' | "
           "ip6tables-nft-restore",
       }},
      {"ebtables-nft-save | grep -v '^#'; nft -a list ruleset",
       {
           "ebtables-nft -A FORWARD -p IPv4 --ip-src 192.0.2.1 -j DROP; ebtables-nft -L --Lc",
           "ebtables-nft -A INPUT -p ARP --arp-op Request -j DROP; ebtables-nft -P INPUT DROP; ebtables-nft -N x",
           "ebtables-nft -A INPUT --limit 3/s --log-prefix hi --log",
           "ebtables-nft -t nat -A POSTROUTING -j snat --to-src 0:1:2:3:4:5",
           "ebtables-nft -A INPUT --among-src 00:11:22:33:44:55=192.0.2.1,00:11:22:33:44:66 -j DROP; ebtables-nft -L",
           "printf '*filter\\n:INPUT ACCEPT\\n-A INPUT -p IPv6 -j DROP\\n' | ebtables-nft-restore",
       }},
      {"arptables-nft-save | grep -v '^#'; nft -a list ruleset",
       {
           "arptables-nft -A INPUT -s 192.0.2.1 --opcode 1 -j DROP; arptables-nft -L -v",
           "arptables-nft -A OUTPUT -j mangle --mangle-ip-s 192.0.2.1",
           "arptables-nft -A OUTPUT -d 192.0.2.1 -o eth0 --destination-mac 00:11:22:33:44:55 -j CLASSIFY --set-class "
           "1:2",
           "arptables-nft -A INPUT -j DROP; arptables-nft-save | arptables-nft-restore; arptables-nft -P INPUT DROP",
       }},
  };
}

absl::Status HaveClients() {
  for (const char* program : {"iptables-nft", "ip6tables-nft", "ebtables-nft", "arptables-nft"}) {
    if (absl::Status status = FindProgram(program).status(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

TEST_CASE("the iptables family loads and lists as against the kernel") {
  if (!testing::MayRun("clients", HaveClients())) return;
  if (!testing::MayRun("kernel", testing::NetworkNamespace::Available())) return;
  size_t compared = 0, lacking = 0;
  for (const Client& client : Clients()) {
    for (const std::string line : client.lines) {
      CAPTURE(line);
      const std::string all = line + "\necho $?\n" + client.list;
      const Answers answers = AskBoth(all);
      if (LacksExtension(answers.kernel)) {
        ++lacking;
        continue;
      }
      ++compared;
      CHECK(FirstDifference(answers.server, answers.kernel) == "");
    }
  }
  std::cerr << "lines for the iptables family: " << compared << " compared, the kernel here lacks an extension of "
            << lacking << '\n';
  REQUIRE(compared >= 40);
}

// Several commands, each against what the ones before it left. The kernel names the process of a new generation by
// number.
std::string WithoutProcess(const std::string& text) {
  static const std::regex kProcess("by process [0-9]+");
  return std::regex_replace(text, kProcess, "by process");
}

TEST_CASE("nft's commands change and print the same, one after the other") {
  if (!testing::MayRun("kernel", testing::NetworkNamespace::Available())) return;
  const std::string ruleset = R"(nft -f - <<'END'
table inet fw {
	set hosts { type ipv4_addr
		elements = { 192.0.2.1, 192.0.2.2 }
	}
	set nets { type ipv4_addr
		flags interval
		elements = { 10.0.0.0/8, 192.168.0.0-192.168.3.255 }
	}
	map ports { type inet_service : verdict
		elements = { 22 : accept, 23 : drop }
	}
	set counted { type ipv4_addr
		counter
		elements = { 192.0.2.1 counter packets 4 bytes 40 }
	}
	counter seen { packets 5 bytes 600
	}
	quota some { 10 mbytes used 5 mbytes
	}
	chain in { type filter hook input priority filter; policy drop;
		tcp dport 22 accept
		tcp dport 80 counter packets 3 bytes 180 accept
		ip saddr @hosts quota 1 mbytes used 3 kbytes accept
		tcp dport vmap @ports
		ip saddr { 192.0.2.1, 192.0.2.9 } jump other
	}
	chain other { meta mark 7 return
	}
}
END
)";
  const char* const sessions[] = {
      "nft insert rule inet fw in tcp dport 1; nft insert rule inet fw in index 1 tcp dport 2; nft add rule inet fw in "
      "index 0 tcp dport 3; nft add rule inet fw in handle 10 tcp dport 4; nft insert rule inet fw in position 11 tcp "
      "dport 5; nft insert rule inet fw in index 99 accept",
      "nft replace rule inet fw in handle 10 tcp dport 1; nft replace rule inet fw in handle 99 tcp dport 1; nft "
      "delete "
      "rule inet fw in handle 10; nft delete rule inet fw in handle 10; nft add rule inet fw in tcp dport 5",
      "nft -e -a add rule inet fw in tcp dport 1; nft -e insert rule inet fw in tcp dport 2; nft -e -a replace rule "
      "inet "
      "fw in handle 10 tcp dport 3; nft -e delete rule inet fw in handle 11; nft -e flush chain inet fw other",
      "printf 'add rule inet fw in tcp dport 1\nadd rule inet fw in tcp dport { 2, 3 }\nadd chain inet fw new\nadd "
      "rule "
      "inet fw new accept\nadd rule inet fw new drop\nadd rule inet fw new continue\n' | nft -e -a -f -",
      "nft -e add element inet fw hosts '{ 192.0.2.3, 192.0.2.4 }'; nft -e delete element inet fw hosts '{ 192.0.2.4 "
      "}'; "
      "nft -e add set inet fw s '{ type mark; }'; nft -e add table ip t; nft -e add counter ip t c; nft -e delete "
      "table ip "
      "t; nft -e add chain inet fw b '{ type filter hook output priority 5; policy drop; }'; nft -e add map inet fw m "
      "'{ "
      "type mark : mark; elements = { 1 : 2 }; }'; nft -e delete set inet fw s; nft -e delete chain inet fw b",
      "nft -e -j add rule inet fw in tcp dport 1; nft -j -a list ruleset; nft -j list sets; nft -j list counters",
      "nft -c add rule inet fw in tcp dport 1; nft -c add rule inet fw nowhere accept; nft -c flush ruleset; nft -c -f "
      "/dev/null; nft -c add element inet fw hosts '{ 192.0.2.1 }'",
      "nft get element inet fw hosts '{ 192.0.2.2 }'; nft get element inet fw hosts '{ 192.0.2.7 }'; nft get element "
      "inet fw nets '{ 10.1.2.3 }'; nft get element inet fw nets '{ 192.168.1.0/24 }'; nft get element inet fw nets '{ "
      "11.0.0.0 }'; nft get element inet fw ports '{ 22 }'; nft -j get element inet fw nets '{ 10.0.0.0/8 }'",
      "nft add element inet fw nets '{ 10.1.0.0/16 }'; nft add element inet fw nets '{ 11.0.0.0/8, 12.0.0.0/8 }'; nft "
      "delete element inet fw nets '{ 10.0.0.0/8 }'; nft delete element inet fw nets '{ 10.0.0.0/8 }'; nft create "
      "element inet fw nets '{ 11.0.0.0/8 }'; nft add element inet fw ports '{ 22 : drop }'; nft create element inet "
      "fw "
      "hosts '{ 192.0.2.1 }'",
      "nft rename chain inet fw other another; nft rename chain inet fw in another; nft list chain inet fw another; "
      "nft "
      "rename chain inet fw nowhere x",
      "nft flush chain inet fw in; nft list chain inet fw in; nft flush set inet fw hosts; nft flush map inet fw "
      "ports; nft "
      "delete chain inet fw other; nft delete set inet fw hosts; nft flush table inet fw; nft list table inet fw; nft "
      "flush ruleset",
      "nft reset counter inet fw seen; nft reset counters; nft reset quota inet fw some; nft reset quotas inet; nft -j "
      "reset counters; nft list counters; nft list quotas",
      "nft delete chain inet fw other; nft delete table inet nowhere; nft create table inet fw; nft create chain inet "
      "fw "
      "in; nft delete counter inet fw nowhere; nft add chain inet fw in '{ policy accept; }'; nft add rule inet fw "
      "other "
      "jump in; nft add rule inet fw other jump other",
      "nft list tables; nft list chains; nft list sets; nft list maps; nft list set inet fw nets; nft list map inet fw "
      "ports; nft list counters; nft list quotas; nft -s list ruleset; nft -n list ruleset; nft -t list ruleset; nft "
      "-y "
      "list ruleset; nft list hooks >/dev/null; nft list meters; nft list flowtables; nft list ct helpers",
      "nft delete element inet fw ports '{ 22 }'; nft delete element inet fw ports '{ 22 : accept }'; nft get element "
      "inet fw ports '{ 22 }'; nft add element inet fw counted '{ 192.0.2.5 counter packets 1 bytes 2 }'; nft get "
      "element inet fw counted '{ 192.0.2.1, 192.0.2.5 }'; nft flush set inet fw counted; nft list set inet fw "
      "counted; nft add element inet fw nowhere '{ 1 }'; nft add element inet fw hosts '{ 2001:db8::1 }'",
      "nft reset rules; nft reset set inet fw counted; nft destroy table inet fw; nft reset counter inet fw nowhere; "
      "nft reset quota inet fw nowhere; nft list table inet nowhere; nft list chain inet fw nowhere; nft list set inet "
      "fw nowhere; nft list counter inet fw nowhere; nft list map inet fw nowhere",
      "nft list ruleset ip; nft list tables inet; nft list counters table inet fw; nft list sets inet; nft -j list "
      "table inet fw; nft -j list chain inet fw other; nft -j list set inet fw nets; nft -j list map inet fw ports; "
      "nft "
      "-j list counter inet fw seen; nft -j get element inet fw ports '{ 22 }'",
      "echo '{\"nftables\": [{\"add\": {\"table\": {\"family\": \"ip\", \"name\": \"j\"}}}, {\"add\": "
      "{\"chain\": {\"family\": \"ip\", \"table\": \"j\", \"name\": \"c\", \"type\": \"filter\", "
      "\"hook\": \"input\", \"prio\": 0}}}, {\"add\": {\"rule\": {\"family\": \"ip\", \"table\": \"j\", "
      "\"chain\": \"c\", \"expr\": [{\"accept\": null}]}}}]}' | nft -j -e -a -f -; nft -j list table ip j",
      "nft -c insert rule inet fw in index 2 accept; nft -c replace rule inet fw in handle 10 accept; nft -c replace "
      "rule inet fw in handle 99 accept; nft -c delete rule inet fw in handle 10; nft -c rename chain inet fw other "
      "new; nft -c delete chain inet fw other; nft -c delete set inet fw hosts; nft -c create table inet fw; nft -c "
      "delete element inet fw hosts '{ 192.0.2.9 }'",
      "nft insert rule inet fw in index 0 accept; nft insert rule inet fw in index 6 accept; nft insert rule inet fw "
      "in "
      "index 7 accept; nft add rule inet fw in index 7 accept; nft add rule inet fw in index 8 accept; nft insert rule "
      "inet fw in handle 12 drop; nft insert rule inet fw in handle 99 drop; nft delete rule inet fw other handle 10",
      "nft add chain inet fw other '{ comment \"x\"; }'; nft add rule inet fw other accept comment '\"one two\"'; nft "
      "add table inet fw '{ flags dormant; }'; nft add table inet fw; nft list table inet fw; nft add set inet fw "
      "hosts "
      "'{ type ipv4_addr; size 5; }'; nft add set inet fw hosts '{ type mark; }'; nft add counter inet fw seen; nft "
      "add "
      "quota inet fw some '{ 20 mbytes }'; nft list quotas; nft add limit inet fw l '{ rate 5/second; }'; nft list "
      "limits",
      "cd \"$(mktemp -d)\"; printf 'table ip o {\n chain c {\n  tcp dport 1 accept\n  tcp dport 2 accept\n }\n}\n' > "
      "o.nft; "
      "nft -c -o -f o.nft 2>&1; nft -o -f o.nft 2>/dev/null; rm o.nft; rmdir \"$PWD\"",
  };
  for (const std::string session : sessions) {
    CAPTURE(session);
    const std::string all = ruleset + session + "\necho $?\nnft -a list ruleset";
    const Answers answers = AskBoth(all);
    CHECK(FirstDifference(WithoutProcess(answers.server), WithoutProcess(answers.kernel)) == "");
  }
}

// Without a kernel to compare with: what has no translation is kept as it came.
TEST_CASE("matches and targets of xtables are kept and listed back") {
  if (!testing::MayRun("clients", HaveClients())) return;
  Server server;
  const std::string rule =
      "-A INPUT -p tcp -m string --string \"GET /\" --algo bm --to 100 -j NFLOG --nflog-group 3\n0\n";
  CHECK(AgainstServer(server,
                      "iptables-nft -A INPUT -p tcp -m string --string 'GET /' --algo bm --to 100 -j NFLOG "
                      "--nflog-group 3\n"
                      "iptables-nft-save | grep -- -A") == "iptables-nft: 0\niptables-nft-save: 0\n" + rule);
  CHECK(AgainstServer(server, "iptables-nft-save | iptables-nft-restore && iptables-nft-save | grep -- -A") ==
        "iptables-nft-save: 0\niptables-nft-restore: 0\niptables-nft-save: 0\n" + rule);
}

TEST_CASE("python3-nftables loads and lists") {
  const std::string python = "/usr/bin/python3 -c ";
  const std::string script = R"('
import json, nftables
nft = nftables.Nftables()
print(nft.cmd("add table inet t; add chain inet t c; add rule inet t c tcp dport 22 accept"))
print(nft.json_cmd({"nftables": [{"add": {"table": {"family": "ip", "name": "u"}}}]}))
print(nft.cmd("list ruleset"))
print(nft.cmd("add rule inet t nowhere accept"))
nft.set_json_output(True)
nft.set_handle_output(True)
print(json.loads(nft.cmd("list chain inet t c")[1])["nftables"][1:])
')";
  const bool have = std::system((python + "'import nftables' 2>/dev/null").c_str()) == 0;
  if (!testing::MayRun("clients", have ? absl::OkStatus() : absl::UnavailableError("no python3-nftables"))) return;
  const std::string output = AgainstServer(python + script);
  CHECK(output.find(
            "(0, 'table inet t {\\n\\tchain c {\\n\\t\\ttcp dport 22 accept\\n\\t}\\n}\\ntable ip u {\\n}\\n', '')") !=
        std::string::npos);
  CHECK(output.find("(-1, '', 'Error: Could not process rule: No such file or directory") != std::string::npos);
  if (!testing::MayRun("kernel", testing::NetworkNamespace::Available())) return;
  const absl::StatusOr<std::string> kernel = AgainstKernel(python + script);
  REQUIRE(kernel.ok());
  CHECK(output == *kernel);
}

// Legacy iptables would change this machine's rules past the server.
TEST_CASE("clients cannot reach the kernel by raw sockets") {
  if (!testing::MayRun("clients", FindProgram("/usr/bin/python3").status())) return;
  const std::string output = AgainstServer(
      "/usr/bin/python3 -c 'import socket\n"
      "for family in (socket.AF_INET, socket.AF_INET6):\n"
      "  try: socket.socket(family, socket.SOCK_RAW | socket.SOCK_CLOEXEC, 255)\n"
      "  except PermissionError as error: print(error)'");
  CHECK(output ==
        "nftjit-preload: the client opens a raw IP socket, as legacy iptables and ipset do: only nf_tables is "
        "served\n125\n");
}

}  // namespace
}  // namespace nftjit::control
