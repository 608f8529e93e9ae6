/** The round trips of ping_pong.c (which describes them) over any binding of MPI. */
final class PingPong {
    /** One rank of two, with one message that it sends and receives. */
    interface Endpoint {
        int rank() throws Throwable;

        /** Makes a message that holds so many bytes. */
        void resize(int bytes);

        void send(int bytes) throws Throwable;

        void receive(int bytes) throws Throwable;

        byte get(int index);

        void put(int index, byte value);
    }

    private final Endpoint endpoint;

    private PingPong(Endpoint endpoint) {
        this.endpoint = endpoint;
    }

    /** With the arguments of ping_pong.c, and `--room BYTES`: no message is kept in less. */
    static void run(Endpoint endpoint, String[] arguments) throws Throwable {
        PingPong pingPong = new PingPong(endpoint);
        int trips = Integer.parseInt(option(arguments, "--trips", null));
        int room = Integer.parseInt(option(arguments, "--room", "1"));
        for (String size : option(arguments, "--sizes", null).split(",")) {
            int bytes = Integer.parseInt(size);
            endpoint.resize(Math.max(bytes, room));
            if (endpoint.rank() == 0) {
                pingPong.ping(bytes, trips);
            } else {
                pingPong.pong(bytes, trips);
            }
        }
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
        checkEveryByte(bytes);
        StringBuilder line = new StringBuilder("ping-pong ").append(bytes);
        for (long time : times) {
            line.append(' ').append(time);
        }
        System.out.println(line);
        System.out.flush();
    }

    private long timedTrip(int bytes, byte stamp) throws Throwable {
        endpoint.put(0, stamp);
        endpoint.put(bytes - 1, stamp);
        long begin = System.nanoTime();
        endpoint.send(bytes);
        endpoint.receive(bytes);
        long took = System.nanoTime() - begin;
        check(bytes, 0, (byte) (stamp + 1));
        check(bytes, bytes - 1, (byte) (stamp + 1));
        return took;
    }

    private void pong(int bytes, int trips) throws Throwable {
        for (int trip = 0; trip < trips; ++trip) {
            endpoint.receive(bytes);
            raise(0);
            if (bytes > 1) {
                raise(bytes - 1);
            }
            endpoint.send(bytes);
        }
        endpoint.receive(bytes);
        for (int i = 0; i < bytes; ++i) {
            raise(i);
        }
        endpoint.send(bytes);
    }

    private void raise(int index) {
        endpoint.put(index, (byte) (endpoint.get(index) + 1));
    }

    private static byte pattern(int index) {
        return (byte) (index * 31 + (index >> 8));
    }

    private void checkEveryByte(int bytes) throws Throwable {
        for (int i = 0; i < bytes; ++i) {
            endpoint.put(i, pattern(i));
        }
        endpoint.send(bytes);
        endpoint.receive(bytes);
        for (int i = 0; i < bytes; ++i) {
            check(bytes, i, (byte) (pattern(i) + 1));
        }
    }

    private void check(int bytes, int index, byte wanted) {
        if (endpoint.get(index) != wanted) {
            System.err.println("ping_pong: wrong bytes came back (" + bytes + " bytes, at " + index
                    + ")");
            Runtime.getRuntime().halt(1);
        }
    }
}
