package io.easykit.benchmarks.queue.rqueue;

import com.github.sonus21.rqueue.annotation.RqueueListener;
import com.github.sonus21.rqueue.config.SimpleRqueueListenerContainerFactory;
import com.github.sonus21.rqueue.core.RqueueEndpointManager;
import com.github.sonus21.rqueue.core.RqueueMessageEnqueuer;
import io.easykit.benchmarks.queue.node.Message;
import io.easykit.benchmarks.queue.node.QueueContender;
import io.easykit.benchmarks.queue.node.Setup;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;

/** rqueue in a Spring Boot application. It cannot send several messages in one call. */
final class RqueueContender implements QueueContender {

    private static final long TUNED_POLLING_MILLIS = 5;

    private static final List<String> TUNED = List.of(
            "--rqueue.scheduler.scheduled.message.time.interval=20",
            "--rqueue.scheduler.min.message.mover.delay=1",
            "--rqueue.scheduler.max.message.count=1000",
            "--rqueue.job.enabled=false",
            "--rqueue.message.durability.in-terminal-state=0",
            "--rqueue.web.collect.listener.stats=false");

    private final RqueueMessageEnqueuer enqueuer;

    private RqueueContender(RqueueMessageEnqueuer enqueuer) {
        this.enqueuer = enqueuer;
    }

    static QueueContender open(Setup setup, boolean tuned) {
        List<String> settings = new ArrayList<>(List.of(
                "--spring.data.redis.host=" + setup.host(),
                "--spring.data.redis.port=" + setup.port(),
                "--rqueue.latest.version.check.enabled=false",
                "--rqueue.system.mode=" + (setup.listens() ? "BOTH" : "PRODUCER"),
                "--queues=" + String.join(",", setup.queues()),
                "--concurrency=" + setup.concurrency()));
        if (tuned) {
            settings.addAll(TUNED);
        }
        GenericApplicationContext context = (GenericApplicationContext) new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .bannerMode(Banner.Mode.OFF)
                .registerShutdownHook(false)
                .initializers(empty -> register((GenericApplicationContext) empty, setup, tuned))
                .run(settings.toArray(String[]::new));
        if (!setup.listens()) {
            RqueueEndpointManager queues = context.getBean(RqueueEndpointManager.class);
            setup.queues().forEach(queues::registerQueue);
        }
        return new RqueueContender(context.getBean(RqueueMessageEnqueuer.class));
    }

    private static void register(GenericApplicationContext beans, Setup setup, boolean tuned) {
        if (setup.listens()) {
            beans.registerBean(Listener.class, () -> new Listener(setup.listener()));
        }
        if (tuned) {
            beans.registerBean(SimpleRqueueListenerContainerFactory.class, RqueueContender::tunedFactory);
        }
    }

    private static SimpleRqueueListenerContainerFactory tunedFactory() {
        SimpleRqueueListenerContainerFactory factory = new SimpleRqueueListenerContainerFactory();
        factory.setPollingInterval(TUNED_POLLING_MILLIS);
        return factory;
    }

    @Override
    public void send(String queue, Message message) {
        if (enqueuer.enqueueIn(queue, new Text(message.text()), message.delayMillis()) == null) {
            throw new IllegalStateException("rqueue did not take the message; its warning is above");
        }
    }

    @Override
    public void sendAll(String queue, List<Message> messages) {
        messages.forEach(message -> send(queue, message));
    }

    @Configuration
    @EnableAutoConfiguration
    static class Application {}

    static class Listener {
        private final Consumer<String> listener;

        Listener(Consumer<String> listener) {
            this.listener = listener;
        }

        @RqueueListener(value = "${queues}", concurrency = "${concurrency}")
        public void on(Text text) {
            listener.accept(text.text());
        }
    }
}
