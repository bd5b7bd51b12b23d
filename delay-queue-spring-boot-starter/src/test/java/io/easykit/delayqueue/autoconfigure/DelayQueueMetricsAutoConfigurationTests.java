package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;

import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.delayqueue.listener.DelayListenerRegistry;
import io.easykit.delayqueue.metrics.TopicSnapshots;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.time.VirtualTime;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.StaticListableBeanFactory;

class DelayQueueMetricsAutoConfigurationTests {

    private final QueueBackend store = mock(QueueBackend.class);

    private double available() {
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        StaticListableBeanFactory beans = new StaticListableBeanFactory();
        beans.addBean("store", store);
        var unused = new DelayQueueMetricsAutoConfiguration()
                .delayQueueMeters(
                        meters,
                        mock(TopicSnapshots.class),
                        mock(DelayListenerRegistry.class),
                        beans.getBeanProvider(DelayQueueEngine.class),
                        beans.getBeanProvider(QueueBackend.class),
                        beans.getBeanProvider(VirtualTime.class));
        return meters.get("delayqueue.available").gauge().value();
    }

    /** The numbers of the topics on the master that is away are NaN, and raise the alert. */
    @Test
    void redisIsAvailableIfOneMasterIsAway() {
        doThrow(new StoreUnavailableException("no reply", new IllegalStateException()))
                .when(store)
                .stats(new ShardKey("health", 0));

        assertThat(available()).isEqualTo(1);
    }

    @Test
    void redisIsNotAvailableIfNoMasterReplies() {
        doThrow(new StoreUnavailableException("no reply", new IllegalStateException()))
                .when(store)
                .stats(any());

        assertThat(available()).isZero();
    }
}
