import mpi.MPI;
import mpi.MPIException;

/** Through the Java binding of Open MPI. */
final class PingPongOpenMpi implements PingPong.Endpoint {
    private final Message message;
    private final int peer;

    private PingPongOpenMpi(String[] arguments) throws MPIException {
        message = new Message(arguments);
        peer = 1 - rank();
    }

    public static void main(String[] arguments) throws Throwable {
        MPI.Init(arguments);
        PingPong.run(new PingPongOpenMpi(arguments), arguments);
        MPI.Finalize();
    }

    @Override
    public int rank() throws MPIException {
        return MPI.COMM_WORLD.getRank();
    }

    @Override
    public void resize(int bytes) {
        message.resize(bytes);
    }

    @Override
    public void send(int bytes) throws MPIException {
        MPI.COMM_WORLD.send(message.handed(), bytes, MPI.BYTE, peer, 0);
    }

    @Override
    public void receive(int bytes) throws MPIException {
        MPI.COMM_WORLD.recv(message.handed(), bytes, MPI.BYTE, peer, 0);
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
