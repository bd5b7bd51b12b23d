package io.easykit.delayqueue.autoconfigure;

import io.easykit.boot.SettingChecks;
import io.easykit.delayqueue.support.NameRules;
import java.util.List;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Context of the sender that its messages carry.
 *
 * @param mdc Keys of the MDC whose values travel from the send to the listener, in headers such as mdc.tenant. By default none.
 *     Set them on senders and listeners.
 */
record PropagationSettings(@DefaultValue List<String> mdc) {

    void check(SettingChecks checks) {
        mdc.forEach(key -> checks.that(
                !key.isBlank() && NameRules.isWellFormed(key),
                "propagation.mdc",
                mdc,
                "Give names of MDC entries, for example tenant, requestId."));
    }
}
