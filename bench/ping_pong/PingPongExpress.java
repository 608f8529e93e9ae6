import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;

import mpi.MPI;
import mpi.MPIException;

/**
 * On MPJ Express, an MPI written in Java, which takes arrays only. Its ranks are started one by one, with
 * `--rank R --server HOST --port P`, where HOST is that of rank 0: its own launcher needs daemons on all
 * hosts. What that launcher does for them, to tell each rank on which ports the others listen, rank 0
 * does on port P here.
 */
final class PingPongExpress extends PingPong {
    private static final int RANKS = 2, PATIENCE_MS = 20;
    // Longer messages wait until their receiver is ready: the default of MPJ Express.
    private static final int EAGER_BYTES = 131072;

    private PingPongExpress() {
        super(false);
    }

    public static void main(String[] arguments) throws Throwable {
        String rank = option(arguments, "--rank", null);
        String host = option(arguments, "--server", null);
        int port = Integer.parseInt(option(arguments, "--port", null));
        if (rank.equals("0")) {
            ServerSocket server = new ServerSocket(port);
            Thread introducing = new Thread(() -> introduce(server));
            introducing.setDaemon(true);
            introducing.start();
        }
        awaitServer(host, port);
        String configuration = "#Number of Processes;" + RANKS + ";#Protocol Switch Limit;"
                + EAGER_BYTES + ";#Server Name;" + host + ";#Server Port;" + port;
        MPI.Init(new String[] {rank, configuration, "niodev"});
        new PingPongExpress().run(arguments);
        MPI.Finalize();
    }

    /** MPJ Express tries to connect only once. */
    private static void awaitServer(String host, int port) throws Exception {
        for (;;) {
            try {
                new Socket(host, port).close();
                return;
            } catch (ConnectException notYet) {
                Thread.sleep(PATIENCE_MS);
            }
        }
    }

    /** Takes the number of each rank and the ports on which it listens; tells all to all. */
    private static void introduce(ServerSocket server) {
        String[] peers = new String[RANKS];
        List<DataOutputStream> answers = new ArrayList<>();
        try {
            while (answers.size() < RANKS) {
                Socket client = server.accept();
                DataInputStream in = new DataInputStream(client.getInputStream());
                try {
                    in.readUTF();
                } catch (EOFException onlyLooked) {
                    continue;
                }
                int writePort = in.readInt(), readPort = in.readInt(), rank = in.readInt();
                peers[rank] = client.getInetAddress().getHostAddress() + "@" + readPort + "@"
                        + writePort + "@" + rank;
                answers.add(new DataOutputStream(client.getOutputStream()));
            }
            for (DataOutputStream answer : answers) {
                answer.writeUTF("#Peer Information;" + String.join(";", peers));
                answer.flush();
            }
        } catch (IOException error) {
            error.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }

    @Override
    int rank() throws MPIException {
        return MPI.COMM_WORLD.Rank();
    }

    @Override
    void send(int bytes) throws MPIException {
        MPI.COMM_WORLD.Send(handed, 0, bytes, MPI.BYTE, peer, 0);
    }

    @Override
    void receive(int bytes) throws MPIException {
        MPI.COMM_WORLD.Recv(handed, 0, bytes, MPI.BYTE, peer, 0);
    }
}
