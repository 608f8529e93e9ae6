#include "mpi/job/modex.h"

#include <mpi.h>

#include "mpi/base/waiting.h"

#if defined(OPEN_MPI)
#include <dlfcn.h>

#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <utility>

namespace mutirao::mpi {
namespace {

// As much of the PMIx standard (4.1, chapters 3 and 5) as is needed: whoever builds this need not have its headers.
struct PmixProcess {
    char nspace[256];
    std::uint32_t rank;
};
struct PmixValue {
    std::uint16_t type;
    union {
        bool flag;
        struct {
            char* bytes;
            std::size_t size;
        } object;
        void* pointers[3];
    } data;
};
struct PmixInfo {
    char key[512];
    std::uint32_t flags;
    PmixValue value;
};
constexpr std::uint16_t pmix_bool = 1, pmix_byte_object = 27;
constexpr std::uint8_t pmix_global = 3;
using PmixAnswer = void (*)(int status, PmixValue* value, void* about);

struct Pmix {
    int (*put)(std::uint8_t scope, const char* key, PmixValue*) = nullptr;
    int (*commit)() = nullptr;
    int (*get_nb)(const PmixProcess*, const char* key, const PmixInfo*, std::size_t, PmixAnswer, void* about) = nullptr;

    /// False where the MPI library has not loaded it.
    bool found() {
        void* const library = get_nb != nullptr ? nullptr : dlopen("libpmix.so.2", RTLD_LAZY | RTLD_NOLOAD);
        return get_nb != nullptr || (library != nullptr && find(library, put, "PMIx_Put") &&
                                     find(library, commit, "PMIx_Commit") && find(library, get_nb, "PMIx_Get_nb"));
    }

  private:
    template <typename Function>
    static bool find(void* library, Function& function, const char* name) {
        return (function = reinterpret_cast<Function>(dlsym(library, name))) != nullptr;
    }
};

/// The name under which a process gives away where its TCP transport listens, and that of its introduction.
#define MUTIRAO_TEXT_OF(number) #number
#define MUTIRAO_VERSION_OF(major, minor) MUTIRAO_TEXT_OF(major) "." MUTIRAO_TEXT_OF(minor)
constexpr char address_key[] = "btl.tcp." MUTIRAO_VERSION_OF(OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION);
constexpr char introduction_key[] = "mutirao.introduction";

/// Of each rank the launcher passes some 270 bytes to each host.
constexpr int most_ranks_for_all = 512;
constexpr double most_wait_us = 5e6;

Pmix pmix;

// What is asked for may be answered very late, so it lives as long as the process.
struct Modex {
    PmixProcess me{};
    int ranks = 1;
    std::optional<Introduction> published;
    std::vector<Introduction> told;  ///< by rank
    std::vector<int> tries;          ///< by rank
    std::atomic<int> untold{0};      ///< answers that have not come
    std::atomic<bool> given_up{false};  ///< there will be none of a rank
    Told when_all_told;
    double asked_us = 0;
    std::atomic<bool> asked{false};  ///< all before holds from then on
};
Modex& modex() {
    static auto* const only = new Modex;
    return *only;
}

int number_in_environment(const char* name) {
    const char* const text = std::getenv(name);
    return text == nullptr ? 0 : std::atoi(text);
}

bool is_one_host() {
    const int here = number_in_environment("OMPI_COMM_WORLD_LOCAL_SIZE");
    return (here > 0 && here == number_in_environment("OMPI_COMM_WORLD_SIZE")) || number_in_environment("SLURM_NNODES") == 1;
}

bool passes_on() { return std::getenv("PMIX_NAMESPACE") != nullptr && !is_one_host() && pmix.found(); }

bool all_are_asked_for() { return modex().ranks <= most_ranks_for_all; }

void take_introduction(int status, PmixValue* value, void* about);

void ask_for_introduction(std::uint32_t rank) {
    PmixProcess other = modex().me;
    other.rank = rank;
    ++modex().tries[rank];
    pmix.get_nb(&other, introduction_key, nullptr, 0, take_introduction, &modex().told[rank]);
}

// A rank that has not published yet is asked again, at most so often as it may be by then. PRRTE itself waits for 2 s.
void take_introduction(int status, PmixValue* value, void* about) {
    Modex& mine = modex();
    const auto rank = static_cast<std::uint32_t>(static_cast<Introduction*>(about) - mine.told.data());
    constexpr int most_tries = 8;
    if (status != 0 || value == nullptr || value->type != pmix_byte_object ||
        value->data.object.size != sizeof(Introduction)) {
        if (mine.tries[rank] < most_tries) {
            ask_for_introduction(rank);
        } else {
            mine.given_up = true;
        }
        return;
    }
    std::memcpy(about, value->data.object.bytes, sizeof(Introduction));
    if (--mine.untold == 0) {
        try {
            mine.when_all_told(mine.told);
        } catch (const std::exception&) {
            // Without memory or threads for it nobody has been told.
        }
    }
}

void ask_for_introduction_if_published(std::uint32_t rank) {
    if (modex().published) {
        ask_for_introduction(rank);
    }
}

// The address first, which a call may be waiting for: what is there of a process comes all at once.
void ask_the_others(bool for_addresses) {
    Modex& mine = modex();
    PmixProcess other = mine.me;
    const auto ranks = static_cast<std::uint32_t>(mine.ranks);
    for (std::uint32_t ahead = 1; ahead < ranks; ++ahead) {
        other.rank = (mine.me.rank + ahead) % ranks;
        if (!for_addresses) {
            ask_for_introduction_if_published(other.rank);
        } else if (all_are_asked_for() || std::has_single_bit(ahead) || std::has_single_bit(ranks - ahead)) {
            pmix.get_nb(&other, address_key, nullptr, 0, [](int, PmixValue*, void* about) {
                ask_for_introduction_if_published(static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(about)));
            }, reinterpret_cast<void*>(std::uintptr_t{other.rank}));
        }
    }
}

}  // namespace

