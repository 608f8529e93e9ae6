// The functions that the program reaches instead of the MPI library's, by src/preload. Each is there for
// its MPI_ and its PMPI_ name: Open MPI's Fortran bindings call PMPI_, and a profiling tool preloaded
// before us calls PMPI_ too. No exception of ours leaves this file; those of the program pass through.
#include <link.h>
#include <mpi.h>
#include <unwind.h>

#include <bit>
#include <chrono>
#include <cstdint>
#include <exception>
#include <tuple>
#include <type_traits>

#include "mpi/account/report.h"
#include "mpi/base/runtime.h"
#include "mpi/base/waiting.h"
#include "mpi/collectives/collectives.h"
#include "mpi/communicator/communicator.h"
#include "mpi/decide/docket.h"
#include "mpi/executor/memory.h"
#include "mpi/interpose/functions.h"
#include "mpi/job/job.h"

namespace mutirao::mpi {

/// A machine word in which a handle came in from src/preload; it becomes a handle where one is wanted. Passed in a
/// register like the handle itself. `kind` tells handles apart that are all int in MPICH's binary interface.
enum class HandleKind : unsigned char { comm, type, op };

template <typename Own, HandleKind kind>
struct Foreign {
    std::uintptr_t word;

    operator Own() const {
        if constexpr (std::is_pointer_v<Own>) {
            return std::bit_cast<Own>(word);
        } else {
            return static_cast<Own>(word);
        }
    }
};

/// Alive while one of our entry points runs in this thread; calls that arrive meanwhile are not the
/// program's and go to the native MPI. A program may leave an entry point by longjmp out of its error
/// handler, and no destructor runs then: so what is remembered is the place of the outermost one on the
/// stack. It is gone if a call comes from farther up, or if its mark there is, or if what lies there now is a frame of
/// the program that has left a gap.
class Guard {
  public:
    Guard()
        : outermost_(outermost_frame_ == 0 || here() >= outermost_frame_ || !is_marked(outermost_frame_) ||
                     !is_in_our_frame(outermost_frame_)) {
        if (outermost_) {
            outermost_frame_ = here();
            mark_ = ++marks_;
        }
    }
    ~Guard() {
        if (outermost_) {
            outermost_frame_ = 0;
        }
    }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

    bool outermost() const { return outermost_; }

  private:
    // The guard itself lies in the frame of its entry point; stacks grow downwards.
    std::uintptr_t here() const { return reinterpret_cast<std::uintptr_t>(this); }
    static bool is_marked(std::uintptr_t frame) { return reinterpret_cast<const Guard*>(frame)->mark_ == marks_; }
    static bool is_in_our_frame(std::uintptr_t address);

    // Static initialisation and this model make the access one instruction.
    static inline thread_local std::uintptr_t outermost_frame_
        __attribute__((tls_model("initial-exec"))) = 0;
    static inline thread_local std::uint64_t marks_ __attribute__((tls_model("initial-exec"))) = 0x6d757469'00000000;
    volatile std::uint64_t mark_ = 0;
    bool outermost_;
};

namespace {

// The text of the object that holds one of the MPI library's functions.
struct Text {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;

    bool holds(std::uintptr_t address) const { return address >= begin && address < end; }
};

/// `wanted`: holds an address, and then the text around it.
int take_if_it_holds(dl_phdr_info* object, std::size_t, void* wanted) {
    auto& text = *static_cast<Text*>(wanted);
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        const auto& part = object->dlpi_phdr[i];
        const std::uintptr_t begin = object->dlpi_addr + part.p_vaddr;
        const Text found{begin, begin + part.p_memsz};
        if (part.p_type == PT_LOAD && (part.p_flags & PF_X) != 0 && found.holds(text.begin)) {
            text = found;
            return 1;
        }
    }
    return 0;
}

Text text_around(const void* address) {
    Text text{reinterpret_cast<std::uintptr_t>(address), 0};
    return dl_iterate_phdr(take_if_it_holds, &text) != 0 ? text : Text{};
}

/// Whether code at this address is the MPI library's own: ROMIO, inside MPICH, broadcasts by the same
/// functions as the program.
bool is_mpi_library(const void* address) {
    static const Text text = text_around(next_function("PMPI_Get_library_version"));
    return text.holds(reinterpret_cast<std::uintptr_t>(address));
}

/// The frame in which an address on the stack lies: the last one, from within, that begins before it.
struct FrameSearch {
    std::uintptr_t wanted;
    std::uintptr_t code = 0;  ///< of that frame
    bool passed = false;      ///< the next one begins behind it
};

_Unwind_Reason_Code look_at_frame(_Unwind_Context* frame, void* search) {
    auto& it = *static_cast<FrameSearch*>(search);
    it.passed = _Unwind_GetCFA(frame) > it.wanted;
    if (it.passed) return _URC_NORMAL_STOP;
    it.code = _Unwind_GetIP(frame);
    return _URC_NO_REASON;
}

}  // namespace

