package io.easykit.console.autoconfigure;

import io.easykit.console.Console;
import io.easykit.console.ConsoleReply;
import io.easykit.console.ConsoleRequest;
import jakarta.servlet.http.HttpServletRequest;
import java.security.Principal;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextType;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.util.ClassUtils;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.function.RequestPredicates;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerRequest;
import org.springframework.web.servlet.function.ServerResponse;

/** Serves the console with Spring MVC, where the actuator is. */
@ManagementContextConfiguration(value = ManagementContextType.ANY, proxyBeanMethods = false)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnClass({DispatcherServlet.class, HttpServletRequest.class})
@ConditionalOnBean(ServedConsole.class)
class ConsoleMvcConfiguration {

    private static final boolean SECURITY = ClassUtils.isPresent(
            "org.springframework.security.web.csrf.CsrfToken", ConsoleMvcConfiguration.class.getClassLoader());

    @Bean
    RouterFunction<ServerResponse> easykitConsoleRoutes(ServedConsole served) {
        Console console = served.console();
        return RouterFunctions.route(
                RequestPredicates.path(served.path() + "/**").and(request -> console != null), request -> {
                    if (console == null) {
                        return ServerResponse.notFound().build();
                    }
                    return response(console.handle(request(request, served.path())));
                });
    }

    private static ConsoleRequest request(ServerRequest request, String base) {
        HttpServletRequest servlet = request.servletRequest();
        String path = request.requestPath().pathWithinApplication().value();
        Principal user = servlet.getUserPrincipal();
        Map<String, List<String>> query = new LinkedHashMap<>(request.params());
        return new ConsoleRequest(
                request.method().name(),
                path.substring(base.length()),
                query,
                name -> Collections.list(servlet.getHeaders(name)),
                String.valueOf(servlet.getRemoteAddr()),
                user == null ? null : user.getName(),
                servlet::isUserInRole,
                () -> SECURITY ? Csrf.of(servlet) : null,
                most -> servlet.getInputStream().readNBytes(most));
    }

    private static ServerResponse response(ConsoleReply reply) {
        ServerResponse.BodyBuilder builder = ServerResponse.status(reply.status());
        reply.headers().forEach(builder::header);
        ConsoleReply.Content content = reply.content();
        if (content != null) {
            return written(builder, content);
        }
        byte[] body = reply.body();
        return body.length == 0 ? builder.build() : written(builder.contentLength(body.length), out -> out.write(body));
    }

    /** Not through the converters of the application, which may have none for bytes. */
    private static ServerResponse written(ServerResponse.BodyBuilder builder, ConsoleReply.Content content) {
        return builder.build((request, response) -> {
            content.write(response.getOutputStream());
            return null;
        });
    }

    /** Used only if the class of the token is there. */
    private static final class Csrf {

        private Csrf() {}

        static ConsoleRequest.@Nullable CsrfToken of(HttpServletRequest request) {
            Object token = request.getAttribute(org.springframework.security.web.csrf.CsrfToken.class.getName());
            return token instanceof org.springframework.security.web.csrf.CsrfToken csrf
                    ? new ConsoleRequest.CsrfToken(csrf.getHeaderName(), csrf.getToken())
                    : null;
        }
    }
}
