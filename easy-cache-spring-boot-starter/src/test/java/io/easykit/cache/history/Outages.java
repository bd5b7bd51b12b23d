package io.easykit.cache.history;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Times in which a node had no working connection to Redis. */
final class Outages {

    private final List<Span> spans = new ArrayList<>();

    /** Nano times. */
    record Span(long from, long to) {}

    /** @param all in any order; may overlap */
    Outages(List<Span> all) {
        List<Span> sorted = new ArrayList<>(all);
        sorted.sort(Comparator.comparingLong(Span::from));
        for (Span next : sorted) {
            Span last = spans.isEmpty() ? null : spans.get(spans.size() - 1);
            if (last != null && next.from() <= last.to()) {
                spans.set(spans.size() - 1, new Span(last.from(), Math.max(last.to(), next.to())));
            } else {
                spans.add(next);
            }
        }
    }

    boolean touch(long from, long to) {
        int low = 0;
        int high = spans.size();
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (spans.get(middle).to() < from) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low < spans.size() && spans.get(low).from() <= to;
    }
}
