"""Buffers of a graphics card, by a driver that is none: its memory may be touched only while it is packed or unpacked."""

from ends import decided_calls, passed, settings_of
from mutirao.base.paths import PRELOAD
from tools import compiled_tool

DRIVER = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <string.h>
#include <sys/mman.h>
enum { most_bytes = 1 << 20 };
static char* memory;
static size_t taken;
static void allow(int protection) { if (memory) mprotect(memory, most_bytes, protection); }
void* fake_device_allocate(size_t bytes) {
    if (!memory) memory = mmap(NULL, most_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char* const made = memory + taken;
    taken += bytes;
    return made;
}
void fake_device_transfer(void* to, const void* from, size_t bytes) {
    allow(PROT_READ | PROT_WRITE);
    memcpy(to, from, bytes);
    allow(PROT_NONE);
}
int cuPointerGetAttribute(void* answer, int attribute, unsigned long long pointer) {
    const char* const at = (const char*)pointer;
    if (attribute != 2 || !memory || at < memory || at >= memory + most_bytes) return 1;
    *(unsigned*)answer = 2;
    return 0;
}
int MPIX_Query_cuda_support(void) { return 1; }
int PMPI_Pack(const void* from, int count, MPI_Datatype type, void* to, int bytes, int* place, MPI_Comm comm) {
    int (*real)(const void*, int, MPI_Datatype, void*, int, int*, MPI_Comm) = dlsym(RTLD_NEXT, "PMPI_Pack");
    allow(PROT_READ);
    const int error = real(from, count, type, to, bytes, place, comm);
    allow(PROT_NONE);
    return error;
}
int PMPI_Unpack(const void* from, int bytes, int* place, void* to, int count, MPI_Datatype type, MPI_Comm comm) {
    int (*real)(const void*, int, int*, void*, int, MPI_Datatype, MPI_Comm) = dlsym(RTLD_NEXT, "PMPI_Unpack");
    allow(PROT_READ | PROT_WRITE);
    const int error = real(from, bytes, place, to, count, type, comm);
    allow(PROT_NONE);
    return error;
}
"""

FORCED = {"broadcast": "binomial", "allreduce": "ring", "allgather": "ring", "scatter": "linear"}


def test_no_processor_touches_them(run, mpi, tmp_path):
    program = ["env", f"LD_PRELOAD={PRELOAD}:{compiled_tool(mpi, DRIVER, tmp_path)}", str(mpi.program("unusual_types")),
               "device_buffers"]
    ours = passed(run(program, ranks=3, settings=settings_of("wait", **FORCED)))
    assert decided_calls(ours) == 100
