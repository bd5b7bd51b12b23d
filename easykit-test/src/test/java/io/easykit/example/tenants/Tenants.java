package io.easykit.example.tenants;

import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.delayqueue.engine.ListenerContainer;
import io.easykit.delayqueue.listener.DelayListenerRegistry;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.springframework.stereotype.Component;

@Component
class Tenants {

    private final DelayQueueEngine engine;
    private final DelayListenerRegistry listeners;
    private final List<String> handled = new CopyOnWriteArrayList<>();

    Tenants(DelayQueueEngine engine, DelayListenerRegistry listeners) {
        this.engine = engine;
        this.listeners = listeners;
    }

    void add(String tenant) {
        ListenerEndpoint endpoint = ListenerEndpoint.builder("mail-" + tenant, "mail-" + tenant, String.class)
                .concurrency(4)
                .build();
        listeners.register(engine.container(endpoint, (DelayMessage<String> mail) -> send(tenant, mail.payload())));
    }

    void stop(String tenant) {
        listeners.container("mail-" + tenant).ifPresent(ListenerContainer::stop);
    }

    void start(String tenant) {
        listeners.container("mail-" + tenant).ifPresent(ListenerContainer::start);
    }

    private void send(String tenant, String mail) {
        handled.add(tenant + ": " + mail); // stands for a mail server of the tenant
    }

    List<String> handled() {
        return handled;
    }
}