/// As far as frames can be told: one that was made without unwind tables ends the search.
[[gnu::cold, gnu::noinline]] bool Guard::is_in_our_frame(std::uintptr_t address) {
    static const Text ours = text_around(reinterpret_cast<const void*>(&take_if_it_holds));
    FrameSearch search{address};
    _Unwind_Backtrace(look_at_frame, &search);
    return !search.passed || ours.holds(search.code);
}

namespace {

/// Invokes the communicator's error handler, as MPI's own functions do, and returns the code.
int raise_on(MPI_Comm comm, int error) {
    PMPI_Comm_call_errhandler(comm, error);
    return error;
}

using Comm = Foreign<MPI_Comm, HandleKind::comm>;
using Type = Foreign<MPI_Datatype, HandleKind::type>;
using Op = Foreign<MPI_Op, HandleKind::op>;
enum class Root : int {};
using Word = std::uintptr_t;

// Runs at the beginning of MPI_Finalize, wherever that is called from (MPI 4.0, 11.2.4).
int at_finalize(MPI_Comm, int, void*, void*) {
    static constexpr std::chrono::milliseconds with_other_jobs{200};  // that write the profile
    constexpr std::chrono::milliseconds with_files{2000};
    DecidingThread::end(with_files);
    Job* const job = Job::retire();
    end_communicators();
    if (const auto profile = runtime().profile; profile && profile->has_unwritten()) {
        wait_at_most(with_files, [profile] { profile->flush(with_other_jobs); });
    }
    if (job != nullptr) {
        job->finish();
    }
    write_report(job);
    return MPI_SUCCESS;
}

// The report is written also where the MPI library takes all calls.
void begin(double init_ms) {
    int key = MPI_KEYVAL_INVALID;
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_finalize, &key, nullptr);
    PMPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
    Job::begin(init_ms);
}

template <typename Native>
int initialise(Native native) {
    check_settings();
    const Guard guard;
    const Stopwatch stopwatch;
    const int error = native();
    if (error == MPI_SUCCESS) {
        try {
            begin(stopwatch.elapsed_ms());
        } catch (const std::exception&) {
            // Without memory for a job there is none, and the MPI library takes all calls.
        }
    }
    return error;
}

int finalize(int (*native)()) {
    const Guard guard;
    const int error = native();
    Job::stop_measuring();
    return error;
}

// MPI libraries go on with collectives on the parent while they duplicate it without blocking, and mix
// them up with others that are started there meanwhile (open-mpi/ompi 2025). So ours are not.
template <typename Native, typename... Arguments>
int duplicate_nonblocking(Native native, Comm comm, Arguments... arguments) {
    const Guard guard;
    Job* const job = Job::current();
    if (guard.outermost() && job != nullptr && MPI_Comm(comm) != MPI_COMM_NULL) {
        try {
            if (Communicator* const known = communicator_of(comm, *job)) {
                known->agree_no_more();
            }
        } catch (const std::exception&) {
            return raise_on(comm, MPI_ERR_NO_MEM);
        }
    }
    return native(comm, arguments...);
}

// For MPI_Comm_free and MPI_Comm_disconnect.
template <typename Native>
int release(Native native, void* handle) {
    const Guard guard;
    const auto* const comm = static_cast<const MPI_Comm*>(handle);
    if (guard.outermost() && Job::current() != nullptr && comm != nullptr && *comm != MPI_COMM_NULL) {
        free_communicator(*comm);
    }
    return native(handle);
}

template <typename... Arguments>
MPI_Comm comm_among(Arguments... arguments) {
    return std::get<Comm>(std::tuple(arguments...));
}

template <typename Argument>
constexpr bool is_buffer = std::is_same_v<Argument, const void*> || std::is_same_v<Argument, void*>;

