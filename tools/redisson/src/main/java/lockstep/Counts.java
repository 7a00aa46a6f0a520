package lockstep;

import java.util.LinkedHashMap;
import java.util.Map;

/** What a load has counted. */
final class Counts {
    private long attempts;
    private long seen;
    private final Map<String, Long> more = new LinkedHashMap<>();

    /** It could have been seen once more, and was or was not. */
    synchronized void add(boolean isSeen) {
        add(1, isSeen ? 1 : 0);
    }

    synchronized void add(long attempts, long seen) {
        this.attempts += attempts;
        this.seen += seen;
    }

    /** What else belongs to these numbers, named by a key of small letters. */
    synchronized void note(String key, long number) {
        more.merge(key, number, Long::sum);
    }

    synchronized String toJson(String load, String version) {
        StringBuilder json = new StringBuilder();
        json.append("{\"load\":\"").append(load).append("\",\"redisson\":\"").append(version);
        json.append("\",\"attempts\":").append(attempts).append(",\"seen\":").append(seen).append(",\"more\":{");
        String separator = "";
        for (Map.Entry<String, Long> entry : more.entrySet()) {
            json.append(separator).append('"').append(entry.getKey()).append("\":").append(entry.getValue());
            separator = ",";
        }
        return json.append("}}").toString();
    }
}
