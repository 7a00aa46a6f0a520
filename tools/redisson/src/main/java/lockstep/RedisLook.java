package lockstep;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A connection of its own, by which it is seen what the server has, whatever a client believes. */
final class RedisLook implements AutoCloseable {
    /** How long an answer is waited for. */
    private static final int WITHIN_MS = 10_000;

    private final Socket socket = new Socket();
    private final InputStream input;

    /** Connects to {@code HOST:PORT}. */
    RedisLook(String address) throws IOException {
        socket.setSoTimeout(WITHIN_MS);
        socket.setTcpNoDelay(true);
        socket.connect(new InetSocketAddress(host(address), port(address)), WITHIN_MS);
        input = new BufferedInputStream(socket.getInputStream());
    }

    static String host(String address) {
        return address.substring(0, address.lastIndexOf(':'));
    }

    static int port(String address) {
        return Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
    }

    /** Sends a command, and returns its answer: a {@code Long}, a {@code String}, a {@code List} or {@code null}. */
    synchronized Object ask(String... words) throws IOException {
        ByteArrayOutputStream request = new ByteArrayOutputStream();
        request.writeBytes(("*" + words.length + "\r\n").getBytes(StandardCharsets.UTF_8));
        for (String word : words) {
            byte[] bytes = word.getBytes(StandardCharsets.UTF_8);
            request.writeBytes(("$" + bytes.length + "\r\n").getBytes(StandardCharsets.UTF_8));
            request.writeBytes(bytes);
            request.writeBytes(new byte[] {'\r', '\n'});
        }
        socket.getOutputStream().write(request.toByteArray());
        return answer(String.join(" ", words));
    }

    private Object answer(String asked) throws IOException {
        String line = line();
        String rest = line.substring(1);
        switch (line.charAt(0)) {
            case '+' -> {
                return rest;
            }
            case ':' -> {
                return Long.valueOf(rest);
            }
            case '$' -> {
                int length = Integer.parseInt(rest);
                if (length < 0) {
                    return null;
                }
                byte[] bytes = input.readNBytes(length);
                line();
                return new String(bytes, StandardCharsets.UTF_8);
            }
            case '*' -> {
                List<Object> all = new ArrayList<>();
                for (int left = Integer.parseInt(rest); left > 0; left--) {
                    all.add(answer(asked));
                }
                return all;
            }
            default -> throw new IOException(asked + ": " + line);
        }
    }

    private String line() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int next = input.read(); next != '\n'; next = input.read()) {
            if (next < 0) {
                throw new EOFException("the server has closed the connection");
            }
            if (next != '\r') {
                line.write(next);
            }
        }
        return line.toString(StandardCharsets.UTF_8);
    }

    /** Whether a lock is held by this holder. */
    boolean isHeld(String lock, String holder) throws IOException {
        return ask("HEXISTS", lock, holder).equals(1L);
    }

    /** Whether anybody holds a lock. */
    boolean isTaken(String lock) throws IOException {
        return ask("EXISTS", lock).equals(1L);
    }

    /** How many of these commands the server has executed without an error. */
    long executed(String... commands) throws IOException {
        String info = (String) ask("INFO", "commandstats");
        long executed = 0;
        for (String line : info.split("\r?\n")) {
            for (String command : commands) {
                if (line.startsWith("cmdstat_" + command + ":")) {
                    executed += number(line, "calls=") - number(line, "failed_calls=");
                }
            }
        }
        return executed;
    }

    /** Whether a section of {@code INFO} has this text. */
    boolean says(String section, String text) throws IOException {
        return ((String) ask("INFO", section)).contains(text);
    }

    private static long number(String line, String field) {
        for (String part : line.substring(line.indexOf(':') + 1).split(",")) {
            if (part.startsWith(field)) {
                return Long.parseLong(part.substring(field.length()).trim());
            }
        }
        return 0;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
