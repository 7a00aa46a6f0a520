package lockstep;

import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;

/**
 * Runs the driver once as a history would, so that the JVM can archive the classes that it has loaded (-XX:ArchiveClassesAtExit): with
 * this archive a JVM and its first client start in half the time. The server here is not Redis. It grants every request, since only
 * the classes matter.
 */
final class Rehearsal {
    /** A lock that somebody else has, so that a call subscribes. */
    private static final String BUSY = "busy";

    private static final List<String> CALLS =
            List.of(
                    "lock free",
                    "try-wait-lease " + BUSY + " 100 30000",
                    "lock-lease free 30000",
                    "is-held free",
                    "unlock free",
                    "try-wait fair:free 100",
                    "try rw:read:free",
                    "try rw:write:free",
                    "try spin:100:free",
                    "try-token fenced:free",
                    "try-lease multi:one,other 30000",
                    "unlock multi:one,other");

    private Rehearsal() {}

    public static void main(String[] args) throws IOException {
        var entrance = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
        inBackground(
                () -> {
                    while (true) {
                        Socket client = entrance.accept();
                        inBackground(() -> serve(client));
                    }
                });
        var lines = new PipedOutputStream();
        var answers = new PipedInputStream();
        System.setIn(new PipedInputStream(lines));
        System.setOut(new PrintStream(new PipedOutputStream(answers), true, StandardCharsets.UTF_8));
        inBackground(
                () -> {
                    prompt(entrance.getLocalPort(), lines, answers);
                    // An archive is made at this end, and at no other one.
                    System.exit(0);
                });
        Driver.main(args);
    }

    /** Tells the driver what to do, and waits until it has done so. */
    private static void prompt(int port, OutputStream lines, PipedInputStream answers) throws IOException {
        var said = new BufferedReader(new InputStreamReader(answers, StandardCharsets.UTF_8));
        tell(lines, "0 client A redis://127.0.0.1:" + port + " 3000 4 200 30000 1");
        awaitDone(said, 0);
        int number = 0;
        for (String call : CALLS) {
            number += 1;
            tell(lines, number + " call A 1 " + call);
            awaitEnd(said, number);
        }
        tell(lines, ++number + " timers");
        awaitDone(said, number);
        tell(lines, ++number + " close A");
        awaitDone(said, number);
    }

    private static void tell(OutputStream lines, String line) throws IOException {
        lines.write((line + "\n").getBytes(StandardCharsets.UTF_8));
        lines.flush();
    }

    /** Waits until a command was obeyed. */
    private static void awaitDone(BufferedReader said, int number) throws IOException {
        String line = next(said);
        while (!line.startsWith("answer " + number + " ")) {
            line = next(said);
        }
        if (!line.startsWith("answer " + number + " ok ")) {
            throw new IOException(line);
        }
    }

    /** Waits until a call was begun and has ended, which may be told first. A version that lacks a lock says that it has failed. */
    private static void awaitEnd(BufferedReader said, int number) throws IOException {
        boolean isAnswered = false;
        boolean hasEnded = false;
        while (!isAnswered || !hasEnded) {
            String line = next(said);
            isAnswered |= line.startsWith("answer " + number + " ");
            hasEnded |= line.startsWith("ended " + number + " ") || line.startsWith("answer " + number + " failed ");
        }
    }

    private static String next(BufferedReader said) throws IOException {
        String line = said.readLine();
        if (line == null) {
            throw new EOFException("the driver says nothing any more");
        }
        return line;
    }

    /** Answers every command of a connection, until its client goes away. A length in bytes is one in characters of this character set. */
    private static void serve(Socket client) {
        try (client) {
            var commands = new BufferedReader(new InputStreamReader(client.getInputStream(), StandardCharsets.ISO_8859_1));
            for (String header = commands.readLine(); header != null; header = commands.readLine()) {
                var words = new String[Integer.parseInt(header.substring(1))];
                for (int at = 0; at < words.length; at++) {
                    var word = new char[Integer.parseInt(commands.readLine().substring(1))];
                    for (int read = 0; read < word.length; ) {
                        int more = commands.read(word, read, word.length - read);
                        if (more < 0) {
                            throw new EOFException("a connection ends in a word");
                        }
                        read += more;
                    }
                    commands.readLine();
                    words[at] = new String(word);
                }
                client.getOutputStream().write(answer(words).getBytes(StandardCharsets.ISO_8859_1));
            }
        } catch (IOException gone) {
            System.err.println("a client goes away: " + gone);
        }
    }

    private static String answer(String[] words) {
        return switch (words[0]) {
            case "PING" -> "+PONG\r\n";
            // The lock's keys stand behind the script and their number; nothing is how a grant is answered.
            case "EVAL" -> words[3].contains(BUSY) ? ":30000\r\n" : "$-1\r\n";
            case "SUBSCRIBE", "UNSUBSCRIBE" -> {
                String kind = words[0].toLowerCase(Locale.ROOT);
                yield "*3\r\n" + bulk(kind) + bulk(words[1]) + ":1\r\n";
            }
            case "EXISTS", "HEXISTS", "PUBLISH", "WAIT" -> ":0\r\n";
            default -> "+OK\r\n";
        };
    }

    private static String bulk(String word) {
        return "$" + word.length() + "\r\n" + word + "\r\n";
    }

    /** Something that may fail. */
    private interface Work {
        void run() throws IOException;
    }

    private static void inBackground(Work work) {
        var thread =
                new Thread(
                        () -> {
                            try {
                                work.run();
                            } catch (IOException | RuntimeException failure) {
                                System.err.println("rehearsal: " + failure);
                                // Without an archive of what was only half done.
                                Runtime.getRuntime().halt(1);
                            }
                        });
        thread.setDaemon(true);
        thread.start();
    }
}
