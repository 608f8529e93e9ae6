import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/**
 * Through java.lang.foreign (Java 22): the C library itself, without a binding. Property mpi.library
 * names it. Handles are integers in MPICH and its kin, addresses of the library's variables in Open MPI.
 */
final class PingPongForeign extends PingPong {
    private static final int MPICH_COMM_WORLD = 0x44000000, MPICH_BYTE = 0x4c00010d;
    private static final int MOST_STATUS_BYTES = 64;

    private static final SymbolLookup LIBRARY = SymbolLookup.libraryLookup(
            Path.of(System.getProperty("mpi.library")), Arena.global());
    private static final MemorySegment STATUS = Arena.global().allocate(MOST_STATUS_BYTES, 16);
    private static final Object COMM = handle("ompi_mpi_comm_world", MPICH_COMM_WORLD);
    private static final Object BYTE = handle("ompi_mpi_byte", MPICH_BYTE);
    private static final MemoryLayout HANDLE =
            COMM instanceof MemorySegment ? ValueLayout.ADDRESS : ValueLayout.JAVA_INT;

    private static final int RANK = initialisedRank();
    // Static and final, so that the compiler sees through them.
    private static final MethodHandle SEND = transfer("MPI_Send");
    private static final MethodHandle RECEIVE =
            MethodHandles.insertArguments(transfer("MPI_Recv", ValueLayout.ADDRESS), 2, STATUS);

    private MemorySegment message;

    private PingPongForeign() {
        super(true);
    }

    public static void main(String[] arguments) throws Throwable {
        new PingPongForeign().run(arguments);
        call("MPI_Finalize", FunctionDescriptor.of(ValueLayout.JAVA_INT));
    }

    private static Object handle(String variable, int otherwise) {
        return LIBRARY.find(variable).<Object>map(address -> address).orElse(otherwise);
    }

    private static MethodHandle function(String name, FunctionDescriptor descriptor) {
        return Linker.nativeLinker().downcallHandle(LIBRARY.find(name).orElseThrow(), descriptor);
    }

    private static void call(String name, FunctionDescriptor descriptor, Object... arguments) {
        try {
            succeed((int) function(name, descriptor).invokeWithArguments(arguments));
        } catch (Throwable error) {
            throw new IllegalStateException(name, error);
        }
    }

    private static int initialisedRank() {
        call("MPI_Init", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS,
                ValueLayout.ADDRESS), MemorySegment.NULL, MemorySegment.NULL);
        MemorySegment rank = Arena.global().allocate(ValueLayout.JAVA_INT);
        call("MPI_Comm_rank", FunctionDescriptor.of(ValueLayout.JAVA_INT, HANDLE,
                ValueLayout.ADDRESS), COMM, rank);
        return rank.get(ValueLayout.JAVA_INT, 0);
    }

    /** Of (address, count) alone; type, peer, tag and communicator are bound. */
    private static MethodHandle transfer(String name, MemoryLayout... more) {
        FunctionDescriptor descriptor = FunctionDescriptor.of(ValueLayout.JAVA_INT,
                ValueLayout.ADDRESS, ValueLayout.JAVA_INT, HANDLE, ValueLayout.JAVA_INT,
                ValueLayout.JAVA_INT, HANDLE).appendArgumentLayouts(more);
        return MethodHandles.insertArguments(function(name, descriptor), 2, BYTE, 1 - RANK, 0, COMM);
    }

    private static void succeed(int code) {
        if (code != 0) {
            throw new IllegalStateException("MPI error " + code);
        }
    }

    @Override
    int rank() {
        return RANK;
    }

    @Override
    void resize(int bytes) {
        super.resize(bytes);
        message = MemorySegment.ofBuffer((ByteBuffer) handed);
    }

    @Override
    void send(int bytes) throws Throwable {
        succeed((int) SEND.invokeExact(message, bytes));
    }

    @Override
    void receive(int bytes) throws Throwable {
        succeed((int) RECEIVE.invokeExact(message, bytes));
    }
}
