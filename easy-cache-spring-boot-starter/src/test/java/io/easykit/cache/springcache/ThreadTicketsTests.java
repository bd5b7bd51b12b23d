package io.easykit.cache.springcache;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.FillTicket;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ThreadTicketsTests {

    private static final CacheSpec<Object> SPEC = CacheSpec.of("any", Object.class);

    private final ThreadTickets tickets = new ThreadTickets();
    private final List<CacheKey<Object>> closed = new ArrayList<>();

    private final class Ticket implements FillTicket<Object> {

        private final CacheKey<Object> key;

        Ticket(int id) {
            this.key = SPEC.key(id);
        }

        @Override
        public CacheKey<Object> key() {
            return key;
        }

        @Override
        public boolean tryFill(@Nullable Object value) {
            return true;
        }

        @Override
        public void close() {
            closed.add(key);
        }
    }

    @Test
    void closesTheTicketOfTheEldestMissOfNine() {
        for (int id = 1; id <= 8; id++) {
            tickets.keep(new Ticket(id));
        }
        tickets.keep(new Ticket(1));
        tickets.keep(new Ticket(9));

        assertThat(closed).containsExactly(SPEC.key(2));
        assertThat(tickets.take(SPEC.key(1))).isNotNull();
        assertThat(tickets.take(SPEC.key(1))).as("for one use").isNull();
        assertThat(tickets.take(SPEC.key(2))).isNull();
    }
}
