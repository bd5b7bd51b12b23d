package io.easykit.console.autoconfigure;

import org.springframework.boot.WebApplicationType;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;

class MvcSecurityTests extends ConsoleSecurityContract {

    MvcSecurityTests() {
        super(WebApplicationType.SERVLET, Users.class, PermitAll.class);
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
}
