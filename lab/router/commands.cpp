#include "router/commands.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "common/system.h"
#include "core/text/json.h"
#include "core/text/numbers.h"

namespace mutirao::lab {
namespace {

struct Field {
    const char* name;
    double LinkSettings::*member;
    double most;
};

constexpr Field fields[] = {
    {"latency_us", &LinkSettings::latency_us, 60e6},
    {"bandwidth_mbit", &LinkSettings::bandwidth_mbit, 1e6},
    {"loss", &LinkSettings::loss, 1},
    {"jitter_us", &LinkSettings::jitter_us, 60e6},
};

const Field* find_field(std::string_view name) {
    const auto* found = std::find_if(std::begin(fields), std::end(fields),
                                     [&](const Field& field) { return name == field.name; });
    return found == std::end(fields) ? nullptr : found;
}

std::string_view next_word(std::string_view& text, char separator = ' ') {
    const std::size_t end = std::min(text.find(separator), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return word;
}

std::optional<double> value_of(const Field& field, std::string_view word) {
    const auto value = number_in<double>(word);
    return value && *value >= 0 && *value <= field.most ? value : std::nullopt;
}

Answer refuse(const std::string& reason) { return {"error " + reason, {}, false}; }

Answer accept(const std::string& value = "") {
    return {value.empty() ? "ok" : "ok " + value, {}, false};
}

template <typename ValueOf>
void put_matrix(JsonWriter& json, std::string_view name, int hosts, ValueOf value_of_pair) {
    json.key(name).begin_array();
    for (int from = 0; from < hosts; ++from) {
        json.begin_array();
        for (int to = 0; to < hosts; ++to) json.value(value_of_pair(from, to));
        json.end_array();
    }
    json.end_array();
}

Answer ready(LabState&, std::string_view) { return accept(); }

Answer info(LabState& lab, std::string_view) {
    JsonWriter json;
    json.begin_object().list("addresses", lab.hosts, [&](const Host& host) { json.value(dotted(host.address)); });
    json.member("rootless", lab.namespaces.rootless()).member("realtime", lab.punctual);
    return accept(json.member("congestion_control", lab.namespaces.congestion_control()).end_object().take());
}

Answer describe(LabState& lab, std::string_view rest) {
    if (rest.empty()) return accept(lab.description);
    lab.description = rest;
    return accept();
}

Answer matrix(LabState& lab, std::string_view rest) {
    const std::string_view name = next_word(rest);
    const Field* field = find_field(name);
    if (field == nullptr) return refuse("unknown field '" + std::string(name.substr(0, 40)) + "'");
    const int hosts = lab.links.host_count();
    std::vector<double> values;
    while (!rest.empty()) {
        const auto value = value_of(*field, next_word(rest));
        if (!value) return refuse("value " + std::to_string(values.size() + 1) + " out of range");
        values.push_back(*value);
    }
    const auto wanted = static_cast<std::size_t>(hosts) * static_cast<std::size_t>(hosts);
    if (values.size() != wanted) {
        return refuse(std::to_string(values.size()) + " values for " + std::to_string(wanted) +
                      " links");
    }
    auto value = values.cbegin();
    for (int from = 0; from < hosts; ++from) {
        for (int to = 0; to < hosts; ++to) {
            LinkSettings changed = lab.links.settings(from, to);
            changed.*(field->member) = *value++;
            lab.links.set(from, to, changed);
        }
    }
    return accept();
}

Answer pairs(LabState& lab, std::string_view rest) {
    std::vector<std::pair<const Field*, double>> changes;
    std::string_view words = next_word(rest);
    while (!words.empty()) {
        std::string_view word = next_word(words, ',');
        const std::string shown(word.substr(0, 40));
        const Field* field = find_field(next_word(word, '='));
        const auto value = field == nullptr ? std::nullopt : value_of(*field, word);
        if (!value) return refuse("'" + shown + "' is no setting, or is out of range");
        changes.emplace_back(field, *value);
    }
    std::vector<std::pair<int, int>> links;
    while (!rest.empty()) {
        std::string_view word = next_word(rest);
        const std::string shown(word.substr(0, 40));
        const auto from = number_in<int>(next_word(word, ':'));
        const auto to = number_in<int>(word);
        const auto exists = [&](std::optional<int> host) {
            return host && *host >= 0 && *host < lab.links.host_count();
        };
        if (!exists(from) || !exists(to)) return refuse("'" + shown + "' is no pair of hosts");
        links.emplace_back(*from, *to);
    }
    for (const auto& [from, to] : links) {
        LinkSettings changed = lab.links.settings(from, to);
        for (const auto& [field, value] : changes) changed.*(field->member) = value;
        lab.links.set(from, to, changed);
    }
    return accept();
}

Answer sites(LabState& lab, std::string_view rest) {
    std::vector<int> site_of_host;
    while (!rest.empty()) {
        const auto site = number_in<int>(next_word(rest));
        if (!site || *site < 0 || *site >= lab.links.host_count()) {
            return refuse("no number of a site");
        }
        site_of_host.push_back(*site);
    }
    if (site_of_host.size() != static_cast<std::size_t>(lab.links.host_count())) {
        return refuse(std::to_string(site_of_host.size()) + " sites for " +
                      std::to_string(lab.links.host_count()) + " hosts");
    }
    lab.links.set_sites(std::move(site_of_host));
    return accept();
}

Answer uplink(LabState& lab, std::string_view rest) {
    const auto site = number_in<int>(next_word(rest));
    if (!site || *site < 0 || *site >= lab.links.site_count()) return refuse("no such site");
    const auto mbit = value_of(*find_field("bandwidth_mbit"), rest);
    if (!mbit) return refuse("the uplink's bandwidth is out of range");
    lab.links.set_uplink(*site, *mbit);
    return accept();
}

Answer settings(LabState& lab, std::string_view) {
    JsonWriter json;
    json.begin_object();
    for (const Field& field : fields) {
        put_matrix(json, field.name, lab.links.host_count(),
                   [&](int from, int to) { return lab.links.settings(from, to).*(field.member); });
    }
    json.key("uplink_mbit").begin_array();
    for (int site = 0; site < lab.links.site_count(); ++site) json.value(lab.links.uplink_mbit(site));
    return accept(json.end_array().end_object().take());
}

Answer counters(LabState& lab, std::string_view) {
    JsonWriter json;
    json.begin_object();
    for (const auto& [name, member] : {std::pair{"packets", &LinkCounters::packets},
                                       std::pair{"bytes", &LinkCounters::bytes},
                                       std::pair{"dropped", &LinkCounters::dropped}}) {
        put_matrix(json, name, lab.links.host_count(),
                   [&, of = member](int from, int to) { return lab.links.counters(from, to).*of; });
    }
    const Punctuality& own = lab.forwarder.punctuality();
    const auto forwarded = static_cast<double>(std::max<std::uint64_t>(own.forwarded, 1));
    return accept(json.member("overruns", own.overruns)
                      .member("late_max_us", static_cast<double>(own.late_max) / 1000)
                      .member("late_mean_us", static_cast<double>(own.late_sum) / forwarded / 1000)
                      .end_object()
                      .take());
}

Answer enter(LabState& lab, std::string_view rest) {
    for (const Host& host : lab.hosts) {
        if (rest != host.name && rest != dotted(host.address)) continue;
        const Namespaces& inside = host.namespaces;
        Answer answer = accept(host.name);
        if (lab.namespaces.rootless()) answer.descriptors.push_back(lab.namespaces.user());
        for (const UniqueFd* fd : {&inside.network, &inside.uts, &inside.ipc, &inside.mount}) {
            answer.descriptors.push_back(fd->get());
        }
        return answer;
    }
    return refuse("no host '" + std::string(rest.substr(0, 40)) + "' in this lab");
}

Answer shut_down(LabState&, std::string_view) { return {"ok", {}, true}; }

struct Command {
    std::string_view name;
    Answer (*run)(LabState&, std::string_view);
};

constexpr Command commands[] = {
    {"ready", ready},        // is it there?
    {"info", info},          // addresses and how the lab could be set up
    {"describe", describe},  // keep a line for whoever asks later, or say it
    {"matrix", matrix},      // FIELD and all values, row by row, at once
    {"pairs", pairs},        // FIELD=VALUE,... FROM:TO ...
    {"sites", sites},        // the number of each host's site, from 0
    {"uplink", uplink},      // SITE MBIT, shared by its hosts; 0: unlimited
    {"settings", settings},  // all four matrices, and the uplinks
    {"counters", counters},  // packets, bytes and drops of every pair
    {"enter", enter},        // HOST: its namespaces, as descriptors
    {"shutdown", shut_down},
};

// A matrix of a thousand hosts fits several times.
constexpr std::size_t longest_line_bytes = 64 << 20;
constexpr std::size_t read_at_once_bytes = 64 << 10;

}  // namespace

Answer answer(LabState& lab, std::string_view line) {
    std::string_view rest = line;
    const std::string_view name = next_word(rest);
    for (const Command& command : commands) {
        if (name == command.name) return command.run(lab, rest);
    }
    return refuse("unknown command '" + std::string(name.substr(0, 40)) + "'");
}

ControlServer::ControlServer(const std::string& path, int epoll, LabState& lab)
    : path_(path),
      epoll_(epoll),
      lab_(lab),
      listener_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) throw SetupError("path too long: " + path);
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    const mode_t before = umask(0177);
    const bool bound = listener_ && bind(listener_.get(), reinterpret_cast<sockaddr*>(&address),
                                         sizeof address) == 0;
    umask(before);
    require(bound && listen(listener_.get(), SOMAXCONN) == 0, "listening on " + path);
    watch(listener_.get(), EPOLLIN, EPOLL_CTL_ADD);
}

