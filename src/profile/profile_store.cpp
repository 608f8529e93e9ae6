#include "profile/profile_store.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>

#include "core/text/bytes.h"
#include "core/text/numbers.h"
#include "profile/profile_file.h"

namespace mutirao::profile {
namespace {

constexpr std::chrono::milliseconds patience_to_read{500};
constexpr std::size_t most_known = 16;
/// More than this is not taken up before it is written.
constexpr std::size_t most_batches = 4096;

std::string why_none_is_alike(const std::vector<KnownFabric>& known, const Fabric& fabric) {
    if (known.empty()) return "the profile is empty";
    const auto nearest = std::find_if(known.begin(), known.end(), [&](const KnownFabric& each) {
        return each.fabric.hosts == fabric.hosts && each.fabric.sites == fabric.sites;
    });
    const Fabric& other = nearest == known.end() ? known.back().fabric : nearest->fabric;
    return "the profile is of another fabric: this one is " + *difference(fabric, other);
}

}  // namespace

std::shared_ptr<ProfileStore> ProfileStore::open(std::string path) {
    return path.empty() ? nullptr : std::make_shared<ProfileStore>(std::move(path));
}

ProfileStore::Answer ProfileStore::rows_for(const Fabric& fabric, const std::string& mpi) {
    const std::lock_guard file_lock(file_mutex_);
    for (const Known& each : known_) {
        if (each.mpi == mpi && each.fabric == fabric) return each.answer;
    }
    std::string trouble;
    auto answer = read(fabric, mpi, trouble);
    if (!answer) return {{}, {}, std::move(trouble)};
    if (known_.size() < most_known) known_.push_back({fabric, mpi, *answer});
    return std::move(*answer);
}

// Nothing: there is `trouble`, which may be over when the next one asks.
std::optional<ProfileStore::Answer> ProfileStore::read(const Fabric& fabric, const std::string& mpi,
                                                       std::string& trouble) const {
    ProfileFile file(path_, ProfileFile::Access::read, patience_to_read);
    Answer answer;
    const Outcome outcome = file.in_transaction([&] {
        const auto fabrics = file.fabrics();
        const auto id = find_alike(fabrics, fabric);
        answer.runs = file.runs(id.value_or(ProfileFile::no_fabric), mpi, program());
        if (id) answer.rows = file.rows(*id, mpi);
        if (!id) {
            answer.why_none = why_none_is_alike(fabrics, fabric);
        } else if (answer.rows.empty()) {
            answer.why_none = "the profile knows this fabric, but not with " + mpi;
        }
    });
    if (outcome == Outcome::done) return answer;
    if (outcome == Outcome::absent) return Answer{{}, {}, "there is no profile yet"};
    trouble = file.error();
    return std::nullopt;
}

void ProfileStore::remember(const Fabric& fabric, const std::string& mpi,
                            std::vector<ProfileRow> rows, std::optional<ProgramRun> run) {
    const std::lock_guard lock(mutex_);
    if ((rows.empty() && !run) || !trouble_.empty() || batches_.size() >= most_batches) return;
    const auto same = std::find_if(batches_.rbegin(), batches_.rend(), [&](const Batch& each) {
        return run && each.run && each.run->ranks == run->ranks;
    });
    if (same != batches_.rend()) same->run.reset();  // a program may free thousands of communicators
    batches_.push_back({fabric, mpi, std::move(rows), std::move(run)});
}

bool ProfileStore::has_unwritten() const {
    const std::lock_guard lock(mutex_);
    return !batches_.empty();
}

bool ProfileStore::flush(std::chrono::milliseconds patience) {
    const std::lock_guard file_lock(file_mutex_);
    std::vector<Batch> batches;
    {
        const std::lock_guard lock(mutex_);
        batches = std::exchange(batches_, {});
    }
    if (batches.empty()) return true;
    known_.clear();
    Outcome outcome = Outcome::absent;
    std::string error;
    for (int attempt = 0; attempt < 2 && outcome == Outcome::absent; ++attempt) {
        ProfileFile file(path_, ProfileFile::Access::write, patience);
        outcome = file.in_transaction([&] {
            for (const Batch& batch : batches) {
                const auto known = find_alike(file.fabrics(), batch.fabric);
                const auto id = known ? *known : file.add(batch.fabric);
                for (const ProfileRow& row : batch.rows) file.put(id, batch.mpi, row);
                if (batch.run) file.put(id, batch.mpi, *batch.run);
            }
        });  // absent: what was there has been set aside
        error = file.error();
    }
    const std::lock_guard lock(mutex_);
    if (outcome == Outcome::busy) {
        batches_.insert(batches_.begin(), std::make_move_iterator(batches.begin()),
                        std::make_move_iterator(batches.end()));
        return false;
    }
    if (outcome != Outcome::done) trouble_ = error;
    return true;
}

std::string ProfileStore::trouble() const {
    const std::lock_guard lock(mutex_);
    return trouble_;
}

namespace {

/// Set by the launcher's --mca, too.
constexpr std::array transport_variables{
    "OMPI_MCA_pml",   "OMPI_MCA_btl",          "OMPI_MCA_mtl",     "MPIR_CVAR_CH4_NETMOD",
    "MPIR_CVAR_NOLOCAL", "MPIR_CVAR_CH4_SHM", "I_MPI_FABRICS", "FI_PROVIDER", "UCX_TLS"};

std::string value_of(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

std::string hash_of_command_line() {
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    const std::string words((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    return words.empty() ? "" : hexadecimal(fnv1a(std::as_bytes(std::span(words))));
}

}  // namespace

std::string processor() {
    std::ifstream file("/proc/cpuinfo");
    std::string model = "unknown";
    for (std::string line; std::getline(file, line);) {
        const std::size_t colon = line.find(": ");
        if (!line.starts_with("model name") || colon == line.npos) continue;
        model = line.substr(colon + 2);
        break;
    }
    return std::to_string(sysconf(_SC_NPROCESSORS_ONLN)) + " x " + model;
}

std::string transport() {
    std::string result;
    for (const char* const name : transport_variables) {
        const std::string value = value_of(name);
        if (!value.empty()) result += (result.empty() ? "" : " ") + std::string(name) + "=" + value;
    }
    return result;
}

// Asked at every communicator's end.
std::string program() {
    static const std::string known = hash_of_command_line();
    return known;
}

// As the XDG base directories have it: a relative path counts as unset.
std::string profile_path(const std::string& setting) {
    if (setting == "off") return {};
    if (setting != "auto") return setting;
    std::string state = value_of("XDG_STATE_HOME");
    if (!state.starts_with('/')) {
        const std::string home = value_of("HOME");
        if (!home.starts_with('/')) return {};
        state = home + "/.local/state";
    }
    return state + "/mutirao/profile.db";
}

}  // namespace mutirao::profile