/// The program's call, whose arguments come in their order: what follows a buffer, or two, is of the last one, and of the
/// arrays there are counts first, then displacements, then types.
class CallArguments {
  public:
    explicit CallArguments(Collective collective) : given_{.collective = collective} {}

    template <typename Argument>
    void add(Argument argument) {
        if constexpr (is_buffer<Argument>) {
            side_ = std::is_same_v<Argument, void*> ? &given_.receive : &given_.send;
            side_->buffer = argument;
            arrays_ = 0;
        } else if constexpr (std::is_same_v<Argument, Type>) {
            side_->type = argument;
        } else if constexpr (std::is_same_v<Argument, Op>) {
            given_.op = argument;
        } else if constexpr (std::is_same_v<Argument, Root>) {
            given_.root = static_cast<int>(argument);
        } else if constexpr (std::is_integral_v<Argument>) {
            side_->count = argument;
        } else if constexpr (std::is_pointer_v<Argument>) {
            add_array(argument);
        }
    }
    const Given& given() const { return given_; }

  private:
    template <typename Item>
    void add_array(const Item* items) {
        const int place = arrays_++;
        if (place == 2) {
            side_->types = reinterpret_cast<const MPI_Datatype*>(items);
        } else if constexpr (std::is_integral_v<Item>) {
            (place == 0 ? side_->counts : side_->displacements) = items;
        }
    }

    Given given_;
    Side* side_ = nullptr;
    int arrays_ = 0;  ///< of it so far
};

/// Of calls whose class does not depend on arrays of counts; those of others are never plain.
template <bool arrays_say_nothing, typename... Arguments>
[[gnu::always_inline]] inline CallWords words_of([[maybe_unused]] const void* function, [[maybe_unused]] Arguments... arguments) {
    CallWords call;
    constexpr std::size_t count = (std::size_t{0} + ... + (std::is_pointer_v<Arguments> ? 0 : 1));
    if constexpr (count <= CallWords::most_words &&
                  ((is_buffer<Arguments> || !std::is_pointer_v<Arguments> || arrays_say_nothing) && ...)) {
        const void* buffer = nullptr;
        std::size_t next = 0;
        bool plain = true;
        const auto add = [&](auto argument) {
            using Argument = decltype(argument);
            if constexpr (is_buffer<Argument>) {
                plain = plain && argument != nullptr && argument != MPI_IN_PLACE && argument != buffer;
                buffer = argument;
            } else if constexpr (std::is_integral_v<Argument> || std::is_same_v<Argument, Root>) {
                call.words[next++] = static_cast<std::uintptr_t>(argument);
            } else if constexpr (!std::is_pointer_v<Argument>) {
                call.words[next++] = argument.word;
            }
        };
        (add(arguments), ...);
        call.function = plain ? function : nullptr;
        call.freed_types = freed_types.load(std::memory_order_relaxed);
    }
    return call;
}

/// An entry point of a collective.
template <Collective collective, typename Native>
struct EntryPoint {
    Native native;
    const void* caller;  ///< where the call came from

    template <typename... Arguments>
    int operator()(Arguments... arguments) const {
        const RecentCommunicator* const recent = RecentCommunicator::find(comm_among(arguments...));
        if (recent != nullptr) {
            if (recent->native) {
                return native(arguments...);
            }
            const Guard guard;
            if (guard.outermost() && !is_mpi_library(caller) &&
                recent->communicator->repeats_natively(words(arguments...))) {
                return native(arguments...);
            }
        }
        const Outcome outcome = take(arguments...);
        return outcome.to_be_raised ? raise_on(comm_among(arguments...), outcome.error)
                                    : outcome.error;
    }

  private:
    template <typename... Arguments>
    CallWords words(Arguments... arguments) const {
        constexpr bool counts_tell_no_class = row_of(collective).in_blocks == InBlocks::own;
        return words_of<counts_tell_no_class && collective != Collective::alltoallw>(
            reinterpret_cast<const void*>(native), arguments...);
    }

    /// What the program's error handlers throw in `native` is the program's, so that is not called in here.
    template <typename Work>
    static bool had_memory_for(Work work) {
        try {
            work();
        } catch (const std::exception&) {
            return false;
        }
        return true;
    }

