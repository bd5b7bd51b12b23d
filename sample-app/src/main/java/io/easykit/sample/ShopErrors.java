package io.easykit.sample;

import io.easykit.cache.CacheUnavailableException;
import io.easykit.delayqueue.DelayQueueException;
import io.easykit.sample.stock.OutOfStockException;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/** What a customer is told when something could not be done. In each case nothing was changed. */
@RestControllerAdvice
class ShopErrors {

    @ExceptionHandler
    ProblemDetail redisIsAway(CacheUnavailableException failure) {
        return ProblemDetail.forStatusAndDetail(HttpStatus.SERVICE_UNAVAILABLE, failure.getMessage());
    }

    @ExceptionHandler
    ProblemDetail messageCouldNotBeSent(DelayQueueException failure) {
        return ProblemDetail.forStatusAndDetail(HttpStatus.SERVICE_UNAVAILABLE, failure.getMessage());
    }

    @ExceptionHandler
    ProblemDetail outOfStock(OutOfStockException failure) {
        return ProblemDetail.forStatusAndDetail(HttpStatus.CONFLICT, failure.getMessage());
    }
}
