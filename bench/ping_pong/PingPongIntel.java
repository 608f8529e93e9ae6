import java.nio.Buffer;

import mpi.Comm;
import mpi.Datatype;
import mpi.MPI;
import mpi.MPIException;
import mpi.PTP;

/** Through the Java binding that comes with Intel MPI. */
final class PingPongIntel implements PingPong.Endpoint {
    private final Message message;
    private final int peer;

    private PingPongIntel(String[] arguments) throws MPIException {
        message = new Message(arguments);
        peer = 1 - rank();
    }

    public static void main(String[] arguments) throws Throwable {
        MPI.Init(arguments);
        PingPong.run(new PingPongIntel(arguments), arguments);
        MPI.Finalize();
    }

    @Override
    public int rank() throws MPIException {
        return Comm.WORLD.getRank();
    }

    @Override
    public void resize(int bytes) {
        message.resize(bytes);
    }

    @Override
    public void send(int bytes) throws MPIException {
        if (message.handed() instanceof Buffer direct) {
            PTP.send(direct, bytes, Datatype.BYTE, peer, 0, Comm.WORLD);
        } else {
            PTP.send(message.handed(), bytes, Datatype.BYTE, peer, 0, Comm.WORLD);
        }
    }

    @Override
    public void receive(int bytes) throws MPIException {
        if (message.handed() instanceof Buffer direct) {
            PTP.recv(direct, bytes, Datatype.BYTE, peer, 0, Comm.WORLD);
        } else {
            PTP.recv(message.handed(), bytes, Datatype.BYTE, peer, 0, Comm.WORLD);
        }
    }

    @Override
    public byte get(int index) {
        return message.get(index);
    }

    @Override
    public void put(int index, byte value) {
        message.put(index, value);
    }
}
