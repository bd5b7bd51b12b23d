package io.easykit.delayqueue.test.autoconfigure;

import io.easykit.delayqueue.DeadLetter;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.ErrorAction;
import io.easykit.delayqueue.ErrorHandler;
import io.easykit.delayqueue.annotation.DeadLetterListener;
import io.easykit.delayqueue.annotation.DelayListener;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;

@SpringBootConfiguration
@EnableAutoConfiguration
class OrderApplication {

    static final Duration PAYMENT_TIME = Duration.ofMinutes(30);

    record CloseOrder(long id) {}

    static final class InvalidOrderException extends RuntimeException {
        InvalidOrderException() {
            super("no such order");
        }
    }

    @Bean
    Orders orders(DelayQueueTemplate queue, JdbcTemplate database) {
        database.execute("create table if not exists orders (id bigint primary key, status varchar(20))");
        database.execute("create table if not exists charges (id bigint)");
        return new Orders(queue, database);
    }

    @Bean
    ErrorHandler errors() {
        return ErrorHandler.byType()
                .on(InvalidOrderException.class, ErrorAction.dead())
                .build();
    }

    static class Orders {

        private final DelayQueueTemplate queue;
        private final JdbcTemplate database;
        private final List<DeadLetter<CloseOrder>> dead = new ArrayList<>();

        Orders(DelayQueueTemplate queue, JdbcTemplate database) {
            this.queue = queue;
            this.database = database;
        }

        @Transactional
        public void place(long id) {
            database.update("insert into orders values (?, 'OPEN')", id);
            queue.send("order-close", new CloseOrder(id), PAYMENT_TIME);
            if (id < 0) {
                throw new InvalidOrderException();
            }
        }

        /** The fields of the proxy are empty. */
        public List<DeadLetter<CloseOrder>> dead() {
            return dead;
        }

        public String status(long id) {
            return database.queryForObject("select status from orders where id = ?", String.class, id);
        }

        @Transactional
        @DelayListener(topic = "order-close", maxAttempts = "2", backOff = "1m")
        public void close(CloseOrder command) {
            if (database.update("update orders set status = 'CLOSED' where id = ?", command.id()) == 0) {
                throw new InvalidOrderException();
            }
        }

        @DelayListener(topic = "charge", idempotent = true)
        public void charge(long id) {
            database.update("insert into charges values (?)", id);
        }

        public int charges(long id) {
            return database.queryForObject("select count(*) from charges where id = ?", Integer.class, id);
        }

        @DelayListener(topic = "partner", maxAttempts = "2", backOff = "1m")
        public void call(String what) {
            throw new IllegalStateException("the partner is away");
        }

        @DeadLetterListener(topic = "order-close")
        public void closingFailed(DeadLetter<CloseOrder> letter) {
            dead.add(letter);
        }
    }
}
