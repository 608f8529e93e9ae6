import java.nio.Buffer;

import mpi.Comm;
import mpi.Datatype;
import mpi.MPI;
import mpi.MPIException;
import mpi.PTP;

/** Through the Java binding that comes with Intel MPI. */
final class PingPongIntel extends PingPong {
    private PingPongIntel(String[] arguments) {
        super(asksForDirect(arguments));
    }

    public static void main(String[] arguments) throws Throwable {
        MPI.Init(arguments);
        new PingPongIntel(arguments).run(arguments);
        MPI.Finalize();
    }

    @Override
    int rank() throws MPIException {
        return Comm.WORLD.getRank();
    }

    @Override
    void send(int bytes) throws MPIException {
        if (handed instanceof Buffer direct) {
            PTP.send(direct, bytes, Datatype.BYTE, peer, 0, Comm.WORLD);
        } else {
            PTP.send(handed, bytes, Datatype.BYTE, peer, 0, Comm.WORLD);
        }
    }

    @Override
    void receive(int bytes) throws MPIException {
        if (handed instanceof Buffer direct) {
            PTP.recv(direct, bytes, Datatype.BYTE, peer, 0, Comm.WORLD);
        } else {
            PTP.recv(handed, bytes, Datatype.BYTE, peer, 0, Comm.WORLD);
        }
    }
}