std::optional<agent::Key> key_of_launcher() { return std::nullopt; }

// Where not all are asked for, nobody would be told. Not along with what the MPI library publishes in MPI_Init: Open MPI 5
// lacks its own name where PMIx was initialised before.
void publish(Introduce introduce) {
    if (!passes_on() || size_of(MPI_COMM_WORLD) > most_ranks_for_all) {
        return;
    }
    Introduction copy = introduce();
    PmixValue value{pmix_byte_object, {}};
    value.data.object = {reinterpret_cast<char*>(&copy), sizeof copy};
    if (pmix.put(pmix_global, introduction_key, &value) == 0 && pmix.commit() == 0) {
        modex().published = copy;
    }
}

// A name that nobody gives away would be waited for without end, so the own one is looked up first, in this process.
void fetch_modex_ahead(Told when_all_told) {
    static std::atomic<bool> done{false};
    const char* const nspace = std::getenv("PMIX_NAMESPACE");
    if (done.exchange(true) || nspace == nullptr || std::strlen(nspace) >= sizeof PmixProcess::nspace || !passes_on()) {
        return;
    }
    Modex& mine = modex();
    mine.ranks = size_of(MPI_COMM_WORLD);
    std::strcpy(mine.me.nspace, nspace);
    mine.me.rank = static_cast<std::uint32_t>(rank_in(MPI_COMM_WORLD));
    mine.told.resize(static_cast<std::size_t>(mine.ranks));
    mine.tries.resize(static_cast<std::size_t>(mine.ranks));
    if (mine.published) {
        mine.told[mine.me.rank] = *mine.published;
    }
    mine.untold = mine.ranks - 1;
    mine.when_all_told = std::move(when_all_told);
    mine.asked_us = now_us();
    mine.asked = true;
    static PmixInfo in_this_process{"pmix.optional", 0, {pmix_bool, {true}}};
    pmix.get_nb(&mine.me, address_key, &in_this_process, 1,
                [](int status, PmixValue*, void*) { ask_the_others(status == 0); }, nullptr);
}

bool may_be_told() {
    const Modex& mine = modex();
    return mine.asked && mine.published && !mine.given_up && now_us() - mine.asked_us < most_wait_us;
}

}  // namespace mutirao::mpi

#endif
