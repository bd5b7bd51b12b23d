package io.easykit.boot;

import java.util.LinkedHashMap;
import java.util.Map;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.util.MimeType;

/**
 * An error as the reply to a request, with the fields of RFC 9457 and the remedy.
 *
 * @param status of HTTP
 * @param detail what is wrong
 * @param action what to do about it
 */
public record HttpProblem(int status, String detail, String action) {

    private static final MimeType TYPE = new MimeType("application", "problem+json");

    /** The reply of an actuator endpoint. */
    public WebEndpointResponse<Object> reply() {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("status", status);
        fields.put("detail", detail);
        fields.put("action", action);
        return new WebEndpointResponse<>(fields, status, TYPE);
    }
}
