package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.proxies;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.reflection;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.resource;

import io.easykit.delayqueue.DeadLetter;
import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.annotation.DeadLetterListener;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.store.QueueBackend;
import io.lettuce.core.resource.ClientResources;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.aot.ApplicationContextAotGenerator;

class DelayQueueHintsTests {

    record Line(String sku) {}

    record CloseOrder(List<Line> lines) {}

    record Remind(String mail) {}

    record Lost(String reason) {}

    interface Reminders {

        void remind(List<DelayMessage<Remind>> messages);
    }

    static class Orders implements Reminders {

        @DelayListener(topic = "close")
        public void close(CloseOrder order) {}

        @Override
        @DelayListener(topic = "remind", batchSize = "10")
        public void remind(List<DelayMessage<Remind>> messages) {}

        public void other() {}

        @DeadLetterListener(topic = "lost")
        public void dead(DeadLetter<Lost> dead) {}
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({DataRedisAutoConfiguration.class, DelayQueueAutoConfiguration.class})
    static class Application {

        @Bean
        Orders orders() {
            return new Orders();
        }
    }

    private static final RuntimeHints HINTS = hints();

    private static RuntimeHints hints() {
        AnnotationConfigApplicationContext source = new AnnotationConfigApplicationContext();
        source.register(Application.class);
        TestGenerationContext generation = new TestGenerationContext(DelayQueueHintsTests.class);
        new ApplicationContextAotGenerator().processAheadOfTime(source, generation);
        return generation.getRuntimeHints();
    }

    @ParameterizedTest
    @ValueSource(classes = {CloseOrder.class, Line.class, Remind.class, Lost.class})
    void nameAllPayloads(Class<?> type) {
        assertThat(reflection()
                        .onType(type)
                        .withMemberCategories(
                                MemberCategory.ACCESS_DECLARED_FIELDS, MemberCategory.INVOKE_DECLARED_CONSTRUCTORS))
                .accepts(HINTS);
    }

    @Test
    void allowTheCallsOfListeners() {
        assertThat(reflection().onMethodInvocation(Orders.class, "close")).accepts(HINTS);
        assertThat(reflection().onMethodInvocation(Orders.class, "remind")).accepts(HINTS);
        assertThat(reflection().onMethodInvocation(Orders.class, "dead")).accepts(HINTS);
        assertThat(reflection().onMethodInvocation(Reminders.class, "remind")).accepts(HINTS);
        assertThat(reflection().onMethodInvocation(Orders.class, "other")).rejects(HINTS);
    }

    @Test
    void keepTheScripts() throws IOException {
        String folder = "io/easykit/delayqueue/redis";
        try (Stream<Path> all = Files.list(Path.of("../delay-queue-core/src/main/resources", folder))) {
            assertThat(all).isNotEmpty().allMatch(file -> resource()
                    .forResource(folder + "/" + file.getFileName())
                    .test(HINTS));
        }
    }

    @Test
    void allowTheProxiesOfTheQueue() {
        assertThat(proxies().forInterfaces(ClientResources.class)).accepts(HINTS);
        assertThat(proxies().forInterfaces(QueueBackend.class)).accepts(HINTS);
    }
}
