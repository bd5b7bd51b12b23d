package io.easykit.sample.mail;

import java.util.List;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

@Repository
class MailRepository {

    private final JdbcClient jdbc;

    MailRepository(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    void add(Mail mail) {
        jdbc.sql("insert into mail (order_id, text) values (?, ?)")
                .params(mail.orderId(), mail.text())
                .update();
    }

    /** In the order of their delivery. */
    List<String> about(String orderId) {
        return jdbc.sql("select text from mail where order_id = ? order by id")
                .param(orderId)
                .query(String.class)
                .list();
    }
}
