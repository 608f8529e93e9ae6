/* file_writes FILE: collective writes to a file while broadcasts go on. MPI libraries broadcast
 * inside their MPI_File functions; those are not the program's 40 calls. */
#include "checked.h"

enum { each = 64 };

int main(int argc, char** argv) {
    MPI_File file;
    int out[each], in[each];
    begin(&argc, &argv);
    expect(argc == 2, "usage: file_writes FILE", argc);
    broadcasts_checked(MPI_COMM_WORLD, 20);
    const int opened = MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR,
                                     MPI_INFO_NULL, &file);
    expect(opened == MPI_SUCCESS, "cannot open the file", opened);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    for (int call = 0; call < 20; ++call) {
        const MPI_Offset place = (MPI_Offset)(call * world_size + world_rank) * each;
        for (int i = 0; i < each; ++i) {
            out[i] = value_at(i, world_rank, call);
        }
        MPI_File_write_at_all(file, place, out, each, MPI_INT, MPI_STATUS_IGNORE);
        broadcast_checked(MPI_COMM_WORLD, call % world_size, 300, call);
        MPI_File_read_at_all(file, place, in, each, MPI_INT, MPI_STATUS_IGNORE);
        expect(memcmp(out, in, sizeof in) == 0, "wrong data in the file", call);
    }
    MPI_File_set_size(file, 100);
    MPI_File_close(&file);
    end("");
    return 0;
}
