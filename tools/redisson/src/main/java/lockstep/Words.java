package lockstep;

/** The words of one line, taken from the left. */
final class Words {
    private final String[] words;
    private int taken;

    Words(String[] words) {
        this.words = words;
    }

    boolean hasNext() {
        return taken < words.length;
    }

    String next() {
        if (!hasNext()) {
            throw new IllegalArgumentException("a word is missing after: " + String.join(" ", words));
        }
        return words[taken++];
    }

    long nextLong() {
        return Long.parseLong(next());
    }
}
