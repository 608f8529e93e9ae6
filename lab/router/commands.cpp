#include "router/commands.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cstring>
#include <ranges>
#include <stdexcept>
#include <utility>

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

/// What cannot be done, and why.
struct Refused : std::runtime_error {
    using std::runtime_error::runtime_error;
};

const Field& field_of(std::string_view name) {
    for (const Field& field : fields)
        if (name == field.name) return field;
    throw Refused("unknown field '" + std::string(name.substr(0, 40)) + "'");
}

/// The words of a line, one after another.
class Words {
  public:
    explicit Words(std::string_view text) : rest_(text) {}

    bool empty() const { return rest_.empty(); }
    std::string_view rest() const { return rest_; }
    std::string_view next(char separator = ' ') {
        const std::size_t end = std::min(rest_.find(separator), rest_.size());
        const std::string_view word = rest_.substr(0, end);
        rest_.remove_prefix(std::min(end + 1, rest_.size()));
        return word;
    }
    /// From 0 to `most`.
    double number(double most) {
        const std::string_view word = next();
        const auto value = number_in<double>(word);
        if (!value || !(*value >= 0 && *value <= most))
            throw Refused("'" + std::string(word.substr(0, 40)) + "' is out of range");
        return *value;
    }
    /// From 0 to below `bound`; `otherwise` is why not.
    int index(int bound, const char* otherwise, char separator = ' ') {
        const auto value = number_in<int>(next(separator));
        if (!value || *value < 0 || *value >= bound) throw Refused(otherwise);
        return *value;
    }

  private:
    std::string_view rest_;
};

template <typename ValueOf>
void put_matrix(JsonWriter& json, std::string_view name, int hosts, ValueOf value_of_pair) {
    const auto all = std::views::iota(0, hosts);
    json.list(name, all, [&](int from) {
        json.value(all | std::views::transform([&](int to) { return value_of_pair(from, to); }));
    });
}

void ready(LabState&, Words&, Answer&) {}

void info(LabState& lab, Words&, Answer& answer) {
    JsonWriter json;
    json.begin_object().list("addresses", lab.hosts, [&](const Host& host) { json.value(dotted(host.address)); });
    json.member("rootless", lab.namespaces.rootless()).member("realtime", lab.punctual);
    answer.line = json.member("congestion_control", lab.namespaces.congestion_control()).end_object().take();
}

void describe(LabState& lab, Words& words, Answer& answer) {
    if (words.empty())
        answer.line = lab.description;
    else
        lab.description = words.rest();
}

void matrix(LabState& lab, Words& words, Answer&) {
    const Field& field = field_of(words.next());
    const int hosts = lab.links.host_count();
    const auto wanted = static_cast<std::size_t>(hosts) * static_cast<std::size_t>(hosts);
    std::vector<double> values;
    while (!words.empty()) values.push_back(words.number(field.most));
    if (values.size() != wanted)
        throw Refused(std::to_string(values.size()) + " values for " + std::to_string(wanted) + " links");
    auto value = values.cbegin();
    for (int from = 0; from < hosts; ++from) {
        for (int to = 0; to < hosts; ++to) {
            LinkSettings changed = lab.links.settings(from, to);
            changed.*(field.member) = *value++;
            lab.links.set(from, to, changed);
        }
    }
}

void pairs(LabState& lab, Words& words, Answer&) {
    std::vector<std::pair<const Field*, double>> changes;
    for (Words settings(words.next()); !settings.empty();) {
        Words setting(settings.next(','));
        const Field& field = field_of(setting.next('='));
        changes.emplace_back(&field, setting.number(field.most));
    }
    const int hosts = lab.links.host_count();
    std::vector<std::pair<int, int>> links;
    while (!words.empty()) {
        const int from = words.index(hosts, "no pair of hosts", ':');
        links.emplace_back(from, words.index(hosts, "no pair of hosts"));
    }
    for (const auto& [from, to] : links) {
        LinkSettings changed = lab.links.settings(from, to);
        for (const auto& [field, value] : changes) changed.*(field->member) = value;
        lab.links.set(from, to, changed);
    }
}

void sites(LabState& lab, Words& words, Answer&) {
    const int hosts = lab.links.host_count();
    std::vector<int> site_of_host;
    while (!words.empty()) site_of_host.push_back(words.index(hosts, "no number of a site"));
    if (site_of_host.size() != static_cast<std::size_t>(hosts))
        throw Refused(std::to_string(site_of_host.size()) + " sites for " + std::to_string(hosts) + " hosts");
    lab.links.set_sites(std::move(site_of_host));
}

void uplink(LabState& lab, Words& words, Answer&) {
    const int site = words.index(lab.links.site_count(), "no such site");
    lab.links.set_uplink(site, words.number(field_of("bandwidth_mbit").most));
}

void settings(LabState& lab, Words&, Answer& answer) {
    JsonWriter json;
    json.begin_object();
    for (const Field& field : fields) {
        put_matrix(json, field.name, lab.links.host_count(),
                   [&](int from, int to) { return lab.links.settings(from, to).*(field.member); });
    }
    json.list("uplink_mbit", std::views::iota(0, lab.links.site_count()),
              [&](int site) { json.value(lab.links.uplink_mbit(site)); });
    answer.line = json.end_object().take();
}

void counters(LabState& lab, Words&, Answer& answer) {
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
    answer.line = json.member("overruns", own.overruns)
                      .member("late_max_us", static_cast<double>(own.late_max) / 1000)
                      .member("late_mean_us", static_cast<double>(own.late_sum) / forwarded / 1000)
                      .end_object()
                      .take();
}

void enter(LabState& lab, Words& words, Answer& answer) {
    const std::string_view name = words.rest();
    const auto host = std::ranges::find_if(
        lab.hosts, [&](const Host& each) { return name == each.name || name == dotted(each.address); });
    if (host == lab.hosts.end()) throw Refused("no host '" + std::string(name.substr(0, 40)) + "' in this lab");
    const Namespaces& inside = host->namespaces;
    answer.line = host->name;
    if (lab.namespaces.rootless()) answer.descriptors.push_back(lab.namespaces.user());
    for (const UniqueFd* fd : {&inside.network, &inside.uts, &inside.ipc, &inside.mount})
        answer.descriptors.push_back(fd->get());
}

void shut_down(LabState&, Words&, Answer& answer) { answer.shut_down = true; }

struct Command {
    std::string_view name;
    void (*run)(LabState&, Words&, Answer&);
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
    Words words(line);
    const std::string_view name = words.next();
    const auto* const command = std::ranges::find(commands, name, &Command::name);
    if (command == std::end(commands)) return {"error unknown command '" + std::string(name.substr(0, 40)) + "'"};
    try {
        Answer answer;
        command->run(lab, words, answer);
        answer.line = answer.line.empty() ? "ok" : "ok " + answer.line;
        return answer;
    } catch (const Refused& refused) {
        return {std::string("error ") + refused.what()};
    }
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
