import java.nio.ByteBuffer;

/** The round trips of ping_pong.c (which describes them): one rank of two, with one message that it sends and
 * receives by any binding of MPI. */
abstract class PingPong {
    private final boolean direct;
    private ByteBuffer message;
    /** The message as bindings take it: a direct buffer or a byte[]. */
    Object handed;
    int peer;

    PingPong(boolean direct) {
        this.direct = direct;
    }

    abstract int rank() throws Throwable;

    abstract void send(int bytes) throws Throwable;

    abstract void receive(int bytes) throws Throwable;

    /** Makes a message that holds so many bytes. */
    void resize(int bytes) {
        message = direct ? ByteBuffer.allocateDirect(bytes) : ByteBuffer.allocate(bytes);
        handed = direct ? message : message.array();
    }

    /** With the arguments of ping_pong.c, and `--room BYTES`: no message is kept in less. */
    final void run(String[] arguments) throws Throwable {
        peer = 1 - rank();
        int trips = Integer.parseInt(option(arguments, "--trips", null));
        int room = Integer.parseInt(option(arguments, "--room", "1"));
        for (String size : option(arguments, "--sizes", null).split(",")) {
            int bytes = Integer.parseInt(size);
            resize(Math.max(bytes, room));
            if (rank() == 0) {
                ping(bytes, trips);
            } else {
                pong(bytes, trips);
            }
        }
    }

    /** `--buffer array|direct` */
    static boolean asksForDirect(String[] arguments) {
        return option(arguments, "--buffer", null).equals("direct");
    }

    static String option(String[] arguments, String name, String otherwise) {
        for (int i = 0; i + 1 < arguments.length; ++i) {
            if (arguments[i].equals(name)) {
                return arguments[i + 1];
            }
        }
        if (otherwise == null) {
            throw new IllegalArgumentException("no " + name);
        }
        return otherwise;
    }

    private void ping(int bytes, int trips) throws Throwable {
        long[] times = new long[trips];
        for (int trip = 0; trip < trips; ++trip) {
            times[trip] = timedTrip(bytes, (byte) (2 * trip));
        }
        StringBuilder line = new StringBuilder("ping-pong ").append(bytes);
        for (long time : times) {
            line.append(' ').append(time);
        }
        System.out.println(line);
        System.out.flush();
    }

    private long timedTrip(int bytes, byte stamp) throws Throwable {
        message.put(0, stamp);
        message.put(bytes - 1, stamp);
        long begin = System.nanoTime();
        send(bytes);
        receive(bytes);
        long took = System.nanoTime() - begin;
        check(bytes, 0, (byte) (stamp + 1));
        check(bytes, bytes - 1, (byte) (stamp + 1));
        return took;
    }

    private void pong(int bytes, int trips) throws Throwable {
        for (int trip = 0; trip < trips; ++trip) {
            receive(bytes);
            raise(0);
            if (bytes > 1) {
                raise(bytes - 1);
            }
            send(bytes);
        }
    }

    private void raise(int index) {
        message.put(index, (byte) (message.get(index) + 1));
    }

    private void check(int bytes, int index, byte wanted) {
        if (message.get(index) != wanted) {
            System.err.println("ping_pong: wrong bytes came back (" + bytes + " bytes, at " + index
                    + ")");
            Runtime.getRuntime().halt(1);
        }
    }
}
