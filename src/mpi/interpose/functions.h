// The tables from which the entry points and the look-up of the native functions are made.
#pragma once

/// The collectives that mutirao handles: MPI's name, the function of src/mpi/collectives that takes the
/// call, its parameters and arguments. COUNT is int, or MPI_Count in the form with _c.
#define MUTIRAO_COLLECTIVES(ROW, COUNT)                                                       \
    ROW(Bcast, broadcast,                                                                     \
        (void* buffer, COUNT count, Type type, int root, Comm comm),                          \
        (buffer, count, type, root, comm))

/// Functions inside which the MPI library may call its own collectives (MPI-IO, as ROMIO does it): these
/// must not be taken for the program's. Up to six parameters of a machine word each.
#define MUTIRAO_GUARDED(ROW)                                                                  \
    ROW(File_open) ROW(File_close) ROW(File_set_size) ROW(File_preallocate)                   \
    ROW(File_set_info) ROW(File_set_view) ROW(File_set_atomicity) ROW(File_sync)              \
    ROW(File_delete) ROW(File_get_size)                                                       \
    ROW(File_read_all) ROW(File_write_all) ROW(File_read_at_all) ROW(File_write_at_all)       \
    ROW(File_read_all_begin) ROW(File_read_all_end) ROW(File_write_all_begin)                 \
    ROW(File_write_all_end) ROW(File_read_at_all_begin) ROW(File_read_at_all_end)             \
    ROW(File_write_at_all_begin) ROW(File_write_at_all_end)                                   \
    ROW(File_read_ordered) ROW(File_write_ordered) ROW(File_read_ordered_begin)               \
    ROW(File_read_ordered_end) ROW(File_write_ordered_begin) ROW(File_write_ordered_end)      \
    ROW(File_seek_shared) ROW(File_read_shared) ROW(File_write_shared)                        \
    ROW(File_get_position_shared) ROW(File_read) ROW(File_write) ROW(File_read_at)            \
    ROW(File_write_at)
