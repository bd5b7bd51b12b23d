package io.easykit.cache.blog;

import io.easykit.test.RedisServer;
import java.util.ArrayList;
import java.util.List;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** A web application with JPA and the defaults of Spring Boot, open session in view included. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import(Editors.class)
class Blog {

    @Bean
    Articles articles(ArticleRepository repository) {
        return new Articles(repository);
    }

    @Bean
    CommitListener commitListener() {
        return new CommitListener();
    }

    @Bean
    EditedBlogIntegrationTests.Counts counts() {
        return new EditedBlogIntegrationTests.Counts();
    }

    static ConfigurableApplicationContext start(String name, String... settings) {
        RedisServer redis = RedisServer.shared();
        redis.flush();
        List<String> arguments = new ArrayList<>(List.of(
                "--spring.autoconfigure.exclude=",
                "--spring.main.web-application-type=servlet",
                "--server.port=0",
                "--spring.data.redis.host=" + redis.host(),
                "--spring.data.redis.port=" + redis.port(),
                "--spring.datasource.url=jdbc:h2:mem:" + name,
                "--easy-cache.command-timeout=10s"));
        for (String setting : settings) {
            arguments.add("--" + setting);
        }
        return new SpringApplicationBuilder(Blog.class).run(arguments.toArray(String[]::new));
    }
}
