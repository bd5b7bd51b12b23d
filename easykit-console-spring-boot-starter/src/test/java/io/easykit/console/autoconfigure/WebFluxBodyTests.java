package io.easykit.console.autoconfigure;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.console.ConsoleReply;
import io.easykit.console.ConsoleRequest;
import io.easykit.console.Refusal;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DefaultDataBufferFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;

class WebFluxBodyTests {

    private static DataBuffer bytes(String text) {
        return DefaultDataBufferFactory.sharedInstance.wrap(text.getBytes(UTF_8));
    }

    private static ConsoleRequest.Body read(Flux<DataBuffer> body, Duration timeout) {
        return ConsoleWebFluxConfiguration.body(body, timeout).blockOptional().orElseThrow();
    }

    @Test
    void joinsTheParts() throws IOException {
        assertThat(read(Flux.just(bytes("{\"a\":"), bytes("1}")), Duration.ofMinutes(1))
                        .read(100))
                .asString()
                .isEqualTo("{\"a\":1}");
        assertThat(read(Flux.empty(), Duration.ofMinutes(1)).read(100)).isEmpty();
    }

    @Test
    void refusesABodyThatDoesNotEnd() {
        ConsoleRequest.Body late = read(Flux.concat(Flux.just(bytes("{")), Flux.never()), Duration.ofMillis(20));

        assertThatThrownBy(() -> late.read(100))
                .isInstanceOfSatisfying(
                        Refusal.class, refusal -> assertThat(refusal.status()).isEqualTo(408));
    }

    @Test
    void aCallRunsToItsEndThoughItsClientHasGone() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch gone = new CountDownLatch(1);
        CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
        Disposable call = ConsoleWebFluxConfiguration.toItsEnd(() -> {
                    begun.countDown();
                    try {
                        gone.await();
                        interrupted.complete(Thread.currentThread().isInterrupted());
                    } catch (InterruptedException e) {
                        interrupted.complete(true);
                    }
                    return ConsoleReply.attachment("name", new byte[0]);
                })
                .subscribe();
        assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();

        call.dispose();
        gone.countDown();

        assertThat(interrupted.get(30, TimeUnit.SECONDS)).isFalse();
    }

    @Test
    void failsWhenItIsReadIfItBreaksOff() {
        ConsoleRequest.Body broken =
                read(Flux.concat(Flux.just(bytes("{")), Flux.error(new IOException("reset"))), Duration.ofMinutes(1));

        assertThatThrownBy(() -> broken.read(100))
                .isInstanceOf(IllegalStateException.class)
                .hasRootCauseMessage("reset");
    }
}
