package io.easykit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Proxy;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

class SpringCallsTests {

    private final RedisConnection connection = proxy(RedisConnection.class, null);
    private final SpringCalls calls = new SpringCalls(proxy(RedisConnectionFactory.class, connection));
    private final AtomicInteger reports = new AtomicInteger();

    /** Returns the same from all methods. */
    private static <T> T proxy(Class<T> type, Object result) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> result));
    }

    private void succeed() {
        assertThat(calls.call(redis -> "reply")).isCompletedWithValue("reply");
    }

    private void lose() {
        assertThat(calls.call(redis -> {
                    throw new RedisConnectionFailureException("lost");
                }))
                .isCompletedExceptionally();
    }

    @Test
    void reportOnceAfterAnyNumberOfLosses() {
        calls.onReconnect(reports::incrementAndGet);
        succeed();
        assertThat(reports).hasValue(0);
        lose();
        lose();
        succeed();
        succeed();
        assertThat(reports).hasValue(1);
        lose();
        succeed();
        assertThat(reports).hasValue(2);
    }

    @Test
    void returnNoReplyBeforeTheReport() throws Exception {
        CompletableFuture<Void> entered = new CompletableFuture<>();
        CompletableFuture<Void> free = new CompletableFuture<>();
        calls.onReconnect(() -> {
            if (entered.complete(null)) {
                free.join(); // the first call has not reported yet
            }
            reports.incrementAndGet();
        });
        lose();
        CompletableFuture<Void> first = CompletableFuture.runAsync(this::succeed);
        entered.get(10, TimeUnit.SECONDS);
        succeed();
        assertThat(reports).as("when the second call has its reply").hasValue(1);

        free.complete(null);
        first.get(10, TimeUnit.SECONDS);
        succeed();
        assertThat(reports).hasValue(2);
    }

    @Test
    void reportALossThatComesWhileAnEarlierOneIsReported() {
        calls.onReconnect(() -> {
            if (reports.incrementAndGet() == 1) {
                lose();
            }
        });
        lose();
        succeed();
        succeed();
        assertThat(reports).hasValue(2);
        succeed();
        assertThat(reports).hasValue(2);
    }
}
