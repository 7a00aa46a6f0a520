package lockstep;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Real Redisson, told line by line what to do: one process for all clients of many histories.
 *
 * <p>A line on stdin is a command with a number; exactly one line on stdout answers it, with the same number. What a call
 * leads to is reported in a line of its own when the call ends. The lines are listed in tools/redisson/README.md, and
 * written by sim/src/replay/redisson/jvm.rs.
 */
final class Driver {
    /** The number of these commands: one more whenever any of them changes. COMMANDS in jvm.rs is the same number. */
    private static final int COMMANDS = 13;

    private final Reports reports = new Reports(System.out);
    private final Map<String, Client> clients = new LinkedHashMap<>();

    public static void main(String[] args) throws IOException {
        new Driver().serve();
        // Threads of clients that were not closed must not keep the process.
        Runtime.getRuntime().halt(0);
    }

    private void serve() throws IOException {
        reports.say("ready " + COMMANDS + " redisson " + Versions.redisson() + " java " + Runtime.version().feature());
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split(" ", -1);
            String number = words[0];
            try {
                reports.say("answer " + number + " ok " + obey(new Words(words)));
            } catch (Exception | LinkageError failure) {
                reports.say("answer " + number + " failed " + Reports.described(failure));
            }
        }
    }

    /** Does what a command says, and returns the words of the answer. */
    private String obey(Words words) throws Exception {
        String number = words.next();
        String verb = words.next();
        switch (verb) {
            case "client" -> {
                String name = words.next();
                if (clients.containsKey(name)) {
                    throw new IllegalArgumentException("client " + name + " exists");
                }
                clients.put(name, Client.connect(name, Settings.of(words), reports));
                return "connected";
            }
            case "beside" -> {
                client(words.next()).connectBeside(Settings.of(words));
                return "connected";
            }
            case "call" -> {
                client(words.next()).call(number, words);
                return "begun";
            }
            case "interrupt" -> {
                client(words.next()).thread(words.nextLong()).interrupt();
                return "interrupted";
            }
            case "cancel" -> {
                client(words.next()).cancel(words.nextLong());
                return "cancelled";
            }
            case "master" -> {
                client(words.next()).changeMaster(words.next());
                return "changing";
            }
            case "close" -> {
                String name = words.next();
                client(name).close();
                clients.remove(name);
                return "closed";
            }
            case "timers" -> {
                return Timers.nextOf(clients.values());
            }
            case "ping" -> {
                return "here";
            }
            default -> throw new IllegalArgumentException("unknown command " + verb);
        }
    }

    private Client client(String name) {
        Client client = clients.get(name);
        if (client == null) {
            throw new IllegalArgumentException("no client " + name);
        }
        return client;
    }
}
