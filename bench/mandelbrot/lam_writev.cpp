// LAM/MPI 7.1 writes empty pieces from pointers that it has never set, which kernels of today refuse
// (EFAULT) and those of its day did not: then MPI_Init fails, by chance. Linked into LAM's program, this
// writev takes the place of the C library's, and gives empty pieces an address.
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <vector>

extern "C" [[gnu::visibility("default")]] ssize_t writev(int descriptor, const iovec* pieces,
                                                         int count) {
    std::vector<iovec> checked(pieces, pieces + count);
    for (iovec& piece : checked) {
        if (piece.iov_len == 0) piece.iov_base = nullptr;
    }
    return syscall(SYS_writev, descriptor, checked.data(), count);
}
