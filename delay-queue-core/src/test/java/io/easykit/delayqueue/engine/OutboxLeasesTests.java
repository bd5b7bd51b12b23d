package io.easykit.delayqueue.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.store.SendOutbox;
import io.easykit.delayqueue.store.SendOutbox.Lease;
import io.easykit.delayqueue.store.SendOutbox.Owner;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class OutboxLeasesTests {

    private static final long SECOND = Duration.ofSeconds(1).toNanos();

    private long nanos;
    private long wait;
    private final OutboxLeases leases = new OutboxLeases(outbox(), "b", Duration.ofSeconds(30), () -> nanos);

    /** The owner "a" holds its own lease, whose state never changes. A read may wait for a connection first. */
    private SendOutbox outbox() {
        return (SendOutbox) Proxy.newProxyInstance(
                SendOutbox.class.getClassLoader(), new Class<?>[] {SendOutbox.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("owners")) {
                        nanos += wait;
                        return List.of(new Owner("a", new Lease("a", 7)));
                    }
                    return true;
                });
    }

    /** The lease may have been renewed just before the read, so it was seen at the time after it. */
    @Test
    void countTheAgeOfALeaseFromTheEndOfTheRead() {
        wait = 25 * SECOND;
        leases.takeFree();
        wait = 0;

        nanos = 30 * SECOND;
        leases.takeFree();
        assertThat(leases.held()).isEmpty();

        nanos = 54 * SECOND;
        leases.takeFree();
        assertThat(leases.held()).isEmpty();

        nanos = 60 * SECOND;
        leases.takeFree();
        assertThat(leases.held()).containsExactly("a");
    }
}
