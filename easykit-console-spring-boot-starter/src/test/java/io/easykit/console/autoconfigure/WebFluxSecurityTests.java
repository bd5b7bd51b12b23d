package io.easykit.console.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.console.autoconfigure.Http.Reply;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.codec.ServerCodecConfigurer;
import org.springframework.http.codec.json.JacksonJsonEncoder;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.core.userdetails.MapReactiveUserDetailsService;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.web.reactive.config.WebFluxConfigurer;

class WebFluxSecurityTests extends ConsoleSecurityContract {

    WebFluxSecurityTests() {
        super(WebApplicationType.REACTIVE, Users.class, PermitAll.class);
    }

    /** The server keeps a limited number of sessions, and those of clients without cookies would use them up. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void createsASessionOnlyForTheCallThatReturnsTheToken(boolean twoPorts) {
        App app = app(Users.class, true, twoPorts);

        for (String path : List.of("", "console.js", "api/look", "api/audit", "api/nothing")) {
            Reply reply = Http.to(app.console()).as("operator").get("/easykit/" + path);
            assertThat(reply.header("Set-Cookie")).as(path).isNull();
        }
        assertThat(Http.to(app.console())
                        .as("operator")
                        .get("/easykit/api/session")
                        .header("Set-Cookie"))
                .startsWith("SESSION=");
    }

    /** A stranger would hold memory of the server as long as he likes. */
    @ParameterizedTest
    @CsvSource({"operator, api/look, 200", "guest, api/look, 403", "operator, console.js, 200"})
    void waitsForNoBodyOfARead(String user, String path, int status) {
        App app = app(Users.class, true, false);

        Reply reply = Http.to(app.console()).as(user).lacking(1_000_000).get("/easykit/" + path);

        assertThat(reply.status()).isEqualTo(status);
    }

    @Test
    void waitsForNoBodyOfAStrangersChange() {
        App app = app(Users.class, true, false);

        Reply reply =
                Http.to(app.console()).as("guest").json("{}").lacking(1_000_000).post("/easykit/api/pause");

        assertThat(reply.status()).isEqualTo(403);
    }

    @Test
    void repliesWithoutTheCodecsOfTheApplication() {
        requireRepliesWith(JsonOnly.class);
    }

    @Configuration(proxyBeanMethods = false)
    static class JsonOnly implements WebFluxConfigurer {

        @Override
        public void configureHttpMessageCodecs(ServerCodecConfigurer codecs) {
            codecs.registerDefaults(false);
            codecs.customCodecs().register(new JacksonJsonEncoder());
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Users {

        @Bean
        MapReactiveUserDetailsService users() {
            return new MapReactiveUserDetailsService(
                    User.withUsername("operator")
                            .password("{noop}secret")
                            .roles("EASYKIT_OPERATE")
                            .build(),
                    User.withUsername("viewer")
                            .password("{noop}secret")
                            .roles("EASYKIT_VIEW")
                            .build(),
                    User.withUsername("guest")
                            .password("{noop}secret")
                            .roles("OTHER")
                            .build());
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class PermitAll {

        @Bean
        SecurityWebFilterChain open(ServerHttpSecurity http) {
            return http.authorizeExchange(any -> any.anyExchange().permitAll())
                    .csrf(csrf -> csrf.disable())
                    .build();
        }
    }
}
