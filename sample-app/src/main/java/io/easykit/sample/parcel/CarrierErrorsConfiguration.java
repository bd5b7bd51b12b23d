package io.easykit.sample.parcel;

import io.easykit.delayqueue.ErrorAction;
import io.easykit.delayqueue.ErrorHandler;
import io.easykit.delayqueue.RetryPolicy;
import java.time.Duration;
import java.time.Instant;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpHeaders;
import org.springframework.web.client.HttpClientErrorException;
import org.springframework.web.client.HttpServerErrorException;
import org.springframework.web.client.ResourceAccessException;

/** What follows an error of the carrier. */
@Configuration(proxyBeanMethods = false)
class CarrierErrorsConfiguration {

    static final String BEAN = "carrierErrors";

    private static final Duration LONGEST_WAIT = Duration.ofMinutes(5);

    /** About half an hour. */
    private static final RetryPolicy WHILE_AWAY =
            RetryPolicy.exponential(20, Duration.ofSeconds(1), Duration.ofMinutes(2));

    /** Of listeners that name it. */
    @Bean(name = BEAN, defaultCandidate = false)
    ErrorHandler carrierErrors() {
        return ErrorHandler.byType()
                .on(HttpClientErrorException.TooManyRequests.class, CarrierErrorsConfiguration::asTheCarrierSays)
                .on(HttpClientErrorException.class, ErrorAction.dead())
                .on(HttpServerErrorException.class, ErrorAction.retry(WHILE_AWAY))
                .on(ResourceAccessException.class, ErrorAction.retry(WHILE_AWAY))
                .build();
    }

    private static ErrorAction asTheCarrierSays(HttpClientErrorException error) {
        HttpHeaders headers = error.getResponseHeaders();
        String retryAfter = headers == null ? null : headers.getFirst(HttpHeaders.RETRY_AFTER);
        return ErrorAction.retryAfterHeader(retryAfter, Instant.now(), LONGEST_WAIT);
    }
}
