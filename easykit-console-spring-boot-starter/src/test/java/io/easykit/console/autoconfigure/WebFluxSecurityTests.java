package io.easykit.console.autoconfigure;

import org.springframework.boot.WebApplicationType;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.core.userdetails.MapReactiveUserDetailsService;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.web.server.SecurityWebFilterChain;

class WebFluxSecurityTests extends ConsoleSecurityContract {

    WebFluxSecurityTests() {
        super(WebApplicationType.REACTIVE, Users.class, PermitAll.class);
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
