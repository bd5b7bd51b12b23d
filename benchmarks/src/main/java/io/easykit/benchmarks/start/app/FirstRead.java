package io.easykit.benchmarks.start.app;

import org.springframework.boot.ApplicationArguments;
import org.springframework.boot.ApplicationRunner;

/** Reads a product before the application is ready, which opens the connection to Redis. */
public class FirstRead implements ApplicationRunner {

    private final SpringCachedProducts products;

    public FirstRead(SpringCachedProducts products) {
        this.products = products;
    }

    @Override
    public void run(ApplicationArguments arguments) {
        products.product(1);
    }
}
