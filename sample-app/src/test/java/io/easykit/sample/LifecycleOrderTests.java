package io.easykit.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Configuration;

/** Spring starts what a lifecycle bean depends on before it, whatever the phases, and stops it after it. */
class LifecycleOrderTests {

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}

    @Test
    void noBeanDependsOnOneThatStartsLater() {
        new ApplicationContextRunner()
                .withUserConfiguration(Application.class)
                .withPropertyValues(
                        "spring.data.redis.port=1",
                        "spring.datasource.url=jdbc:h2:mem:lifecycle",
                        "delay-queue.outbox.enabled=true",
                        "easy-cache.outbox=jdbc")
                .run(context -> {
                    Map<String, SmartLifecycle> ours = context.getBeansOfType(SmartLifecycle.class).entrySet().stream()
                            .filter(bean -> bean.getValue().getClass().getName().startsWith("io.easykit."))
                            .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
                    assertThat(ours).hasSizeGreaterThan(5);
                    ours.forEach(
                            (name, bean) -> assertThat(context.getBeanFactory().getDependenciesForBean(name))
                                    .filteredOn(ours::containsKey)
                                    .allSatisfy(needed -> assertThat(Objects.requireNonNull(ours.get(needed))
                                                    .getPhase())
                                            .as("%s depends on %s", name, needed)
                                            .isLessThanOrEqualTo(bean.getPhase())));
                });
    }
}
