package io.easykit.benchmarks.start.app;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * A web application with one page, and the beans that its arguments name. It prints {@link #READY}, and then replies to each
 * line with its number of loaded classes.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@RestController
public class WebApplication {

    /** Printed when the application is ready. */
    public static final String READY = "ready";

    private static final String SETTING = "--";

    @GetMapping("/")
    public String page() {
        return "page";
    }

    /** Takes names of classes, and settings that begin with {@value #SETTING}. */
    public static void main(String[] arguments) throws ClassNotFoundException, IOException {
        List<Class<?>> sources = new ArrayList<>(List.of(WebApplication.class));
        List<String> settings = new ArrayList<>();
        for (String argument : arguments) {
            if (argument.startsWith(SETTING)) {
                settings.add(argument);
            } else {
                sources.add(Class.forName(argument));
            }
        }
        new SpringApplication(sources.toArray(Class<?>[]::new)).run(settings.toArray(String[]::new));
        System.out.println(READY);
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        while (orders.readLine() != null) {
            System.out.println(ManagementFactory.getClassLoadingMXBean().getTotalLoadedClassCount());
        }
        System.exit(0);
    }
}
