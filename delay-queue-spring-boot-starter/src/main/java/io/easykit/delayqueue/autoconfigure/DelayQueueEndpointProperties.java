package io.easykit.delayqueue.autoconfigure;

import java.util.Set;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings of the actuator endpoint delayqueue.
 *
 * @param showValues Who sees bodies and header values of messages: never, when-authorized (users with one of the roles,
 *     or any user if there are no roles) or always.
 * @param roles Roles of users who are authorized to see values. By default any user who is logged in.
 */
@ConfigurationProperties("management.endpoint.delayqueue")
record DelayQueueEndpointProperties(@DefaultValue("never") Show showValues, @DefaultValue Set<String> roles) {

    boolean seesValues(SecurityContext caller) {
        return showValues.isShown(caller, roles);
    }
}
