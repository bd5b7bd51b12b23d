package io.easykit.redis;

import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.Delay;
import io.lettuce.core.resource.NettyCustomizer;
import io.lettuce.core.tracing.Tracing;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The client resources of a copied factory: the threads and timers of the original or, if it lets Lettuce create its own or has
 * lost them, others, created on first use.
 */
final class DedicatedResources {

    private static final Delay RECONNECT_DELAY =
            Delay.exponential(Duration.ofMillis(1), Duration.ofMillis(500), 2, TimeUnit.MILLISECONDS);

    private static final Duration SHUTDOWN = Duration.ofSeconds(2);

    private final Supplier<ClientResources> base;
    private @Nullable ClientResources own;

    private DedicatedResources(Optional<ClientResources> original, boolean isShared) {
        this.base = isShared ? original::orElseThrow : () -> own(original);
    }

    /** @param original resources of the original, if it has its own */
    static DedicatedResources shared(Optional<ClientResources> original) {
        return new DedicatedResources(original, original.isPresent());
    }

    /**
     * Resources with threads of their own, which reach the servers in the same way as the original.
     *
     * @param original resources of the original, if it has its own; may have been shut down
     */
    static DedicatedResources independent(Optional<ClientResources> original) {
        return new DedicatedResources(original, false);
    }

    private synchronized ClientResources own(Optional<ClientResources> original) {
        ClientResources present = own;
        if (present == null) {
            present = original.map(DedicatedResources::like)
                    .orElseGet(ClientResources::builder)
                    .build();
            own = present;
        }
        return present;
    }

    private static ClientResources.Builder like(ClientResources original) {
        return ClientResources.builder()
                .socketAddressResolver(original.socketAddressResolver())
                .addressResolverGroup(original.addressResolverGroup())
                .nettyCustomizer(original.nettyCustomizer());
    }

    /** Ends the threads that are not those of the original. */
    synchronized void shutdown() {
        if (own != null) {
            own.shutdown(0, SHUTDOWN.toMillis(), TimeUnit.MILLISECONDS).awaitUninterruptibly(SHUTDOWN.toMillis());
            own = null;
        }
    }

    /**
     * The same threads and timers, without tracing and with a short reconnect delay. {@code ClientResources.mutate()} cannot
     * do this: its copies shut the shared threads down with them.
     */
    ClientResources adjusted(Transfers transfers) {
        return (ClientResources) Proxy.newProxyInstance(
                DedicatedResources.class.getClassLoader(),
                new Class<?>[] {ClientResources.class},
                (proxy, method, arguments) -> {
                    try {
                        return switch (method.getName()) {
                            case "tracing" -> Tracing.disabled();
                            case "reconnectDelay" -> RECONNECT_DELAY;
                            case "nettyCustomizer" -> Watching.over(base.get().nettyCustomizer(), transfers);
                            default -> method.invoke(base.get(), arguments);
                        };
                    } catch (InvocationTargetException e) {
                        throw e.getTargetException();
                    }
                });
    }

    /**
     * Watches each connection.
     *
     * @param given the customizer of the original; of an original that is a copy itself, that of its original
     */
    private record Watching(NettyCustomizer given, Transfers transfers) implements NettyCustomizer {

        static Watching over(NettyCustomizer given, Transfers transfers) {
            return new Watching(given instanceof Watching other ? other.given : given, transfers);
        }

        @Override
        public void afterBootstrapInitialized(Bootstrap bootstrap) {
            given.afterBootstrapInitialized(bootstrap);
        }

        @Override
        public void afterChannelInitialized(Channel channel) {
            given.afterChannelInitialized(channel);
            transfers.watch(channel);
        }
    }
}
