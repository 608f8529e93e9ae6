import mpi.MPI;
import mpi.MPIException;

/** Through the Java binding of Open MPI. */
final class PingPongOpenMpi extends PingPong {
    private PingPongOpenMpi(String[] arguments) {
        super(asksForDirect(arguments));
    }

    public static void main(String[] arguments) throws Throwable {
        MPI.Init(arguments);
        new PingPongOpenMpi(arguments).run(arguments);
        MPI.Finalize();
    }

    @Override
    int rank() throws MPIException {
        return MPI.COMM_WORLD.getRank();
    }

    @Override
    void send(int bytes) throws MPIException {
        MPI.COMM_WORLD.send(handed, bytes, MPI.BYTE, peer, 0);
    }

    @Override
    void receive(int bytes) throws MPIException {
        MPI.COMM_WORLD.recv(handed, bytes, MPI.BYTE, peer, 0);
    }
}