    /// Apart from what repeated calls pass through, so that they keep few registers.
    template <typename... Arguments>
    [[gnu::noinline]] Outcome take(Arguments... arguments) const {
        const Guard guard;
        Job* const job = Job::current();
        if (!guard.outermost() || job == nullptr || is_mpi_library(caller)) {
            if (guard.outermost() && job == nullptr) {
                note_native_call();
            }
            return {native(arguments...), false};
        }
        const MPI_Comm comm = comm_among(arguments...);
        if (comm == MPI_COMM_NULL) {
            return {native(arguments...), false};
        }
        const CallWords call = words(arguments...);  // while its types are what they are
        Communicator* counting = nullptr;  // none: the call is the MPI library's
        Place here;
        Binding binding;
        Communicator::Turn turn;
        const bool entered = had_memory_for([&] {
            Communicator* const found = communicator_of(comm, *job);
            if (found == nullptr || found->is_native()) {
                return;
            }
            here = {job->quiet(), found->my_rank(), found->rank_count()};
            CallArguments all(collective);
            (all.add(arguments), ...);
            if (bind(all.given(), here, binding) && !is_too_long(binding.shape, here.size)) {
                turn = found->enter(binding.shape);
                counting = found;
            }
        });
        if (!entered) {
            return {MPI_ERR_NO_MEM, true};
        }
        if (counting == nullptr) {
            return {native(arguments...), false};
        }
        const bool natively = turn.by.native() || binding.to_native;
        Outcome outcome{natively ? native(arguments...) : MPI_SUCCESS, false};
        const bool left = had_memory_for([&] {
            if (!natively) {
                outcome = counting->run(turn, {here, binding, comm});
            }
            counting->leave(turn);
            if (call.function != nullptr && outcome.error == MPI_SUCCESS) {
                counting->remember_call(call);
            }
        });
        if (!left) {
            return {MPI_ERR_NO_MEM, true};
        }
        return outcome;
    }
};

}  // namespace
}  // namespace mutirao::mpi

using namespace mutirao::mpi;  // for the tables
using mutirao::Collective;

#define MUTIRAO_DEFINE(symbol, parameters, ...)                                               \
    extern "C" __attribute__((visibility("default"))) int mutirao_##symbol parameters {       \
        static const auto native = next<int(*) parameters>(#symbol);                          \
        __VA_ARGS__                                                                           \
    }
#define MUTIRAO_DEFINE_BOTH(name, parameters, ...)                                            \
    MUTIRAO_DEFINE(MPI_##name, parameters, __VA_ARGS__)                                       \
    MUTIRAO_DEFINE(PMPI_##name, parameters, __VA_ARGS__)

MUTIRAO_DEFINE_BOTH(Init, (int* argc, char*** argv), { return initialise([&] { return native(argc, argv); }); })
MUTIRAO_DEFINE_BOTH(Init_thread, (int* argc, char*** argv, int required, int* provided),
                    { return initialise([&] { return native(argc, argv, required, provided); }); })
MUTIRAO_DEFINE_BOTH(Finalize, (), { return finalize(native); })

MUTIRAO_DEFINE_BOTH(Comm_idup, (Comm comm, Word copy, Word request),
                    { return duplicate_nonblocking(native, comm, copy, request); })
MUTIRAO_DEFINE_BOTH(Comm_idup_with_info, (Comm comm, Word info, Word copy, Word request),
                    { return duplicate_nonblocking(native, comm, info, copy, request); })

MUTIRAO_DEFINE_BOTH(Comm_free, (void* comm), { return release(native, comm); })
MUTIRAO_DEFINE_BOTH(Comm_disconnect, (void* comm), { return release(native, comm); })

#define MUTIRAO_COLLECTIVE(name, ours, parameters, arguments)                                 \
    MUTIRAO_DEFINE_BOTH(name, parameters, {                                                   \
        return EntryPoint<Collective::ours, decltype(native)>{native,                         \
                                                              __builtin_return_address(0)} arguments; \
    })
MUTIRAO_COLLECTIVES_WITHOUT_COUNTS(MUTIRAO_COLLECTIVE)
MUTIRAO_COLLECTIVES(MUTIRAO_COLLECTIVE, int, int)
#if MPI_VERSION >= 4
#define MUTIRAO_LARGE_COLLECTIVE(name, ours, parameters, arguments)                           \
    MUTIRAO_COLLECTIVE(name##_c, ours, parameters, arguments)
MUTIRAO_COLLECTIVES(MUTIRAO_LARGE_COLLECTIVE, MPI_Count, MPI_Aint)
#endif
