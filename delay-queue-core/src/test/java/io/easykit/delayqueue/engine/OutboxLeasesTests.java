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

    private List<Owner> owners = List.of(new Owner("a", new Lease("a", 7)));

    /** The owner "a" holds its own lease, whose state never changes. A read may wait for a connection first. */
    private SendOutbox outbox() {
        return (SendOutbox) Proxy.newProxyInstance(
                SendOutbox.class.getClassLoader(), new Class<?>[] {SendOutbox.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("owners")) {
                        nanos += wait;
                        return owners;
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

    private void lookAt(long second, Owner... present) {
        nanos = second * SECOND;
        owners = List.of(present);
        leases.takeFree();
    }

    /** A process that renews its lease. */
    private static Owner living(long renewals) {
        return new Owner("c", new Lease("c", renewals));
    }

    @Test
    void leaveAnOwnerToOthersOfWhichNothingCouldBeStored() {
        Owner free = new Owner("a", null);
        lookAt(0, free, living(0));
        nanos = 29 * SECOND;
        leases.passOnIfStuck("a");
        assertThat(leases.held()).containsExactly("a");

        nanos = 30 * SECOND;
        leases.passOnIfStuck("a");
        assertThat(leases.held()).isEmpty();
        lookAt(35, free, living(35));
        lookAt(40, new Owner("a", new Lease("c", 0)), living(40));
        lookAt(45, free, living(45));
        assertThat(leases.held()).isEmpty();

        lookAt(50, free, living(50));
        assertThat(leases.held()).as("another one looks within an interval").isEmpty();
        lookAt(55, free, living(55));
        assertThat(leases.held()).as("nobody else takes it").containsExactly("a");
    }

    @Test
    void takeWhatTheyHaveDeclinedLongAgo() {
        Owner free = new Owner("a", null);
        lookAt(0, free, living(0));
        nanos = 30 * SECOND;
        leases.passOnIfStuck("a");
        lookAt(325, new Owner("a", new Lease("c", 1)), living(325));

        lookAt(330, free, living(330));

        assertThat(leases.held()).containsExactly("a");
    }

    @Test
    void keepAnOwnerOfWhichSomethingWasStoredOrIfThereIsNoOtherProcess() {
        Owner free = new Owner("a", null);
        lookAt(0, free, living(0));
        nanos = 20 * SECOND;
        leases.hasStored("a");
        nanos = 49 * SECOND;
        leases.passOnIfStuck("a");
        assertThat(leases.held()).containsExactly("a");

        lookAt(50, new Owner("a", new Lease("b", 0)));
        nanos = 200 * SECOND;
        leases.passOnIfStuck("a");
        assertThat(leases.held()).containsExactly("a");
    }
}
