package io.easykit.sample;

import io.easykit.cache.CacheUnavailableException;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/** What a customer is told when an update of a CP entry was refused because Redis is away: nothing changed, come again. */
@RestControllerAdvice
class ShopErrors {

    @ExceptionHandler
    ProblemDetail redisIsAway(CacheUnavailableException failure) {
        return ProblemDetail.forStatusAndDetail(HttpStatus.SERVICE_UNAVAILABLE, failure.getMessage());
    }
}
