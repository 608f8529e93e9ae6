import java.nio.ByteBuffer;

/** The bytes for a binding that takes a Java array or a direct buffer: `--buffer array|direct`. */
final class Message {
    private final boolean direct;
    private ByteBuffer bytes;
    private Object handed;

    Message(String[] arguments) {
        direct = PingPong.option(arguments, "--buffer", null).equals("direct");
    }

    void resize(int length) {
        bytes = direct ? ByteBuffer.allocateDirect(length) : ByteBuffer.allocate(length);
        handed = direct ? bytes : bytes.array();
    }

    /** What the binding is given: a byte[] or a ByteBuffer. */
    Object handed() {
        return handed;
    }

    byte get(int index) {
        return bytes.get(index);
    }

    void put(int index, byte value) {
        bytes.put(index, value);
    }
}
