package io.easykit.delayqueue.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.Mockito.mock;

import io.easykit.delayqueue.Acknowledgment;
import io.easykit.delayqueue.DelayMessage;
import java.io.IOException;
import java.lang.reflect.Method;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.mock.env.MockEnvironment;
import reactor.core.publisher.Mono;

class ListenerInvokerTests {

    private final Listeners listeners = new Listeners();

    @ParameterizedTest
    @ValueSource(strings = {"future", "publisher"})
    void failsTheRunOfAMethodThatReturnsBeforeItsWorkIsDone(String method) {
        assertThatThrownBy(() -> single(listeners, method).handle(message("one")))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("Listeners." + method + "(Object)")
                .hasMessageContaining("is asynchronous")
                .hasMessageContaining("Wait for the result in the method");
    }

    @Test
    void ignoresAnyOtherResult() throws Exception {
        single(listeners, "echo").handle(message("one"));

        assertThat(listeners.got).containsExactly("one");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void passesOnACheckedExceptionThatAProxyHasWrapped(boolean ofTheClass) {
        ProxyFactory proxies = new ProxyFactory(listeners);
        proxies.setProxyTargetClass(ofTheClass);

        assertThatThrownBy(() -> single(proxies.getProxy(), "sneaky").handle(message("one")))
                .isInstanceOf(IOException.class)
                .hasMessage("away");
    }

    @Test
    void givesABatchAsAListThatTheMethodMayChange() throws Exception {
        ListenerMethod where = where(listeners, "sorted");

        new ListenerInvoker(() -> where, ListenerSignature.batch(where))
                .handle(Stream.of("b", "a").map(ListenerInvokerTests::message).toList());

        assertThat(listeners.got).containsExactly("a", "b");
    }

    private static ListenerInvoker single(Object bean, String method) {
        ListenerMethod where = where(bean, method);
        Placeholders placeholders = new Placeholders(where, new MockEnvironment());
        return new ListenerInvoker(() -> where, ListenerSignature.single(where, placeholders));
    }

    private static ListenerMethod where(Object bean, String name) {
        Method method = Arrays.stream(Listeners.class.getDeclaredMethods())
                .filter(some -> some.getName().equals(name))
                .findFirst()
                .orElseThrow();
        return new ListenerMethod("listeners", bean, Listeners.class, method);
    }

    private static DelayMessage<Object> message(String payload) {
        return new DelayMessage<>(
                "topic", payload, payload, Map.of(), Instant.EPOCH, "delivery", 0, 0, 0, mock(Acknowledgment.class));
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <E extends Exception> void throwUnchecked(Exception checked) throws E {
        throw (E) checked;
    }

    interface Sneaky {

        void sneaky(String payload);
    }

    static class Listeners implements Sneaky {

        private final List<String> got = new ArrayList<>();

        @SuppressWarnings("FutureReturnValueIgnored")
        public Object future(Object payload) {
            return CompletableFuture.completedFuture(payload);
        }

        public Object publisher(Object payload) {
            return Mono.just(payload);
        }

        public Object echo(String payload) {
            got.add(payload);
            return payload;
        }

        /** As a method in Kotlin, or with Lombok's {@code @SneakyThrows}. */
        @Override
        public void sneaky(String payload) {
            ListenerInvokerTests.<RuntimeException>throwUnchecked(new IOException("away"));
        }

        public void sorted(List<String> payloads) {
            payloads.sort(Comparator.naturalOrder());
            got.addAll(payloads);
        }
    }
}
