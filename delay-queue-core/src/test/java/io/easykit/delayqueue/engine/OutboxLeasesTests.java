package io.easykit.delayqueue.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.store.SendOutbox;
import io.easykit.delayqueue.store.SendOutbox.Lease;
import io.easykit.delayqueue.store.SendOutbox.Owner;
import io.easykit.delayqueue.store.SendOutboxException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class OutboxLeasesTests {

    private static final long SECOND = Duration.ofSeconds(1).toNanos();

    private static final Owner FREE = new Owner("a", null);

    private long nanos;
    private long wait;
    private boolean fails;
    private boolean renews = true;
    private final OutboxLeases leases = new OutboxLeases(outbox(), "b", Duration.ofSeconds(30), () -> nanos);

    private List<Owner> owners = List.of(new Owner("a", new Lease("a", 7)));

    /** The owner "a" holds its own lease, whose state never changes. A read may wait for a connection first. */
    private SendOutbox outbox() {
        return (SendOutbox) Proxy.newProxyInstance(
                SendOutbox.class.getClassLoader(), new Class<?>[] {SendOutbox.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("owners")) {
                        nanos += wait;
                        if (fails) {
                            throw new SendOutboxException("The database does not answer.", null);
                        }
                        return owners;
                    }
                    return !method.getName().equals("renew") || renews;
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
        lookAt(0, FREE, living(0));
        nanos = 29 * SECOND;
        leases.passOnIfStuck("a");
        assertThat(leases.held()).containsExactly("a");

        nanos = 30 * SECOND;
        leases.passOnIfStuck("a");
        assertThat(leases.held()).isEmpty();
        lookAt(35, FREE, living(35));
        lookAt(40, new Owner("a", new Lease("c", 0)), living(40));
        lookAt(45, FREE, living(45));
        assertThat(leases.held()).isEmpty();

        lookAt(50, FREE, living(50));
        assertThat(leases.held()).as("another one looks within an interval").isEmpty();
        lookAt(55, FREE, living(55));
        assertThat(leases.held()).as("nobody else takes it").containsExactly("a");
    }

    @Test
    void takeWhatTheyHaveDeclinedLongAgo() {
        lookAt(0, FREE, living(0));
        nanos = 30 * SECOND;
        leases.passOnIfStuck("a");
        lookAt(325, new Owner("a", new Lease("c", 1)), living(325));

        lookAt(330, FREE, living(330));

        assertThat(leases.held()).containsExactly("a");
    }

    @Test
    void takeAtOnceWhatTheyHaveDeclinedBeforeTheyStoredSomeOfIt() {
        lookAt(0, FREE, living(0));
        nanos = 30 * SECOND;
        leases.passOnIfStuck("a");
        for (long second = 35; second <= 55; second += 5) {
            lookAt(second, FREE, living(second));
        }
        assertThat(leases.held()).containsExactly("a");
        leases.hasStored("a");
        leases.release("a");

        lookAt(60, FREE, living(60));

        assertThat(leases.held()).containsExactly("a");
    }

    /** An owner that was declined, and is back, is as any other one when it stops. */
    @Test
    void takeAtOnceWhatTheyHaveDeclinedBeforeItsOwnerCameBack() {
        lookAt(0, FREE, living(0));
        nanos = 30 * SECOND;
        leases.passOnIfStuck("a");
        lookAt(35, new Owner("a", new Lease("a", 1)), living(35));

        lookAt(40, FREE, living(40));

        assertThat(leases.held()).containsExactly("a");
    }

    /** For the duration of a lease, as after the first time. */
    private void keepsForALeaseFrom(long second) {
        lookAt(second, FREE, living(second));
        assertThat(leases.held()).containsExactly("a");
        nanos = (second + 29) * SECOND;
        leases.passOnIfStuck("a");
        assertThat(leases.held()).containsExactly("a");
    }

    @Test
    void tryAgainForALeaseWhatTheyHaveReleased() {
        lookAt(0, FREE, living(0));
        leases.release("a");

        keepsForALeaseFrom(100);
    }

    @Test
    void tryAgainForALeaseWhatAnotherProcessHasTakenMeanwhile() {
        lookAt(0, FREE, living(0));
        renews = false;
        nanos = 10 * SECOND;
        leases.renew();
        assertThat(leases.held()).doesNotContain("a");

        nanos = 100 * SECOND;
        owners = List.of(FREE, living(100));
        leases.takeFree();
        nanos = 129 * SECOND;
        leases.passOnIfStuck("a");
        assertThat(leases.held()).contains("a");
    }

    /** The others may have ended. */
    @Test
    void keepAnOwnerWhileTheOthersCannotBeRead() {
        lookAt(0, FREE, living(0));
        fails = true;
        assertThatThrownBy(() -> lookAt(30, FREE, living(30))).isInstanceOf(SendOutboxException.class);

        leases.passOnIfStuck("a");

        assertThat(leases.held()).containsExactly("a");
    }

    /** It has ended, and another process of this name has rows now. */
    @Test
    void takeAnOwnerAtOnceThatWasGoneSinceTheyDeclinedIt() {
        lookAt(0, FREE, living(0));
        nanos = 30 * SECOND;
        leases.passOnIfStuck("a");
        assertThat(leases.held()).isEmpty();
        lookAt(35, living(35));

        lookAt(40, FREE, living(40));

        assertThat(leases.held()).containsExactly("a");
    }

    @Test
    void keepAnOwnerOfWhichSomethingWasStoredOrIfThereIsNoOtherProcess() {
        lookAt(0, FREE, living(0));
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
