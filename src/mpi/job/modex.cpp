#include "mpi/job/job.h"

#include <mpi.h>

#if defined(OPEN_MPI)
#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace mutirao::mpi {
namespace {

// As much of the PMIx standard (4.1, chapters 3 and 5) as is needed: whoever builds this need not have its headers.
struct PmixProcess {
    char nspace[256];
    std::uint32_t rank;
};
struct PmixInfo {
    char key[512];
    std::uint32_t flags;
    struct {
        std::uint16_t type;
        union {
            bool flag;
            void* pointers[3];
        } data;
    } value;
};
constexpr std::uint16_t pmix_bool = 1;
using PmixAnswer = void (*)(int status, void* value, void* about);
using PmixGetNb = int (*)(const PmixProcess*, const char* key, const PmixInfo*, std::size_t, PmixAnswer, void* about);

/// The name under which a process gives away where its TCP transport listens.
#define MUTIRAO_TEXT_OF(number) #number
#define MUTIRAO_VERSION_OF(major, minor) MUTIRAO_TEXT_OF(major) "." MUTIRAO_TEXT_OF(minor)
constexpr char key[] = "btl.tcp." MUTIRAO_VERSION_OF(OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION);

/// Each answer costs the launcher some 700 bytes both ways.
constexpr int most_ranks_for_all = 64;

PmixGetNb get_nb = nullptr;  // these three before the first request
PmixProcess me{};
int ranks = 1;

bool is_power_of_two(int number) { return (number & (number - 1)) == 0; }

void fetch_the_others() {
    PmixProcess other = me;
    for (int ahead = 1; ahead < ranks; ++ahead) {
        if (ranks <= most_ranks_for_all || is_power_of_two(ahead) || is_power_of_two(ranks - ahead)) {
            other.rank = (me.rank + static_cast<std::uint32_t>(ahead)) % static_cast<std::uint32_t>(ranks);
            get_nb(&other, key, nullptr, 0, [](int, void*, void*) {}, nullptr);
        }
    }
}

bool is_one_host() {
    const char* const here = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
    return here != nullptr && std::atoi(here) == ranks;
}

}  // namespace

// A name that nobody gives away would be waited for without end, so the own one is looked up first, in this process.
void fetch_modex_ahead() {
    static std::atomic<bool> done{false};
    const char* const nspace = std::getenv("PMIX_NAMESPACE");
    if (done.exchange(true) || nspace == nullptr || std::strlen(nspace) >= sizeof me.nspace) {
        return;
    }
    void* const library = dlopen("libpmix.so.2", RTLD_LAZY | RTLD_NOLOAD);
    get_nb = library == nullptr ? nullptr : reinterpret_cast<PmixGetNb>(dlsym(library, "PMIx_Get_nb"));
    ranks = size_of(MPI_COMM_WORLD);
    if (get_nb == nullptr || is_one_host()) {
        return;
    }
    std::strcpy(me.nspace, nspace);
    me.rank = static_cast<std::uint32_t>(rank_in(MPI_COMM_WORLD));
    static PmixInfo in_this_process{};
    std::strcpy(in_this_process.key, "pmix.optional");
    in_this_process.value.type = pmix_bool;
    in_this_process.value.data.flag = true;
    get_nb(&me, key, &in_this_process, 1, [](int status, void*, void*) {
        if (status == 0) {
            fetch_the_others();
        }
    }, nullptr);
}

}  // namespace mutirao::mpi

#else

namespace mutirao::mpi {

void fetch_modex_ahead() {}

}  // namespace mutirao::mpi

#endif
