package io.easykit.trial;

import io.easykit.cache.Consistency;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.annotation.DelayListener;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.annotation.Transactional;

/** One node of the application, with both starters. */
final class TrialNode implements AutoCloseable {

    static final String AP = "trial-ap";
    static final String CP = "trial-cp";

    private final ConfigurableApplicationContext context;
    private final Entries entries;
    private final DelayQueueTemplate messages;

    private TrialNode(ConfigurableApplicationContext context) {
        this.context = context;
        this.entries = context.getBean(Entries.class);
        this.messages = context.getBean(DelayQueueTemplate.class);
    }

    /** @param settings each as {@code --name=value}; they need the shared database and a Redis */
    static TrialNode start(List<String> settings, Inbox inbox) {
        return new TrialNode(new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .initializers(context -> ((GenericApplicationContext) context).registerBean(Inbox.class, () -> inbox))
                .run(Stream.concat(
                                Stream.of(
                                        // The shop's own settings are not used.
                                        "--spring.config.name=trial",
                                        "--spring.main.banner-mode=off",
                                        "--spring.jmx.enabled=false",
                                        "--spring.sql.init.mode=never"),
                                settings.stream())
                        .toArray(String[]::new)));
    }

    Entries entries() {
        return entries;
    }

    /** Returns whether as many replicas have the message as the settings want. */
    boolean send(String topic, String id, Duration delay) {
        return !messages.send(OutgoingMessage.of(topic, id).id(id).after(delay)).isUnderReplicated();
    }

    @Override
    public void close() {
        context.close();
    }

    /** Records deliveries. */
    interface Inbox {
        void delivered(String id);
    }

    /** A version for each name and id. Each update increments it. */
    static class Entries {

        private final JdbcClient jdbc;

        Entries(JdbcClient jdbc) {
            this.jdbc = jdbc;
        }

        @Cacheable(prefix = AP, keys = "#id")
        public Long ap(String id) {
            return find(AP, id);
        }

        @Cacheable(prefix = CP, keys = "#id", consistency = Consistency.CP)
        public Long cp(String id) {
            return find(CP, id);
        }

        @UpdateCache(prefix = AP, keys = "#id")
        @Transactional
        public long updateAp(String id) {
            return raise(AP, id);
        }

        @UpdateCache(prefix = CP, keys = "#id")
        @Transactional
        public long updateCp(String id) {
            return raise(CP, id);
        }

        /** Changes the data without the annotation, so nothing is invalidated. */
        @Transactional
        public long raiseSilently(String name, String id) {
            return raise(name, id);
        }

        /** Returns the version in the database. */
        Long stored(String name, String id) {
            return find(name, id);
        }

        void create(String name, String id) {
            jdbc.sql("merge into entry (name, id, version) values (?, ?, 0)")
                    .params(name, id)
                    .update();
        }

        void createTable() {
            jdbc.sql("create table if not exists entry (name varchar(20), id varchar(40), version bigint,"
                            + " primary key (name, id))")
                    .update();
        }

        private Long find(String name, String id) {
            return jdbc.sql("select version from entry where name = ? and id = ?")
                    .params(name, id)
                    .query(Long.class)
                    .single();
        }

        private long raise(String name, String id) {
            jdbc.sql("update entry set version = version + 1 where name = ? and id = ?")
                    .params(name, id)
                    .update();
            return find(name, id);
        }
    }

    static class Listener {

        private final Inbox inbox;

        Listener(Inbox inbox) {
            this.inbox = inbox;
        }

        @DelayListener(topic = "${trial.topic}", concurrency = "8", lease = "3s")
        void on(DelayMessage<String> message) {
            inbox.delivered(message.id());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        Entries entries(JdbcClient jdbc) {
            return new Entries(jdbc);
        }

        @Bean
        Listener listener(Inbox inbox) {
            return new Listener(inbox);
        }
    }
}
