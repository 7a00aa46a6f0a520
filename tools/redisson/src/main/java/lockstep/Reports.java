package lockstep;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Lines on stdout, each written as a whole. */
final class Reports {
    private final PrintStream out;

    Reports(PrintStream out) {
        this.out = out;
    }

    /** One write for one line: whoever reads the pipe never sees half a line of two threads. */
    synchronized void say(String line) {
        byte[] bytes = (line + "\n").getBytes(StandardCharsets.UTF_8);
        out.write(bytes, 0, bytes.length);
        out.flush();
    }

    /** The classes of a failure and its causes, and then what the first of them says. */
    static String described(Throwable failure) {
        List<String> classes = new ArrayList<>();
        for (Throwable cause = failure; cause != null && classes.size() < 8; cause = cause.getCause()) {
            classes.add(cause.getClass().getName());
        }
        String message = String.valueOf(failure.getMessage()).replaceAll("\\s+", " ");
        return String.join("<", classes) + " " + message;
    }
}