ControlServer::~ControlServer() { unlink(path_.c_str()); }

void ControlServer::watch(int fd, unsigned events, int operation) {
    epoll_event event{};
    event.events = events;
    event.data.fd = fd;
    epoll_ctl(epoll_, operation, fd, &event);
}

bool ControlServer::handle(int fd, unsigned events) {
    if (fd == listener_.get()) {
        accept_client();
        return true;
    }
    const auto client = clients_.find(fd);
    if (client == clients_.end()) return false;
    if (!serve(client->second, events)) clients_.erase(client);
    return true;
}

void ControlServer::accept_client() {
    UniqueFd socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) return;
    const int fd = socket.get();
    watch(fd, EPOLLIN, EPOLL_CTL_ADD);
    clients_.emplace(fd, Client{std::move(socket), {}, {}});
}

bool ControlServer::serve(Client& client, unsigned events) {
    if ((events & EPOLLOUT) != 0 && !flush(client)) return false;
    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) == 0) return true;
    std::vector<char> received(read_at_once_bytes);
    const ssize_t size = recv(client.socket.get(), received.data(), received.size(), 0);
    if (size < 0) return errno == EAGAIN || errno == EINTR;
    if (size == 0) return false;
    const std::size_t searched = client.unread.size();
    client.unread.append(received.data(), static_cast<std::size_t>(size));
    if (client.unread.find('\n', searched) == std::string::npos) {
        return client.unread.size() <= longest_line_bytes;
    }
    return answer_lines(client);
}

