package io.easykit.sample;

import io.easykit.cache.CacheOrderTimeoutException;
import io.easykit.cache.CacheUnavailableException;
import io.easykit.delayqueue.DelayQueueException;
import io.easykit.sample.stock.OutOfStockException;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.context.MessageSourceResolvable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.http.converter.HttpMessageNotReadableException;
import org.springframework.validation.FieldError;
import org.springframework.validation.method.ParameterValidationResult;
import org.springframework.web.bind.MethodArgumentNotValidException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.request.WebRequest;
import org.springframework.web.method.annotation.HandlerMethodValidationException;
import org.springframework.web.servlet.mvc.method.annotation.ResponseEntityExceptionHandler;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DatabindException;

/** Maps failures to responses for customers. In each case nothing was changed. */
@RestControllerAdvice
class ShopErrors extends ResponseEntityExceptionHandler {

    @ExceptionHandler
    ProblemDetail redisIsAway(CacheUnavailableException failure) {
        return ProblemDetail.forStatusAndDetail(HttpStatus.SERVICE_UNAVAILABLE, failure.getMessage());
    }

    @ExceptionHandler
    ProblemDetail tooManyCallsAtOnce(CacheOrderTimeoutException failure) {
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

    /** Names the invalid fields. */
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

    /** The same for requests with several parameters. */
    @Override
    protected @Nullable ResponseEntity<Object> handleHandlerMethodValidationException(
            HandlerMethodValidationException failure, HttpHeaders headers, HttpStatusCode status, WebRequest request) {
        failure.getBody()
                .setDetail(failure.getParameterValidationResults().stream()
                        .flatMap(result -> result.getResolvableErrors().stream()
                                .map(error -> nameOf(result, error) + " " + error.getDefaultMessage()))
                        .sorted()
                        .collect(Collectors.joining(", ")));
        return super.handleHandlerMethodValidationException(failure, headers, status, request);
    }

    private static @Nullable String nameOf(ParameterValidationResult result, MessageSourceResolvable error) {
        return error instanceof FieldError field
                ? field.getField()
                : result.getMethodParameter().getParameterName();
    }

    /** Names the invalid property, if the body is JSON. */
    @Override
    protected @Nullable ResponseEntity<Object> handleHttpMessageNotReadable(
            HttpMessageNotReadableException failure, HttpHeaders headers, HttpStatusCode status, WebRequest request) {
        ProblemDetail problem = ProblemDetail.forStatusAndDetail(
                status,
                "The body is not the expected JSON"
                        + (failure.getCause() instanceof DatabindException cause ? wrongProperty(cause) : ""));
        return handleExceptionInternal(failure, problem, headers, status, request);
    }

    private static String wrongProperty(DatabindException cause) {
        return cause.getPath().stream()
                .map(JacksonException.Reference::getPropertyName)
                .filter(Objects::nonNull)
                .reduce((outer, inner) -> outer + "." + inner)
                .map(path -> ": " + path)
                .orElse("");
    }
}
