package io.easykit.delayqueue.actuate;

import io.easykit.boot.HttpProblem;
import io.easykit.boot.OperatorAudit;
import io.easykit.boot.ShownValues;
import io.easykit.delayqueue.DelayQueueException;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.admin.FleetAdmin;
import java.security.Principal;
import java.time.Instant;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;

/**
 * Shows topics, messages and nodes, and lets operators with unrestricted access change them. Topics and ids are parameters and
 * never part of the path, because they may contain slashes. An error is a {@link HttpProblem}.
 */
@WebEndpoint(id = "delayqueue", defaultAccess = Access.READ_ONLY)
public final class DelayQueueEndpoint {

    private static final String ANONYMOUS = "anonymous";

    private final @Nullable QueueReads reads;
    private final @Nullable QueueWrites writes;
    private final Predicate<SecurityContext> seesValues;

    private DelayQueueEndpoint(
            @Nullable QueueReads reads, @Nullable QueueWrites writes, Predicate<SecurityContext> seesValues) {
        this.reads = reads;
        this.writes = writes;
        this.seesValues = seesValues;
    }

    /**
     * Creates the endpoint.
     *
     * @param values     masks bodies and header values
     * @param seesValues whether a caller may see them
     * @param audit      records each change
     */
    public static DelayQueueEndpoint of(
            DelayQueueAdmin admin,
            FleetAdmin fleet,
            ShownValues values,
            Predicate<SecurityContext> seesValues,
            OperatorAudit audit) {
        QueueViews views = new QueueViews(Instant::toString);
        return new DelayQueueEndpoint(
                new QueueReads(admin, fleet, views, new MessageViews(values, Instant::toString)),
                new QueueWrites(admin, fleet, views, audit),
                seesValues);
    }

    /** An endpoint that answers each request with the setting that disables the queue. */
    public static DelayQueueEndpoint disabled() {
        return new DelayQueueEndpoint(null, null, caller -> false);
    }

    @ReadOperation
    WebEndpointResponse<Object> overview() {
        return reply(() -> enabled(reads).overview());
    }

    @ReadOperation
    WebEndpointResponse<Object> view(
            SecurityContext caller,
            @Selector String view,
            @Nullable String topic,
            @Nullable String id,
            @Nullable String state,
            @Nullable String order,
            @Nullable String after,
            @Nullable String size,
            @Nullable String shard) {
        Fields fields = new Fields()
                .with("topic", topic)
                .with("id", id)
                .with("state", state)
                .with("order", order)
                .with("after", after)
                .with("size", size)
                .with("shard", shard);
        return reply(() -> enabled(reads).view(view, fields, seesValues.test(caller)));
    }

    /** Makes one change. The parameters are fields of a JSON object, so that no form of another page can send them. */
    @WriteOperation
    WebEndpointResponse<Object> change(
            SecurityContext caller,
            @Selector String action,
            @Nullable String topic,
            @Nullable String id,
            @Nullable String diedAt,
            @Nullable String incarnation,
            @Nullable String delay,
            @Nullable String due,
            @Nullable String perSecond,
            @Nullable String shards,
            @Nullable String note) {
        Fields fields = new Fields()
                .with("topic", topic)
                .with("id", id)
                .with("diedAt", diedAt)
                .with("incarnation", incarnation)
                .with("delay", delay)
                .with("due", due)
                .with("perSecond", perSecond)
                .with("shards", shards)
                .with("note", note);
        return reply(() -> enabled(writes).change(action, fields, name(caller)));
    }

    private static String name(SecurityContext caller) {
        Principal principal = caller.getPrincipal();
        return principal == null || principal.getName() == null ? ANONYMOUS : principal.getName();
    }

    private static <T> T enabled(@Nullable T part) {
        if (part == null) {
            throw new EndpointRefusal(
                    503,
                    "The delay queue is disabled: delay-queue.enabled is false.",
                    "Set delay-queue.enabled=true and restart the application.");
        }
        return part;
    }

    private static WebEndpointResponse<Object> reply(Supplier<Object> call) {
        try {
            return new WebEndpointResponse<>(call.get());
        } catch (EndpointRefusal refusal) {
            return refusal.problem().reply();
        } catch (StoreUnavailableException away) {
            HttpProblem problem = QueueProblem.of(away);
            String unsure = " A change may have been made: read it before you repeat it.";
            return away.isOutcomeUnknown()
                    ? new HttpProblem(problem.status(), problem.detail(), problem.action() + unsure).reply()
                    : problem.reply();
        } catch (DelayQueueException failure) {
            return QueueProblem.of(failure).reply();
        } catch (IllegalArgumentException wrong) {
            return new HttpProblem(400, String.valueOf(wrong.getMessage()), "Correct the request.").reply();
        }
    }
}