bool ControlServer::answer_lines(Client& client) {
    std::size_t start = 0;
    for (std::size_t end = client.unread.find('\n'); end != std::string::npos;
         end = client.unread.find('\n', start)) {
        const Answer told = answer(lab_, std::string_view(client.unread).substr(start, end - start));
        start = end + 1;
        shut_down_asked_ = shut_down_asked_ || told.shut_down;
        if (!reply(client, told)) return false;
    }
    client.unread.erase(0, start);
    return true;
}

bool ControlServer::reply(Client& client, const Answer& answer) {
    if (answer.descriptors.empty()) {
        client.unsent += answer.line + "\n";
        return flush(client);
    }
    const std::string line = answer.line + "\n";
    iovec part{const_cast<char*>(line.data()), line.size()};
    const std::size_t bytes = answer.descriptors.size() * sizeof(int);
    std::vector<char> ancillary(CMSG_SPACE(bytes));
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = ancillary.data();
    message.msg_controllen = ancillary.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(bytes);
    std::memcpy(CMSG_DATA(header), answer.descriptors.data(), bytes);
    return sendmsg(client.socket.get(), &message, MSG_NOSIGNAL) ==
           static_cast<ssize_t>(line.size());
}

bool ControlServer::flush(Client& client) {
    const bool waited = !client.unsent.empty();
    while (!client.unsent.empty()) {
        const ssize_t sent = send(client.socket.get(), client.unsent.data(), client.unsent.size(),
                                  MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN) return false;
        if (sent < 0) break;
        client.unsent.erase(0, static_cast<std::size_t>(sent));
    }
    if (waited) {
        const bool more = !client.unsent.empty();
        watch(client.socket.get(), EPOLLIN | (more ? EPOLLOUT : 0U), EPOLL_CTL_MOD);
    }
    return true;
}

}  // namespace mutirao::lab
