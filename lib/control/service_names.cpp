#include "lib/control/service_names.h"

namespace nftjit::control {
namespace {

constexpr uint8_t kTcp = 6, kUdp = 17, kSctp = 132;

// clang-format off
// The IANA service registry's names of ports that rulesets speak of, by port.
constexpr Service kServices[] = {
    {"tcpmux", 1, kTcp}, {"echo", 7, kTcp}, {"echo", 7, kUdp}, {"discard", 9, kTcp}, {"discard", 9, kUdp},
    {"systat", 11, kTcp}, {"daytime", 13, kTcp}, {"daytime", 13, kUdp}, {"netstat", 15, kTcp}, {"qotd", 17, kTcp},
    {"chargen", 19, kTcp}, {"chargen", 19, kUdp}, {"ftp-data", 20, kTcp}, {"ftp", 21, kTcp}, {"fsp", 21, kUdp},
    {"ssh", 22, kTcp}, {"ssh", 22, kSctp}, {"telnet", 23, kTcp}, {"smtp", 25, kTcp}, {"time", 37, kTcp},
    {"time", 37, kUdp}, {"whois", 43, kTcp}, {"tacacs", 49, kTcp}, {"tacacs", 49, kUdp}, {"domain", 53, kTcp},
    {"domain", 53, kUdp}, {"bootps", 67, kUdp}, {"bootpc", 68, kUdp}, {"tftp", 69, kUdp}, {"gopher", 70, kTcp},
    {"finger", 79, kTcp}, {"http", 80, kTcp}, {"http", 80, kSctp}, {"kerberos", 88, kTcp}, {"kerberos", 88, kUdp},
    {"iso-tsap", 102, kTcp}, {"pop3", 110, kTcp}, {"sunrpc", 111, kTcp}, {"sunrpc", 111, kUdp}, {"auth", 113, kTcp},
    {"sftp", 115, kTcp}, {"nntp", 119, kTcp}, {"ntp", 123, kUdp}, {"epmap", 135, kTcp}, {"epmap", 135, kUdp},
    {"netbios-ns", 137, kTcp}, {"netbios-ns", 137, kUdp}, {"netbios-dgm", 138, kUdp}, {"netbios-ssn", 139, kTcp},
    {"imap2", 143, kTcp}, {"snmp", 161, kTcp}, {"snmp", 161, kUdp}, {"snmp-trap", 162, kTcp},
    {"snmp-trap", 162, kUdp}, {"xdmcp", 177, kUdp}, {"bgp", 179, kTcp}, {"bgp", 179, kSctp}, {"irc", 194, kTcp},
    {"irc", 194, kUdp}, {"smux", 199, kTcp}, {"qmtp", 209, kTcp}, {"z3950", 210, kTcp}, {"ipx", 213, kUdp},
    {"imap3", 220, kTcp}, {"imap3", 220, kUdp}, {"ptp-event", 319, kUdp}, {"ptp-general", 320, kUdp},
    {"ldap", 389, kTcp}, {"ldap", 389, kUdp}, {"svrloc", 427, kTcp}, {"svrloc", 427, kUdp}, {"https", 443, kTcp},
    {"https", 443, kUdp}, {"https", 443, kSctp}, {"snpp", 444, kTcp}, {"microsoft-ds", 445, kTcp},
    {"microsoft-ds", 445, kUdp}, {"kpasswd", 464, kTcp}, {"kpasswd", 464, kUdp}, {"submissions", 465, kTcp},
    {"saft", 487, kTcp}, {"isakmp", 500, kUdp}, {"exec", 512, kTcp}, {"biff", 512, kUdp}, {"login", 513, kTcp},
    {"who", 513, kUdp}, {"shell", 514, kTcp}, {"syslog", 514, kUdp}, {"printer", 515, kTcp}, {"talk", 517, kUdp},
    {"ntalk", 518, kUdp}, {"route", 520, kUdp}, {"timed", 525, kUdp}, {"gdomap", 538, kTcp}, {"gdomap", 538, kUdp},
    {"uucp", 540, kTcp}, {"klogin", 543, kTcp}, {"kshell", 544, kTcp}, {"dhcpv6-client", 546, kTcp},
    {"dhcpv6-client", 546, kUdp}, {"dhcpv6-server", 547, kTcp}, {"dhcpv6-server", 547, kUdp},
    {"afpovertcp", 548, kTcp}, {"rtsp", 554, kTcp}, {"rtsp", 554, kUdp}, {"nntps", 563, kTcp},
    {"submission", 587, kTcp}, {"asf-rmcp", 623, kUdp}, {"ipp", 631, kTcp}, {"ipp", 631, kUdp}, {"ldaps", 636, kTcp},
    {"ldaps", 636, kUdp}, {"ldp", 646, kTcp}, {"ldp", 646, kUdp}, {"tinc", 655, kTcp}, {"tinc", 655, kUdp},
    {"silc", 706, kTcp}, {"kerberos-adm", 749, kTcp}, {"domain-s", 853, kTcp}, {"domain-s", 853, kUdp},
    {"rsync", 873, kTcp}, {"ftps-data", 989, kTcp}, {"ftps", 990, kTcp}, {"telnets", 992, kTcp}, {"imaps", 993, kTcp},
    {"pop3s", 995, kTcp}, {"socks", 1080, kTcp}, {"rmiregistry", 1099, kTcp}, {"openvpn", 1194, kTcp},
    {"openvpn", 1194, kUdp}, {"ms-sql-s", 1433, kTcp}, {"ms-sql-m", 1434, kUdp}, {"wins", 1512, kTcp},
    {"wins", 1512, kUdp}, {"l2f", 1701, kUdp}, {"pptp", 1723, kTcp}, {"radius", 1812, kTcp}, {"radius", 1812, kUdp},
    {"radius-acct", 1813, kTcp}, {"radius-acct", 1813, kUdp}, {"mqtt", 1883, kTcp}, {"ssdp", 1900, kUdp},
    {"cisco-sccp", 2000, kTcp}, {"nfs", 2049, kTcp}, {"nfs", 2049, kUdp}, {"gnunet", 2086, kTcp},
    {"gnunet", 2086, kUdp}, {"zephyr-srv", 2102, kUdp}, {"zephyr-clt", 2103, kUdp}, {"zephyr-hm", 2104, kUdp},
    {"gtp-control", 2123, kUdp}, {"gtp-user", 2152, kUdp}, {"docker", 2375, kTcp}, {"docker-s", 2376, kTcp},
    {"cvspserver", 2401, kTcp}, {"zebra", 2601, kTcp}, {"ripd", 2602, kTcp}, {"ripngd", 2603, kTcp},
    {"ospfd", 2604, kTcp}, {"bgpd", 2605, kTcp}, {"ospf6d", 2606, kTcp}, {"dict", 2628, kTcp}, {"gpsd", 2947, kTcp},
    {"icpv2", 3130, kUdp}, {"isns", 3205, kTcp}, {"isns", 3205, kUdp}, {"iscsi-target", 3260, kTcp},
    {"mysql", 3306, kTcp}, {"ms-wbt-server", 3389, kTcp}, {"ms-wbt-server", 3389, kUdp}, {"stun", 3478, kTcp},
    {"stun", 3478, kUdp}, {"nut", 3493, kTcp}, {"nut", 3493, kUdp}, {"distcc", 3632, kTcp}, {"daap", 3689, kTcp},
    {"svn", 3690, kTcp}, {"bfd-control", 3784, kUdp}, {"bfd-echo", 3785, kUdp}, {"sieve", 4190, kTcp},
    {"epmd", 4369, kTcp}, {"ntske", 4460, kTcp}, {"ipsec-nat-t", 4500, kUdp}, {"iax", 4569, kUdp},
    {"vxlan", 4789, kUdp}, {"munin", 4949, kTcp}, {"sip", 5060, kTcp}, {"sip", 5060, kUdp}, {"sip", 5060, kSctp},
    {"sip-tls", 5061, kTcp}, {"sip-tls", 5061, kUdp}, {"sip-tls", 5061, kSctp}, {"xmpp-client", 5222, kTcp},
    {"xmpp-server", 5269, kTcp}, {"stuns", 5349, kTcp}, {"stuns", 5349, kUdp}, {"nat-pmp", 5351, kUdp},
    {"mdns", 5353, kUdp}, {"llmnr", 5355, kTcp}, {"llmnr", 5355, kUdp}, {"postgresql", 5432, kTcp},
    {"nrpe", 5666, kTcp}, {"nsca", 5667, kTcp}, {"amqps", 5671, kTcp}, {"amqp", 5672, kTcp}, {"amqp", 5672, kSctp},
    {"coap", 5683, kTcp}, {"coap", 5683, kUdp}, {"coaps", 5684, kTcp}, {"coaps", 5684, kUdp}, {"vnc", 5900, kTcp},
    {"x11", 6000, kTcp}, {"x11-1", 6001, kTcp}, {"x11-2", 6002, kTcp}, {"x11-3", 6003, kTcp}, {"x11-4", 6004, kTcp},
    {"x11-5", 6005, kTcp}, {"x11-6", 6006, kTcp}, {"x11-7", 6007, kTcp}, {"geneve", 6081, kUdp},
    {"gnutella-svc", 6346, kTcp}, {"gnutella-svc", 6346, kUdp}, {"gnutella-rtr", 6347, kTcp},
    {"gnutella-rtr", 6347, kUdp}, {"redis", 6379, kTcp}, {"syslog-tls", 6514, kTcp}, {"sane-port", 6566, kTcp},
    {"ircd", 6667, kTcp}, {"babel", 6696, kUdp}, {"ircs-u", 6697, kTcp}, {"afs3-fileserver", 7000, kTcp},
    {"afs3-fileserver", 7000, kUdp}, {"afs3-callback", 7001, kUdp}, {"afs3-prserver", 7002, kUdp},
    {"afs3-vlserver", 7003, kUdp}, {"http-alt", 8080, kTcp}, {"puppet", 8140, kTcp}, {"secure-mqtt", 8883, kTcp},
    {"bacula-dir", 9101, kTcp}, {"bacula-fd", 9102, kTcp}, {"bacula-sd", 9103, kTcp}, {"git", 9418, kTcp},
    {"webmin", 10000, kTcp}, {"zabbix-agent", 10050, kTcp}, {"zabbix-trapper", 10051, kTcp}, {"amanda", 10080, kTcp},
    {"amanda", 10080, kUdp}, {"nbd", 10809, kTcp}, {"dicom", 11112, kTcp}, {"memcache", 11211, kTcp},
    {"memcache", 11211, kUdp}, {"hkp", 11371, kTcp}, {"wireguard", 51820, kUdp},
};

// Other names in use for some of them.
constexpr Service kAliases[] = {
    {"mail", 25, kTcp}, {"nameserver", 53, kTcp}, {"nameserver", 53, kUdp}, {"www", 80, kTcp},
    {"kerberos5", 88, kTcp}, {"kerberos5", 88, kUdp}, {"krb5", 88, kTcp}, {"krb5", 88, kUdp}, {"pop-3", 110, kTcp},
    {"portmapper", 111, kTcp}, {"portmapper", 111, kUdp}, {"tap", 113, kTcp}, {"ident", 113, kTcp},
    {"readnews", 119, kTcp}, {"loc-srv", 135, kTcp}, {"loc-srv", 135, kUdp}, {"imap", 143, kTcp},
    {"snmptrap", 162, kTcp}, {"snmptrap", 162, kUdp}, {"z39.50", 210, kTcp}, {"ssmtp", 465, kTcp},
    {"smtps", 465, kTcp}, {"urd", 465, kTcp}, {"comsat", 512, kUdp}, {"whod", 513, kUdp}, {"cmd", 514, kTcp},
    {"spooler", 515, kTcp}, {"router", 520, kUdp}, {"uucpd", 540, kTcp}, {"krcmd", 544, kTcp}, {"snews", 563, kTcp},
    {"ftps-control", 990, kTcp}, {"mssql", 1433, kTcp}, {"l2tp", 1701, kUdp}, {"radacct", 1813, kTcp},
    {"radacct", 1813, kUdp}, {"rdp", 3389, kTcp}, {"subversion", 3690, kTcp}, {"jabber-client", 5222, kTcp},
    {"jabber-server", 5269, kTcp}, {"postgres", 5432, kTcp}, {"rfb", 5900, kTcp}, {"webcache", 8080, kTcp},
};

// The IANA protocol numbers; of two names the first is the one to print.
constexpr Protocol kProtocols[] = {
    {"ip", 0}, {"hopopt", 0}, {"icmp", 1}, {"igmp", 2}, {"ggp", 3}, {"ipencap", 4}, {"st", 5}, {"tcp", 6}, {"egp", 8},
    {"igp", 9}, {"pup", 12}, {"udp", 17}, {"hmp", 20}, {"xns-idp", 22}, {"rdp", 27}, {"iso-tp4", 29}, {"dccp", 33},
    {"xtp", 36}, {"ddp", 37}, {"idpr-cmtp", 38}, {"ipv6", 41}, {"ipv6-route", 43}, {"ipv6-frag", 44}, {"idrp", 45},
    {"rsvp", 46}, {"gre", 47}, {"esp", 50}, {"ah", 51}, {"skip", 57}, {"ipv6-icmp", 58}, {"icmpv6", 58},
    {"ipv6-nonxt", 59}, {"ipv6-opts", 60}, {"rspf", 73}, {"vmtp", 81}, {"eigrp", 88}, {"ospf", 89}, {"ospfigp", 89},
    {"ax.25", 93}, {"ipip", 94}, {"etherip", 97}, {"encap", 98}, {"pim", 103}, {"comp", 108}, {"ipcomp", 108},
    {"vrrp", 112}, {"carp", 112}, {"l2tp", 115}, {"isis", 124}, {"sctp", 132}, {"fc", 133}, {"mobility-header", 135},
    {"udplite", 136}, {"mpls-in-ip", 137}, {"manet", 138}, {"hip", 139}, {"shim6", 140}, {"wesp", 141}, {"rohc", 142},
    {"ethernet", 143}, {"mptcp", 262},
};
// clang-format on

// tcp before udp before the others, as they stand in the tables.
template <size_t N>
std::optional<Service> Find(const Service (&services)[N], std::string_view name, uint8_t protocol) {
  for (const Service& service : services) {
    if (service.name == name && (protocol == 0 || service.protocol == protocol)) return service;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Service> ServiceByName(std::string_view name, uint8_t protocol) {
  const std::optional<Service> service = Find(kServices, name, protocol);
  return service.has_value() ? service : Find(kAliases, name, protocol);
}

std::optional<Service> ServiceByPort(uint16_t port, uint8_t protocol) {
  for (const Service& service : kServices) {
    if (service.port == port && (protocol == 0 || service.protocol == protocol)) return service;
  }
  return std::nullopt;
}

std::optional<Protocol> ProtocolByName(std::string_view name) {
  for (const Protocol& protocol : kProtocols) {
    if (protocol.name == name) return protocol;
  }
  return std::nullopt;
}

std::optional<Protocol> ProtocolByNumber(uint32_t number) {
  for (const Protocol& protocol : kProtocols) {
    if (protocol.number == number) return protocol;
  }
  return std::nullopt;
}

}  // namespace nftjit::control
