package io.easykit.boot;

import java.util.List;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/** Checks that there is exactly one Redis connection factory to use: the application's own. */
public final class RedisFactoryCheck {

    /** Name of Spring Boot's bean. It is used if several beans have the same rank. */
    private static final String DEFAULT = "redisConnectionFactory";

    private RedisFactoryCheck() {}

    public static List<Problem> problems(ConfigurableListableBeanFactory beans) {
        List<String> names = BeanChoice.of(beans, RedisConnectionFactory.class).names();
        if (names.isEmpty()) {
            return List.of(new Problem(
                    "There is no bean of type RedisConnectionFactory, so easykit has no Redis to use.",
                    "Add spring-boot-starter-data-redis with Lettuce or Jedis, set spring.data.redis.url (or host and"
                            + " port), and do not exclude DataRedisAutoConfiguration. Or define a bean of this type."));
        }
        if (names.size() > 1 && !names.contains(DEFAULT)) {
            return List.of(new Problem(
                    "There are several beans of type RedisConnectionFactory, and none of them is primary: " + names
                            + ".",
                    "Put @Primary on the bean to use, or name it " + DEFAULT + "."));
        }
        return List.of();
    }
}
