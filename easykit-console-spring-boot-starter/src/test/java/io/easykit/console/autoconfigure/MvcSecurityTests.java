package io.easykit.console.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.console.autoconfigure.Http.Reply;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.converter.HttpMessageConverters;
import org.springframework.http.converter.json.JacksonJsonHttpMessageConverter;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

class MvcSecurityTests extends ConsoleSecurityContract {

    MvcSecurityTests() {
        super(WebApplicationType.SERVLET, Users.class, PermitAll.class);
    }

    /** Such a chain masks the token of a session, and takes the unmasked one in a header. */
    @Test
    void takesTheTokenOfTheCookieWithAChainForSinglePageApplications() {
        App app = app(SinglePage.class, true, false);
        Reply session = Http.to(app.console()).as("operator").get("/easykit/api/session");
        assertThat(session.body()).contains("\"header\":\"X-XSRF-TOKEN\"");
        String cookie = session.header("Set-Cookie").replaceFirst(";.*", "");
        assertThat(cookie).startsWith("XSRF-TOKEN=");

        Reply change = change(app)
                .as("operator")
                .with("Cookie", cookie)
                .with("X-XSRF-TOKEN", cookie.substring("XSRF-TOKEN=".length()))
                .post("/easykit/api/change");

        assertThat(change.status()).isEqualTo(200);
        assertThat(app.changes()).containsExactly("operator");
    }

    @Test
    void repliesWithoutTheConvertersOfTheApplication() {
        requireRepliesWith(JsonOnly.class);
    }

    @Test
    void logsThePathOfTheDispatcher(CapturedOutput log) {
        App app = app(
                null,
                false,
                false,
                "server.servlet.context-path=/shop",
                "spring.mvc.servlet.path=/web/",
                "easykit.console.open-to=loopback");

        assertThat(Http.to(app.console()).get("/shop/web/easykit/").status()).isEqualTo(200);
        assertThat(log).contains("The console is at /shop/web/easykit/ on port " + app.console());
    }

    @Configuration(proxyBeanMethods = false)
    static class JsonOnly implements WebMvcConfigurer {

        @Override
        public void configureMessageConverters(HttpMessageConverters.ServerBuilder builder) {
            builder.configureMessageConvertersList(
                    all -> all.removeIf(one -> !(one instanceof JacksonJsonHttpMessageConverter)));
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Users {

        @Bean
        UserDetailsService users() {
            return new InMemoryUserDetailsManager(
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
        SecurityFilterChain open(HttpSecurity http) {
            return http.authorizeHttpRequests(any -> any.anyRequest().permitAll())
                    .csrf(csrf -> csrf.disable())
                    .build();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Users.class)
    static class SinglePage {

        @Bean
        SecurityFilterChain singlePage(HttpSecurity http) {
            return http.authorizeHttpRequests(any -> any.anyRequest().authenticated())
                    .httpBasic(Customizer.withDefaults())
                    .csrf(csrf -> csrf.spa())
                    .build();
        }
    }
}
