package io.easykit.sample;

import io.easykit.cache.CacheUnavailableException;
import io.easykit.delayqueue.DelayQueueException;
import io.easykit.sample.stock.OutOfStockException;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.MethodArgumentNotValidException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.request.WebRequest;
import org.springframework.web.servlet.mvc.method.annotation.ResponseEntityExceptionHandler;

/** What a customer is told when something could not be done. In each case nothing was changed. */
@RestControllerAdvice
class ShopErrors extends ResponseEntityExceptionHandler {

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

    /** Names the fields, so that the caller need not guess. */
    @Override
    protected @Nullable ResponseEntity<Object> handleMethodArgumentNotValid(
            MethodArgumentNotValidException failure, HttpHeaders headers, HttpStatusCode status, WebRequest request) {
        failure.getBody()
                .setDetail(failure.getFieldErrors().stream()
                        .map(error -> error.getField() + " " + error.getDefaultMessage())
                        .sorted()
                        .collect(Collectors.joining(", ")));
        return super.handleMethodArgumentNotValid(failure, headers, status, request);
    }
}
